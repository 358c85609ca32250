"""Emblems: which outputs count as answers, and how the metrics score them."""

import pytest
from figlang_emblems.measures import MEASURES
from figlang_emblems.tasks import record

from figlang_tasks.scoring import evaluate

DOCUMENT = {"request": "Emblems,split=test", "id": "emblem-0", "data": "Emblems", "fits": 1}


@pytest.mark.parametrize(
    ("output", "predicted", "status"),
    [
        (None, None, "missing"),
        ("Yes", True, "read"),
        ("**No**, it is only a snail.", False, "read"),
        ("The picture conveys the saying.", True, "read"),
        ("The picture does not convey the saying.", False, "read"),
        ("The picture shows a snail, and the saying is about patience.", None, "unreadable"),
    ],
)
def test_what_counts_as_an_answer(output: str | None, predicted: bool | None, status: str) -> None:
    answer = record(DOCUMENT, output)
    assert (answer["predicted"], answer["status"]) == (predicted, status)


def test_metrics() -> None:
    """Counted by hand: of four answers to a fitting picture, one is right and three are read."""
    outputs = ["Yes", "No", "No", "Hm"]
    records = [record(DOCUMENT, output) for output in outputs]
    values = evaluate(records, MEASURES)
    assert values["acc"]["all"].value == 1 / 4
    assert values["parse_rate"]["all"].value == 3 / 4
