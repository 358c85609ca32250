"""Results count read and unread answers wrongly if these tests fail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import done
from demo_runs import FixedAnswers, evaluate
from saved_runs import ANSWER_BY_TASK, sample_lines, write_run

from figlang_tasks.results import runs
from figlang_tasks.scoring.readings import count_readings


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], None),
        ([{"caption": "A cage."}], None),  # nobody reads a caption
        ([{"status": "scores", "rule": "argmax"}], None),
        ([{"status": "no_scores", "rule": ""}], None),
        (
            [{"status": "read", "rule": "alone"}, {"status": "scores", "rule": "argmax"}],
            {"read": {"alone": 1}, "left": {}, "scores": 1, "left_count_as": "wrong"},
        ),
        (
            [
                {"status": "unreadable", "rule": "nothing"},
                {"status": "read", "rule": "head"},
                {"status": "ambiguous", "rule": "conflict"},
                {"status": "read", "rule": "announced"},
                {"status": "read", "rule": "alone"},
                {"status": "empty", "rule": "thought"},
                {"status": "unreadable", "rule": "nothing"},
                {"status": "read", "rule": "announced"},
            ],
            {
                "read": {"announced": 2, "alone": 1, "head": 1},
                "left": {"unreadable": 2, "ambiguous": 1, "empty": 1},
                "scores": 0,
                "left_count_as": "wrong",
            },
        ),
    ],
)
def test_counts(records: list[dict[str, Any]], expected: dict[str, Any] | None) -> None:
    for records_in_some_order in (records, records[::-1]):
        readings = count_readings(records_in_some_order)
        assert json.dumps(readings) == json.dumps(expected), "in any order of the records"


def readings_of(results: dict[str, Any], task: str) -> Any:
    """The readings of a task in a results file."""
    return results["configs"][task]["metadata"].get("readings")


def test_a_run_has_readings_of_all_repeats_and_after_figlang_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "off")  # `figlang score` has scores to add
    task = "figlang_mini_flute"
    model = FixedAnswers("Entails. So.", "Hm.", "Contradicts. So.", "")
    results = evaluate(
        task,
        model,
        repeats=2,
        limit=6,
        gen_kwargs="do_sample=True,temperature=1",
        saved=tmp_path / "a",
    )
    expected = readings_of(results, task)
    assert sum(expected["read"].values()) == 6 and expected["left"] == {"empty": 3, "unreadable": 3}
    (saved,) = (tmp_path / "a").rglob("*_results.json")
    assert readings_of(json.loads(saved.read_text()), task) == expected
    done("score", tmp_path / "a", "--scorer", "embedded", "-o", tmp_path / "b")
    (scored,) = (tmp_path / "b").rglob("*results.json")
    assert readings_of(json.loads(scored.read_text()), task) == expected


def test_score_adds_readings_where_the_results_file_has_none(tmp_path: Path) -> None:
    task = "figlang_mini_flute"
    write_run(tmp_path / "a", {task: sample_lines(task, 6)})
    printed = done("score", tmp_path / "a", "--scorer", "embedded", "-o", tmp_path / "b")
    (scored,) = (tmp_path / "b").rglob("*results.json")
    readings = readings_of(json.loads(scored.read_text()), task)
    assert readings["left"] == {"unreadable": 2} and sum(readings["read"].values()) == 4
    assert f"{task}: The score is a lower bound: 2 of 6 answers could not be read" in printed
    command = f"figlang judge read {tmp_path / 'b'}"
    assert f"to have a language model read what is left: {command}" in printed


@pytest.mark.parametrize("task", ANSWER_BY_TASK)
def test_every_task_that_reads_words_has_readings(task: str) -> None:
    records = [sample["sample"] for sample in sample_lines(task, 6)]
    without_words = ("match", "irfl_retrieve", "retrieve_swap", "vqa")
    has_words = not any(name in task for name in without_words)
    assert (count_readings(records) is not None) == has_words


@pytest.mark.parametrize(
    ("task", "output", "expected"),
    [
        ("figlang_mini_nykms_metaphor", "Perhaps.", "No"),  # "Yes" or not, by the paper's rule
        ("figlang_mini_flute", "Perhaps.", "wrong"),
        ("figlang_mini_irfl_detect_idiom", "Perhaps.", "wrong"),
    ],
)
def test_what_unread_answers_count_as(task: str, output: str, expected: str) -> None:

    def answer(doc: Mapping[str, Any], number: int) -> str:
        return output

    samples = sample_lines(task, None, answer)
    readings = count_readings(sample["sample"] for sample in samples)
    assert readings is not None
    assert readings["left_count_as"] == expected
    assert readings["read"] == {}
    accuracy = "mc_acc" if "nykms" in task else "acc"
    right_answers = sum(sample[accuracy] for sample in samples)
    assert (right_answers > 0) == (expected == "No")


def test_damaged_readings_are_named(tmp_path: Path) -> None:
    task = "figlang_mini_flute"
    metadata = {
        "readings": {"read": {"official": "4"}, "left": {}, "scores": 0, "left_count_as": "wrong"}
    }
    path = write_run(
        tmp_path / "a", {task: sample_lines(task, 6)}, configs={task: {"metadata": metadata}}
    )
    with pytest.raises(runs.RunError, match=f"{task}: metadata.readings.read.official is '4'"):
        runs.read(str(path))
