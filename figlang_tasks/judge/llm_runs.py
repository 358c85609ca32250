"""A language model judges every explanation of finished runs, whatever their benchmark."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypedDict

from PIL import Image

from figlang_tasks.core import images
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.record import Record
from figlang_tasks.core.rubric import ExplanationToJudge
from figlang_tasks.core.text import listing
from figlang_tasks.judge import sheet
from figlang_tasks.judge.bias import settled_preferences, verdict_of
from figlang_tasks.judge.documents import RunDocuments
from figlang_tasks.judge.export import NO_EXPLANATION
from figlang_tasks.judge.llm import annotator_name, kept_answers_beside
from figlang_tasks.judge.questions import (
    AnsweredQuestion,
    Item,
    JudgeQuestion,
    Status,
    questions_of,
)
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results import runs
from figlang_tasks.results.comparability import check_same_rows
from figlang_tasks.results.task_run import Run, TaskRun


class Verdict(TypedDict):
    """What a judge says of one explanation: a line of the output.

    Attributes:
        id: the row of the benchmark.
        system: the name of the run.
        verdict: 1 if the explanation is adequate, 0 if not; None if that was not read.
        error: the main error of an explanation that is not adequate.
        status: what became of the question.
        preferred: 1 if the explanation is preferred in both orders of the systems, 0 if another one
            or none is; None with a single system, or if the preference changes with the order.
        judge: the name of the judge, with the version of its prompts.
        task: the name of the task.
        data: the identity of the data.
    """

    id: str
    system: str
    verdict: int | None
    error: str | None
    status: Status
    preferred: int | None
    judge: str
    task: str
    data: str


class _Explained(NamedTuple):
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


class JudgedRuns:
    """Every explanation of one or more runs of the same rows, for a language model to judge.

    Attributes:
        output: the file to write.
        annotator: the name of the judge.
        kept_answers: the answers of earlier calls.
        questions: all questions about the explanations.
        plan: what is judged, in a line.
        system_of_letter: the system behind each letter, the same in all items.

    Args:
        arguments: the runs as a command line names them.
        task_name: the task; None if each run has one task with explanations.
        output: the file of verdicts.
        model: the name of the model.

    Raises:
        FigLangError: the runs cannot be judged together, their data is not here, or the output is
            not ours.
    """

    def __init__(
        self, arguments: Sequence[str], task_name: str | None, output: Path, model: str
    ) -> None:
        """Read the runs and their data; nothing is asked or written yet."""
        explained_by_system: dict[str, _Explained] = {}
        for run in runs.read_all(arguments):
            explained_by_system[run.name] = _explained_task(run, task_name)
        first_name, first = next(iter(explained_by_system.items()))
        for name, explained in explained_by_system.items():
            if name != first_name:
                check_same_rows(first.task.task, first_name, first.task, name, explained.task)

        letters = sheet.LETTERS[: len(explained_by_system)]
        self.system_of_letter = dict(zip(letters, explained_by_system, strict=True))
        self._task = first.task
        self.output = output
        self.annotator = annotator_name(model, first.rubric.TEMPLATE)
        items = _items(list(explained_by_system.values()))
        self.questions: list[JudgeQuestion] = questions_of(items, first.rubric.TEMPLATE, model)
        self.kept_answers = kept_answers_beside(output, model, {"data": str(first.task.data)})
        self.plan = (
            f"{first.task.task}: {len(items) * len(letters)} explanations by"
            f" {listing(explained_by_system)}"
        )
        rows_left_out = len(first.task.ids) - len(items)
        if rows_left_out:
            self.plan += f"; {rows_left_out} rows ask for none and are left out"

    def write(self, answered: Sequence[AnsweredQuestion]) -> None:
        """Write a `Verdict` for each explanation, as JSON Lines."""
        lines: list[str] = []
        preferences = settled_preferences(answered)
        for question, status, cells in answered:
            if question.column != "adequate":
                continue
            (letter,) = question.letters
            row_id = question.item.id
            preferred = preferences.get(row_id)
            verdict = Verdict(
                id=row_id,
                system=self.system_of_letter[letter],
                verdict=verdict_of(cells) if cells else None,
                error=cells.get("error"),
                status=status,
                preferred=None if preferred is None else int(preferred == letter),
                judge=self.annotator,
                task=self._task.task,
                data=str(self._task.data),
            )
            lines.append(json.dumps(verdict) + "\n")
        write_whole(self.output, "".join(lines).encode("ascii"))

    def answers_by_system(
        self, answered: Sequence[AnsweredQuestion]
    ) -> dict[str, list[AnsweredQuestion]]:
        """The answers about the adequacy of each system's explanations, by its name."""
        by_system: dict[str, list[AnsweredQuestion]] = {}
        for answer in answered:
            if answer.question.column == "adequate":
                system = self.system_of_letter[answer.question.letters[0]]
                by_system.setdefault(system, []).append(answer)
        return by_system


def _explained_task(run: Run, task_name: str | None) -> _Explained:
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
    candidates: list[_Explained] = []
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


def _with_explanations(task: TaskRun, rubric: ModuleType) -> _Explained:
    """A task with its explanations.

    Raises:
        FigLangError: a row has several answers, the samples are damaged or contradict the results
            file, or the data is not here.
    """
    answers = len(task.samples)
    rows = len(set(task.ids))
    if answers != rows:
        raise FigLangError(f"{task.path}: {answers} answers to {rows} rows: leave out --repeats")
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
        # The bytes of all pictures at once would fill the memory: `_picture` reads them again.
        explanations[record["id"]] = replace(explanation, picture=None)
    return _Explained(task, rubric, documents, explanations, rows_with_picture)


def _items(systems: Sequence[_Explained]) -> list[Item]:
    """An item for each row whose explanations are judged, with a letter for each system."""
    first = systems[0]
    records = {record["id"]: record for record in first.task.records}
    items: list[Item] = []
    for row_id, explanation in first.explanations.items():
        texts: dict[str, str] = {}
        for letter, system in zip(sheet.LETTERS, systems, strict=False):
            text = system.explanations[row_id].text.strip()
            texts[letter] = text or NO_EXPLANATION
        read_picture = None
        if row_id in first.rows_with_picture:
            read_picture = partial(_picture, first, records[row_id])
        items.append(Item(row_id, explanation.row_texts, texts, read_picture, asks_label=False))
    return items


def _picture(explained: _Explained, record: Record) -> Image.Image:
    """The picture of a row that a record is about."""
    row_id = record["id"]
    explanation = explained.rubric.explanation_of(record, explained.documents[row_id])
    dataset = explained.task.data.dataset
    return images.decode(explanation.picture, f"{dataset} {row_id}", dataset)
