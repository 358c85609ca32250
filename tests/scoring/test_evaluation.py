"""An evaluation shows the numbers of another, or counts votes of answers that nobody could read, if
this fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from judging import task_with

from figlang_tasks.scoring import Measure, Measures, evaluate
from figlang_tasks.scoring.lm_eval import metric_list_for_lm_eval, values_for_lm_eval
from figlang_tasks.scoring.records import REPEAT
from figlang_tasks.scoring.repeats import evaluate_repeats

RIGHT = Measure(
    "right",
    "Share of A.",
    "this test",
    value_of_record=lambda record: float(record["said"] == "A"),
    answer=lambda record: record["said"],
)
WRONG = Measure(
    "wrong",
    "Share of other answers than A.",
    "this test",
    value_of_record=lambda record: float(record["said"] != "A"),
    higher_is_better=False,
)
MEASURES = Measures.of(RIGHT, WRONG)


def records(*rows: Sequence[str | None]) -> list[dict[str, Any]]:
    """A record of each answer to each row; None could not be read."""
    made = []
    for number, answers in enumerate(rows):
        for place, said in enumerate(answers, start=1):
            record = {"id": str(number), "data": "x/test:0", "said": said}
            made.append(record | ({REPEAT: place} if len(answers) > 1 else {}))
    return made


def test_a_second_evaluation_of_lm_eval_in_one_process_has_its_own_numbers() -> None:
    """Rows and outputs may be equal: what is judged is not (another option of the task, another
    reader).
    """
    values = {}
    entries = metric_list_for_lm_eval(task_with(MEASURES))
    for run, answers in {"first": ("A", "A", "B", "B"), "second": ("A", "B", "B", "B")}.items():
        documents = [
            values_for_lm_eval(MEASURES.values(record), [])
            for record in records(*[[said] for said in answers])
        ]
        for entry in entries:
            items = [dict(document.items())[entry["metric"]] for document in documents]
            values[run, entry["metric"]] = entry["aggregation"](items)
    assert values == {
        ("first", "right"): 0.5,
        ("first", "wrong"): 0.5,
        ("second", "right"): 0.25,
        ("second", "wrong"): 0.75,
    }


@pytest.mark.parametrize(
    ("answers", "voted"),
    [
        ([None, None, "A"], 1.0),  # what could not be read has no vote
        ([None, None, None, "B", "A"], 0.0),  # the first of those that were given equally often
        (["B", None, "A", "A"], 1.0),
        ([None, None], 0.0),  # nothing could be read: as an answer that was not
        (["A", "B", "B"], 0.0),
    ],
)
def test_unreadable_answers_have_no_vote(answers: list[str | None], voted: float) -> None:
    found = records(answers)
    repeats = evaluate_repeats(found, MEASURES, evaluate(found, MEASURES))
    assert repeats is not None
    assert repeats[f"maj@{len(answers)}"] == voted
