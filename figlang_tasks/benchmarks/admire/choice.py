"""The choice that AdMIRe's subtask B offers a model, for ``figlang judge read``: the last picture.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`). It does not read the sense, and no rankings.
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.admire import tasks
from figlang_tasks.benchmarks.admire.rows import LETTERS
from figlang_tasks.core.choice import Choice, letters_alone
from figlang_tasks.core.record import Record, RowIfKnown


def choice_of(record: Record) -> Choice | None:
    """The choice between the candidates of a sequence; None for a ranking, which is no choice."""
    if record["task"] not in (tasks.SEQUENCE.name, tasks.SEQUENCE_BOTH.name):
        return None
    return CAPTIONS if record["shown"] == "captions" else PICTURES


def _pictures(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The letters of the candidates; none if the picture was read, and only the sense was not."""
    if record["predicted"] is not None:
        return {}
    return letters_alone(len(record["names"]), LETTERS)


def _captions(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The captions of the candidates by letter; none if the picture was read."""
    letters = _pictures(record, document)
    # `needs_document` below: the document is always there. Its first two captions are those of the
    # pictures that begin the sequence.
    captions = (document or {})["captions"]
    candidate_captions = captions[-len(record["names"]) :]
    return dict(zip(letters, candidate_captions, strict=False))  # no letters: no captions


def _fields_of_choice(record: Record, letter: str) -> Mapping[str, str]:
    """The fields that a record has if the model chose this letter."""
    return {"predicted": record["names"][LETTERS.index(letter)]}


_QUESTION = "Which image ends the story?"
PICTURES = Choice(_QUESTION, options=_pictures, fields=_fields_of_choice)
CAPTIONS = Choice(_QUESTION, options=_captions, fields=_fields_of_choice, needs_document=True)
