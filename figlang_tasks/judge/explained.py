"""The explanations of finished runs that people or a language model judge."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import NamedTuple

from PIL import Image

from figlang_tasks.core import images
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.record import Record
from figlang_tasks.core.rubric import ExplanationToJudge
from figlang_tasks.core.text import listing
from figlang_tasks.judge.documents import RunDocuments
from figlang_tasks.results import runs
from figlang_tasks.results.comparability import check_same_rows
from figlang_tasks.results.task_run import Run, TaskRun

NO_EXPLANATION = "(no explanation)"
"""What a judge sees in place of an empty explanation."""


class ExplainedTask(NamedTuple):
    """A task of a run with its explanations.

    Attributes:
        task: the task.
        rubric: the module ``rubric`` of its benchmark.
        documents: of the task.
        explanations: by row, in the order of the samples, without their pictures; rows that have
            none to judge are left out.
        rows_with_picture: the rows that have a picture.
    """

    task: TaskRun
    rubric: ModuleType
    documents: RunDocuments
    explanations: Mapping[str, ExplanationToJudge]
    rows_with_picture: Collection[str]

    @property
    def asks_label(self) -> bool:
        """Whether models choose a label, and judges too: entailment or contradiction."""
        scheme = self.task.kind.scheme
        return scheme is not None and scheme.asks_label

    @property
    def records(self) -> dict[str, Record]:
        """The records of the rows that have an explanation, by row."""
        return {
            record["id"]: record
            for record in self.task.records
            if record["id"] in self.explanations
        }

    def text(self, row_id: str) -> str:
        """The explanation of a row as a judge sees it."""
        return self.explanations[row_id].text.strip() or NO_EXPLANATION

    def read_picture(self, record: Record) -> Image.Image:
        """Decode the picture of the row that a record is about."""
        row_id = record["id"]
        explanation = self.rubric.explanation_of(record, self.documents[row_id])
        dataset = self.task.data.dataset
        return images.decode(explanation.picture, f"{dataset} {row_id}", dataset)


def read_explained(arguments: Sequence[str], task_name: str | None) -> dict[str, ExplainedTask]:
    """The task with explanations of each run, by the name of the run, all of the same rows.

    Args:
        arguments: the runs as a command line names them.
        task_name: the name of the task; None if each run has a single one with explanations.

    Raises:
        FigLangError: the runs cannot be judged together, or their data is not here.
    """
    explained_by_system: dict[str, ExplainedTask] = {}
    for run in runs.read_all(arguments):
        explained_by_system[run.name] = _explained_task(run, task_name)
    first_name, first = next(iter(explained_by_system.items()))
    for name, explained in explained_by_system.items():
        if name != first_name:
            check_same_rows(first.task.task, first_name, first.task, name, explained.task)
    return explained_by_system


def _explained_task(run: Run, task_name: str | None) -> ExplainedTask:
    """The task of a run that is to be judged, with its explanations.

    Args:
        run: the run.
        task_name: the name of the task; None if the run has a single one with explanations.

    Raises:
        FigLangError: there is no such task, or several.
    """
    if task_name is not None and task_name not in run.tasks:
        raise FigLangError(f"{run.path} has no task {task_name}, but {listing(run.tasks)}")
    tasks = list(run.tasks.values()) if task_name is None else [run.tasks[task_name]]
    candidates: list[ExplainedTask] = []
    for task in tasks:
        rubric = task.benchmark.module("rubric")
        explained = None if rubric is None else _with_explanations(task, rubric)
        if explained is not None and explained.explanations:
            candidates.append(explained)
    names = listing(task.task for task in tasks)
    if not candidates:
        raise FigLangError(
            f"{run.path} has no explanations to judge: {names} asks for none. Name a run of"
            " vflute, flute, nycc_explain, nykms_metaphor or metaclue_caption, say"
        )
    if len(candidates) > 1:
        judged = listing(explained.task.task for explained in candidates)
        raise FigLangError(f"{run.path} holds explanations of {judged}: name one by --task")
    return candidates[0]


def _with_explanations(task: TaskRun, rubric: ModuleType) -> ExplainedTask:
    """A task with its explanations.

    Raises:
        FigLangError: a row has several answers, the samples are damaged or contradict the results
            file, or the data is not here.
    """
    answers = len(task.samples)
    rows = len(set(task.ids))
    if answers != rows:
        raise FigLangError(f"{task.path}: {answers} answers to {rows} rows: leave out --repeats")
    if task.has_explanations:
        task.check_explanations()
    task.check_consistent()
    documents = RunDocuments(task)
    explanations: dict[str, ExplanationToJudge] = {}
    rows_with_picture: set[str] = set()
    for record in task.records:
        document = documents[record["id"]]
        with task.reporting_damage(f"a record, {record['id']},"):
            explanation = rubric.explanation_of(record, document)
        if explanation is None:
            continue
        if explanation.picture is not None:
            rows_with_picture.add(record["id"])
        # The bytes of all pictures at once would fill the memory: `read_picture` reads them again.
        explanations[record["id"]] = replace(explanation, picture=None)
    return ExplainedTask(task, rubric, documents, explanations, rows_with_picture)
