"""The functions that task files of lm-eval name.

lm-eval has no hook that sees all answers of a task. So the value of each metric brings its record
along, and the first metric that lm-eval aggregates evaluates the task.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from figlang_tasks.answers.next_question import without_next_questions
from figlang_tasks.metrics import __version__
from figlang_tasks.scoring.estimates import OVERALL
from figlang_tasks.scoring.evaluation import guarded
from figlang_tasks.scoring.task import Document, MetricValues, Task, process_results, task_of
from figlang_tasks.scoring.task_evaluation import JudgedAnswer, TaskEvaluation

FACTS = "figlang_tasks"
"""The key, in the first entry of a ``metric_list``, of what results say beside values."""


class _DocumentValues(dict[str, Any]):
    """The numbers of a document by metric, with its judged answer in place of them in `items`.

    lm-eval copies the dict into its samples, and loops over `items` for what it aggregates: so its
    samples get numbers, and its aggregators answers.
    """

    def __init__(self, values: Mapping[str, Any], answer: JudgedAnswer) -> None:
        super().__init__(values)
        self._answer = answer

    def items(self) -> Any:
        """The judged answer by each metric, in place of its number."""
        return {metric: self._answer for metric in self if metric != "sample"}.items()


class _RunFacts(dict[str, Any]):
    """What the results of a run say beside values: its data, scorer, version and readings.

    It stands in the configuration of a task, which lm-eval copies before a run, and is filled
    during the run. So a copy of it is the same object.
    """

    def __deepcopy__(self, memo: object) -> _RunFacts:
        return self


def process_results_for_lm_eval(
    doc: Document,
    results: Sequence[str],
    doc_to_text: Callable[[Document], str],
    shown_texts: Callable[[Document], list[str]],
) -> MetricValues:
    """Judge the answer to a document in lm-eval, up to the next question that the model invents.

    Args:
        doc: the document.
        results: the outputs of the model, of which the first one is read.
        doc_to_text: the prompt of a document.
        shown_texts: the texts of a document in its prompt.
    """
    outputs = without_next_questions(doc, results, doc_to_text, shown_texts)
    values = process_results(doc, outputs)  # judged: the cut output
    # The evaluation warns about, and quotes, the uncut output, as in lmms-eval.
    return values_for_lm_eval(values, results)


def values_for_lm_eval(values: MetricValues, results: Sequence[str]) -> MetricValues:
    """The values of a document for lm-eval, whose aggregators get its record and output from them.

    Args:
        values: what ``process_results`` returns for lmms-eval.
        results: the outputs of the model.
    """
    output = results[0] if results else None  # `process_results`, too, reads the first one
    return _DocumentValues(values, JudgedAnswer(values["sample"], output))


def values_of_answer(answer: JudgedAnswer) -> MetricValues:
    """The values of a document for lm-eval, from its judged answer alone.

    lm-eval 0.5 keeps what its aggregators get, and makes its samples from that.
    """
    task = task_of(answer.record)
    return _DocumentValues(task.measures.values(answer.record), answer)


class _LatestEvaluation:
    """The latest evaluation of a task, kept because lm-eval aggregates each metric separately.

    Each metric brings its own answers, and in several processes its own copies of their records.
    lm-eval aggregates each metric once in a run, so that a second time means another run.
    """

    def __init__(self, task: Task) -> None:
        self.facts = _RunFacts()
        self._task = task
        self._ids_and_outputs: list[tuple[str, str | None]] = []
        self._aggregated_metrics: set[str] = set()
        self._latest: TaskEvaluation | None = None

    def evaluate(self, metric: str, answers: Sequence[JudgedAnswer]) -> TaskEvaluation:
        """The evaluation of the answers: the latest one, or a new one if another run gave them.

        Args:
            metric: the metric that lm-eval aggregates now.
            answers: the answers that it brings, those of the whole run.
        """
        ids_and_outputs = [(answer.record["id"], answer.output) for answer in answers]
        is_same_run = (
            ids_and_outputs == self._ids_and_outputs and metric not in self._aggregated_metrics
        )
        if self._latest is None or not is_same_run:
            self._latest = None  # An evaluation that fails must leave nothing of the last run.
            self.facts.clear()
            # The log names the data, since lm-eval does not tell an aggregator its task file.
            data_name = answers[0].record["data"]
            self._latest = TaskEvaluation.compute(answers, self._task, task_name=data_name)
            self._ids_and_outputs = ids_and_outputs
            self._aggregated_metrics = set()
            self._fill_facts(self._latest)
        self._aggregated_metrics.add(metric)
        return self._latest

    def standard_error(self, metric: str) -> float | None:
        """The standard error of a metric over all rows in the latest evaluation, if it has one."""
        if self._latest is None:
            return None
        estimate = self._latest.estimates.get(metric, {}).get(OVERALL)
        return None if estimate is None else estimate.stderr

    def _fill_facts(self, evaluation: TaskEvaluation) -> None:
        """Put what an evaluation knows beside values into the facts."""
        data = sorted({record["data"] for record in evaluation.records})
        self.facts.update(evaluation.metadata())
        self.facts["data"] = ", ".join(data)
        self.facts["versions"] = {"figlang-tasks": __version__}


def metric_list_for_lm_eval(task: Task) -> list[dict[str, Any]]:
    """The ``metric_list`` of a kind of task in task files of lm-eval.

    Its first entry holds, under `FACTS`, a dict of what a run says beside values. The dict is empty
    here and filled when lm-eval aggregates the metrics. lm-eval saves the configuration of a task,
    and the dict with it, after that.
    """
    latest_evaluation = _LatestEvaluation(task)
    entries = task.metric_list  # a property that makes new entries at each call
    for entry in entries:
        # in place of the placeholder, which serves lmms-eval
        entry["aggregation"] = _evaluating_aggregation(entry["metric"], latest_evaluation)
    entries[0][FACTS] = latest_evaluation.facts
    return entries


def _evaluating_aggregation(
    metric: str, latest_evaluation: _LatestEvaluation
) -> Callable[[Sequence[JudgedAnswer]], float | None]:
    """The function by which lm-eval aggregates a metric, in place of the task file's placeholder.

    It returns None where the metric has no value, and NaN where its computation failed.

    Args:
        metric: the name of the metric.
        latest_evaluation: shared by all metrics of the task, so that the first one evaluates it.
    """

    def aggregate(answers: Sequence[JudgedAnswer]) -> float | None:
        """The value of the metric over all answers of a run."""

        def evaluate() -> TaskEvaluation | None:
            return latest_evaluation.evaluate(metric, answers)

        evaluation = guarded(metric, evaluate, fallback=None)
        if evaluation is None:
            # The failure may have come when half of the facts were filled in.
            latest_evaluation.facts.clear()
            return math.nan
        if metric not in evaluation.estimates:
            return None
        return evaluation.value(metric)

    def latest_standard_error() -> float | None:
        """The standard error of the value that was computed last."""
        return latest_evaluation.standard_error(metric)

    aggregate.__name__ = metric
    aggregate.standard_error = latest_standard_error  # type: ignore[attr-defined]
    return aggregate


def standard_error(aggregation: object) -> float | None:
    """The standard error of the value that the aggregation of a metric computed last.

    None if the value has none, or the aggregation is not ours.

    Args:
        aggregation: from an entry of `metric_list_for_lm_eval`.
    """
    compute: Callable[[], float | None] | None = getattr(aggregation, "standard_error", None)
    return None if compute is None else compute()
