"""What a judge of explanations is told of V-FLUTE's rows (``figlang judge llm``)."""

from __future__ import annotations

from typing import Final

from figlang_tasks.core.record import Record
from figlang_tasks.core.rubric import ExplanationToJudge
from figlang_tasks.scoring.task import Document

TEMPLATE: Final = "judge/vflute.jinja"


def explanation_of(record: Record, document: Document) -> ExplanationToJudge | None:
    """The explanation of an answer with image, claim and reference.

    None if the task asks for labels alone.
    """
    if record.get("asks_for_explanation") is False:
        return None
    row_texts = {"claim": document["claim"], "reference": record["reference"]}
    return ExplanationToJudge(record["explanation"] or "", row_texts, document["image"])
