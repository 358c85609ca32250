"""The task of Emblems, and what its task file names: prompts, and the record of an answer."""

from __future__ import annotations

from typing import Any

from PIL import Image

from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.emblems import measures, rows
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document

ABOUT = "(?<=convey )the saying|(?<=conveys )the saying"


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    return render("emblems/question.jinja", saying=doc["saying"])


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, by which a question about another row is known."""
    return [doc["saying"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    return [images.decode(doc["image"], doc["id"], "Emblems")]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    return [user_turn(doc_to_visual(doc), doc_to_text(doc))]


def doc_to_target(doc: Document) -> str:
    return "Yes" if doc["fits"] else "No"


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers by label, and the right label (``figlang_random``,
    ``figlang_majority``).
    """
    return {"No": "No", "Yes": "Yes"}, doc_to_target(doc)


def record(doc: Document, output: str | None) -> dict[str, Any]:
    """The record of an answer. No answer is a wrong answer."""
    verdict = yes_no(output, about=ABOUT)
    return {
        "id": doc["id"],
        "data": doc["data"],
        "gold": doc["fits"],
        "predicted": None if verdict.value is None else int(verdict.value),
        "status": verdict.status,
        "rule": verdict.rule,
    }


EMBLEMS = Task(
    name="emblems",
    description="Does a picture convey a saying?",
    documents=rows.documents,
    record=record,
    measures=measures.EMBLEMS,
)
TASKS = (EMBLEMS,)
EMBLEMS_METRICS = EMBLEMS.metric_list
