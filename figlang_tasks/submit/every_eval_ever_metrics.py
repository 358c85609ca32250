"""Which of our metrics the registry of Every Eval Ever has, and by which id.

Results of several sources are compared by the id of a metric. So a metric has an id of the registry
(https://github.com/evaleval/eval-card-registry, ``seed/metrics.yaml``) only if it is computed as
that id says, with the same bounds and the same better direction, and if no other metric of its
task could have the id too. F1@0 of V-FLUTE, say, is no plain macro F1, since an explanation counts.
"""

from __future__ import annotations

REGISTRY_REVISION = "8b83e9ca532dafebf6c4c251a75713ebf0818f81"
"""The commit of the registry that the ids are from, as every-eval-ever 0.3.0 ships it."""

_ID_BY_METRIC = {
    "acc": "accuracy",
    "mc_acc": "accuracy",
    "sc_acc": "accuracy",
    "f1_macro": "macro-f1",
    "mc_macro_f1": "macro-f1",
    "sc_macro_f1": "macro-f1",
    "em": "exact-match",
    "mw_em": "exact-match",
    "sw_em": "exact-match",
    "bleu4": "bleu-4",
    "rouge_l": "rouge-l",
    "cider": "cider",
    "fid": "fid",
}
"""The id in the registry, by the name of a metric here."""


def metric_id(metric: str) -> str:
    """The ``metric_id`` of a metric: the registry's, or else one under the name of this package.

    Args:
        metric: its name here, without a scope.
    """
    return _ID_BY_METRIC.get(metric, f"figlang_tasks.{metric}")
