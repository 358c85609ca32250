"""The record of an answer to NYK-MS."""

from __future__ import annotations

from typing import TypedDict

from figlang_tasks.benchmarks.nykms.parse import Answers
from figlang_tasks.core.record import SharedFields


class WordScores(TypedDict, total=False):
    """The scores of an answer in words.

    Attributes:
        em: 1 if it equals the annotated answer, else 0; for MW and SW only.
        relaxed_em: the same without case, surrounding punctuation and a leading article; for MW and
            SW only.
        bleu4: BLEU-4 of this one answer, 0 to 1.
        bleu4_sums: its ten counts, whose sums over answers give BLEU-4 of a corpus.
    """

    em: float
    relaxed_em: float
    bleu4: float
    bleu4_sums: list[int]


class CartoonRecord(SharedFields):
    """The record of an answer.

    Its unit is the cartoon, since up to three captions share one. Its status and rule are those of
    the published post-processing.

    Attributes:
        question: a key of `parse.FIELDS`, which lists the fields that it asks for.
        modality: ``image``, or ``text`` if the cartoon is described in words.
        gold: the annotated answers by field, with their marks; labels as 0 or 1.
        predicted: the model's answers by field; labels as 0 or 1.
        predicted_strict: the label as a careful reader reads it, 0 or 1; None if the reader finds
            none, or if the question asks for none.
        kinds: what the annotated MW, SW and ST of a positive name (`parse.Referent`), by field.
        words: the scores of the answers in words by field, for positives only, whatever was
            answered to the first question.
        predicted_marks: the fields whose predicted answer has a mark.
    """

    question: str
    modality: str
    gold: Answers
    predicted: Answers
    predicted_strict: int | None
    kinds: dict[str, str]
    words: dict[str, WordScores]
    predicted_marks: list[str]
