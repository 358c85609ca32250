"""How lm-eval 0.5 scores our tasks: with our values, standard errors and records.

Imported only where lm-eval has scorers (`figlang_tasks.harness.lm_eval_task`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from lm_eval.api.metrics import Metric
from lm_eval.api.registry import register_scorer
from lm_eval.scorers import GenScorer, MetricKey, ReducedDoc, ScoredDoc

from figlang_tasks.scoring.lm_eval import standard_error, values_of_answer

NAME = "figlang"
"""The name under which lm-eval knows the scorer; results name it too."""


@register_scorer(NAME)
@dataclass(kw_only=True)
class FigLangScorer(GenScorer):
    """Evaluates all answers of a task at once, as in lmms-eval."""

    @classmethod
    def _resolve_metrics(
        cls, metric_cfg: Sequence[Mapping[str, Any]], output_type: str
    ) -> list[Metric]:
        """The metrics of a task file, also those with the name of a metric of lm-eval."""
        metrics: list[Metric] = []
        for entry in metric_cfg:
            # lm-eval checks a name against its own metrics, and takes a function as it is.
            metric = {**entry, "metric": _unused_metric(entry["metric"])}
            metrics.append(Metric.from_dict(metric, output_type))
        return metrics

    def reduce(self, scored_docs: dict[int, ScoredDoc]) -> dict[int, ReducedDoc]:
        """The numbers and the record of each document for the samples, with its judged answer."""
        values_by_doc: dict[int, ReducedDoc] = {}
        for doc_id, scored_doc in scored_docs.items():
            # Each metric brings the same answer along, in a list of one.
            (answer,) = next(iter(scored_doc.scores.values()))
            values_by_doc[doc_id] = values_of_answer(answer)
        return values_by_doc

    def aggregate(
        self,
        reduced_docs: Mapping[int, ReducedDoc],
        bootstrap_iters: int | None = 100_000,
        aggregation_overrides: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], int]:
        """The value of each metric, with our standard error, and the number of documents.

        Args:
            reduced_docs: of all documents, from `reduce`.
            bootstrap_iters: None or 0 for no standard errors; ours do not depend on the number.
            aggregation_overrides: for tasks of lm-eval that are Python classes.
        """
        results, count = super().aggregate(reduced_docs, 0, aggregation_overrides)
        for metric in self.metrics or []:
            error = standard_error(metric.aggregation) if bootstrap_iters else None
            key = str(MetricKey(metric.name, self.name, is_stderr=True))
            if key in results and error is not None:
                results[key] = error
        return results, count


def _unused_metric(name: str) -> Callable[..., NoReturn]:
    """A function with the name of a metric, whose values come from ``process_results``."""

    def metric(*references_and_predictions: object) -> NoReturn:
        raise NotImplementedError(f"{name}: process_results of the task file gives its values")

    metric.__name__ = name
    return metric
