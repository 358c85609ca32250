"""What the names of metrics say: ``acc_muse`` is the metric ``acc`` for the source ``muse``; what is a share."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

OVERALL = "all"
ENDS = ("_ci_low", "_ci_high")
NO_SHARES = ("rank", "cider", "clip_similarity", "fid")
DIAGNOSTICS = (
    *("parse_rate", "parse_disagreement", "refusal_rate", "tie_rate", "yes_rate", "image_rate"),
    *("share_A", "share_B", "share_C", "share_D"),
)
"""They tell how a run went, not how good a model is. They are never tested."""


class IntervalMethod(NamedTuple):
    """How an interval is made: its name, and the resamples of its bootstrap (None where nothing is resampled)."""

    name: str
    resamples: int | None = None


def interval_method(metric: str) -> IntervalMethod:
    """How the tasks make the interval of a metric (``figlang_tasks.metrics.intervals``).

    Args:
        metric: its name, of the whole or of one scope: ``f1@60_muse``.
    """
    from figlang_tasks.metrics.intervals import RESAMPLES  # it brings scipy along, which commands need not wait for

    if "f1@" in metric or "_macro_" in metric:
        return IntervalMethod("MOVER of Wilson limits over units")
    if metric.startswith("mAP"):  # a resample costs a whole computation
        return IntervalMethod("bootstrap over units, percentiles with tails of t", 1_000)
    resampled = ("explanation_score", "p@k", "bleu4", "rouge_l", "spice", "cider", "rank", "clip_similarity")
    if any(name in metric for name in resampled) and not metric.startswith("pooled_p@k"):  # that is a share of pictures
        return IntervalMethod("bootstrap over units, percentiles with tails of t", RESAMPLES)
    return IntervalMethod("Wilson, over units")


def scoped(names: Collection[str]) -> dict[str, tuple[str, str]]:
    """Metric and scope of each of the `names` that a task reports; the scope of the whole is :data:`OVERALL`.

    ``acc`` is a metric and ``acc_muse`` its value for one source: a metric is what no other name is a prefix of.
    """
    heads = [name for name in names if not any(name.startswith(f"{other}_") for other in names)]
    found = {}
    for name in names:
        head = next(head for head in heads if name == head or name.startswith(f"{head}_"))
        found[name] = (head, name.removeprefix(head).removeprefix("_") or OVERALL)
    return found


FACTS = ("mw_marked", "sw_marked", "st_marked")
"""They are counted of the annotations alone, and say nothing of a model."""

LOWER_IS_BETTER = (
    *("rank", "fid", "literal_preference"),
    *("parse_disagreement", "refusal_rate", "tie_rate"),
)
"""Of all other metrics more is better, where they say how good a model is."""


def is_metric(name: str) -> bool:
    """Whether a name in a task's results is a metric: no end of an interval, standard error, or fact of the data."""
    return not name.endswith(ENDS) and "_stderr" not in name and not is_one_of(name, FACTS)


def is_share(metric: str) -> bool:
    """Whether a metric, of the whole or of one source, is from 0 to 1 and read in percent."""
    return not is_one_of(metric, NO_SHARES)


def is_one_of(metric: str, names: Collection[str]) -> bool:
    """Whether a metric is one of `names`, of the whole or of one source (``rank``, ``mw_marked_object``)."""
    return any(metric == name or metric.startswith(f"{name}_") for name in names)


def text(value: float, metric: str) -> str:
    """A value as people read it: in percent, but for :data:`NO_SHARES`."""
    return f"{100 * value:.1f}" if is_share(metric) else f"{value:.2f}"


def of_fewer(count: int | None, n: int | None) -> str:
    """What stands behind a value that was taken over fewer rows than its line of a table says: `` (n 12)``."""
    return "" if count is None or count == n else f" (n {count})"
