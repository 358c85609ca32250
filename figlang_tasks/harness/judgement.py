"""From answers to results: each is judged, and what the harness made of all is completed at the
end.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from loguru import logger

from figlang_tasks.answers.next_question import texts_of_row, without_next_questions
from figlang_tasks.core import notes, redaction
from figlang_tasks.core.packages import package_versions
from figlang_tasks.harness.identity import PACKAGES
from figlang_tasks.scoring import OVERALL, Task, to_json
from figlang_tasks.scoring.evaluation import guarded
from figlang_tasks.scoring.records import REPEAT
from figlang_tasks.scoring.task_evaluation import JudgedAnswer, TaskEvaluation

_PACKAGES = (*PACKAGES, "torch")  # that a result depends on
# Of numbers that the harness has of a metric
_KINDS = ("", "_stderr", "_stderr_clt", "_stderr_clustered")
_ITEMS = "sample"
"""The key under which ``process_results`` returns records: the harness gathers them from all
processes as it does the numbers of metrics, and hands them to the aggregator of that name."""


class JudgedTask:
    """A task of ours in one run: it judges the answers by our rules, and evaluates all of them at
    once.

    It stands in for two methods of the harness's task until `restore`.

    Attributes:
        name: of the task file.
        metrics: those of the task file that are ours.
        kind: the kind of task that these are of; None without any.
    """

    def __init__(self, task: Any) -> None:
        self.task = task
        self.name = str(task.config.task)
        self.metrics: list[str] = []
        self.kind: Task | None = None
        self._aggregators: Mapping[str, Callable[..., Any]] = task.aggregation()
        for metric, aggregate in self._aggregators.items():
            if hasattr(aggregate, "task"):
                self.metrics.append(metric)
                self.kind = self.kind or aggregate.task

        self._shown_texts = _declared(task, "shown_texts") or texts_of_row
        self._other_wordings = _declared(task, "other_wordings")
        self._evaluation: TaskEvaluation | None = None
        self._process_results = task.process_results
        task.process_results = self.process_results
        task.aggregation = self.aggregation

    def restore(self) -> None:
        """Give the task its own methods back."""
        del self.task.process_results, self.task.aggregation

    # --- what the harness calls ---

    def process_results(self, doc: Any, results: Sequence[Any]) -> dict[str, Any]:
        """Judge the answer to a document, or the several answers of ``--repeats``, each with a
        record of its own.

        The harness may call it from several threads.
        """
        if not (results and isinstance(results[0], list)):
            return self._judged(doc, results)
        # --max_tokens may be spent early
        texts = [*results[0], *[""] * (self.task.config.repeats - len(results[0]))]
        judged = [self._judged(doc, [text]) for text in texts]
        if not isinstance(judged[0].get(_ITEMS), JudgedAnswer):
            return judged[0]
        for number, values in enumerate(judged, start=1):
            values[_ITEMS].record[REPEAT] = number
        several = {
            name: [values[name] for values in judged]
            for name in [_ITEMS, *self.metrics]
            if name in judged[0]
        }
        return {**judged[0], **several}

    def aggregation(self) -> dict[str, Callable[..., Any]]:
        """The task's aggregators, and that of the records."""
        return {**self._aggregators, _ITEMS: self._evaluate}

    def _judged(self, doc: Any, results: Sequence[Any]) -> dict[str, Any]:
        """Judge an answer: readers see it up to the next question that it invents, papers' own
        rules all of it.

        An error message of the harness counts as no answer, even if it contains "yes". So does a
        refusal of a server, but the record says that it is one.
        """
        is_refused = any(map(notes.is_refusal, results))
        said = ["" if is_refused or notes.is_no_answer(text) else text for text in results]
        outputs = without_next_questions(
            doc, said, self.task.doc_to_text, self._shown_texts, self._other_wordings
        )
        values: dict[str, Any] = self._process_results(doc, outputs)
        record = values.get(_ITEMS)
        if not isinstance(record, dict):  # of another process_results than ours
            return {name: value for name, value in values.items() if name not in self.metrics}
        if is_refused and self.kind is not None and record.get("status") == "empty":
            record = {**record, "status": "refused", "rule": "refusal"}
            values = {**values, **self.kind.measures.values(record)}
        # The harness's table has a row for a metric only if documents have the key.
        return {
            **dict.fromkeys(self.metrics),
            **values,
            _ITEMS: JudgedAnswer(record, next(iter(results), None)),
        }

    def _evaluate(self, items: Sequence[Any]) -> float:
        """Evaluate all records; the result is taken by `complete`, since the harness takes a number
        alone.
        """
        kind = self.kind
        if kind is not None:
            scorer = (self.task.lmms_eval_specific_kwargs or {}).get("scorer")
            self._evaluation = guarded(
                "evaluation",
                lambda: TaskEvaluation.compute(_each_answer(items), kind, self.name, scorer),
                None,
            )
        return math.nan

    # --- at the end ---

    def complete(self, results: dict[str, Any], padded_pictures: Collection[Any]) -> None:
        """Complete what the harness's ``evaluate`` returned of the task, in place.

        The table gets its values and standard errors, the metadata all measures in all scopes,
        signatures and versions, and samples their records.

        Args:
            padded_pictures: the documents of which a picture was padded, because the model's
                processor refuses its shape.
        """
        evaluation = self._evaluation
        samples = results.get("samples", {}).get(self.name, [])
        metadata: dict[str, Any] = {"versions": package_versions(_PACKAGES)}
        metadata |= _without_answers(self.name, evaluation, samples)
        if padded_pictures:
            metadata["padded_pictures"] = sorted(padded_pictures)
        self._complete_row(results["results"].get(self.name, {}))
        if evaluation is not None:
            metadata |= evaluation.metadata()
            if evaluation.estimates:
                metadata["measures"] = to_json(evaluation.estimates)
            if evaluation.repeats:
                metadata["repeats"] = evaluation.repeats
        elif self.metrics:
            logger.error(
                f"figlang_tasks: {self.name}: its process_results returns no record under `sample`,"
                f" of which {', '.join(self.metrics)} are made: let it return TASK.values(doc,"
                " record) of its figlang_tasks.scoring.Task, or give the task file a metric_list"
                " of its own"
            )
            notes.note_failure(
                f"{self.name}: no records, so that its metrics are missing, see the log"
            )

        config = results["configs"][self.name]
        before = config.get("metadata") or {}
        config["metadata"] = (
            {**before, **metadata} if isinstance(before, Mapping) else [*before, metadata]
        )
        # Of several processes it is one after the other
        samples.sort(key=lambda sample: sample["doc_id"])
        samples[:] = [part for sample in samples for part in self._of_each_answer(sample)]
        for sample in samples:
            self._complete_sample(sample)

    def _complete_row(self, row: dict[str, Any]) -> None:
        """Give a row of the table the values of our metrics; leave out what has none, or is no
        metric of the task.
        """
        known = {f"{metric}{kind}": metric for metric in self._aggregators for kind in _KINDS}
        estimates = self._evaluation.estimates if self._evaluation else {}
        for key in [key for key in row if "," in key]:
            name, _, filter_name = key.rpartition(",")
            metric = known.get(name, "")
            estimate = estimates.get(metric, {}).get(OVERALL) if metric in self.metrics else None
            if not metric or (metric in self.metrics and estimate is None):
                del row[key]
            elif estimate is not None and name == metric:
                row[key] = float(estimate.value)
                row[f"{metric}_stderr,{filter_name}"] = (
                    "N/A" if estimate.stderr is None else estimate.stderr
                )

    def _of_each_answer(self, sample: dict[str, Any]) -> list[dict[str, Any]]:
        """The samples of the several answers to a document; the sample itself where there is one
        answer.
        """
        items = sample.get(_ITEMS)
        if not isinstance(items, list):
            return [sample]
        texts = sample["filtered_resps"][0]
        parts = []
        for number in range(len(items)):
            text = texts[number] if number < len(texts) else ""
            part = {**sample, "resps": [[text]], "filtered_resps": [text]}
            for name in [_ITEMS, *self.metrics]:
                if name in sample:
                    part[name] = sample[name][number]
            if number:  # the harness keeps those of the first
                part["token_counts"] = [None]
            parts.append(part)
        return parts

    def _complete_sample(self, sample: dict[str, Any]) -> None:
        """Put the record into a sample, and take out what a server repeats of the keys that it was
        sent.
        """
        item = sample.get(_ITEMS)
        if isinstance(item, JudgedAnswer):
            sample[_ITEMS] = item.record
            if self._evaluation is not None and self._evaluation.explanation_scores:
                self._evaluation.explanation_scores.add_to([item.record])
            for measure in self.kind.measures.in_table if self.kind else ():
                if measure.omit_zero:
                    sample.pop(measure.name, None)
        sample.update(
            redaction.without_secrets(
                {field: value for field, value in sample.items() if field != "doc"}
            )
        )


