"""What a judge of explanations is told of FLUTE's rows (``figlang judge llm``)."""

from __future__ import annotations

from typing import Final

from figlang_tasks.core.record import Record
from figlang_tasks.core.rubric import ExplanationToJudge
from figlang_tasks.scoring.task import Document

TEMPLATE: Final = "judge/flute.jinja"


def explanation_of(record: Record, document: Document) -> ExplanationToJudge | None:
    """The explanation of an answer with premise, hypothesis and reference.

    None if the task asks for labels alone.
    """
    if record.get("asks_for_explanation") is False:
        return None
    row_texts = {
        "premise": document["premise"],
        "claim": document["hypothesis"],
        "reference": record["reference"],
    }
    return ExplanationToJudge(record["explanation"] or "", row_texts)
