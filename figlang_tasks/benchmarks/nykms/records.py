"""The records of NYK-MS."""

from __future__ import annotations

from typing import Any, TypedDict

from figlang_tasks.core.record import SharedFields


class WordScores(TypedDict, total=False):
    """The scores of an answer in words.

    Attributes:
        em: whether it is the annotated one; of MW and SW alone, as `relaxed_em`.
        relaxed_em: the same without case, surrounding punctuation and a leading article.
        bleu4: of the one answer.
        bleu4_sums: the ten numbers that BLEU-4 of a corpus sums.
    """

    em: float
    relaxed_em: float
    bleu4: float
    bleu4_sums: list[int]


class CartoonRecord(SharedFields):
    """The record of an answer; its unit is the cartoon: up to three captions of one are not
    independent.

    Its status and rule are those of the published post-processing.

    Attributes:
        question: a key of `parse.FIELDS`, which says which fields it asks for.
        modality: ``image``, or ``text`` where the cartoon is described.
        gold: by field the annotated answer with its marks; labels as 0 or 1.
        predicted: the same by the model.
        predicted_strict: the label as a careful reader takes it; None: there is none, or none was
            asked for.
        kinds: of a positive, what the annotated MW, SW and ST name, by their marks.
        words: of a positive, the scores of the answers in words, whatever was answered to the first
            question.
        predicted_marks: the fields whose predicted answer has a mark.
    """

    question: str
    modality: str
    gold: dict[str, Any]
    predicted: dict[str, Any]
    predicted_strict: int | None
    kinds: dict[str, str]
    words: dict[str, WordScores]
    predicted_marks: list[str]
