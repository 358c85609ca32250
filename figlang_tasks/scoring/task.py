"""`Task`: one kind of task of a benchmark, declared once.

A benchmark declares its kinds in its module ``tasks``, as the tuple ``TASKS``. Task files of one
kind (``vflute``, ``vflute_val``, ``vflute_5shot``) differ in the rows that they request, and in
options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from figlang_tasks.core import hub, score_requests
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.core.options import Options
from figlang_tasks.core.record import Record
from figlang_tasks.core.request import Request
from figlang_tasks.scoring.evaluation import Measures
from figlang_tasks.scoring.explained import Scheme

if TYPE_CHECKING:
    import datasets

Document: TypeAlias = Mapping[str, Any]
"""A row of a benchmark with all that its prompt needs."""

MetricValues: TypeAlias = dict[str, Any]
"""What `Measures.values` returns: a record, and what it contributes to the mean of each metric."""


def every_request(request: Request) -> bool:
    """True: the only task of a benchmark is for all of its requests."""
    return True


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Task:
    """One kind of task of a benchmark.

    Attributes:
        name: stands under ``task`` in every record: ``vflute``, the same for all task files of this
            kind.
        description: one line that says what a model has to do.
        documents: ``(request, check_images) -> documents``: the rows for a request, pictures
            undecoded. Raises `DataError` with the first faults of the data.
        record: ``(document, output) -> record`` of an answer in words; no output is None.
        measures: what its records are measured by.
        boards: the measures of leaderboards, which ``figlang submit`` computes.
        is_for: whether a request is for this kind of task.
        options: the options of its task files (``lmms_eval_specific_kwargs``).
        preflight: ``(config, request)``: checks what else can be checked before a model is loaded.
            Raises `DataError` or `ValueError` with what is wrong.
        record_of_scores: ``(document, scores) -> record`` of a score for each candidate, from a
            model that gives scores in place of words; None where scores cannot answer.
        record_of_label: ``(document, label, explanation) -> record`` of a label that a file has in
            place of words, each None if it has none; raises `ValueError` for a label that the task
            does not have. None where answers are no labels.
        picture_location: ``output -> path`` of the picture that an output names; None where outputs
            are words.
        candidates: the column of documents that holds a text or name for each of these scores.
        scheme: how labels and explanation scores become metrics; None where no explanation is asked
            for, or nobody knows the right one.
        answer_field: the field of its records with what was read from an answer.
    """

    name: str
    description: str
    documents: Callable[[Request, bool], datasets.Dataset]
    record: Callable[[Document, str | None], Record]
    measures: Measures
    boards: tuple[Measures, ...] = ()
    is_for: Callable[[Request], bool] = every_request
    options: type[Options] = Options
    preflight: Callable[[Mapping[str, Any], Request], None] | None = None
    record_of_scores: Callable[[Document, list[float]], Record] | None = None
    record_of_label: Callable[[Document, str | None, str | None], Record] | None = None
    picture_location: Callable[[str], str] | None = None
    candidates: str = "candidates"
    scheme: Scheme | None = None
    answer_field: str = "predicted"

    def __repr__(self) -> str:
        return f"Task({self.name})"

    @property
    def metric_list(self) -> list[dict[str, Any]]:
        """The ``metric_list`` of its task files: the measures of the harness's own table."""
        entries: list[dict[str, Any]] = []
        for measure in self.measures.in_table:
            entries.append(
                {
                    "metric": measure.name,
                    "aggregation": _placeholder_aggregation(measure.name, self),
                    "higher_is_better": measure.higher_is_better,
                }
            )
        return entries

    def answer_record(self, document: Document, output: str | None) -> Record:
        """The record of an answer: by scores if it has one per candidate, else by its words.

        Args:
            document: the row that was asked.
            output: words, or scores in the JSON of `score_requests`; None if there is none.
        """
        if self.record_of_scores is not None:
            scores = score_requests.read_answer(output)  # None: the output is words
            if scores is not None and len(scores) == len(document[self.candidates]):
                return self.record_of_scores(document, scores)
        return self.record(document, output)

    def complete_record(self, document: Document, record: Record) -> dict[str, Any]:
        """A record with the name of its task and the request of its document."""
        return {"task": self.name, "request": document["request"], **record}

    def values(self, document: Document, record: Record) -> MetricValues:
        """The complete record, and what it contributes to each metric (`Measures.values`)."""
        return self.measures.values(self.complete_record(document, record))


def task_of(document: Document) -> Task:
    """The kind of task that a document belongs to, by the request in it."""
    return _task_of_request(document["request"])


@hub.cached(maxsize=16)  # It is asked for with each answer.
def _task_of_request(text: str) -> Task:
    """The kind of task that a request is for."""
    benchmark, request = parse_request(text)
    task: Task = benchmark.task_for(request)
    return task


def process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """Judge the answer to a document: its `MetricValues`. Task files name this function."""
    task = task_of(doc)
    output = results[0]  # Only the first output is read.
    return task.values(doc, task.answer_record(doc, output))


def _placeholder_aggregation(metric: str, task: Task) -> Callable[[Sequence[object]], float]:
    """A function that stands for a metric in a task file, carries its task and returns NaN.

    The value of the metric is computed elsewhere: `figlang_tasks.harness.judgement` takes the task
    from the function's attribute ``task``, evaluates all records at once, and fills in the values.
    """

    def aggregate(numbers: Sequence[object]) -> float:
        return math.nan

    aggregate.__name__ = metric
    aggregate.task = task  # type: ignore[attr-defined]
    return aggregate
