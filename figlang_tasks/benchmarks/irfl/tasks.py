"""The kinds of tasks of IRFL, and what its task files name: documents, prompts, scoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal

from loguru import logger
from PIL import Image

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Status
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.irfl import measures, random_tables, rows
from figlang_tasks.benchmarks.irfl.archive import grid, pictures
from figlang_tasks.benchmarks.irfl.records import DetectionRecord, RetrievalRecord
from figlang_tasks.core import notes
from figlang_tasks.core.benchmark import chosen
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, turn_with_pictures_inside
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import ranking
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document, MetricValues, task_of

# Of the four parts of a grid, in the order of the letters: "the top-left image", "upper left",
# "left top".
PLACES = tuple(
    rf"(?:the\s)?(?:(?:{row})[\s-]{side}|{side}[\s-](?:{row}))(?:[\s-]hand)?(?:\s(?:corner|image|picture|panel|one))?"
    for row in ("top|upper", "bottom|lower")
    for side in ("left", "right")
)
# What an image shows if the answer is yes. "The idiom has the figurative meaning of ..." says
# nothing of the image.
FIGURATIVE = r"(?<!has\sa\s)(?<!has\sthe\s)(?<!with\sthe\s)figurative\smeaning"
# An output that is neither yes nor no is ranked against the model: a positive image last, a
# negative one first.
UNREADABLE = {True: -1.0, False: 2.0}


class Options(TaskOptions):
    """Options of an IRFL task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file, by
    model.

    Attributes:
        prompt: ``choose`` (all candidates, each behind its letter), ``ordinal`` (all before the
            text, which says what letter the first has, the second ...), ``grid`` (the four in one
            picture), ``match`` (a question to answer Yes or No) or ``text`` (nothing but the text,
            as dual encoders take it).
        phrase_only: leave out the definitions of an idiom.
    """

    OF: ClassVar[str] = "IRFL"

    prompt: Literal["choose", "ordinal", "grid", "match", "text"]
    phrase_only: bool = False


# --- data ---


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Check that a run holds a whole row, whose documents (pictures, rotations) are judged
    together.
    """
    of_docs = list(rows.documents(request, check_images=True)["row"])
    places = chosen(len(of_docs), config)
    sizes, here = Counter(of_docs), Counter(of_docs[place] for place in places)
    if all(found < sizes[row] for row, found in here.items()):
        first = of_docs[places[0]]
        offset = of_docs.index(first)
        raise ValueError(
            f"--limit and --offset leave no complete row: {first} has {sizes[first]} documents,"
            " which are scored together. Use --limit"
            f" {sizes[first]}{f' --offset {offset}' if offset else ''}, or a larger limit"
        )


