"""The measures of captions and of answers to questions (section 3.2, Table 3).

"[We] evaluate the state-of-the-art literal image caption model [...] based on the exact match
accuracy (maximum over all references) and standard metrics for image captioning". A caption is
measured whole and in each of its three parts; an answer by the part of the metaphor that is asked
for. COCO's code computes the metrics (`figlang_tasks.metrics.captions`). METEOR and SPICE need
Java: where they cannot be computed they are left out, and the log says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from loguru import logger

from figlang_tasks.benchmarks.metaclue.estimates import NO_INTERVAL, PAPER, mean_over_images
from figlang_tasks.benchmarks.metaclue.records import CaptionRecord, image_of
from figlang_tasks.core import notes
from figlang_tasks.metrics import captions
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import (
    BOOTSTRAP,
    Estimate,
    Measure,
    Record,
    Scopes,
    by_field,
    grouped,
    ratio,
)


class _Answer(NamedTuple):
    """A text that a model wrote, beside its references.

    Attributes:
        record_id: the id of its record.
        text: the text; "" if nothing could be read.
        references: the annotated texts.
    """

    record_id: str
    text: str
    references: tuple[str, ...]

    @property
    def image(self) -> str:
        """The image that the text is about."""
        return image_of({"id": self.record_id})


Answers = tuple[_Answer, ...]
"""A tuple, because the caches below look scores up by it."""


def _answers(records: Sequence[Record], text_field: str) -> Answers:
    """The texts of records with their references, in the order of ids.

    So the same records in any order are one key of the caches below.

    Args:
        text_field: the field of the records with the text: ``caption`` or ``answer``.
    """
    answers: list[_Answer] = []
    for record in records:
        references = tuple(record["references"])
        answers.append(_Answer(record["id"], record[text_field], references))
    return tuple(sorted(answers))


def _images(answers: Answers) -> list[str]:
    """The image that each text is about."""
    return [answer.image for answer in answers]


# --- metrics without Java ---


# The scopes of a task are at most four sets of texts, of each of which several metrics are asked.
@lru_cache(maxsize=4)
def _caption_scores(answers: Answers) -> captions.CaptionScores:
    """Exact match, BLEU-4, ROUGE-L and CIDEr of texts; what they are computed with is logged."""
    texts = [answer.text for answer in answers]
    references = [answer.references for answer in answers]
    scores = captions.caption_scores(texts, references)
    logger.info(f"figlang_tasks: {len(answers)} texts: {scores.signature}")
    return scores


def _mean_of_metric(records: Sequence[Record], metric: str, text_field: str) -> Statistic:
    """The mean of a metric over the texts of records: ``rouge_l`` or ``cider``."""
    answers = _answers(records, text_field)
    scores = _caption_scores(answers).metrics[metric].per_image
    return ratio(_images(answers), scores.tolist())


def _corpus_bleu4(records: Sequence[Record], text_field: str) -> Statistic:
    """BLEU-4 of all texts together, from sums of n-gram counts."""
    answers = _answers(records, text_field)
    return grouped(_images(answers), _caption_scores(answers).bleu_statistics, captions.bleu4)


# --- metrics that need Java ---


@lru_cache(maxsize=4)  # as for `_caption_scores`
def _java_metrics(answers: Answers) -> dict[str, captions.Metric]:
    """METEOR and SPICE of texts, by name; one that cannot be computed is left out."""
    texts = [answer.text for answer in answers]
    references = [answer.references for answer in answers]
    metrics = captions.java_metrics(texts, references)
    if metrics:
        logger.info(f"figlang_tasks: {len(answers)} texts: {captions.signature(metrics)}")
    return metrics


def _java_metric(answers: Answers, name: str) -> captions.Metric | None:
    """``meteor`` or ``spice`` of texts; None, with a note in the results, if it is missing."""
    metric = _java_metrics(answers).get(name)
    if metric is None:  # `captions.java_metrics` has logged the reason.
        notes.note_failure(f"{name} could not be computed and is missing, see the log")
    return metric


def _meteor(records: Sequence[Record], scope: str, text_field: str) -> Estimate | None:
    """METEOR of all texts together, which has no interval; None if it cannot be computed.

    Args:
        records: those of the scope.
        scope: not used.
        text_field: see `_answers`.
    """
    meteor = _java_metric(_answers(records, text_field), "meteor")
    return None if meteor is None else Estimate(meteor.value)


def _mean_spice(records: Sequence[Record], scope: str, text_field: str) -> Estimate | None:
    """The mean of SPICE with its interval; None if SPICE cannot be computed.

    It is no `Statistic`, so that ``figlang compare`` does not run Java for hours.

    Args:
        records: those of the scope.
        scope: not used.
        text_field: see `_answers`.
    """
    answers = _answers(records, text_field)
    spice = _java_metric(answers, "spice")
    if spice is None:
        return None
    return mean_over_images(_images(answers), spice.per_image.tolist())


# --- the measures of Table 3 ---


def _exact_match(record: Record) -> float:
    """1 if the text of a record equals a reference, else 0."""
    return float(record["em"])


def _measures_of_texts(text_field: str, scopes: Scopes) -> tuple[Measure, ...]:
    """The six measures of Table 3, for the texts in one field of the records.

    Args:
        text_field: the field of the records with the text: ``caption`` or ``answer``.
        scopes: the parts of a metaphor, each of which has values of its own.
    """
    declare = partial(Measure, source=f"{PAPER}, section 3.2 and Table 3", scopes=scopes)
    return (
        declare(
            "em",
            description=(
                "Share of texts that equal a reference, without regard to case and punctuation."
            ),
            value_of_record=_exact_match,
        ),
        declare(
            "bleu4",
            description="COCO's BLEU-4 of all texts.",
            statistic=partial(_corpus_bleu4, text_field=text_field),
            interval=BOOTSTRAP,
        ),
        declare(
            "rouge_l",
            description="Mean of COCO's ROUGE-L.",
            statistic=partial(_mean_of_metric, metric="rouge_l", text_field=text_field),
            interval=BOOTSTRAP,
        ),
        declare(
            "meteor",
            description="COCO's METEOR of all texts; needs Java.",
            estimate_of=partial(_meteor, text_field=text_field),
            interval=NO_INTERVAL,
        ),
        declare(
            "spice",
            description="Mean of COCO's SPICE; needs Java.",
            estimate_of=partial(_mean_spice, text_field=text_field),
            interval=BOOTSTRAP,
        ),
        declare(
            "cider",
            description="Mean of COCO's CIDEr, from 0 to 10.",
            statistic=partial(_mean_of_metric, metric="cider", text_field=text_field),
            interval=BOOTSTRAP,
            percent=False,
            bounds=(0.0, math.inf),
        ),
    )


_PARTS_AS_IN_TABLE_3 = ("primary", "secondary", "relationship")


def _all_parts(record: CaptionRecord) -> tuple[str, ...]:
    """The scopes of a caption: it counts in each of its three parts."""
    return _PARTS_AS_IN_TABLE_3


def _part_as_caption(record: Record, part: str) -> Record:
    """The record of a caption as if one part, e.g. ``primary``, were the whole caption.

    A part that could not be read becomes an empty text: "The score of 0 is given if parsing fails"
    (section 3.2).
    """
    part_record = dict(record)
    part_record["caption"] = record[part] or ""
    part_record["references"] = record[f"references_{part}"]
    part_record["em"] = record[f"em_{part}"]
    return part_record


# In a scope the record of a caption counts as that of one part.
CAPTION_MEASURES = _measures_of_texts(
    "caption", Scopes(_PARTS_AS_IN_TABLE_3, _all_parts, _part_as_caption)
)
VQA_MEASURES = _measures_of_texts("answer", by_field("role", _PARTS_AS_IN_TABLE_3))
