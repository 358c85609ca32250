"""`Estimate`: the value of a metric with its interval, and how results files hold estimates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypedDict

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from figlang_tasks.metrics.intervals import Interval

OVERALL = "all"
"""The scope of all rows."""


class Estimate(NamedTuple):
    """The value of a metric in one scope; what is None is not known.

    Attributes:
        value: on the metric's own scale.
        low, high: the limits of its 95 % interval; None also where there is no sound one.
        stderr: its standard error, by the bootstrap over units; scopes have none.
        rows: the number of rows of the benchmark that it was taken over.
    """

    value: float
    low: float | None = None
    high: float | None = None
    stderr: float | None = None
    rows: int | None = None

    @classmethod
    def of(cls, value: float, interval: Interval | None, stderr: float | None = None) -> Estimate:
        """The estimate with a value, its interval (None: there is no sound one) and its error."""
        if interval is None:
            return cls(value, stderr=stderr)
        return cls(value, interval.low, interval.high, stderr)

    @classmethod
    def mean(cls, estimates: Sequence[Estimate]) -> Estimate:
        """The mean of estimates over the same rows, with the means of their limits as its limits.

        This interval may be too wide. There is none if one of the estimates has none. The mean has
        no standard error and no number of rows.
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
"""Estimates by metric, then by scope."""


def full_name(measure: str, scope: str) -> str:
    """The name of a metric in a scope: ``f1@60_muse``, or ``f1@60`` over all rows."""
    return measure if scope == OVERALL else f"{measure}_{scope}"


def flat(estimates: Estimates) -> Iterator[tuple[str, str, Estimate]]:
    """Yield metric, scope and estimate of each estimate: ``("f1@60", "muse", Estimate(...))``."""
    for measure, estimates_by_scope in estimates.items():
        for scope, estimate in estimates_by_scope.items():
            yield measure, scope, estimate


# --- in results files ---

FORMAT = 1
"""Version of the shape that `to_json` writes."""


class SavedEstimates(TypedDict):
    """Estimates in a results file.

    Attributes:
        format: the version of this shape.
        failed: the metrics whose computation failed.
        values: fields of an estimate, by metric and scope; without those that are not known.
    """

    format: int
    failed: list[str]
    values: dict[str, dict[str, dict[str, float]]]


_VALUES = TypeAdapter(
    dict[str, dict[str, Estimate]], config=ConfigDict(strict=True, allow_inf_nan=False)
)


def to_json(estimates: Estimates) -> SavedEstimates:
    """Estimates as results files hold them under ``configs.<task>.metadata.measures``.

    Returns:
        ``{"format": 1, "failed": [metric], "values": {metric: {scope: {"value": ..., "low": ...,
        "high": ..., "stderr": ..., "rows": ...}}}}``; the scope of all rows is ``all``. What is not
        known is left out; ``failed`` are the metrics whose value is no number.
    """
    values: dict[str, dict[str, dict[str, float]]] = {}
    failed: list[str] = []
    for metric, scope, estimate in flat(estimates):
        if math.isfinite(estimate.value):
            fields = estimate._asdict().items()
            known_fields = {field: number for field, number in fields if number is not None}
            values.setdefault(metric, {})[scope] = known_fields
        elif metric not in failed:
            failed.append(metric)
    return {"format": FORMAT, "failed": failed, "values": values}


def from_json(content: object) -> dict[str, dict[str, Estimate]]:
    """Read the estimates that `to_json` wrote, by metric and scope.

    Raises:
        ValueError: the content has another format, or is damaged.
    """
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError(
            f"measures do not have the format {FORMAT}: did another version of figlang_tasks write"
            " them?"
        )
    try:
        return _VALUES.validate_python(content.get("values"))
    except ValidationError as error:
        first_error = error.errors()[0]
        path = ".".join(map(str, first_error["loc"]))
        raise ValueError(f"measures are damaged ({path}: {first_error['msg']})") from error


def failed_metrics(content: Mapping[str, object]) -> tuple[str, ...]:
    """The metrics whose computation failed, from what `to_json` wrote; none if it has no list."""
    failed = content.get("failed")
    if not isinstance(failed, list):
        return ()
    return tuple(map(str, failed))
