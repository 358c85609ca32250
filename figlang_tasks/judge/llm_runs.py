"""A language model judges every explanation of finished runs, whatever their benchmark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from figlang_tasks.core.text import listing
from figlang_tasks.judge import sheet
from figlang_tasks.judge.bias import settled_preferences, verdict_of
from figlang_tasks.judge.explained import ExplainedTask, read_explained
from figlang_tasks.judge.llm import annotator_name, kept_answers_beside
from figlang_tasks.judge.questions import (
    AnsweredQuestion,
    Item,
    JudgeQuestion,
    questions_of,
)
from figlang_tasks.judge.verdicts import Verdict
from figlang_tasks.metrics.files import write_whole


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
        explained_by_system = read_explained(arguments, task_name)
        first = next(iter(explained_by_system.values()))
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


def _items(systems: Sequence[ExplainedTask]) -> list[Item]:
    """An item for each row whose explanations are judged, with a letter for each system."""
    first = systems[0]
    records = first.records
    items: list[Item] = []
    for row_id, explanation in first.explanations.items():
        texts: dict[str, str] = {}
        for letter, system in zip(sheet.LETTERS, systems, strict=False):
            texts[letter] = system.text(row_id)
        read_picture = None
        if row_id in first.rows_with_picture:
            read_picture = partial(first.read_picture, records[row_id])
        items.append(Item(row_id, explanation.row_texts, texts, read_picture, asks_label=False))
    return items
