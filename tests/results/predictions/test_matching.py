"""Which rows predictions answer: by id, number, texts or order, and never by a guess."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

import figlang_tasks
from figlang_tasks.core.errors import RunError
from figlang_tasks.results.predictions.matching import match
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile
from figlang_tasks.results.predictions.scored_run import ScoringOptions, score_predictions
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring.task_file import TaskFile

FLUTE = "figlang_mini_flute"
VFLUTE = "figlang_mini"
IRFL = "figlang_mini_irfl_detect_idiom"
IRFL_IDS = [f"idiom-detection-task-{row}" for row in range(12)]


def documents(task: str) -> list[dict[str, Any]]:
    return TaskFile.read(task).documents


def score(task: str, **columns: Sequence[object]) -> Run:
    return figlang_tasks.score(pd.DataFrame(columns), task, scorer="off")


def refused_table(task: str, **columns: Sequence[object]) -> str:
    with pytest.raises(RunError) as error:
        score(task, **columns)
    return str(error.value)


def key_of(run: Run) -> str:
    (config,) = run.results["configs"].values()
    return str(config["metadata"]["predictions"]["rows_found_by"])


def answered(run: Run) -> dict[str, str]:
    """The output of each row by its id."""
    (task,) = run.tasks.values()
    return {sample["sample"]["id"]: sample["filtered_resps"][0] for sample in task.samples}


def test_rows_of_flute_are_found_by_their_sentences() -> None:
    rows = documents(FLUTE)[::-1]
    outputs = [f"Entails. {row['id']}" for row in rows]
    run = score(
        FLUTE,
        premise=[f"  {row['premise'].upper()} " for row in rows],
        hypothesis=[row["hypothesis"] for row in rows],
        output=outputs,
    )
    assert key_of(run) == "the texts premise, hypothesis"
    assert answered(run) == {row["id"]: f"Entails. {row['id']}" for row in rows}


@pytest.mark.parametrize("folder", ["", "images/", "C:\\Users\\me\\", "/home/me/"])
def test_rows_are_found_by_claim_and_name_of_the_picture(folder: str) -> None:
    rows = documents(VFLUTE)[::-1]
    run = score(
        VFLUTE,
        claim=[row["claim"] for row in rows],
        image=[folder + Path(row["image"]).name for row in rows],
        output=[f"{row['id']}\nLABEL: entailment" for row in rows],
    )
    assert key_of(run) == "the texts claim, image"
    for row_id, output in answered(run).items():
        assert output == f"{row_id}\nLABEL: entailment"


def test_texts_that_several_rows_have_find_none() -> None:
    rows = documents(FLUTE)
    premises = [row["premise"] for row in rows]
    message = refused_table(FLUTE, premise=premises, output=["Entails."] * len(rows))
    doubles = sum(premises.count(premise) > 1 for premise in premises)
    assert f"{doubles} of 32 predictions are of no row of {FLUTE}, by the texts premise" in message


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_rows_are_checked_by_their_texts(first: int) -> None:
    rows = documents(FLUTE)[:-1]
    columns: dict[str, Sequence[object]] = {
        "index": list(range(first, first + len(rows))),
        "premise": [row["premise"] for row in rows],
        "hypothesis": [row["hypothesis"] for row in rows],
        "output": ["Entails."] * len(rows),
    }
    if first == 1:
        assert "rows are counted from 0" in refused_table(FLUTE, **columns)
    else:
        assert "1 of 32 rows of figlang_mini_flute have no" in refused_table(FLUTE, **columns)


@pytest.mark.parametrize(
    "ids", [range(12), [f"{row}.0" for row in range(12)], map(float, range(12))]
)
def test_ids_that_are_numbers_count_rows_from_0(ids: Sequence[object]) -> None:
    run = score(IRFL, id=list(ids), output=[f"A {row}" for row in range(12)])
    assert key_of(run) == "row number"
    assert answered(run) == {row_id: f"A {row}" for row, row_id in enumerate(IRFL_IDS)}


def test_ids_that_count_from_1_are_refused() -> None:
    message = refused_table(IRFL, id=range(1, 13), output=["A"] * 12)
    assert "1 of 12 predictions are of no row" in message
    assert "rows are counted from 0" in message


def test_numbers_that_are_ids_of_the_task_are_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's own rows may have numbers for ids, in another order than the rows."""
    folder = tmp_path / "V-FLUTE"
    folder.mkdir()
    Image.new("RGB", (8, 8)).save(folder / "picture.png")
    with (folder / "test.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        columns = "id,image,claim,label,explanation,source_dataset,phenomenon"
        writer.writerow(columns.split(","))
        for row_id in (2, 0, 1):
            writer.writerow(
                [row_id, "picture.png", f"Kettle {row_id}", "entailment", "So", "a", "b"]
            )
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    run = score("vflute", id=["0.0", "1.0", "2.0"], output=["zero", "one", "two"])
    assert key_of(run) == "id"
    assert answered(run) == {"0": "zero", "1": "one", "2": "two"}


def test_unknown_rows_are_counted_with_three_examples() -> None:
    message = refused_table(IRFL, id=[f"x{row}" for row in range(12)], output=["A"] * 12)
    assert "12 of 12 predictions are of no row" in message
    assert "x0, x1, x2, and 9 more" in message
    assert "`figlang score --task figlang_mini_irfl_detect_idiom --columns`" in message


@pytest.mark.parametrize("task", [VFLUTE, FLUTE])
def test_a_file_of_another_task_names_that_task(task: str) -> None:
    ids = [row["id"] for row in documents(task)]
    message = refused_table(IRFL, id=ids, output=["A"] * len(ids))
    assert f"The ids are those of {task}: name it with --task" in message


def test_doubles_are_counted_with_their_places() -> None:
    message = refused_table(IRFL, id=[*IRFL_IDS, *IRFL_IDS[:5]], output=["A"] * 17)
    assert "5 rows have several predictions, others one" in message
    assert "idiom-detection-task-0 (DataFrame, row 0, DataFrame, row 12)" in message
    assert "Leave one of each" in message


def test_missing_rows_are_counted_with_three_examples() -> None:
    message = refused_table(IRFL, id=IRFL_IDS[:5], output=["A"] * 5)
    assert "7 of 12 rows" in message
    assert "task-5, idiom-detection-task-6, idiom-detection-task-7, and 4 more" in message
    assert "--missing wrong" in message
    assert "--partial" in message


@pytest.mark.parametrize(("column", "meaning"), [("id", "id"), ("index", "row number")])
def test_a_row_without_id_is_named(column: str, meaning: str) -> None:
    cells: list[object] = list(IRFL_IDS) if column == "id" else list(range(12))
    cells[3] = None
    message = refused_table(IRFL, output=["A"] * 12, **{column: cells})
    assert f"1 of 12 predictions have no {meaning} in the column {column}" in message
    assert "DataFrame, row 3" in message


def test_order_counts_only_if_the_user_says_so() -> None:
    frame = pd.DataFrame({"output": [f"A {row}" for row in range(12)]})
    assert "--in-order" in refused_table(IRFL, output=list(frame["output"]))
    run = figlang_tasks.score(frame, IRFL, in_order=True)
    assert answered(run) == {row_id: f"A {row}" for row, row_id in enumerate(IRFL_IDS)}
    with pytest.raises(RunError, match=r"has 11 predictions, and .* has 12 rows"):
        figlang_tasks.score(frame[:11], IRFL, in_order=True)


# --- what was once scored without a message ---


@pytest.mark.parametrize("known", [0, 5])
def test_unknown_ids_are_not_passed_over_for_row_numbers(known: int) -> None:
    ids = [*IRFL_IDS[:known], *[f"x{row}" for row in range(known, 12)]]
    message = refused_table(IRFL, id=ids, index=range(12), output=["A"] * 12)
    assert f"{12 - known} of 12 predictions are of no row of {IRFL}, by id" in message


def test_order_against_the_ids_is_refused() -> None:
    frame = pd.DataFrame({"id": IRFL_IDS[::-1], "output": ["A"] * 12})
    with pytest.raises(RunError, match=r"row 0: its id .*-11 is that of row 11 .* --in-order"):
        figlang_tasks.score(frame, IRFL, in_order=True)


def test_a_file_given_twice_is_no_file_of_repeats() -> None:
    message = refused_table(IRFL, id=IRFL_IDS * 2, output=list("ABCDABCDABCD") * 2)
    assert "each row has 2 predictions, and those of each row are all equal" in message


def test_equal_answers_of_one_line_are_repeats() -> None:
    """A run with ``--repeats`` and beams once could not be scored, as ``lmms_eval`` had advised."""
    task_file = TaskFile.read(FLUTE)
    predictions: list[Prediction] = []
    for row in range(len(task_file.documents)):
        prediction = Prediction(location=f"line {row + 1}", row_number=row, output="Entails.")
        predictions += [prediction, prediction]
    file = PredictionFile(
        path=Path("a.jsonl"), form="samples", content="words", predictions=predictions
    )
    matching = match(file, task_file.documents, task_name=FLUTE)
    assert matching.answers_per_row == 2


def predictions_with_prompts(prompts: Sequence[str]) -> PredictionFile:
    """Answers to the rows of FLUTE by number, with these prompts."""
    predictions: list[Prediction] = []
    for row, prompt in enumerate(prompts):
        predictions.append(
            Prediction(location=f"row {row}", row_number=row, output="Entails.", prompt=prompt)
        )
    return PredictionFile(
        path=Path("a.json"), form="JSON", content="words", predictions=predictions
    )


def test_prompts_of_another_split_are_refused() -> None:
    task_file = TaskFile.read(FLUTE)
    prompts = [task_file.prompt(document) for document in task_file.documents]
    as_chat = [json.dumps([{"role": "user", "content": prompt}]) for prompt in prompts]
    for fitting in (prompts, as_chat):
        score_predictions(predictions_with_prompts(fitting), task_file, ScoringOptions())
    other_rows = [*prompts[:5], *[f"Does {row} entail {row}?" for row in range(5, 32)]]
    with pytest.raises(RunError, match=r"row 5: the prompt .* with 27 of 32 prompts: .* split"):
        score_predictions(predictions_with_prompts(other_rows), task_file, ScoringOptions())


@pytest.mark.parametrize("task", [FLUTE, "own_nli", "figlang_mini"])
def test_targets_of_other_rows_are_refused(task: str) -> None:
    """A task of the user's may have labels for targets."""
    task_file = TaskFile.read(FLUTE)
    target = "label" if task == "own_nli" else "explanation"
    predictions = [
        Prediction(
            location=f"row {row}", row_number=row, output="Entails.", target=document[target]
        )
        for row, document in enumerate(task_file.documents[::-1])
    ]
    file = PredictionFile(
        path=Path("a.json"), form="JSON", content="words", predictions=predictions, task=task
    )
    with pytest.raises(RunError, match=r"its target is .* saved for another row"):
        score_predictions(file, task_file, ScoringOptions())


def test_a_row_without_a_text_has_an_empty_one() -> None:
    rows: list[dict[str, Any]] = [{"id": "a", "claim": "Tea"}, {"id": "b", "claim": None}]
    predictions = [
        Prediction(location="1", texts={"claim": "Tea"}, output="A"),
        Prediction(location="2", texts={"claim": ""}, output="B"),
    ]
    file = PredictionFile(path=Path("a"), form="CSV", content="words", predictions=predictions)
    matching = match(file, rows, task_name="t")
    assert [answers.row_index for answers in matching.answers] == [0, 1]
