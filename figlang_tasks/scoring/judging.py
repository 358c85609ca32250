"""Judges one answer: cuts off what the model invents, and has the task read the rest.

A run of a harness and a file of predictions are judged by the same code, so that both have the same
values for the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias, cast

from figlang_tasks.answers.next_question import texts_of_row, without_next_questions
from figlang_tasks.answers.wordings import Wordings
from figlang_tasks.core import notes
from figlang_tasks.scoring.task import Document, MetricValues, Task
from figlang_tasks.scoring.task_evaluation import JudgedAnswer

SAMPLE = "sample"
"""The key under which ``process_results`` returns the record, beside the numbers of metrics."""

ProcessResults: TypeAlias = Callable[[Document, Sequence[Any]], MetricValues]
"""The ``process_results`` of a task file: a document and its outputs, to the values of metrics."""


@dataclass(frozen=True)
class AnswerJudge:
    """Judges the answers to one task, each by itself.

    Attributes:
        process_results: ``(document, outputs) -> metric values``: that of the task file.
        doc_to_text: gives the prompt of a document.
        shown_texts: gives the texts of a document that its prompt may show.
        other_wordings: the question in other words; None where the benchmark has one wording.
        task_kind: the kind of task that the metrics are of; None if none is ours.
        metrics: the names of the metrics that are ours.
    """

    process_results: ProcessResults
    doc_to_text: Callable[[Document], object]
    shown_texts: Callable[[Document], Sequence[str]]
    other_wordings: Wordings | None
    task_kind: Task | None
    metrics: Sequence[str]

    @classmethod
    def of(
        cls,
        modules: Sequence[ModuleType],
        *,
        process_results: ProcessResults,
        doc_to_text: Callable[[Document], object],
        task_kind: Task | None,
        metrics: Sequence[str],
    ) -> AnswerJudge:
        """Make the judge of a task; `shown_texts` and `other_wordings` are looked up by name.

        Args:
            modules: those that may declare the two functions; the first one that does counts.
            process_results: see the attribute; it may be bound to a task of a harness.
            doc_to_text: see the attribute.
            task_kind: see the attribute.
            metrics: see the attribute.
        """
        wordings = _declared(modules, "other_wordings")
        return cls(
            process_results=process_results,
            doc_to_text=doc_to_text,
            shown_texts=_declared(modules, "shown_texts") or texts_of_row,
            other_wordings=None if wordings is None else wordings(),
            task_kind=task_kind,
            metrics=metrics,
        )

    def judge(self, document: Document, answers: Sequence[object]) -> MetricValues:
        """The numbers of the metrics for one answer, and under `SAMPLE` its `JudgedAnswer`.

        Args:
            document: the row that was asked.
            answers: the answer, in a list as the harness has it; empty if there is none. None in
                the list is an answer that is missing.
        """
        is_refused = any(map(notes.is_refusal, answers))
        outputs = self._outputs_to_judge(document, answers, is_refused)
        values: MetricValues = self.process_results(document, outputs)
        record = values.get(SAMPLE)
        if not isinstance(record, dict):
            # A `process_results` of the user's makes no record: our metrics then have no value.
            return {name: value for name, value in values.items() if name not in self.metrics}
        # Of a refusal the task has got "", so its record says that the answer is empty.
        if is_refused and self.task_kind is not None and record.get("status") == "empty":
            record = {**record, "status": "refused", "rule": "refusal"}
            values = {**values, **self.task_kind.measures.values(record)}

        first_answer = answers[0] if answers else None
        return self._with_judged_answer(
            {**values, SAMPLE: record}, cast("str | None", first_answer)
        )

    def _outputs_to_judge(
        self, document: Document, answers: Sequence[object], is_refused: bool
    ) -> Sequence[object]:
        """The answer as the task's ``process_results`` gets it: up to a question that it invents.

        The papers' own rules still find all of it (`figlang_tasks.answers.next_question.Output`).
        An error message of the harness counts as no answer (""), even if it contains "yes", and so
        does a refusal of a server.
        """
        texts: list[object] = []
        for answer in answers:
            is_answer = not is_refused and not notes.is_no_answer(answer)
            texts.append(answer if is_answer else "")
        return without_next_questions(
            document, texts, self.doc_to_text, self.shown_texts, self.other_wordings
        )

    def take_label(
        self, document: Document, label: str | None, explanation: str | None
    ) -> MetricValues:
        """The numbers of the metrics for a label that needs no reading, and its `JudgedAnswer`.

        Args:
            document: the row that was asked.
            label: as a file has it; None if it has none.
            explanation: beside the label; None if there is none.

        Raises:
            ValueError: the label is none of the task.
        """
        task_kind = self.task_kind
        assert task_kind is not None, "the task is not ours"
        assert task_kind.record_of_label is not None, "the task needs words"
        record = task_kind.record_of_label(document, label, explanation)
        values = task_kind.values(document, record)
        texts = [text for text in (explanation, label) if text is not None]
        return self._with_judged_answer(values, "\n".join(texts) if texts else None)

    def _with_judged_answer(self, values: MetricValues, answer: str | None) -> MetricValues:
        """The numbers of the metrics, and the record under `SAMPLE` with the answer it is of."""
        # A metric without a number for this document keeps None: lmms-eval 0.7.3 has a row in its
        # table only for metrics that some document has as a key.
        judged_values: MetricValues = dict.fromkeys(self.metrics)
        judged_values.update(values)
        judged_values[SAMPLE] = JudgedAnswer(values[SAMPLE], answer)
        return judged_values


def _declared(modules: Sequence[ModuleType], name: str) -> Callable[..., Any] | None:
    """The function of this name in the first module that declares it; None without one."""
    for module in modules:
        if hasattr(module, name):
            declared: Callable[..., Any] = getattr(module, name)
            return declared
    return None
