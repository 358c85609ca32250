"""What task files of lm-eval name: it has no hook, so each value brings its record along."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from figlang_tasks.answers.next_question import without_next_questions
from figlang_tasks.metrics import __version__
from figlang_tasks.scoring.evaluation import guarded
from figlang_tasks.scoring.task import Document, MetricValues, Task, process_results
from figlang_tasks.scoring.task_evaluation import JudgedAnswer, TaskEvaluation

FACTS = "figlang_tasks"
"""The key of the facts, in the first entry of what `metric_list_for_lm_eval` returns."""


class _Values(dict[str, Any]):
    """The values of a document: lm-eval saves them as they are, and its aggregators get the item
    for each metric.

    lm-eval copies the dict into its samples, and loops over `items` for what it aggregates.
    """

    def __init__(self, values: Mapping[str, Any], item: JudgedAnswer) -> None:
        super().__init__(values)
        self._item = item

    def items(self) -> Any:
        return {name: self._item for name in self if name != "sample"}.items()


class _Facts(dict[str, Any]):
    """What results say beside values, in the task's configuration, which lm-eval copies before a
    run: it stays one.
    """

    def __deepcopy__(self, memo: object) -> _Facts:
        return self


def process_results_for_lm_eval(
    doc: Document,
    results: Sequence[str],
    doc_to_text: Callable[[Document], str],
    shown_texts: Callable[[Document], list[str]],
) -> MetricValues:
    """What ``process_results`` returns in lm-eval: the answer is read up to the next question that
    it invents.

    Args:
        doc_to_text: the prompt of a document.
        shown_texts: the texts of a row in its prompt.
    """
    outputs = without_next_questions(doc, results, doc_to_text, shown_texts)
    return values_for_lm_eval(process_results(doc, outputs), results)


def values_for_lm_eval(values: MetricValues, results: Sequence[str]) -> MetricValues:
    """The values of a document for lm-eval, from those for lmms-eval and what the model said."""
    return _Values(values, JudgedAnswer(values["sample"], next(iter(results), None)))


class _Evaluations:
    """The latest evaluation, kept because lm-eval calls the aggregator of each metric separately.

    Each metric gets its own items, and of several processes its own copies of their records. A
    metric that is aggregated once more is of another run.
    """

    def __init__(self, task: Task) -> None:
        self.facts = _Facts()
        self._task = task
        self._answers: list[tuple[str, str | None]] = []
        self._given: set[str] = set()
        self._latest: TaskEvaluation | None = None

    def of(self, metric: str, items: Sequence[JudgedAnswer]) -> TaskEvaluation:
        answers = [(item.record["id"], item.output) for item in items]
        if self._latest is None or answers != self._answers or metric in self._given:
            self._latest = None
            self.facts.clear()
            self._latest = TaskEvaluation.compute(items, self._task, name=items[0].record["data"])
            self._answers, self._given = answers, set()
            self._fill_facts(self._latest)
        self._given.add(metric)
        return self._latest

    def _fill_facts(self, evaluation: TaskEvaluation) -> None:
        data = sorted({record["data"] for record in evaluation.records})
        self.facts.update(
            evaluation.metadata(), data=", ".join(data), versions={"figlang-tasks": __version__}
        )


def metric_list_for_lm_eval(task: Task) -> list[dict[str, Any]]:
    """The ``metric_list`` of a kind of task in task files of lm-eval.

    A run writes what its records tell, and the version of this package, into its first entry:
    lm-eval saves the configuration of a task once its metrics are there.
    """
    evaluations = _Evaluations(task)
    entries = task.metric_list
    for entry in entries:
        entry["aggregation"] = _aggregator(entry["metric"], evaluations)
    entries[0][FACTS] = evaluations.facts
    return entries


def _aggregator(
    metric: str, evaluations: _Evaluations
) -> Callable[[Sequence[JudgedAnswer]], float | None]:
    """The function that lm-eval calls for a metric: None where it has no value, NaN where its
    computation failed.
    """

    def aggregate(items: Sequence[JudgedAnswer]) -> float | None:
        evaluation = guarded(metric, lambda: evaluations.of(metric, items), None)
        if evaluation is None:
            evaluations.facts.clear()
            return math.nan
        return evaluation.value(metric) if metric in evaluation.estimates else None

    aggregate.__name__ = metric
    return aggregate
