"""``figlang score FILE --task`` on samples of the harness: the same answers have the values of the
run, and samples that do not fit are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from commands import done, figlang
from demo_runs import FixedAnswers, evaluate, metrics, mini_tasks

from figlang_tasks.cli.lmms_eval import ending
from figlang_tasks.core.errors import RunError
from figlang_tasks.results import runs
from figlang_tasks.scoring.task_file import TaskFile

TASK = "figlang_mini"
NAME = f"2026-01-02T03-04-05_samples_{TASK}.jsonl"
ANSWERS = (
    "A mule does not move.\n\nLABEL: entailment",
    "A kettle\u2028🫖 of no meaning.\x85\n\nLABEL: contradiction",
    "LABEL: entailment",
    "I would not say which it is.",
    "",
)

Sample: TypeAlias = dict[str, Any]
"""A line of a samples file."""


@pytest.fixture(scope="module")
def saved_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of the harness: 76 answers, some empty, some with line separators."""
    folder = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIGLANG_SCORER", "off")
        evaluate(TASK, FixedAnswers(*ANSWERS), saved=folder)
    return folder


@pytest.fixture(scope="module")
def predict_only_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same run without judgement (``--predict_only``)."""
    folder = tmp_path_factory.mktemp("predicted")
    evaluate(TASK, FixedAnswers(*ANSWERS), saved=folder, predict_only=True)
    return folder


def test_a_run_without_scores_names_the_command_that_scores_it(predict_only_run: Path) -> None:
    path = samples_file(predict_only_run)
    with pytest.raises(RunError) as refusal:
        runs.read(str(predict_only_run))
    command = f"figlang score {path.parent} --task {TASK}"
    message = f"This run used --predict_only and has no scores. To score it: {command}"
    assert str(refusal.value) == message
    listed = figlang("runs", predict_only_run)
    assert (listed.exit_code, listed.stderr) == (1, f"figlang: {message}\n")
    (results,) = predict_only_run.rglob("*_results.json")
    last_line = ending(json.loads(results.read_bytes()), [results, path]).splitlines()[-1]
    assert last_line == f"next: {command}"
    done(*command.split()[1:], "-o", predict_only_run.parent / "scored", "--scorer", "off")


def samples_file(folder: Path) -> Path:
    (path,) = folder.rglob("*_samples_*.jsonl")
    return path


def read_samples(path: Path) -> list[Sample]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def write_samples(path: Path, samples: list[Sample]) -> Path:
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    return path


def values_of(run: Path, task: str = TASK) -> dict[str, Any]:
    """The values in the harness's own table of a saved run, without standard errors."""
    table = runs.read(str(run)).tasks[task].table
    return {
        name: value
        for name, value in table.items()
        if isinstance(value, float) and "_stderr" not in name
    }


def records_of(run: Path, task: str = TASK) -> list[Sample]:
    return [sample["sample"] for sample in runs.read(str(run)).tasks[task].samples]


def score(path: Path, output: Path, *options: str, task: str = TASK) -> Path:
    """The folder of the run that the command writes."""
    done("score", path, "--task", task, "--scorer", "off", "-o", output, *options)
    return output


def refusal(path: Path, *options: str, task: str = TASK) -> str:
    """The message that the command ends with."""
    output = path.parent / "refused"
    result = figlang("score", path, "--task", task, "--scorer", "off", "-o", output, *options)
    assert result.exit_code == 1, result.output
    (message,) = [line for line in result.stderr.splitlines() if line.startswith("figlang: ")]
    return message


# --- the values of the run ---


def test_samples_have_the_values_and_records_of_their_run(saved_run: Path, tmp_path: Path) -> None:
    scored = score(samples_file(saved_run), tmp_path / "scored")
    assert values_of(scored) == values_of(saved_run)
    assert records_of(scored) == records_of(saved_run)
    saved_answers = [sample["filtered_resps"] for sample in read_samples(samples_file(saved_run))]
    scored_samples = read_samples(samples_file(scored))
    assert [sample["filtered_resps"][0] for sample in scored_samples] == saved_answers
    assert any("\u2028" in answer for answer in saved_answers)
    assert runs.read(str(scored)).tasks[TASK].contradictions == ()


def test_a_predict_only_run_is_scored_by_its_folder(
    saved_run: Path, predict_only_run: Path, tmp_path: Path
) -> None:
    assert "sample" not in read_samples(samples_file(predict_only_run))[0]
    scored = score(predict_only_run, tmp_path / "scored")
    assert values_of(scored) == values_of(saved_run)
    assert records_of(scored) == records_of(saved_run)