def _each_answer(items: Sequence[Any]) -> list[JudgedAnswer]:
    """The items of all answers, one after the other, where documents that were asked several times
    have a list.
    """
    answers: list[JudgedAnswer] = []
    for item in items:
        answers += item if isinstance(item, list) else [item]
    return answers


def _declared(task: Any, name: str) -> Any:
    """The function of this name in the module that makes a task's prompts, or judges its answers;
    None without one.
    """
    for function in (task.config.doc_to_text, task.config.process_results):
        module = sys.modules.get(getattr(function, "__module__", ""))
        if hasattr(module, name):
            return getattr(module, name)
    return None


def _without_answers(
    name: str, evaluation: TaskEvaluation | None, samples: Sequence[Mapping[str, Any]]
) -> dict[str, int]:
    """How many requests got no answer, if any: the run has failed, whatever its numbers are; how
    many were refused.
    """
    from lmms_eval.models.model_utils.usage_metrics import is_budget_exceeded

    if is_budget_exceeded():
        notes.note_failure("--max_tokens is spent: what was left got no answer and counts as wrong")
    outputs: list[tuple[Any, Any]] = []  # each with the row that it is of
    if evaluation:
        ids = [record["id"] for record in evaluation.records]
        outputs += zip(ids, evaluation.outputs, strict=True)
    else:
        outputs += [
            (sample["doc_id"], text) for sample in samples for text in sample["filtered_resps"]
        ]

    counts: dict[str, int] = {}
    if refused := sum(notes.is_refusal(text) for _, text in outputs):
        logger.warning(
            f"figlang_tasks: {name}: {refused} answers were refused by the server and count as"
            " wrong"
        )
        counts["refused"] = refused
    failed = [(row, text) for row, text in outputs if notes.is_no_answer(text)]
    if failed:
        row, text = failed[0]
        logger.error(
            f"figlang_tasks: {name}: {len(failed)} requests got no answer, that of row {row} for"
            f" example: {text:.400}. They count as wrong answers. Repair the cause and type the"
            " same command again; with --use_cache FOLDER they alone are asked again"
        )
        notes.note_failure(f"{name}: requests got no answer and count as wrong, see the log")
        counts["unanswered"] = len(failed)
    return counts
