"""What a judge of explanations is told of the caption contest's rows (``figlang judge llm``)."""

from __future__ import annotations

from typing import Final

from figlang_tasks.benchmarks.nycc.configurations import DESCRIPTION
from figlang_tasks.core.record import Record
from figlang_tasks.core.rubric import ExplanationToJudge
from figlang_tasks.scoring.task import Document

TEMPLATE: Final = "judge/nycc.jinja"


def explanation_of(record: Record, document: Document) -> ExplanationToJudge | None:
    """The explanation of an answer with caption and reference; None for a choice.

    The judge gets the cartoon as the model got it: as a picture, or in words.
    """
    if "explanation" not in record:
        return None
    description: list[str] = []
    for name in DESCRIPTION:
        if document.get(name):
            title = name.replace("_", " ").capitalize()
            description.append(f"{title}: {document[name]}")
    row_texts = {
        "caption": document["claim"],
        "reference": record["reference"],
        "description": "\n".join(description),
    }
    is_described = any(name in document for name in DESCRIPTION)
    picture = None if is_described else document["image"]
    return ExplanationToJudge(record["explanation"] or "", row_texts, picture)
