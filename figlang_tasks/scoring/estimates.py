"""`Estimate`: the value of a measure with its interval, and how results files hold estimates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from figlang_tasks.metrics.intervals import Interval

OVERALL = "all"
"""The scope of all rows."""


class Estimate(NamedTuple):
    """The value of a measure in one scope; None is not known.

    Attributes:
        value: on the measure's own scale.
        low, high: ends of its 95 % interval; None also where there is no sound one.
        stderr: standard error, by the bootstrap over units; of scopes it is not computed.
        rows: number of rows of the benchmark that it was taken over.
    """

    value: float
    low: float | None = None
    high: float | None = None
    stderr: float | None = None
    rows: int | None = None

    @classmethod
    def of(cls, value: float, interval: Interval | None, stderr: float | None = None) -> Estimate:
        low, high = interval or (None, None)
        return cls(value, low, high, stderr)

    @classmethod
    def mean(cls, estimates: Sequence[Estimate]) -> Estimate:
        """The mean of estimates from the same rows; the mean of their limits is an interval that
        may be too wide.
        """
        value = float(np.mean([estimate.value for estimate in estimates]))
        limits = [estimate.limits for estimate in estimates if estimate.limits is not None]
        if len(limits) < len(estimates):
            return cls.of(value, None)
        low, high = np.mean(limits, axis=0).tolist()
        return cls.of(value, Interval(low, high))

    @property
    def limits(self) -> Interval | None:
        """The 95 % interval; None where there is no sound one."""
        if self.low is None or self.high is None:
            return None
        return Interval(self.low, self.high)


Estimates: TypeAlias = Mapping[str, Mapping[str, Estimate]]
"""By measure, then by scope."""


def full_name(measure: str, scope: str) -> str:
    """Measure and scope in one word, as command lines take it: ``f1@60_muse``; of all rows
    ``f1@60``.
    """
    return measure if scope == OVERALL else f"{measure}_{scope}"


def flat(estimates: Estimates) -> Iterator[tuple[str, str, Estimate]]:
    """Measure, scope and estimate, one after another."""
    for measure, scopes in estimates.items():
        for scope, estimate in scopes.items():
            yield measure, scope, estimate


# --- in results files ---

FORMAT = 1
"""Version of the shape that `to_json` writes."""

_SAVED = TypeAdapter(
    dict[str, dict[str, Estimate]], config=ConfigDict(strict=True, allow_inf_nan=False)
)


def to_json(estimates: Estimates) -> dict[str, Any]:
    """Estimates as results files hold them under ``configs.<task>.metadata.measures``.

    Returns:
        ``{"format": 1, "values": {measure: {scope: {"value": ..., "low": ..., "high": ...,
        "stderr": ..., "rows": ...}}}, "failed": [measure]}``; the scope of all rows is ``all``.
        What is not known is left out; ``failed`` are those whose value is no number.
    """
    values: dict[str, dict[str, Any]] = {}
    lost: dict[str, None] = {}
    for measure, scope, estimate in flat(estimates):
        if math.isfinite(estimate.value):
            known = {
                key: number for key, number in estimate._asdict().items() if number is not None
            }
            values.setdefault(measure, {})[scope] = known
        else:
            lost[measure] = None
    return {"format": FORMAT, "failed": list(lost), "values": values}


def from_json(content: Any) -> dict[str, dict[str, Estimate]]:
    """Estimates of what :func:`to_json` returned."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError(
            f"measures do not have the format {FORMAT}: did another version of figlang_tasks write"
            " them?"
        )
    try:
        return _SAVED.validate_python(content.get("values"))
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(
            f"measures are damaged ({'.'.join(map(str, first['loc']))}: {first['msg']})"
        ) from error


def failed_metrics(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The measures whose computation failed, of what :func:`to_json` returned."""
    return tuple(map(str, content.get("failed") or ()))
