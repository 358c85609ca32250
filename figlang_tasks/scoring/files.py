"""Estimates in results files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from figlang_tasks.scoring.measure import Estimate, Estimates

FORMAT = 1
"""Version of the shape that `to_json` writes."""


def to_json(estimates: Estimates) -> dict[str, Any]:
    """Estimates as results files hold them under ``configs.<task>.metadata.measures``.

    Returns:
        ``{"format": 1, "values": {measure: {scope: {"value": ..., "low": ..., "high": ..., "stderr": ..., "rows":
        ...}}}, "failed": [measure]}``; the scope of all rows is ``all``. What is not known is left out; ``failed`` are
        those whose value is no number.
    """
    return {
        "format": FORMAT,
        "failed": [
            measure
            for measure, scopes in estimates.items()
            if not all(math.isfinite(estimate.value) for estimate in scopes.values())
        ],
        "values": {
            measure: {
                scope: {key: value for key, value in estimate._asdict().items() if value is not None}
                for scope, estimate in scopes.items()
                if math.isfinite(estimate.value)
            }
            for measure, scopes in estimates.items()
            if any(math.isfinite(estimate.value) for estimate in scopes.values())
        },
    }


def from_json(content: Any) -> dict[str, dict[str, Estimate]]:
    """Estimates of what :func:`to_json` returned.

    Raises:
        ValueError: it is damaged, or of a later version of figlang_tasks.
    """
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError(f"measures do not have the format {FORMAT}: did another version of figlang_tasks write them?")
    try:
        return {
            str(measure): {str(scope): _estimate(of) for scope, of in scopes.items()}
            for measure, scopes in content["values"].items()
        }
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"measures are damaged ({type(error).__name__}: {error})") from error


def failed(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The measures whose computation failed, of what :func:`to_json` returned."""
    return tuple(map(str, content.get("failed") or ()))


def _estimate(of: Mapping[str, Any]) -> Estimate:
    for key, value in of.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise TypeError(f"{key} is {value!r}, must be a number")
    return Estimate(**of)
