"""What the names of metrics say: ``acc_muse`` is the metric ``acc`` for the source ``muse``; what is a share."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

OVERALL = "all"
ENDS = ("_ci_low", "_ci_high")
NO_SHARES = ("rank", "cider", "clip_similarity", "fid")
NO_INTERVAL = ("meteor", "fid")
DIAGNOSTICS = (
    *("parse_rate", "parse_disagreement", "refusal_rate", "tie_rate", "yes_rate", "image_rate"),
    *("share_A", "share_B", "share_C", "share_D"),
)
"""They tell how a run went, not how good a model is. They are never tested."""


IntervalMethod = Literal["wilson", "mover", "bootstrap"]


def interval_method(metric: str) -> IntervalMethod:
    """How the interval of a metric is made (``figlang_tasks.metrics.intervals``).

    Args:
        metric: its name, of the whole or of one scope: ``f1@60_muse``.
    """
    if "f1@" in metric or "_macro_" in metric:
        return "mover"
    if metric.startswith("pooled_p@k"):  # a share of pictures
        return "wilson"
    resampled = ("explanation_score", "p@k", "bleu4", "rouge_l", "spice", "cider", "rank", "clip_similarity", "mAP")
    return "bootstrap" if any(name in metric for name in resampled) else "wilson"


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


def is_share(metric: str) -> bool:
    """Whether a metric, of the whole or of one source, is from 0 to 1 and read in percent."""
    return not any(metric == name or metric.startswith(f"{name}_") for name in NO_SHARES)


def text(value: float, metric: str) -> str:
    """A value as people read it: in percent, but for :data:`NO_SHARES`."""
    return f"{100 * value:.1f}" if is_share(metric) else f"{value:.2f}"


def of_fewer(count: int | None, n: int | None) -> str:
    """What stands behind a value that was taken over fewer rows than its line of a table says: `` (n 12)``."""
    return "" if count is None or count == n else f" (n {count})"
