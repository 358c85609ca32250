"""The options of a question, for a reader that must not know which of them is right.

The reader is a language model (`figlang_tasks.judge.unread`).

A benchmark whose answers choose something has a module ``choice`` with ``choice_of(record)``: the
choice that the task of a record offers, None where it offers none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from figlang_tasks.core.record import Record, RowIfKnown

YES_OR_NO: Final = {"Yes": "", "No": ""}
"""The options of a question that is answered by one of these words."""


def yes_or_no(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The options Yes and No, whatever the row."""
    return YES_OR_NO


def predicted_label(record: Record, label: str) -> Mapping[str, str]:
    """The fields of a record whose ``predicted`` is the chosen label itself."""
    return {"predicted": label}


def whole_output(output: str) -> str:
    """The output, unchanged: all of it is the answer."""
    return output


def letters_alone(count: int, letters: str = "ABCDE") -> dict[str, str]:
    """The first `count` letters as options whose texts are not shown: ``{"A": "", "B": ""}``."""
    return dict.fromkeys(letters[:count], "")


@dataclass(frozen=True)
class Choice:
    """A choice that a task offers in each of its rows. Nothing in it depends on the right answer.

    Attributes:
        question: what is asked, in one sentence that fits all rows.
        options: ``(record, document) -> options``: each label with its text, which is "" where the
            prompt shows none. Empty if the record leaves nothing to read in the answer.
        fields: ``(record, label) -> fields``: the fields of the record if that label was chosen,
            which replace those it has.
        needs_document: whether `options` needs the document; if not, it gets None.
        answer_in: the part of a saved output that is the answer.
    """

    question: str
    options: Callable[[Record, RowIfKnown], Mapping[str, str]]
    fields: Callable[[Record, str], Mapping[str, object]]
    needs_document: bool = False
    answer_in: Callable[[str], str] = whole_output
