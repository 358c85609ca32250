"""The questions of a language model as a judge of explanations, and what its answers say.

The model sees what an annotator sees: no system's name and no score. It is asked for the label of
an entailment, before an explanation is shown; for the adequacy of each explanation by itself; and
for the preferred explanation twice, in both orders.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from PIL import Image

from figlang_tasks.core.prompting import render, template_hash
from figlang_tasks.core.text import whole_characters
from figlang_tasks.judge import sheet
from figlang_tasks.judge.asking import estimated_tokens
from figlang_tasks.judge.kept_answers import KeptAnswers, key_of
from figlang_tasks.judge.server import Content, last_object

Column: TypeAlias = Literal["label", "adequate", "preferred"]
"""What a question asks, as the column of a sheet."""

Status: TypeAlias = Literal["read", "unreadable", "failed"]
"""What became of a question."""

_LABEL: Final = "judge/label.jinja"
_ADEQUACY: Final = "judge/adequacy.jinja"
_PREFERENCE: Final = "judge/preference.jinja"


@dataclass(frozen=True)
class Item:
    """A row of a benchmark with the explanations of some systems.

    Attributes:
        id: the number of an item in a sheet, or the id of a row.
        row_texts: the values of the rubric's template.
        explanations: of the systems, by letter.
        read_picture: decodes the picture of the row; None if it has none.
        asks_label: whether the judge is also asked for the label of an entailment.
    """

    id: str
    row_texts: Mapping[str, object]
    explanations: Mapping[str, str]
    read_picture: Callable[[], Image.Image] | None
    asks_label: bool


@dataclass(frozen=True)
class JudgeQuestion:
    """One request to a judge.

    Attributes:
        item: the item that it is about.
        column: what is asked.
        letters: the explanations that it shows, in their order, by their letters in the item; none
            for the label.
        prompt: its text.
        key: the key under which the answer is kept.
    """

    item: Item
    column: Column
    letters: tuple[str, ...]
    prompt: str
    key: str

    @property
    def row(self) -> str:
        """The item and what is asked of it, for messages."""
        return f"item {self.item.id}, {self.column}"

    @property
    def content(self) -> Content:
        """The parts of the user's turn: the picture as a JPEG, if there is one, and the prompt."""
        return [*_picture_part(self.item), {"type": "text", "text": self.prompt}]

    @property
    def shown_letters(self) -> str:
        """The letters under which the prompt shows the explanations, in the order of `letters`."""
        return sheet.LETTERS[: len(self.letters)]

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens the prompt has, without the picture."""
        return estimated_tokens(self.prompt)


def rubric_hash(rubric: str) -> str:
    """The version of a judge's prompts: a digest of the rubric and of the questions around it."""
    return template_hash(rubric, _LABEL, _ADEQUACY, _PREFERENCE)


def _picture_part(item: Item) -> Content:
    """The part of a user's turn with the picture of an item, as a JPEG; [] if it has none."""
    if item.read_picture is None:
        return []
    buffer = io.BytesIO()
    item.read_picture().save(buffer, "JPEG", quality=85)
    encoded = base64.b64encode(buffer.getvalue()).decode()
    return [{"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{encoded}"}}]


# --- questions ---


def questions_of(items: Sequence[Item], rubric: str, model: str) -> list[JudgeQuestion]:
    """All questions about some items, item by item.

    Args:
        items: the items.
        rubric: the template that tells the judge the row and what a good explanation is.
        model: the name of the judge, for the keys.
    """
    questions: list[JudgeQuestion] = []
    for item in items:
        for column, letters, prompt in _prompts(item, rubric):
            # An explanation may hold half a character, which could not be sent as UTF-8.
            whole_prompt = whole_characters(prompt)
            # Rows with equal texts may have other pictures, so that the item belongs to the key.
            key = key_of(model, f"{item.id}\n{whole_prompt}")
            questions.append(JudgeQuestion(item, column, letters, whole_prompt, key))
    return questions


