"""The level of chance in the report's charts of IRFL: if this fails, it is not that of the rows."""

from __future__ import annotations

import math
from typing import Any

import pytest

from figlang_tasks.benchmarks.irfl.charts import CHARTS

IDIOM_TYPES = ("figurative", "figurative_literal")


def chance_levels(
    task: str, measure: str, records: list[dict[str, Any]], *scopes: str
) -> dict[str, float]:
    """Chance by category of the chart of a measure, which has values in `scopes`."""
    categories = CHARTS[0].categories("IRFL", task, {measure: ("all", *scopes)})
    levels: dict[str, float] = {}
    for category in categories:
        if category.measure == measure:
            levels[category.category] = category.chance(records)
    return levels


CHOICES = [
    {"roles": ["answer", "literal", "random", "random"], "type": "figurative"},
    {"roles": ["random", "answer"], "type": "figurative"},
]


def test_chance_of_a_right_choice_depends_on_the_number_of_images() -> None:
    levels = chance_levels("irfl_detect_idiom", "acc", CHOICES)
    assert levels == {"idiom": pytest.approx((1 / 4 + 1 / 2) / 2)}


def test_chance_of_a_literal_failure_is_the_share_of_literal_images_among_wrong_ones() -> None:
    levels = chance_levels("irfl_detect_idiom", "literal_preference", CHOICES)
    assert levels == {"idiom": pytest.approx((1 / 3 + 0) / 2)}


def ranking(idiom_type: str, *positives: bool) -> list[dict[str, Any]]:
    """The records of a row of four images, of which the first ones were asked."""
    records: list[dict[str, Any]] = []
    for number, positive in enumerate(positives):
        records.append(
            {
                "id": f"{idiom_type}-{number}",
                "row": idiom_type,
                "type": idiom_type,
                "value": 0.5,
                "positive": positive,
                "images": 4,
            }
        )
    return records


def test_chance_of_retrieval_is_the_share_of_right_images_by_type() -> None:
    records = ranking("figurative", True, False, False, False)
    records += ranking("figurative_literal", True, True, False, False)
    levels = chance_levels("irfl_retrieve_idiom", "p@k", records, *IDIOM_TYPES)
    assert levels == {"idiom, figurative": 1 / 4, "idiom, figurative + literal": 1 / 2}


def test_chance_of_retrieval_is_unknown_without_a_complete_row() -> None:
    records = ranking("figurative", True, False)
    (level,) = chance_levels("irfl_retrieve_metaphor", "p@k", records).values()
    assert math.isnan(level)
