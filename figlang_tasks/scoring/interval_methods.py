"""How the 95 % interval of a measure is made: `WILSON`, `TWO_CLASSES` or `BOOTSTRAP`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from figlang_tasks.metrics import intervals
from figlang_tasks.metrics.intervals import Interval
from figlang_tasks.metrics.significance import Statistic


class IntervalMethod(NamedTuple):
    """How the 95 % interval of a statistic is made.

    Attributes:
        name: for people, and for the files that ``figlang submit`` writes.
        interval_of: the interval; None where there is no sound one. A measure with `estimate_of`
            makes its own, and never calls it.
        resamples: number of resamples of a bootstrap; None where nothing is resampled.
    """

    name: str
    interval_of: Callable[[Statistic], Interval | None]
    resamples: int | None = None


def _wilson_interval(statistic: Statistic) -> Interval | None:
    """Wilson's interval of a share; the columns of the statistic are hits and totals."""
    hits, totals = statistic.rows.T
    return intervals.share(hits, totals)


def _two_class_interval(statistic: Statistic) -> Interval | None:
    """The interval of a score of two classes; the columns are ``tn, fp, fn, tp``."""
    return intervals.of_two_classes(statistic.rows, statistic.value)


def _bootstrap_interval(statistic: Statistic) -> Interval | None:
    """The bootstrap interval of any function of sums over units."""
    return intervals.bootstrap(statistic.rows, statistic.value)


WILSON = IntervalMethod("Wilson, over units", _wilson_interval)
TWO_CLASSES = IntervalMethod("MOVER of Wilson limits over units", _two_class_interval)
BOOTSTRAP = IntervalMethod(
    "bootstrap over units, percentiles with tails of t", _bootstrap_interval, intervals.RESAMPLES
)
