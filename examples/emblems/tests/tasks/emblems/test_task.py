"""Emblems: what counts as an answer, and which answers are right."""

import pytest

from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.emblems.tasks import ABOUT
from figlang_tasks.scoring import process_results


@pytest.mark.parametrize(
    ("output", "value", "status"),
    [
        (None, None, "missing"),
        ("Yes", True, "read"),
        ("**No**, it is only a snail.", False, "read"),
        ("The picture conveys the saying.", True, "read"),
        ("The picture does not convey the saying.", False, "read"),
        ("The picture shows a snail, and the saying is about patience.", None, "unreadable"),
    ],
)
def test_what_counts_as_an_answer(output: str | None, value: bool | None, status: str) -> None:
    found = yes_no(output, about=ABOUT)
    assert (found.value, found.status) == (value, status)


@pytest.mark.parametrize(
    ("output", "fits", "acc"), [("Yes", 1, 1.0), ("Yes", 0, 0.0), ("No", 0, 1.0), ("Hm", 0, 0.0)]
)
def test_no_answer_is_a_wrong_answer(output: str, fits: int, acc: float) -> None:
    document = {"request": "Emblems,split=test", "id": "emblem-0", "data": "Emblems", "fits": fits}
    judgement = process_results(document, [output])
    assert judgement["acc"] == acc and judgement["sample"]["task"] == "emblems"
