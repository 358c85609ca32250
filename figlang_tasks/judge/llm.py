"""A language model as an annotator: it fills in a sheet, or judges every explanation of runs.

`JudgedSheet` fills in a sheet of ``figlang judge export``; `figlang_tasks.judge.llm_runs` judges
runs. What the model is asked is in `figlang_tasks.judge.questions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from PIL import Image

from figlang_tasks.core import images
from figlang_tasks.core.benchmark import benchmarks, names_with
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.rubric import TEXT_COLUMNS
from figlang_tasks.core.text import listing
from figlang_tasks.judge import sheet
from figlang_tasks.judge.bias import settled_preferences
from figlang_tasks.judge.kept_answers import KeptAnswers
from figlang_tasks.judge.questions import (
    AnsweredQuestion,
    Item,
    JudgeQuestion,
    questions_of,
    rubric_hash,
)
from figlang_tasks.judge.sheet import JUDGED_COLUMNS, Sheet
from figlang_tasks.metrics.files import write_whole

_REQUIRED_COLUMNS = ("reference", "explanation", "adequate", "error")

_Row: TypeAlias = dict[str, Any]
"""A row of the sheet, by column."""


def annotator_name(model: str, rubric: str) -> str:
    """The name of a model as an annotator, with the version of its prompts."""
    name = " ".join(model.split())
    return f"{sheet.LLM_PREFIX}{name}, prompt {rubric_hash(rubric)}"


def kept_answers_beside(output: Path, model: str, samples: object) -> KeptAnswers:
    """The answers that an earlier call has kept beside its output.

    Args:
        output: ``NAME.csv`` or ``NAME.jsonl``; the answers are in ``NAME.answers.jsonl``.
        model: the name of the model.
        samples: what names the data that is judged.

    Raises:
        FigLangError: the output exists, and this command did not write it about the same data.
    """
    path = output.with_name(f"{output.stem}.answers.jsonl")
    kept_answers = KeptAnswers(path, {"model": model, "samples": samples})
    if output.exists() and not path.exists():
        raise FigLangError(f"{output} exists, and {path.name} is not beside it: choose another -o")
    return kept_answers


class JudgedSheet:
    """An empty sheet that a language model fills in.

    Attributes:
        output: the file to write.
        annotator: the name of the model in the sheet.
        kept_answers: the answers of earlier calls.
        questions: all questions about the sheet.
        system_of_letter: empty, since a sheet does not say which system is which.

    Args:
        path: the empty sheet, with its pictures beside it.
        output: the filled sheet.
        model: the name of the model.

    Raises:
        FigLangError: the sheet cannot be used, a picture is damaged, or the output is not ours.
    """

    def __init__(self, path: Path, output: Path, model: str) -> None:
        """Read the sheet; nothing is asked or written yet."""
        blank = sheet.read(path, _REQUIRED_COLUMNS)
        rubric = _rubric_of(blank)
        self._asks_label = "label" in blank.rows.columns
        self.annotator = annotator_name(model, rubric)
        empty_cells = dict.fromkeys([*JUDGED_COLUMNS, "comment"], "")
        filled = blank.rows.assign(**empty_cells, annotator=self.annotator)
        self._columns = list(blank.rows.columns)
        self._rows: list[_Row] = filled.to_dict("records")
        self.output = output
        self.system_of_letter: dict[str, str] = {}
        self.questions: list[JudgeQuestion] = questions_of(self._items(path), rubric, model)
        self.kept_answers = kept_answers_beside(output, model, {"sheet": blank.code})

    @property
    def plan(self) -> str:
        """What is judged, in a line."""
        return f"{len(self._rows)} explanations of a sheet"

    def write(self, answered: Sequence[AnsweredQuestion]) -> None:
        """Write the filled sheet; a cell is empty where the model said nothing that can be read.

        The preference is empty, too, where it changes with the order.
        """
        rows_by_place = {(row["item"], row["letter"]): row for row in self._rows}
        first_rows: dict[str, _Row] = {}  # label and preference of an item stand in its first row
        for row in self._rows:
            first_rows.setdefault(row["item"], row)
        for question, _, cells in answered:
            if question.column == "adequate":
                rows_by_place[question.item.id, question.letters[0]].update(cells)
            elif question.column == "label":
                first_rows[question.item.id].update(cells)
        for item_id, preferred in settled_preferences(answered).items():
            first_rows[item_id]["preferred"] = preferred
        write_whole(self.output, sheet.csv_bytes(self._columns, self._rows))

    def answers_by_system(
        self, answered: Sequence[AnsweredQuestion]
    ) -> dict[str, list[AnsweredQuestion]]:
        """All answers under one name."""
        return {"all explanations": list(answered)}

    def _items(self, path: Path) -> list[Item]:
        """The items of the sheet at this path, after a check of their pictures."""
        rows_by_item: dict[str, list[_Row]] = {}
        for row in self._rows:
            rows_by_item.setdefault(row["item"], []).append(row)
        items: list[Item] = []
        for item_id, rows in rows_by_item.items():
            first = rows[0]
            read_picture = None
            if first.get("image"):
                read_picture = partial(_picture, path, first)
                read_picture()  # raises an error for a damaged one, before anything is paid for
            explanations = {row["letter"]: row["explanation"] for row in rows}
            row_texts = {column: first.get(column, "") for column in TEXT_COLUMNS}
            items.append(Item(item_id, row_texts, explanations, read_picture, self._asks_label))
        return items


def _rubric_of(blank: Sheet) -> str:
    """The template that tells the judge of the benchmark of a sheet.

    Sheets of earlier versions do not name their benchmark: they are of V-FLUTE, or of FLUTE if they
    have premises.

    Raises:
        FigLangError: the sheet names several benchmarks, or one without explanations.
    """
    names: list[str] = []
    if "benchmark" in blank.rows:
        names = [name for name in blank.rows["benchmark"].unique() if name]
    if not names:
        return "judge/flute.jinja" if "premise" in blank.rows else "judge/vflute.jinja"
    if len(names) > 1 or names[0] not in names_with("rubric"):
        raise FigLangError(
            f"{blank.path}, column benchmark: {listing(names)} is none of"
            f" {listing(names_with('rubric'), 9)}: restore the sheet as it was exported"
        )
    rubric = benchmarks()[names[0]].module("rubric")
    template: str = rubric.TEMPLATE  # type: ignore[union-attr]
    return template


def _picture(sheet_path: Path, row: _Row) -> Image.Image:
    """The picture of a row.

    Somebody else may have written the sheet, and its pictures go to a server. So only a file below
    the sheet's folder may be read.
    """
    origin = f"{sheet_path}, item {row['item']}"
    return images.decode_file(images.below(sheet_path.parent, row["image"], origin), origin)
