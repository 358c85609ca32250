"""What a results file holds of the measures of a task, made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks import scoring
from figlang_tasks.results import measures
from figlang_tasks.scoring import Estimate


def estimates_of(values: Mapping[str, float | Estimate]) -> dict[str, dict[str, Estimate]]:
    """Estimates by measure and scope; ``f1@0_muse`` names both."""
    found: dict[str, dict[str, Estimate]] = {}
    for name, value in values.items():
        of = measures.named(name)
        assert of is not None, name
        found.setdefault(of[0].name, {})[of[1]] = value if isinstance(value, Estimate) else Estimate(value)
    return found


def measures_of(values: Mapping[str, float | Estimate]) -> dict[str, Any]:
    """The entry ``measures`` of a task's metadata."""
    return scoring.to_json(estimates_of(values))