def _prompts(item: Item, rubric: str) -> Iterator[tuple[Column, tuple[str, ...], str]]:
    """Yield what is asked about an item, the letters that are shown, and the prompt.

    The preference is asked for in both orders of the explanations, if there are several. The first
    one that is shown is called A in either, so that a model that likes the letter is found out too.
    """
    if item.asks_label:
        texts = {name: item.row_texts.get(name) for name in ("premise", "claim", "reference")}
        yield "label", (), render(_LABEL, **texts)
    rubric_text = render(rubric, **item.row_texts).strip()
    for letter, explanation in item.explanations.items():
        yield "adequate", (letter,), render(_ADEQUACY, rubric=rubric_text, explanation=explanation)
    letters = tuple(item.explanations)
    if len(letters) < 2:
        return
    for order in (letters, letters[::-1]):
        explanations: dict[str, str] = {}
        for shown_letter, letter in zip(sheet.LETTERS, order, strict=False):
            explanations[shown_letter] = item.explanations[letter]
        yield "preferred", order, render(_PREFERENCE, rubric=rubric_text, explanations=explanations)


# --- answers ---


def read_answer(column: str, answer: str, letters: Sequence[str] = ()) -> dict[str, str]:
    """The cells that an answer to the question about a column fills in; empty if it has none.

    They are taken from the last JSON object of the answer that has the column as a key. There are
    none if there is no such object, a value is not valid, or adequacy and error contradict each
    other.

    Args:
        column: what the model was asked: `label`, `adequate` or `preferred`.
        answer: what the model said.
        letters: all letters of the item, at least two, from which `preferred` chooses; not used
            for other columns.

    Returns:
        The cells by column: ``{"label": "entailment"}``; ``{"adequate": "no", "error": "unsound"}``
        (one question asks for both); ``{"preferred": "B"}``.
    """
    texts: dict[str, str] = {}
    for name, value in last_object(answer, column).items():
        # A sheet takes the texts "True" and "1" for yes.
        if isinstance(value, str | bool | int):
            texts[name] = str(value)
    if texts.get("error", "").strip().casefold() == "none":
        # So models say that there is no error, for which a sheet has no word.
        del texts["error"]

    columns = ["adequate", "error"] if column == "adequate" else [column]
    spellings = sheet.spellings_by_column(letters)  # without several letters none of `preferred`
    cells: dict[str, str] = {}
    for name in columns:
        try:
            cell = sheet.read_cell(texts.get(name, ""), spellings[name])
        except ValueError:  # the value is not valid
            return {}
        if cell is not None:
            cells[name] = cell
    if column == "adequate" and not _is_consistent(cells):
        return {}
    return cells


class AnsweredQuestion(NamedTuple):
    """A question with what the judge said.

    Attributes:
        question: the question.
        status: ``read``; ``unreadable`` if the answer says nothing; ``failed`` without an answer.
        cells: the cells that the answer fills in, by column; the preference by a letter of the
            item. Empty unless the answer was read.
    """

    question: JudgeQuestion
    status: Status
    cells: Mapping[str, str]


def read_answers(
    questions: Sequence[JudgeQuestion], kept_answers: KeptAnswers
) -> list[AnsweredQuestion]:
    """Each question with the judge's answer, in their order."""
    answered: list[AnsweredQuestion] = []
    for question in questions:
        answer = kept_answers.get_latest(question.key)
        if answer is None:
            answered.append(AnsweredQuestion(question, "failed", {}))
            continue
        cells = read_answer(question.column, answer.text, question.shown_letters)
        shown_letter = cells.get("preferred", sheet.NO_PREFERENCE)
        if shown_letter != sheet.NO_PREFERENCE:
            cells["preferred"] = question.letters[question.shown_letters.index(shown_letter)]
        answered.append(AnsweredQuestion(question, "read" if cells else "unreadable", cells))
    return answered


def _is_consistent(cells: Mapping[str, str]) -> bool:
    """Whether cells say that an explanation is adequate, or that it is not and name its error."""
    has_error = "error" in cells
    if cells.get("adequate") == "yes":
        return not has_error
    return cells.get("adequate") == "no" and has_error