def test_some_of_the_rows_have_the_values_of_a_limited_run(tmp_path: Path, saved_run: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIGLANG_SCORER", "off")
        limited = evaluate(TASK, FixedAnswers(*ANSWERS), limit=4, offset=10)
    some = read_samples(samples_file(saved_run))[10:14][::-1]
    scored = score(write_samples(tmp_path / NAME, some), tmp_path / "scored", "--partial")
    expected = metrics(limited, TASK)
    for name, value in values_of(scored).items():
        assert value == expected[name], name
    assert [sample["doc_id"] for sample in read_samples(samples_file(scored))] == [10, 11, 12, 13]
    assert runs.read(str(scored)).tasks[TASK].partial is not None


def test_rows_are_found_by_recorded_ids_whatever_their_numbers(
    saved_run: Path, tmp_path: Path
) -> None:
    samples = read_samples(samples_file(saved_run))
    for sample in samples:
        sample["doc_id"] = 75 - sample["doc_id"]
    scored = score(write_samples(tmp_path / NAME, samples), tmp_path / "scored")
    assert records_of(scored) == records_of(saved_run)


# --- what does not fit ---


def test_missing_rows_are_named(saved_run: Path, tmp_path: Path) -> None:
    samples = [each for each in read_samples(samples_file(saved_run)) if each["doc_id"] % 5]
    message = refusal(write_samples(tmp_path / NAME, samples))
    assert f"{NAME}: 16 of 76 rows of {TASK} have no prediction: vismet-test-0, " in message
    assert "--missing wrong" in message and "--partial" in message


def with_other_data(sample: Sample) -> Sample:
    return {**sample, "sample": {**sample["sample"], "data": "figlang_mini/test:0123456789ab"}}


def with_id_of_other_row(sample: Sample) -> Sample:
    return {**sample, "sample": {**sample["sample"], "id": f"other-{sample['doc_id']}"}}


def without_number(sample: Sample) -> Sample:
    return {**sample, "doc_id": None}


def with_likelihoods(sample: Sample) -> Sample:
    return {**sample, "filtered_resps": [[-1.25, False], [-2.5, True]]}


def backwards(sample: Sample) -> Sample:
    return {**sample, "doc_id": 75 - sample["doc_id"]}


def backwards_without_prompt(sample: Sample) -> Sample:
    return {key: value for key, value in backwards(sample).items() if key != "input"}


def with_number_twice(sample: Sample) -> Sample:
    return {**sample, "doc_id": sample["doc_id"] % 64}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_other_data, "line 1: this answer is to figlang_mini/test:0123456789ab, but"),
        # Our record names a row, so the number alone must not find another one.
        (
            with_id_of_other_row,
            "76 of 76 predictions are of no row of figlang_mini, by id: other-0, ",
        ),
        (without_number, "line 1: doc_id is None, must be a number"),
        (with_likelihoods, "line 1: its answer is .*, must be a text: does its task compare"),
    ],
)
def test_samples_that_do_not_fit_are_refused(
    change: Callable[[Sample], Sample], message: str, saved_run: Path, tmp_path: Path
) -> None:
    samples = [change(sample) for sample in read_samples(samples_file(saved_run))]
    assert_matches(message, refusal(write_samples(tmp_path / NAME, samples)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # The number of a row alone does not tell whether it is a row of the same split.
        (backwards, "the prompt of row 75 of figlang_mini has the texts of row 0"),
        (
            backwards_without_prompt,
            "its target is .*, but that of row 0 of figlang_mini is .*another row",
        ),
        (with_number_twice, "12 rows have several predictions, .*line 1, .*line 65"),
    ],
)
def test_samples_without_ids_that_do_not_fit_are_refused(
    change: Callable[[Sample], Sample], message: str, predict_only_run: Path, tmp_path: Path
) -> None:
    samples = [change(sample) for sample in read_samples(samples_file(predict_only_run))]
    assert_matches(message, refusal(write_samples(tmp_path / NAME, samples)))


def assert_matches(pattern: str, text: str) -> None:
    assert re.search(pattern, text), text


def test_a_file_that_was_cut_off_is_refused_with_its_line(saved_run: Path, tmp_path: Path) -> None:
    content = samples_file(saved_run).read_bytes()
    path = tmp_path / NAME
    path.write_bytes(content[:-200])
    message = refusal(path)
    assert f"{NAME}, line 76 " in message and "Was the file cut off" in message


def test_samples_of_another_task_are_told_from_those_of_the_task(
    saved_run: Path, tmp_path: Path
) -> None:
    message = refusal(samples_file(saved_run), task="figlang_mini_flute")
    assert "are of no row of figlang_mini_flute" in message
    assert f"those of {TASK}" in message
    assert f"{saved_run} has no samples file of figlang_mini_flute" in refusal(
        saved_run, task="figlang_mini_flute"
    )


