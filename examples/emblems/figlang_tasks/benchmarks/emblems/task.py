"""What the Emblems task files name: documents, prompts, scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.emblems.measures import EMBLEMS
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.scoring import judged

Document = Mapping[str, Any]
ABOUT = "(?<=convey )the saying|(?<=conveys )the saying"


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    return render("emblems/question.jinja", saying=doc["saying"])


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, by which a question about another row is known."""
    return [doc["saying"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    return [images.decode(doc["image"], doc["id"], "Emblems")]


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
    return [user_turn(doc_to_visual(doc), doc_to_text(doc))]


def doc_to_target(doc: Document) -> str:
    return "Yes" if doc["fits"] else "No"


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge one output: its record, and the numbers of the measures. No answer is a wrong answer."""
    found = yes_no(results[0], about=ABOUT)
    predicted = None if found.value is None else int(found.value)
    record = {"id": doc["id"], "data": doc["data"], "gold": doc["fits"], "predicted": predicted}
    return judged(record | {"status": found.status, "rule": found.rule}, EMBLEMS)


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers by label, and the right label (``figlang_random``, ``figlang_majority``)."""
    return {"No": "No", "Yes": "Yes"}, doc_to_target(doc)
