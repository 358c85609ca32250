"""How many test rows the New Yorker Caption Contest has."""

from __future__ import annotations

from figlang_tasks.benchmarks.nycc.configurations import fold_names, parse_name
from figlang_tasks.core.request import Request

TEST = {
    "matching": (528, 531, 546, 540, 546),
    "ranking": (513, 506, 534, 531, 531),
    "explanation": (131, 130, 130, 130, 130),
}
"""Test rows of each fold, by task.

The validation rows of a fold are the test rows of the next one, and all others are training rows.
"""

OTHER = {"ranking_1": 507}
"""Test rows of configurations that differ from `TEST`: ``ranking_from_pixels_1`` has 506."""

SEEN = {
    "matching",
    "matching_from_pixels",
    "matching_from_pixels_1",
    "matching_from_pixels_2",
    "matching_from_pixels_3",
    "matching_from_pixels_4",
    "ranking_1",
    "ranking_from_pixels",
    "ranking_from_pixels_1",
    "ranking_from_pixels_2",
    "ranking_from_pixels_3",
    "explanation",
}
"""Configurations whose number of test rows the hub's pages show.

The numbers of the others are inferred from totals, and from the same fold of other configurations.
"""


def count(request: Request) -> int:
    """The number of test rows of a task, as published or as inferred (`SEEN`)."""
    return sum(count_of(name) for name in fold_names(request))


def count_of(name: str) -> int:
    """The number of test rows of a configuration."""
    if name in OTHER:
        return OTHER[name]
    configuration = parse_name(name)
    return TEST[configuration.task][configuration.fold]
