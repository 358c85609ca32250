"""If these fail, the report draws another level of chance beside IRFL's accuracies than the rows
have.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from figlang_tasks.benchmarks.irfl.charts import CHARTS

BOTH = ("figurative", "figurative_literal")


def levels(
    task: str, measure: str, records: list[dict[str, Any]], *scopes: str
) -> dict[str, float]:
    """Chance by category of the chart of a measure, which has values in `scopes`."""
    categories = CHARTS[0].categories("IRFL", task, {measure: ("all", *scopes)})
    return {
        drawn.category: drawn.chance(records) for drawn in categories if drawn.measure == measure
    }


def test_of_choices_the_number_of_images_and_the_literal_ones_among_the_wrong() -> None:
    roles = (["answer", "literal", "random", "random"], ["random", "answer"])
    records = [{"roles": each, "type": "figurative"} for each in roles]
    assert levels("irfl_detect_idiom", "acc", records) == {
        "idiom": pytest.approx((1 / 4 + 1 / 2) / 2)
    }
    literal = levels("irfl_detect_idiom", "literal_preference", records)
    assert literal == {"idiom": pytest.approx((1 / 3 + 0) / 2)}


def test_of_retrieval_the_share_of_right_images_in_whole_rows_of_a_class() -> None:
    rows = {
        "figurative": [True, False, False, False],
        "figurative_literal": [True, True, False, False],
    }
    records = [
        {
            "id": f"{kind}-{number}",
            "row": kind,
            "type": kind,
            "value": 0.5,
            "positive": positive,
            "images": 4,
        }
        for kind, row in rows.items()
        for number, positive in enumerate(row)
    ]
    found = levels("irfl_retrieve_idiom", "p@k", records, *BOTH)
    assert found == {"idiom, figurative": 1 / 4, "idiom, figurative + literal": 1 / 2}
    (cut,) = levels("irfl_retrieve_metaphor", "p@k", records[:2]).values()
    assert math.isnan(cut)