# --- prompts ---


def test_another_prompt_than_that_of_today_is_told_and_kept(
    saved_run: Path, tmp_path: Path
) -> None:
    """The prompt that the model got tells where it goes on with a question of its own."""
    claims = [document["claim"] for document in TaskFile.read(TASK).documents]
    question = 'Would you say that the picture bears out "{}"?'
    samples = read_samples(samples_file(saved_run))
    for sample in samples[:3]:
        sample["input"] = question.format(claims[sample["doc_id"]])
        invented = question.format("A cat sleeps on the roof.")
        sample["filtered_resps"] = f"LABEL: entailment\n{invented}\nLABEL: contradiction"
    path = write_samples(tmp_path / NAME, samples)
    output = done("score", path, "--task", TASK, "--scorer", "off", "-o", tmp_path / "scored")
    assert f"3 of 76 answers were given to another prompt than {TASK} has" in output
    scored = read_samples(samples_file(tmp_path / "scored"))
    assert [sample["input"] for sample in scored] == [sample["input"] for sample in samples]
    # The paper's rule reads on, and so `predicted` would be 0 with any prompt.
    assert [sample["sample"]["predicted_strict"] for sample in scored[:3]] == [1, 1, 1]


def test_the_prompt_of_today_is_not_called_another(saved_run: Path, tmp_path: Path) -> None:
    path = samples_file(saved_run)
    output = done("score", path, "--task", TASK, "--scorer", "off", "-o", tmp_path / "scored")
    assert "another prompt" not in output


# --- several answers to a row: repeats and rounds ---


class Counting(FixedAnswers):
    """Never says the same twice."""

    def __init__(self) -> None:
        super().__init__()
        self.number = count()

    def generate_until(self, requests: list[Any]) -> list[str]:
        labels = ("entailment", "contradiction", "neither")
        numbers = [next(self.number) for _ in requests]
        return [f" It is {n}. “🫖”\nLABEL: {labels[n % 3]} " for n in numbers]


def test_repeats_have_the_values_of_their_run(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIGLANG_SCORER", "off")
        results = evaluate(TASK, Counting(), saved=tmp_path / "run", limit=6, repeats=3)
    scored = score(samples_file(tmp_path / "run"), tmp_path / "scored", "--partial")
    assert values_of(scored) == values_of(tmp_path / "run")
    assert [record["repeat"] for record in records_of(scored)] == [1, 2, 3] * 6
    assert records_of(scored) == records_of(tmp_path / "run")
    run_metadata = results["configs"][TASK]["metadata"]
    scored_metadata = runs.read(str(scored)).tasks[TASK].config["metadata"]
    assert scored_metadata["repeats"] == run_metadata["repeats"]


def test_a_row_that_lacks_one_of_its_repeats_is_refused(saved_run: Path, tmp_path: Path) -> None:
    """Without this, the answers after the gap would count as those before it."""
    repeats: list[Sample] = []
    for sample in read_samples(samples_file(saved_run)):
        for number in (1, 2, 3):
            is_gap = sample["doc_id"] == 5 and number == 2
            if not is_gap:
                record = {**sample["sample"], "repeat": number}
                repeats.append({**sample, "sample": record})
    message = refusal(write_samples(tmp_path / NAME, repeats))
    assert "several answers to a row count as repeats only if every row has as many" in message


def test_the_rounds_of_a_scene_graph_run_have_its_values(tmp_path: Path) -> None:
    task_file = str(Path(mini_tasks()) / "mini_sg.yaml")
    options: dict[str, Any] = {"include_path": mini_tasks(), "limit": 10, "repeats": 2}
    evaluate("mini_sg", Counting(), saved=tmp_path / "run", **options)
    saved = read_samples(samples_file(tmp_path / "run"))
    assert json.loads(saved[1]["filtered_resps"]).keys() == {"scene_graph", "answer"}
    scored = score(samples_file(tmp_path / "run"), tmp_path / "scored", "--partial", task=task_file)
    assert values_of(scored, "mini_sg") == values_of(tmp_path / "run", "mini_sg")
    assert records_of(scored, "mini_sg") == records_of(tmp_path / "run", "mini_sg")


def test_a_scene_graph_run_that_was_cut_off_lacks_its_second_round(tmp_path: Path) -> None:
    task_file = str(Path(mini_tasks()) / "mini_sg.yaml")
    evaluate(
        "mini_sg",
        Counting(),
        saved=tmp_path / "run",
        include_path=mini_tasks(),
        limit=3,
        gen_kwargs="max_agentic_steps=1",
    )
    message = refusal(samples_file(tmp_path / "run"), "--partial", task=task_file)
    assert "line 1: mini_sg asks twice, and an output must be a JSON object" in message
