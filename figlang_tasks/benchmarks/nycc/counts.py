"""How many test rows the New Yorker Caption Contest has."""

from __future__ import annotations

from figlang_tasks.benchmarks.nycc.configurations import config, configs
from figlang_tasks.core.request import Request

TEST = {
    "matching": (528, 531, 546, 540, 546),
    "ranking": (513, 506, 534, 531, 531),
    "explanation": (131, 130, 130, 130, 130),
}
"""Test rows of each fold. Validation of a fold is the test of the next one; all others train."""
OTHER = {"ranking_1": 507}  # its twin ranking_from_pixels_1 has 506
SEEN = {
    *(
        "matching",
        "matching_from_pixels",
        *(f"matching_from_pixels_{fold}" for fold in range(1, 5)),
    ),
    *("ranking_1", "ranking_from_pixels", *(f"ranking_from_pixels_{fold}" for fold in range(1, 4))),
    "explanation",
}
"""Configurations whose number of test rows the hub's pages show; the others are inferred from
totals and twins.
"""


def count(request: Request) -> int:
    """Number of test rows of a task, as published or as inferred (:data:`SEEN`)."""
    return sum(count_of(name) for name in configs(request))


def count_of(name: str) -> int:
    """Number of test rows of a configuration."""
    task, _, fold = config(name)
    return OTHER.get(name, TEST[task][fold])
