"""Predictions in a file have the records and values of a run of the harness with these answers."""

from __future__ import annotations

import csv
import json
import os
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
from demo_runs import (
    VARIED_TASKS,
    FixedAnswers,
    PartlyRight,
    evaluate,
    mini_tasks,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import figlang_tasks
from figlang_tasks.results.task_run import Run

EXPLAINED = "figlang_mini"
Records = list[dict[str, Any]]


def task_argument(task: str) -> str:
    """The task as users name it: by its name, or by the path of a task file of their own."""
    path = Path(mini_tasks()) / f"{task}.yaml"
    return str(path) if path.exists() else task


def run_harness(task: str, model: Any, **arguments: Any) -> dict[str, Any]:
    return evaluate(task, model, include_path=mini_tasks(), as_model="figlang_random", **arguments)


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[None]:
    """No explanation scorer but where the task names one, and no Java, which takes minutes."""
    without_java = str(Path(sys.executable).parent)
    with patch.dict(os.environ, {"FIGLANG_SCORER": "off", "PATH": without_java}):
        yield


@pytest.fixture(scope="module", params=VARIED_TASKS)
def harness(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """A task of each kind, and the harness's results of a model that is often right."""
    task: str = request.param
    return task, run_harness(task, PartlyRight(3, 0.6))


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(rows)
    return path


def harness_records(results: dict[str, Any], task: str) -> Records:
    samples = sorted(results["samples"][task], key=lambda sample: sample["doc_id"])
    return [json.loads(json.dumps(sample["sample"])) for sample in samples]


def records_of(run: Run) -> Records:
    (task,) = run.tasks.values()
    return [json.loads(json.dumps(record)) for record in task.records]


def measures_of(results: Mapping[str, Any]) -> dict[str, Any]:
    (config,) = results["configs"].values()
    return json.loads(json.dumps(config["metadata"]["measures"]))


def table_of(results: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the harness's table, without its own errors, which are none for most values."""
    (table,) = results["results"].values()
    return {
        name: value
        for name, value in table.items()
        if isinstance(value, float | int) and "_stderr" not in name
    }


def outputs_by_id(results: dict[str, Any], task: str) -> list[tuple[str, int, str]]:
    """The id, the number and the output of each row."""
    outputs: list[tuple[str, int, str]] = []
    for sample in results["samples"][task]:
        outputs.append((sample["sample"]["id"], sample["doc_id"], sample["resps"][0][0]))
    return outputs


def test_answers_by_id_in_another_order_equal_the_run(
    harness: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    task, results = harness
    rows = [(row_id, output) for row_id, _, output in outputs_by_id(results, task)]
    random.Random(5).shuffle(rows)
    path = write_csv(tmp_path / "answers.csv", ["sample_id", "response"], rows)
    run = figlang_tasks.score(path, task_argument(task), scorer="off")
    assert records_of(run) == harness_records(results, task)
    assert measures_of(run.results) == measures_of(results)
    assert table_of(run.results) == table_of(results)


def test_answers_by_row_number_equal_the_run(
    harness: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    task, results = harness
    rows = [(f"{number}.0", output) for _, number, output in outputs_by_id(results, task)]
    path = write_csv(tmp_path / "answers.csv", ["index", "prediction"], rows[::-1])
    run = figlang_tasks.score(path, task_argument(task), scorer="off")
    assert records_of(run) == harness_records(results, task)
    assert measures_of(run.results) == measures_of(results)


def test_missing_rows_that_count_as_wrong_equal_empty_answers(
    harness: tuple[str, dict[str, Any]],
) -> None:
    task, results = harness
    answers = {row_id: output for row_id, _, output in outputs_by_id(results, task)}
    given_answers = dict(list(answers.items())[::2])
    with_empty_answers = {row_id: given_answers.get(row_id, "") for row_id in answers}
    name = task_argument(task)
    missing = figlang_tasks.score(given_answers, name, missing_rows="wrong", scorer="off")
    empty = figlang_tasks.score(with_empty_answers, name, scorer="off")
    assert measures_of(missing.results) == measures_of(empty.results)
    (config,) = missing.results["configs"].values()
    count = len(answers) - len(given_answers)
    assert config["metadata"]["predictions"]["missing_rows_count_as_wrong"] == count


def test_several_answers_to_each_row_equal_repeats(tmp_path: Path) -> None:
    answers = ("So it is.\nLABEL: entailment", "No.\nLABEL: contradiction", "", "Who knows.")
    results = run_harness(
        EXPLAINED, FixedAnswers(*answers), repeats=3, gen_kwargs="temperature=0.7,do_sample=True"
    )
    rows: list[tuple[str, str]] = []
    for sample in results["samples"][EXPLAINED]:
        # The harness has the answers to a row in one sample, or in a sample for each of them.
        rows += [(sample["sample"]["id"], output) for output in sample["resps"][0]]
    path = write_csv(tmp_path / "answers.csv", ["id", "output"], rows)
    run = figlang_tasks.score(path, EXPLAINED, scorer="off")
    assert len(records_of(run)) == 3 * 76
    assert measures_of(run.results) == measures_of(results)


# --- labels ---


@pytest.fixture(scope="module")
def labelled() -> tuple[list[tuple[str, str, str]], dict[str, Any]]:
    """Rows with id, label and explanation, and the harness's run with the same in words."""
    ids = [
        record["id"]
        for record in harness_records(run_harness(EXPLAINED, FixedAnswers("")), EXPLAINED)
    ]
    rows: list[tuple[str, str, str]] = []
    for number, row_id in enumerate(ids):
        label = ("entailment", "contradiction")[number % 3 % 2]
        rows.append((row_id, label, f"Kettle number {number} stands beside a lantern."))
    answers = [f"{explanation}\nLABEL: {label}" for _, label, explanation in rows]
    return rows, run_harness(EXPLAINED, FixedAnswers(*answers))


@pytest.mark.parametrize(
    "names", [("entailment", "contradiction"), ("1", "0"), (" Entailment", "CONTRADICTION")]
)
def test_labels_with_explanations_equal_a_run_in_words(
    labelled: tuple[list[tuple[str, str, str]], dict[str, Any]],
    names: tuple[str, str],
    tmp_path: Path,
) -> None:
    rows, results = labelled
    written = {"entailment": names[0], "contradiction": names[1]}
    cells = [(row_id, written[label], explanation) for row_id, label, explanation in rows]
    path = write_csv(tmp_path / "labels.csv", ["id", "label", "explanation"], cells)
    run = figlang_tasks.score(path, EXPLAINED, scorer="off")
    values = measures_of(run.results)["values"]
    assert values == measures_of(results)["values"]
    assert {record["rule"] for record in records_of(run)} == {"label as given"}


def test_labels_alone_have_the_measures_of_labels(
    labelled: tuple[list[tuple[str, str, str]], dict[str, Any]],
) -> None:
    rows, results = labelled
    expected = table_of(results)
    frame = pd.DataFrame([(row_id, label) for row_id, label, _ in rows], columns=["id", "label"])
    table = table_of(figlang_tasks.score(frame, EXPLAINED).results)
    assert table["acc,none"] == expected["acc,none"]
    assert table["f1@0,none"] == expected["f1@0,none"]
    assert not [metric for metric in table if metric in ("f1@53,none", "explanation_score,none")]


# --- scores of candidates ---


@pytest.mark.parametrize(
    ("task", "candidates"),
    [
        ("figlang_mini_irfl_detect_idiom", 4),
        ("figlang_mini_irfl_match_idiom", 4),
        ("figlang_mini_irfl_retrieve_metaphor", 1),
        ("figlang_mini_metaclue_retrieve_swap", 2),
    ],
)
def test_scores_equal_those_of_a_model_that_scores_candidates(
    task: str, candidates: int, tmp_path: Path
) -> None:
    generator = random.Random(7)
    scores = [[generator.random() for _ in range(candidates)] for _ in range(40)]
    answers = [json.dumps({"scores": row}) for row in scores]
    results = run_harness(task, FixedAnswers(*answers))
    records = harness_records(results, task)
    cells = [(record["id"], json.dumps(row)) for record, row in zip(records, scores, strict=False)]
    one_column = write_csv(tmp_path / "scores.csv", ["id", "scores"], cells)
    columns = ["id", *[f"score_{number}" for number in range(1, candidates + 1)]]
    several = [(record["id"], *row) for record, row in zip(records, scores, strict=False)]
    column_each = write_csv(tmp_path / "columns.csv", columns, several)
    for path in (one_column, column_each):
        run = figlang_tasks.score(path, task)
        assert records_of(run) == records
        assert measures_of(run.results) == measures_of(results)


# --- properties ---


def idiom_answers() -> list[tuple[str, str]]:
    """The id of each row of a task, and an answer to it."""
    return [(f"idiom-detection-task-{row}", "ABCD?"[row % 5]) for row in range(12)]


@pytest.fixture(scope="module")
def run_in_order() -> Run:
    """The run whose answers are in the order of the rows."""
    return figlang_tasks.score(dict(idiom_answers()), "figlang_mini_irfl_detect_idiom")


@settings(max_examples=10)
@given(generator=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(generator: random.Random, run_in_order: Run) -> None:
    answers = idiom_answers()
    generator.shuffle(answers)
    shuffled = figlang_tasks.score(dict(answers), "figlang_mini_irfl_detect_idiom")
    assert records_of(shuffled) == records_of(run_in_order)
    assert measures_of(shuffled.results) == measures_of(run_in_order.results)
