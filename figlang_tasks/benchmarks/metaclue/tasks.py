"""The kinds of tasks of MetaCLUE, and what its task files name (by sections 3.1 to 3.4 of the
paper).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from loguru import logger
from PIL import Image

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.next_question import whole
from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Read, Status
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.metaclue import generated, measures, rows
from figlang_tasks.benchmarks.metaclue.boxes import Boxes, parse_boxes
from figlang_tasks.benchmarks.metaclue.captions import (
    Statement,
    in_one_line,
    parse_caption,
    parse_official,
)
from figlang_tasks.benchmarks.metaclue.records import (
    BoxesRecord,
    CaptionRecord,
    ClassificationRecord,
    PictureRecord,
    QuestionRecord,
    RetrievalRecord,
    image_of,
)
from figlang_tasks.benchmarks.metaclue.resizing import resized
from figlang_tasks.core import images, score_requests, status
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import captions, ranking
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document, MetricValues, task_of

ANSWERS = ("No", "Yes")
METAPHOR = "metaphors?|metaphorical"
"""What an answer in words to "Is this a visual metaphor?" speaks of."""
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
"""Of pictures that a model makes."""
_BROKEN_SCORES = re.compile(r"\s*\{\s*\"scores\"")


class Options(TaskOptions):
    """Options of a MetaCLUE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file, by
    model.

    Attributes:
        prompt: a template of ``prompts/metaclue``. Retrieval: ``choose`` (all candidates, numbered)
            or ``state`` (asks for a statement, whose probability is the score).
        convention: localization only: the one (a value of ``rows.LOCALIZE``) that this model gives
            boxes in, if that is known. A run of a task of another one is refused.
    """

    OF: ClassVar[str] = "MetaCLUE"

    prompt: Literal["ask", "caption", "choose", "classify", "draw", "locate", "state"]
    convention: Literal["thousand", "unit", "pixel", "pixel28", "thousand_yx", "loc1024"] | None = (
        None
    )


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Check the programs of the metrics and the model's convention of boxes; see
    `Task.preflight`.
    """
    kwargs, task = config.get("lmms_eval_specific_kwargs") or {}, request["task"]
    if task.startswith(("caption", "vqa")) and status.in_first_process():
        captions.available()  # report now, not after hours, that METEOR or SPICE will be missing
    convention = Options.of(
        kwargs.get(str(config.get("model"))) or kwargs.get("default")
    ).convention
    if task in rows.LOCALIZE and convention not in (None, rows.LOCALIZE[task]):
        right = next(name for name, other in rows.LOCALIZE.items() if other == convention)
        raise ValueError(
            f"this model gives boxes in the convention {convention}, but metaclue_{task} reads"
            f" {rows.LOCALIZE[task]}: run a task file of your own with `include:"
            f" metaclue_localize.yaml` and `dataset_name: MetaCLUE,task={right}`"
            " (docs/cards/metaclue.md)"
        )


# --- prompts ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text."""
    return render(f"metaclue/{Options.of(lmms_eval_specific_kwargs).prompt}.jinja", doc=doc)


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order: statements to choose from, a question, or a
    concept.
    """
    texts = [*doc.get("candidates", ()), doc.get("question"), doc.get("concept")]
    return [text for text in texts if text]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The picture, RGB, upright; none for text-to-image."""
    if DataId.parse(doc["data"]).part == "generate":
        return []
    return [images.decode({"path": doc["image"]}, f"{doc['dataset']} {doc['id']}", doc["dataset"])]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn, the picture before the text."""
    kwargs = lmms_eval_specific_kwargs
    return [user_turn(doc_to_visual(doc, kwargs), doc_to_text(doc, kwargs))]


def doc_to_target(doc: Document) -> str:
    """The right answer: Yes or No, a statement, the references, the boxes, or the path of the real
    picture.
    """
    if "metaphor" in doc:
        return ANSWERS[doc["metaphor"]]
    if "candidates" in doc:
        return str(doc["candidates"][doc["answer"]])
    if "references" in doc:
        return "\n".join(doc["references"])
    if "boxes" in doc:
        return str([list(map(float, box)) for box in doc["boxes"]])
    return str(doc["image"])


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers to `doc` by label, and the right label.

    Where there is no chance level, the one answer is empty, so that baselines can run a group with
    such a task.
    """
    if "metaphor" in doc:
        return {label: label for label in ANSWERS}, doc_to_target(doc)
    if "candidates" in doc:
        labels = [str(number) for number in range(1, len(doc["candidates"]) + 1)]
        return {label: label for label in labels}, labels[doc["answer"]]
    return {"": ""}, ""


