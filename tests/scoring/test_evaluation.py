"""Numbers of another evaluation, or votes of unread answers, are counted if these tests fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tasks_without_harness import task_with

from figlang_tasks.core.record import Record
from figlang_tasks.scoring import Measure, Measures, evaluate
from figlang_tasks.scoring.lm_eval import metric_list_for_lm_eval, values_for_lm_eval
from figlang_tasks.scoring.records import REPEAT
from figlang_tasks.scoring.repeats import evaluate_repeats


def is_a(record: Record) -> float:
    """1 if the answer of a record is A."""
    return float(record["answer"] == "A")


def is_not_a(record: Record) -> float:
    """1 if the answer of a record is not A."""
    return float(record["answer"] != "A")


def answer_of(record: Record) -> str | None:
    """The answer of a record; None if it could not be read."""
    answer: str | None = record["answer"]
    return answer


RIGHT = Measure("right", "Share of A.", "this test", value_of_record=is_a, answer=answer_of)
WRONG = Measure(
    "wrong",
    "Share of other answers than A.",
    "this test",
    value_of_record=is_not_a,
    higher_is_better=False,
)
MEASURES = Measures.of(RIGHT, WRONG)


def records(*rows: Sequence[str | None]) -> list[dict[str, Any]]:
    """A record of each answer to each row; None could not be read."""
    records_of_rows: list[dict[str, Any]] = []
    for row, answers in enumerate(rows):
        for number, answer in enumerate(answers, start=1):
            record: dict[str, Any] = {"id": str(row), "data": "x/test:0", "answer": answer}
            if len(answers) > 1:
                record[REPEAT] = number
            records_of_rows.append(record)
    return records_of_rows


def test_a_second_evaluation_of_lm_eval_in_one_process_has_its_own_numbers() -> None:
    """Rows and outputs of two runs may be equal while what is judged differs.

    That is so with another option of the task, or another reader.
    """
    values = {}
    entries = metric_list_for_lm_eval(task_with(MEASURES))
    for run, answers in {"first": "AABB", "second": "ABBB"}.items():
        documents = []
        for record in records(*answers):
            documents.append(values_for_lm_eval(MEASURES.values(record), []))
        for entry in entries:
            metric = entry["metric"]
            judged_answers = [dict(document.items())[metric] for document in documents]
            values[run, metric] = entry["aggregation"](judged_answers)
    assert values == {
        ("first", "right"): 0.5,
        ("first", "wrong"): 0.5,
        ("second", "right"): 0.25,
        ("second", "wrong"): 0.75,
    }


@pytest.mark.parametrize(
    ("answers", "majority_value"),
    [
        ([None, None, "A"], 1.0),  # what could not be read has no vote
        ([None, None, None, "B", "A"], 0.0),  # the first of those that were given equally often
        (["B", None, "A", "A"], 1.0),
        ([None, None], 0.0),  # nothing could be read: as an answer that was not
        (["A", "B", "B"], 0.0),
    ],
)
def test_unreadable_answers_have_no_vote(answers: list[str | None], majority_value: float) -> None:
    answers_to_row = records(answers)
    summary = evaluate_repeats(answers_to_row, MEASURES, evaluate(answers_to_row, MEASURES))
    assert summary is not None
    assert summary[f"maj@{len(answers)}"] == majority_value
