"""What the names of metrics say: ``acc_muse`` is the metric ``acc`` for the source ``muse``; what is a share."""

from __future__ import annotations

from collections.abc import Collection

OVERALL = "all"
ENDS = ("_ci_low", "_ci_high")
NO_SHARES = ("rank", "cider", "clip_similarity", "fid")
NO_INTERVAL = ("meteor", "fid")
DIAGNOSTICS = ("parse_rate", "parse_disagreement", "refusal_rate", "tie_rate", "yes_rate", "image_rate")
"""They tell how a run went, not how good a model is."""


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


def is_share(metric: str) -> bool:
    """Whether a metric, of the whole or of one source, is from 0 to 1 and read in percent."""
    return not is_one_of(metric, NO_SHARES)


def is_one_of(metric: str, names: Collection[str]) -> bool:
    """Whether a metric is one of `names`, of the whole or of one source (``rank``, ``mw_marked_object``)."""
    return any(metric == name or metric.startswith(f"{name}_") for name in names)


def text(value: float, metric: str) -> str:
    """A value as people read it: in percent, but for :data:`NO_SHARES`."""
    return f"{100 * value:.1f}" if is_share(metric) else f"{value:.2f}"
