"""Judges the answers to a task of ours while the harness asks for its metrics."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeAlias

from figlang_tasks.harness.harness_types import HarnessTask
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.evaluation import guarded
from figlang_tasks.scoring.judging import SAMPLE, AnswerJudge
from figlang_tasks.scoring.records import REPEAT
from figlang_tasks.scoring.task import Document, MetricValues
from figlang_tasks.scoring.task_evaluation import JudgedAnswer, TaskEvaluation

Aggregators: TypeAlias = Mapping[str, Callable[..., Any]]
"""By metric, the function from the numbers of all documents to the value."""


class JudgedTask:
    """A task of ours in one run: judges its answers, and evaluates all of them at once.

    Until `restore` it stands in for two methods of the harness's task, ``process_results`` and
    ``aggregation``. lmms-eval 0.7.3 evaluates each metric alone, by an aggregator that gets the
    numbers of that metric: intervals and scopes of our metrics need the records of all answers.

    Attributes:
        task: the harness's task.
        name: that of the task file.
        metrics_of_file: all metrics of the task file.
        our_metrics: those of them that are ours; others are the harness's or the user's.
        task_kind: the kind of task that the metrics are of; None if none is ours.
        evaluation: that of all answers; None before all of them are there, in all processes but
            the first, and if it has failed.
    """

    def __init__(self, task: HarnessTask) -> None:
        self.task = task
        self.name = str(task.config.task)
        self._aggregators: Aggregators = task.aggregation()
        self.metrics_of_file = list(self._aggregators)
        self.our_metrics: list[str] = []
        self.task_kind: Task | None = None
        for metric, aggregator in self._aggregators.items():
            if hasattr(aggregator, "task"):  # only aggregators of our metrics have it
                self.our_metrics.append(metric)
                self.task_kind = self.task_kind or aggregator.task
        self.evaluation: TaskEvaluation | None = None

        self._judge = AnswerJudge.of(
            _modules_of(task.config.doc_to_text, task.config.process_results),
            process_results=task.process_results,
            doc_to_text=task.doc_to_text,
            task_kind=self.task_kind,
            metrics=self.our_metrics,
        ).judge
        task.process_results = self.process_results
        task.aggregation = self.aggregation

    def restore(self) -> None:
        """Give the task its own methods back."""
        del self.task.process_results, self.task.aggregation

    # --- called by the harness ---

    def process_results(self, doc: Document, results: Sequence[Any]) -> MetricValues:
        """The numbers of the metrics for one document, and under `SAMPLE` its `JudgedAnswer`.

        With ``--repeats``, there stand lists under `SAMPLE` and the names of our metrics, with an
        entry for each answer. lmms-eval 0.7.3 calls this from several threads, so nothing is
        written to the task.

        Args:
            doc: the document.
            results: the answer; with ``--repeats`` one list of all answers to the document
                (`figlang_tasks.harness.task_preparation`).
        """
        has_repeats = bool(results) and isinstance(results[0], list)
        if not has_repeats:
            return self._judge(doc, results)
        texts = list(results[0])
        # --max_tokens may be spent before all repeats are answered.
        missing = self.task.config.repeats - len(texts)
        texts += [""] * missing
        values_of_repeats = [self._judge(doc, [text]) for text in texts]

        first_values = values_of_repeats[0]
        if not isinstance(first_values.get(SAMPLE), JudgedAnswer):
            # A `process_results` of the user's makes no record: the first answer counts.
            return first_values
        for number, values in enumerate(values_of_repeats, start=1):
            values[SAMPLE].record[REPEAT] = number
        combined = dict(first_values)
        for name in (SAMPLE, *self.our_metrics):
            if name in first_values:
                combined[name] = [values[name] for values in values_of_repeats]
        return combined

    def aggregation(self) -> Aggregators:
        """The task's aggregators by metric, and one that evaluates the records."""
        return {**self._aggregators, SAMPLE: self._evaluate}

    def _evaluate(self, judged_answers: Sequence[JudgedAnswer | list[JudgedAnswer]]) -> float:
        """Evaluate all records into `evaluation`; returns NaN, since the harness takes a number.

        Args:
            judged_answers: of each document one, or with ``--repeats`` a list.
        """
        task_kind = self.task_kind
        if task_kind is None:
            return math.nan
        answers: list[JudgedAnswer] = []
        for answers_of_document in judged_answers:
            if isinstance(answers_of_document, list):
                answers += answers_of_document
            else:
                answers.append(answers_of_document)
        scorer = (self.task.lmms_eval_specific_kwargs or {}).get("scorer")

        def compute() -> TaskEvaluation:
            return TaskEvaluation.compute(answers, task_kind, self.name, scorer)

        # An error in an aggregator would cost all outputs of a run: lmms-eval 0.7.3 saves nothing.
        self.evaluation = guarded("evaluation", compute, fallback=None)
        return math.nan


def _modules_of(*functions: object) -> list[ModuleType]:
    """The modules in which functions are defined; what is no function of a module is left out.

    The first makes the task's prompts (``doc_to_text``), the second judges its answers
    (``process_results``): either may declare what `AnswerJudge` looks up.
    """
    modules = []
    for function in functions:
        module = sys.modules.get(getattr(function, "__module__", ""))
        if module is not None:
            modules.append(module)
    return modules
