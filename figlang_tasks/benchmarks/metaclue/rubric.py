"""What a judge of explanations is told of MetaCLUE's rows (``figlang judge llm``)."""

from __future__ import annotations

from typing import Final

from figlang_tasks.core.record import Record
from figlang_tasks.core.rubric import ExplanationToJudge
from figlang_tasks.scoring.task import Document

TEMPLATE: Final = "judge/metaclue.jinja"


def explanation_of(record: Record, document: Document) -> ExplanationToJudge | None:
    """The caption of an image with the annotated statements; None in the other tasks."""
    if "caption" not in record:
        return None
    row_texts = {"reference": "\n".join(f"- {statement}" for statement in record["references"])}
    return ExplanationToJudge(record["caption"], row_texts, {"path": document["image"]})
