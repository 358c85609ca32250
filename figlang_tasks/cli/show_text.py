"""Cards of rows as text, as wide as the terminal: what ``figlang show`` prints."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from figlang_tasks.core.text import printable, printable_lines
from figlang_tasks.report.row_views import AnswerView, PictureView, RowChoice, RowView, TaskView
from figlang_tasks.scoring.readings import ANSWERED

_WIDEST = 120  # columns; longer lines are hard to read
_NAMES = 14  # columns of the names of fields
_LEAST = 20  # columns of a text, however narrow the terminal is
_TAB = 4


class _Field(NamedTuple):
    """A line of a card: its name, and its text of one or more lines."""

    name: str
    text: str


def task_text(view: TaskView, choice: RowChoice) -> str:
    """The rows of a task as text: a heading with their number, and a card for each.

    Args:
        view: of the rows.
        choice: the choice of rows that the view is of.
    """
    width = min(max(shutil.get_terminal_size().columns, _LEAST), _WIDEST)
    paragraphs = [_wrapped(_heading(view, choice), width)]
    if view["missing"]:
        paragraphs.append(_wrapped(f"{view['missing']}.".replace("..", "."), width))
    for row in view["cards"]:
        paragraphs.append(_card_text(row, width))
    return "\n\n".join(paragraphs)


def _heading(view: TaskView, choice: RowChoice) -> str:
    """How many rows the task has, how many match, and how many of these follow."""
    rows = "1 row" if view["rows"] == 1 else f"{view['rows']} rows"
    heading = f"{view['task']}: {rows}"
    if choice.wrong:
        heading = f"{view['task']}: {view['matching']} of {rows}: wrong. Right: {view['right']}"
    elif choice.unread:
        heading = f"{view['task']}: {view['matching']} of {rows}: not read"
    elif choice.row_id is not None:
        heading = f"{view['task']}: 1 of {rows}"
    if len(view["cards"]) < view["matching"]:
        heading += f". The first {len(view['cards'])} (--n shows more):"
    return heading


def _card_text(row: RowView, width: int) -> str:
    """The card of a row, with a rule on top that names it."""
    fields = [_Field("prompt", row["prompt"])]
    for name, text in row["facts"]:
        if str(text) not in row["prompt"]:
            fields.append(_Field(name, str(text)))
    fields.append(_Field("options", _options_text(row["options"])))
    for picture in row["pictures"]:
        fields.append(_Field("picture", _picture_text(picture)))
    for number, answer in enumerate(row["answers"], start=1):
        name = "answer" if len(row["answers"]) == 1 else f"answer {number}"
        fields += _answer_fields(name, answer)
    for name, text in row["gold"]:
        fields.append(_Field("gold", str(text) if name == "gold" else f"{name}: {text}"))
    fields.append(_Field("reference", row["reference"]))

    title = f"── {printable(row['id'])} "
    lines = [title + "─" * (width - cell_len(title))]
    for field in fields:
        if field.text.strip():
            lines += _field_lines(field, width)
    return "\n".join(lines)


def _options_text(options: Mapping[str, str]) -> str:
    """Options with their texts, a line each; labels without texts in one line."""
    if not any(options.values()):
        return ", ".join(options)
    return "\n".join(f"{label}: {text}" for label, text in options.items())


def _picture_text(picture: PictureView) -> str:
    """A picture: ``B (literal, right): /data/3.png``."""
    notes = [picture["role"], "right" if picture["right"] else ""]
    note = ", ".join(filter(None, notes))
    name = f"{picture['label']} ({note})" if note else picture["label"]
    place = picture["path"] or picture["problem"]
    return f"{name}: {place}" if name else place


def _answer_fields(name: str, answer: AnswerView) -> Iterable[_Field]:
    """The fields of an answer: the output, how it was read, and its scores.

    Args:
        name: of the answer, with its number if there are several.
    """
    yield _Field(name, answer["output"] or "(nothing)")
    yield _Field("read as", _reading_text(answer))
    if answer["explanation"] not in answer["output"]:
        yield _Field("explanation", answer["explanation"])
    for text_name, text in answer["other_texts"]:
        if str(text) != answer["predicted"]:
            yield _Field(text_name, str(text))
    yield _Field("score", _score_text(answer))


def _reading_text(answer: AnswerView) -> str:
    """How an answer was read: ``entailment (read, rule marker)``; ``nothing (refused, ...)``."""
    if not answer["status"]:  # the task takes the output as it is
        return answer["predicted"]
    predicted = answer["predicted"]
    if answer["status"] not in ANSWERED and predicted == "none":
        predicted = "nothing"
    rule = f", rule {answer['rule']}" if answer["rule"] else ""
    return f"{predicted} ({answer['status'].replace('_', ' ')}{rule})"


def _score_text(answer: AnswerView) -> str:
    """Whether an answer is right, if anything decides it, and its scores: ``right: acc 1``."""
    scores = "; ".join(f"{name} {score:.4g}" for name, score in answer["scores"].items())
    if answer["right"] is None:
        return scores
    judgement = "right" if answer["right"] else "wrong"
    return f"{judgement}: {scores}" if scores else judgement


# --- lines ---


def _field_lines(field: _Field, width: int) -> Sequence[str]:
    """The lines of a field: its name in a column of its own, its text beside it."""
    name = printable(field.name)
    lines = _wrapped(field.text, max(width - _NAMES, _LEAST)).split("\n")
    indent = " " * _NAMES
    if cell_len(name) >= _NAMES:  # a long name has a line of its own
        return [name, *(indent + line for line in lines)]
    padding = " " * (_NAMES - cell_len(name))
    return [name + padding + lines[0], *(indent + line for line in lines[1:])]


def _wrapped(text: str, width: int) -> str:
    """A text of any origin without control characters, wrapped by the width of its characters."""
    console = Console(width=width)
    lines: list[str] = []
    for line in printable_lines(text).strip("\n").split("\n"):
        wrapped = Text(line.expandtabs(_TAB)).wrap(console, width)
        lines += [part.plain.rstrip() for part in wrapped] or [""]
    return "\n".join(lines)