# --- is this a metaphor? (3.1) ---


def classification_record(doc: Document, output: str | None) -> ClassificationRecord:
    """The record of an answer; one that is neither yes nor no is wrong."""
    verdict = yes_no(output, about=METAPHOR)
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "gold": int(doc["metaphor"]),
        "predicted": None if verdict.value is None else int(verdict.value),
        "status": verdict.status,
        "rule": verdict.rule,
    }


# --- which of K statements is this image's? (3.2, Table 2) ---


def retrieval_record(doc: Document, output: str | None) -> RetrievalRecord:
    """The record of a choice in words, without a rank."""
    if score_requests.read_answer(output) is not None or _BROKEN_SCORES.match(output or ""):
        # The numbers in it are scores, and none is a choice.
        return _retrieval_record(doc, None, None, "unreadable", "scores")
    texts = doc["candidates"]
    choice = option(output, Choices(len(texts), names="numbers", texts=tuple(texts)))
    return _retrieval_record(doc, choice.value, None, choice.status, choice.rule)


def retrieval_record_of_scores(doc: Document, scores: list[float]) -> RetrievalRecord:
    """The record of a choice by the score of each candidate. A tie goes against the model."""
    rank = ranking.best_rank(scores, [place == doc["answer"] for place in range(len(scores))])
    return _retrieval_record(doc, ranking.best_place(scores), rank, "scores", "argmax")


def _retrieval_record(
    doc: Document, chosen: int | None, rank: int | None, status: Status, rule: str
) -> RetrievalRecord:
    texts, answer = doc["candidates"], doc["answer"]
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "candidates": len(texts),
        "answer": answer,
        "chosen": chosen,
        "answer_text": texts[answer],
        "chosen_text": None if chosen is None else texts[chosen],
        "rank": rank,
        "status": status,
        "rule": rule,
    }


# --- what is compared with what? (3.2, Table 3) ---


def caption_record(doc: Document, output: str | None) -> CaptionRecord:
    """The record of a caption as the paper reads it: the whole answer is the statement."""
    answer = whole(output)
    return _caption_record(doc, answer, parse_official(answer))


def careful_caption_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """The record and the numbers of a caption without the words around the statement."""
    return task_of(doc).values(doc, _caption_record(doc, results[0], parse_caption(results[0])))


def _caption_record(doc: Document, output: str | None, statement: Read[Statement]) -> CaptionRecord:
    """The record of a caption and of each of its parts."""
    read = statement.value
    caption = in_one_line(output) if read is None else read.text
    record: CaptionRecord = {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "caption": caption,
        "references": list(doc["references"]),
        "status": statement.status,
        "rule": statement.rule,
        "em": captions.exact_match(caption, doc["references"]),
        "primary": None if read is None else read.primary,
        "references_primary": list(doc["references_primary"]),
        "em_primary": 0.0,
        "relationship": None if read is None else read.relationship,
        "references_relationship": list(doc["references_relationship"]),
        "em_relationship": 0.0,
        "secondary": None if read is None else read.secondary,
        "references_secondary": list(doc["references_secondary"]),
        "em_secondary": 0.0,
    }
    record["em_primary"] = captions.exact_match(
        record["primary"] or "", record["references_primary"]
    )
    record["em_relationship"] = captions.exact_match(
        record["relationship"] or "", record["references_relationship"]
    )
    record["em_secondary"] = captions.exact_match(
        record["secondary"] or "", record["references_secondary"]
    )
    return record


def vqa_record(doc: Document, output: str | None) -> QuestionRecord:
    """The record of an answer: the output without thoughts and special tokens."""
    answer, references = in_one_line(output), list(doc["references"])
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "role": doc["role"],
        "question": doc["question"],
        "answer": answer,
        "references": references,
        "em": captions.exact_match(answer, references),
    }


# --- where are the concepts? (3.3, Table 4) ---


