"""What a judge of explanations is told of NYK-MS's rows (``figlang judge llm``)."""

from __future__ import annotations

from typing import Final

from figlang_tasks.core.record import Record
from figlang_tasks.core.rubric import ExplanationToJudge
from figlang_tasks.scoring.task import Document

_TOPICS: Final = {"ME": "metaphor", "SE": "sarcasm"}
"""What each explanation is of, by its field."""

TEMPLATE: Final = "judge/nykms.jinja"


def explanation_of(record: Record, document: Document) -> ExplanationToJudge | None:
    """The explanation of a metaphor or a sarcasm with caption and reference.

    None if the question asks for none, or if the caption has no metaphor or sarcasm to explain. The
    judge gets the cartoon as the model got it: as a picture, or in words.
    """
    for field, topic in _TOPICS.items():
        if field in record["gold"] and document["label"]:
            is_described = record["modality"] == "text"
            row_texts = {
                "topic": topic,
                "caption": document["caption"],
                "reference": record["gold"][field],
                "description": document["description"] if is_described else "",
            }
            picture = None if is_described else document["image"]
            return ExplanationToJudge(record["predicted"][field], row_texts, picture)
    return None
