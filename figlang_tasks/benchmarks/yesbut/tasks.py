"""YesBut's tasks: what a model is asked, and how its answer is judged (arXiv 2409.13592).

Where the paper says what, and where it is done here:

- Sections 3 and C.3, stages and styles of pictures: `figlang_tasks.benchmarks.yesbut.archive`.
- Sections 5.2 and E.2, the prompts: ``prompts/yesbut``.
- Table 3, accuracy and F1 of detection; Tables 6 to 8, four scores of explanations:
  `figlang_tasks.benchmarks.yesbut.measures` and `figlang_tasks.benchmarks.yesbut.text_scores`.

Completion (Table 4), halves and photographs are left out (docs/cards/yesbut.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from PIL import Image

from figlang_tasks.benchmarks.yesbut import measures, parse, rows, text_scores
from figlang_tasks.benchmarks.yesbut.records import DetectionRecord, UnderstandingRecord
from figlang_tasks.core import images
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import Task, explanations
from figlang_tasks.scoring.explained import Explained, explained_record
from figlang_tasks.scoring.rouge import rouge_l
from figlang_tasks.scoring.simple_tasks import read_free_answer
from figlang_tasks.scoring.task import Document


class Options(TaskOptions):
    """Options of a YesBut task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        blind: whether a white square stands in place of the picture.
        scorer: the name of the explanation scorer; None takes `Benchmark.scorer`.
    """

    OF: ClassVar[str] = "YesBut"

    blind: bool = False
    scorer: explanations.ScorerOption = None


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Say now, not after hours, if WordNet or the weights of BERTScore are missing.

    Args:
        config: the task file as a dict.
        request: its parsed ``dataset_name``.

    Raises:
        ValueError: an option is not valid, or there is no such scorer.
    """
    for options in Options.blocks(config):
        if request["task"] == "understanding":
            text_scores.has_wordnet()
            explanations.preflight(request.dataset, options.scorer)


# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt of a document's task as one text, without the picture."""
    return render(f"yesbut/{Request.parse(doc['request'])['task']}.jinja")


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The picture as RGB, in a list; for a task with the option `blind` a white square."""
    if Options.of(lmms_eval_specific_kwargs).blind:
        return [images.white_square()]
    return [rows.picture_without_name(doc)]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn, the picture before the text."""
    pictures = doc_to_visual(doc, lmms_eval_specific_kwargs)
    return [user_turn(pictures, doc_to_text(doc, lmms_eval_specific_kwargs))]


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row that its prompt shows: none."""
    return []


def doc_to_target(doc: Document) -> str:
    """The right label, or the reference explanation."""
    target: str = doc.get("gold") or doc["explanation"]
    return target


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that ``figlang_random`` draws from, each with its answer; and the right one.

    Raises:
        FigLangError: an explanation is asked for, so there is nothing to draw from.
    """
    if "gold" not in doc:
        raise FigLangError(
            f"{doc['request']}: explanations have no chance level: evaluate another model"
        )
    return {"Y": "Y", "N": "N"}, doc["gold"]


# --- the judgement ---


def detection_record(doc: Document, output: str | None) -> DetectionRecord:
    """The record of an answer with Y or N; an answer with neither counts as wrong.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
    """
    reading = parse.label(output)
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": doc["unit"],
        "stage": doc["stage"],
        "style": doc["style"],
        "gold": doc["gold"],
        "predicted": reading.value,
        "status": reading.status,
        "rule": reading.rule,
    }


def understanding_record(doc: Document, output: str | None) -> UnderstandingRecord:
    """The record of an explanation, with all scores but BERTScore.

    No label is asked for: the predicted label is 1 if there is an explanation, and 1 is right.

    Args:
        doc: the row.
        output: the model's answer; None if there is none, which scores as an empty text.
    """
    answer = read_free_answer(output)
    explanation = answer.value or ""
    reference = doc["explanation"]
    label = 1 if explanation else None
    reading = Explained(label, answer.status, answer.rule, explanation=explanation)
    columns = {**doc, "family": doc["unit"], "report_group": doc["difficulty"]}
    return {
        **explained_record(columns, gold=1, reading=reading, strict_label=label),
        "stage": doc["stage"],
        "difficulty": doc["difficulty"],
        "has_text": doc["has_text"],
        "sentence_bleu": text_scores.sentence_bleu(explanation, reference),
        "rouge_l": rouge_l(explanation, reference),
        "sentence_meteor": text_scores.sentence_meteor(explanation, reference),
    }


def _is_for(request: Request, task: str) -> bool:
    """Whether a request is for the task of this name."""
    return request["task"] == task


_task = partial(Task, documents=rows.for_request, options=Options, preflight=preflight)

UNDERSTANDING = _task(
    name="yesbut",
    description="Why is a comic of two halves funny?",
    is_for=partial(_is_for, task="understanding"),
    record=understanding_record,
    measures=measures.UNDERSTANDING,
    scheme=measures.SCHEME,
)
DETECTION = _task(
    name="yesbut_detection",
    description="Is a picture of two halves satirical?",
    is_for=partial(_is_for, task="detection"),
    record=detection_record,
    measures=measures.DETECTION,
)
TASKS = (UNDERSTANDING, DETECTION)
METRICS = UNDERSTANDING.metric_list
DETECTION_METRICS = DETECTION.metric_list