def localization_record(doc: Document, output: str | None) -> BoxesRecord:
    """The record of the boxes of one concept; `dropped` has those of the other concept too.

    A model is asked for one concept at a time, as the paper asks its phrase-grounding model.
    """
    role, convention = doc["role"], doc["convention"]
    width, height = doc["width"], doc["height"]
    seen = resized(width, height) if convention == "pixel28" else (width, height)
    read: Any = "pixel" if convention == "pixel28" else convention
    found = parse_boxes(output, read, *seen, role=role, names={doc["concept"]: role})
    boxes = found.value or Boxes((), ())
    other = {"primary": boxes.secondary, "secondary": boxes.primary}[role]
    scale = (width / seen[0], height / seen[1]) * 2
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "role": role,
        "concept": doc["concept"],
        "convention": convention,
        "truth": [list(map(float, box)) for box in doc["boxes"]],
        "types": list(doc["types"]),
        "predicted": [
            [edge * factor for edge, factor in zip(box, scale, strict=True)]
            for box in getattr(boxes, role)
        ],
        "dropped": boxes.dropped + len(other),
        "status": found.status,
        "rule": found.rule,
    }


# --- draw it (3.4) ---


def generation_record(doc: Document, output: str | None) -> PictureRecord:
    """The record of a picture that the model made.

    Classes of the harness answer JSON with a list ``images`` of paths, the path of a picture, or
    that of a folder with ``{number}.png`` or ``{number}_s0.png``.
    """
    file = generated_picture(output, doc["number"])
    if file is not None:
        try:
            generated.opened(file)
        except (DataError, OSError) as error:
            logger.warning(f"figlang_tasks: {doc['id']}: counts as no picture: {error}")
            file = None
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "prompt": render("metaclue/draw.jinja", doc=doc),
        "file": None if file is None else str(file),
    }


def generated_picture(output: str | None, number: int) -> Path | None:
    text = (output or "").strip()
    try:
        found = json.loads(text)
        listed = found.get("images") or found.get("generated_images")
        text = (
            listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], str) else ""
        )
    except (ValueError, AttributeError, RecursionError):
        pass
    try:
        path = Path(text)
        if not text or "\0" in text or len(text) > 4096:
            return None
        if path.is_dir():
            return _in_folder(path, number)
        return path if path.suffix.lower() in SUFFIXES and path.is_file() else None
    except (OSError, ValueError):  # words instead of a path
        return None


def _in_folder(folder: Path, number: int) -> Path | None:
    """The picture for the document `number` in a folder of generated ones; None if there is
    none.
    """
    names = [f"{number:04d}{end}{suffix}" for end in ("", "_s0") for suffix in SUFFIXES]
    return next((folder / name for name in names if (folder / name).is_file()), None)


# --- the kinds ---


def _named(*beginnings: str) -> Callable[[Request], bool]:
    """The function of a request that tells whether its task begins with one of these words."""

    def is_for(request: Request) -> bool:
        return request["task"].startswith(beginnings)

    return is_for


_task = partial(Task, documents=rows.documents, options=Options, preflight=preflight)

CLASSIFY = _task(
    name="metaclue_classify",
    description="Is this picture a visual metaphor?",
    is_for=_named("classify"),
    record=classification_record,
    measures=measures.CLASSIFY,
)
RETRIEVE = _task(
    name="metaclue_retrieve",
    description="Which of K statements says what a visual metaphor says?",
    is_for=_named("retrieve"),
    record=retrieval_record,
    record_of_scores=retrieval_record_of_scores,
    answer_field="chosen_text",
    measures=measures.RETRIEVE,
)
CAPTION = _task(
    name="metaclue_caption",
    description="State what is compared with what in a visual metaphor, and in what.",
    is_for=_named("caption"),
    record=caption_record,
    answer_field="caption",
    measures=measures.CAPTION,
)
VQA = _task(
    name="metaclue_vqa",
    description=(
        "Answer a question about the primary concept, the secondary concept or their relationship."
    ),
    is_for=_named("vqa"),
    record=vqa_record,
    answer_field="answer",
    measures=measures.VQA,
)
LOCALIZE = _task(
    name="metaclue_localize",
    description="Draw a box around what stands for a concept of a visual metaphor.",
    is_for=_named("localize"),
    record=localization_record,
    measures=measures.LOCALIZE,
)
GENERATE = _task(
    name="metaclue_generate",
    description="Draw a picture of a metaphor.",
    is_for=_named("generate"),
    record=generation_record,
    answer_field="file",
    measures=measures.GENERATE,
)
TASKS = (CLASSIFY, RETRIEVE, CAPTION, VQA, LOCALIZE, GENERATE)

CLASSIFY_METRICS, RETRIEVE_METRICS = CLASSIFY.metric_list, RETRIEVE.metric_list
CAPTION_METRICS, VQA_METRICS = CAPTION.metric_list, VQA.metric_list
LOCALIZE_METRICS, GENERATE_METRICS = LOCALIZE.metric_list, GENERATE.metric_list
