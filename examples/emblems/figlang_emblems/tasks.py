"""The task of Emblems, and what its task file names: prompt, picture, reference and metrics."""

from typing import Any

from PIL import Image

from figlang_emblems.measures import MEASURES
from figlang_emblems.rows import documents
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.prompting import render
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    return render("emblems/question.jinja", saying=doc["saying"])


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    return [images.decode(doc["image"], doc["id"], "Emblems")]


def doc_to_target(doc: Document) -> str:
    return "Yes" if doc["fits"] else "No"


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return an answer for each label, and the right label; ``figlang_random`` draws from them."""
    return {"No": "No", "Yes": "Yes"}, doc_to_target(doc)


def record(doc: Document, output: str | None) -> dict[str, Any]:
    """Return the scored record of an answer. A missing answer is a wrong answer."""
    answer = yes_no(output, about="(?<=convey )the saying|(?<=conveys )the saying")
    return {
        "id": doc["id"],
        "data": doc["data"],
        "gold": bool(doc["fits"]),
        "predicted": answer.value,
        "status": answer.status,
        "rule": answer.rule,
    }


TASK = Task(
    name="emblems",
    description="Does a picture convey a saying?",
    documents=documents,
    record=record,
    measures=MEASURES,
)
TASKS = (TASK,)
METRICS = TASK.metric_list
