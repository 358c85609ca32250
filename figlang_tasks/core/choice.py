"""What a question offered, for a reader that must not know what is right
(`figlang_tasks.judge.unread`).

A benchmark whose answers choose something has a module ``choice`` with ``choice_of(record)``: the
choice that the task behind a record offers, None where it offers none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from figlang_tasks.core.record import Document, Record

YES_OR_NO: Final = {"Yes": "", "No": ""}
"""The options of a question that is answered by one of these words."""


def yes_or_no(record: Record, document: Document) -> Mapping[str, str]:
    """The options Yes and No, which are those of every row."""
    return YES_OR_NO


def whole_output(output: str) -> str:
    """The output as it is."""
    return output


def letters_alone(count: int, letters: str = "ABCDE") -> dict[str, str]:
    """The first letters as options whose texts are not shown."""
    return dict.fromkeys(letters[:count], "")


@dataclass(frozen=True)
class Choice:
    """A choice that a task offers in each of its rows. Nothing in it depends on the right answer.

    Attributes:
        question: what is asked, in one sentence that fits all rows.
        options: the options of a row: each label with its text, "" where the prompt shows none.
            Empty if nothing is left to read in the answer.
        fields: what the record of a row says of a label that was chosen, in place of its own
            fields.
        needs_document: whether `options` needs the document; else it gets None.
        answer_in: the part of a saved output that answers.
    """

    question: str
    options: Callable[[Record, Document], Mapping[str, str]]
    fields: Callable[[Record, str], Mapping[str, Any]]
    needs_document: bool = False
    answer_in: Callable[[str], str] = whole_output