# --- prompts ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; where letters name the pictures, ``<image>`` marks the place of
    each.
    """
    options = Options.of(lmms_eval_specific_kwargs)
    return render(
        f"irfl/{options.prompt}.jinja",
        figurative_type=doc["figurative_type"],
        text=rows.text(doc, options.phrase_only),
        letters=rows.LETTERS[: len(doc["candidates"])],
    )


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order; without definitions where the task leaves
    them out.
    """
    return [doc["phrase"], *doc["definitions"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The pictures of the candidates in the order shown, each RGB; for a grid, one."""
    store = pictures(doc["dataset"])
    shown = [store.read(uuid, f"{doc['dataset']} {doc['id']}") for uuid in doc["candidates"]]
    return (
        [grid(shown, rows.LETTERS)]
        if Options.of(lmms_eval_specific_kwargs).prompt == "grid"
        else shown
    )


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn, the pictures at their places in the text, or before it."""
    shown = doc_to_visual(doc, lmms_eval_specific_kwargs)
    return [turn_with_pictures_inside(shown, doc_to_text(doc, lmms_eval_specific_kwargs))]


def doc_to_target(doc: Document) -> str:
    """The right answer: a letter; of one image alone, Yes or No."""
    if "positive" in doc:
        return "Yes" if doc["positive"] else "No"
    return rows.LETTERS[doc["answer"]]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers to `doc` by label, and the right label."""
    labels = ["No", "Yes"] if "positive" in doc else rows.LETTERS[: len(doc["candidates"])]
    return {label: label for label in labels}, doc_to_target(doc)


# --- detection ---


def detection_record(
    doc: Document, output: str | None, places: Sequence[str] = ()
) -> DetectionRecord:
    """The record of a choice in words; `places` are names of the parts of a grid, as
    expressions.
    """
    candidates = Choices(len(doc["candidates"]), are_pictures=True, places=tuple(places))
    choice = option(output, candidates)
    return _detection_record(doc, choice.value, choice.status, choice.rule, None)


def detection_record_of_scores(doc: Document, scores: list[float]) -> DetectionRecord:
    """The record of a choice by matching scores.

    A tie chose nothing: of the images that share the highest score none is the model's choice.
    """
    return _detection_record(doc, ranking.index_of_best(scores), "scores", "argmax", scores)


def _detection_record(
    doc: Document, chosen: int | None, status: Status, rule: str, scores: list[float] | None
) -> DetectionRecord:
    return {
        "id": doc["id"],
        "data": doc["data"],
        "row": doc["row"],
        "type": doc["type"],
        "candidates": doc["candidates"],
        "roles": doc["roles"],
        "answer": doc["answer"],
        "unit": doc["phrase"],
        "chosen": chosen,
        "status": status,
        "rule": rule,
        "scores": scores,
    }


def grid_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """The record of a choice among the four parts of one picture, and its numbers; an answer may
    name their place.
    """
    return task_of(doc).values(doc, detection_record(doc, results[0], PLACES))


def match_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """The record of a choice by matching scores, and its numbers.

    A request that got no answer counts as wrong; where it is in words, the run has failed.
    """
    task = task_of(doc)
    record = task.answer_record(doc, results[0])
    if record["scores"] is None and results[0]:
        _report_no_scores()
        notes.note("irfl_match: answers without matching scores have no accuracy, see the log")
        record = {**record, "chosen": None, "status": "no_scores", "rule": ""}
    return task.values(doc, record)


@lru_cache(maxsize=1)  # once a process
def _report_no_scores() -> None:
    logger.error(
        "figlang_tasks: irfl_match compares matching scores, but this model answers in words: those"
        " rows have no accuracy. Use a model class that gives scores (figlang_clip, figlang_vlm,"
        " figlang_openai), or run irfl_detect with this one."
    )


# --- retrieval ---


def retrieval_record(doc: Document, output: str | None) -> RetrievalRecord:
    """The record of one image of a row by Yes or No in words."""
    verdict = yes_no(output, FIGURATIVE)
    value = UNREADABLE[doc["positive"]] if verdict.value is None else float(verdict.value)
    return _retrieval_record(doc, value, verdict.status, verdict.rule)


def retrieval_record_of_scores(doc: Document, scores: list[float]) -> RetrievalRecord:
    """The record of one image of a row by its matching score."""
    return _retrieval_record(doc, scores[0], "scores", "scores")


def _retrieval_record(doc: Document, value: float, status: Status, rule: str) -> RetrievalRecord:
    return {
        "id": doc["id"],
        "data": doc["data"],
        "row": doc["row"],
        "type": doc["type"],
        "role": doc["role"],
        "positive": doc["positive"],
        "images": doc["images"],
        "unit": doc["phrase"],
        "uuid": doc["candidates"][0],
        "value": value,
        "status": status,
        "rule": rule,
    }


# --- the kinds ---


def _is_retrieval(request: Request) -> bool:
    return request["table"].endswith("-retrieval-task")


def _has_random_candidates(request: Request) -> bool:
    return request["table"] in random_tables.CONFIGURATIONS


def _has_rotations(request: Request) -> bool:
    return request.get("rotations") == "true"


_task = partial(Task, documents=rows.documents, options=Options, preflight=preflight)
_detection = partial(
    _task,
    record=detection_record,
    record_of_scores=detection_record_of_scores,
    answer_field="chosen",
)

RETRIEVE = _task(
    name="irfl_retrieve",
    description=(
        "Rank the images of a row by how well each shows the figurative meaning of a phrase."
    ),
    is_for=_is_retrieval,
    record=retrieval_record,
    record_of_scores=retrieval_record_of_scores,
    answer_field="value",
    measures=measures.RETRIEVE,
)
RANDOM = _detection(
    name="irfl_random",
    description=(
        "Choose the image that shows the figurative meaning of a phrase among randomly drawn ones."
    ),
    is_for=_has_random_candidates,
    measures=measures.RANDOM,
)
CIRCULAR = _detection(
    name="irfl_detect_circular",
    description=(
        "As irfl_detect, with each row in all rotations, so that each letter is right once."
    ),
    is_for=_has_rotations,
    measures=measures.CIRCULAR,
)
DETECT = _detection(
    name="irfl_detect",
    description=(
        "Choose the image that shows the figurative meaning of a phrase among partly literal ones."
    ),
    measures=measures.DETECT,
)
TASKS = (RETRIEVE, RANDOM, CIRCULAR, DETECT)
"""A request is for the first of them that takes it."""

RETRIEVE_METRICS, RANDOM_METRICS = RETRIEVE.metric_list, RANDOM.metric_list
CIRCULAR_METRICS, DETECT_METRICS = CIRCULAR.metric_list, DETECT.metric_list
