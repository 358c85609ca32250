"""IRFL's tasks: what a model is asked, and how its answer is judged (arXiv 2303.15445).

Two tasks (section 1): detection "is to choose the image that best visualizes the figurative
phrase"; in retrieval "the goal is to rank figurative images higher than images with objects from
the phrase".

Where the paper says what, and where it is done here:

- Section 4.1 and Table 3, the "mixed" detection task by matching score: `DETECT`, with
  `match_process_results`. In words (`detection_record`) and in one picture (`grid_process_results`)
  it is asked in prompts of ours.
- Tables 4 and 5, detection with random candidates: `RANDOM`, and
  `figlang_tasks.benchmarks.irfl.random_tables`.
- Footnote 5, idioms with their definitions: `figlang_tasks.benchmarks.irfl.rows.phrase_text`.
  Tables 4 and 6, the idiom alone: `Options.phrase_only`.
- Section 4.2 and Table 7, retrieval: `RETRIEVE`.
- Sections 4.1 and 4.2, Tables 6 and 8, the supervised model:
  `figlang_tasks.benchmarks.irfl.training`.
- Section 4.3 and Table 9, generated images: `figlang_tasks.benchmarks.irfl.generate` and
  `figlang_tasks.benchmarks.irfl.sorting`.
- Accuracy, literal preference and precision at k: `figlang_tasks.benchmarks.irfl.measures`.

`CIRCULAR` is ours: every row in all rotations of its images.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal

from loguru import logger
from PIL import Image

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.irfl import measures, random_tables, rows
from figlang_tasks.benchmarks.irfl.archive import grid, pictures
from figlang_tasks.benchmarks.irfl.records import (
    DetectionRecord,
    RetrievalRecord,
    new_detection_record,
    new_retrieval_record,
)
from figlang_tasks.core import notes
from figlang_tasks.core.benchmark import row_range
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, turn_with_pictures_inside
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import ranking
from figlang_tasks.scoring import Measures, Task
from figlang_tasks.scoring.task import Document, MetricValues, every_request, task_of


class Options(TaskOptions):
    """Options of an IRFL task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    They differ by model.

    Attributes:
        prompt: the template below ``prompts/irfl``. ``choose``: all candidates, each behind its
            letter. ``ordinal``: all of them before the text, which says what letter the first has,
            the second and so on. ``grid``: the four in one picture. ``match``: a question to answer
            Yes or No about an image. ``text``: nothing but the phrase, for dual encoders.
        phrase_only: leave out the definitions of an idiom.
    """

    OF: ClassVar[str] = "IRFL"

    prompt: Literal["choose", "ordinal", "grid", "match", "text"]
    phrase_only: bool = False


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Check that ``--limit`` and ``--offset`` leave at least one complete row (`Task.preflight`).

    The documents of a row (the images of a ranking, the rotations) are judged together.

    Args:
        config: the task file as a dict, with ``limit`` and ``offset`` of the run.
        request: its parsed ``dataset_name``.

    Raises:
        DataError: the rows cannot be read.
        ValueError: no row is complete.
    """
    row_of_document = list(rows.documents(request, check_images=True)["row"])
    run_indices = row_range(len(row_of_document), config)  # by limit and offset
    document_counts = Counter(row_of_document)
    run_counts = Counter(row_of_document[index] for index in run_indices)
    for row, run_count in run_counts.items():
        if run_count == document_counts[row]:
            return

    # The advice runs the first of the rows as a whole.
    first_row = row_of_document[run_indices[0]]
    row_size = document_counts[first_row]
    advice = f"--limit {row_size}"
    offset = row_of_document.index(first_row)
    if offset:
        advice += f" --offset {offset}"
    raise ValueError(
        f"--limit and --offset leave no complete row: {first_row} has {row_size} documents, which"
        f" are scored together. Use {advice}, or a larger limit"
    )


# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; in the prompt ``choose``, ``<image>`` marks each picture's place."""
    options = Options.of(lmms_eval_specific_kwargs)
    return render(
        f"irfl/{options.prompt}.jinja",
        figurative_type=doc["figurative_type"],
        text=rows.phrase_text(doc, options.phrase_only),
        letters=rows.LETTERS[: len(doc["candidates"])],
    )


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The pictures of the candidates in their order, each as RGB; one picture for a grid."""
    options = Options.of(lmms_eval_specific_kwargs)
    archive = pictures(doc["dataset"])
    location = f"{doc['dataset']} {doc['id']}"
    candidates = [archive.read(uuid, location) for uuid in doc["candidates"]]
    if options.prompt == "grid":
        return [grid(candidates, rows.LETTERS)]
    return candidates


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one turn of the user: the pictures where the text marks them, or before it."""
    candidates = doc_to_visual(doc, lmms_eval_specific_kwargs)
    text = doc_to_text(doc, lmms_eval_specific_kwargs)
    return [turn_with_pictures_inside(candidates, text)]


def doc_to_target(doc: Document) -> str:
    """The right answer: a letter in detection; in retrieval Yes or No for the image."""
    if _is_retrieval_document(doc):
        return "Yes" if doc["positive"] else "No"
    return rows.LETTERS[doc["answer"]]


def _is_retrieval_document(doc: Document) -> bool:
    """Whether a document is one image of a ranking; the others are choices among images."""
    return "positive" in doc


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row that its prompt may show, by which an invented next question is found."""
    return [doc["phrase"], *doc["definitions"]]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right label.

    The models ``figlang_random`` and ``figlang_majority`` answer with these texts.

    Returns:
        ``{label: text of the answer}``: here label and text are the same
        (``{"A": "A", "B": "B"}``). And the right label.
    """
    if _is_retrieval_document(doc):
        labels = ["No", "Yes"]
    else:
        labels = list(rows.LETTERS[: len(doc["candidates"])])
    return {label: label for label in labels}, doc_to_target(doc)


# --- the judgement of a choice (section 4.1) ---


def _place_in_grid(row: str, side: str) -> str:
    """The expression for a part of the grid: "the top-left image", "upper left", "left top"."""
    noun = r"(?:\s(?:corner|image|picture|panel|one))?"
    return rf"(?:the\s)?(?:(?:{row})[\s-]{side}|{side}[\s-](?:{row}))(?:[\s-]hand)?{noun}"


PLACES = (
    _place_in_grid("top|upper", "left"),
    _place_in_grid("top|upper", "right"),
    _place_in_grid("bottom|lower", "left"),
    _place_in_grid("bottom|lower", "right"),
)
"""Expressions for the parts of the grid, in the order of their letters."""


def detection_record(
    doc: Document, output: str | None, places: Sequence[str] = ()
) -> DetectionRecord:
    """The record of a choice in words.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
        places: expressions for the parts of a grid (`PLACES`); empty if the images stand apart.
    """
    choices = Choices(len(doc["candidates"]), are_pictures=True, places=tuple(places))
    reading = option(output, choices)
    return new_detection_record(
        doc, choice=reading.value, status=reading.status, rule=reading.rule, scores=None
    )


def detection_record_of_scores(doc: Document, scores: list[float]) -> DetectionRecord:
    """The record of a choice by matching scores.

    "We choose the image with the highest score as the one best matches the expression" (section
    4.1). The paper says nothing about ties: if several images share the highest score, the model
    has chosen none.

    Args:
        doc: the row.
        scores: the matching score of each candidate.
    """
    best_image = ranking.index_of_best(scores)  # None for a tie
    return new_detection_record(
        doc, choice=best_image, status="scores", rule="argmax", scores=scores
    )


def grid_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """Judge a choice among the four parts of one picture, which an answer may name by its place."""
    return task_of(doc).values(doc, detection_record(doc, results[0], PLACES))


def match_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """Judge a choice that must be by matching scores.

    An answer in words has no accuracy, and the run counts as failed. A request that got no answer
    is a wrong choice.

    Args:
        doc: the row.
        results: one text: scores in the JSON of `score_requests`; "" for a request without answer.
    """
    task = task_of(doc)
    output = results[0]
    record = task.answer_record(doc, output)
    is_in_words = record["scores"] is None and bool(output)
    if is_in_words:
        # Whatever choice the words name does not count.
        _report_no_scores()
        notes.note_failure(
            "irfl_match: answers without matching scores have no accuracy, see the log"
        )
        record = {**record, "chosen": None, "status": "no_scores", "rule": ""}
    return task.values(doc, record)


@lru_cache(maxsize=1)  # so that a process logs it once
def _report_no_scores() -> None:
    logger.error(
        "figlang_tasks: irfl_match compares matching scores, but this model answers in words: those"
        " rows have no accuracy. Use a model class that gives scores (figlang_clip, figlang_vlm,"
        " figlang_openai), or run irfl_detect with this one."
    )


# --- the judgement of one image of a ranking (section 4.2) ---

FIGURATIVE = r"(?<!has\sa\s)(?<!has\sthe\s)(?<!with\sthe\s)figurative\smeaning"
"""The expression for what an image shows if the answer is Yes.

"The idiom has the figurative meaning of ..." says nothing about the image.
"""

UNREADABLE = {True: -1.0, False: 2.0}
"""The value of an image whose answer is neither Yes nor No, by whether the image is positive.

It goes against the model: a positive image is ranked last, a negative one first.
"""


def retrieval_record(doc: Document, output: str | None) -> RetrievalRecord:
    """The record of one image of a row, by Yes (value 1) or No (0) in words; else `UNREADABLE`.

    Args:
        doc: the image, as a document.
        output: the model's answer; None if there is none.
    """
    verdict = yes_no(output, FIGURATIVE)
    if verdict.value is None:
        value = UNREADABLE[doc["positive"]]
    else:
        value = float(verdict.value)
    return new_retrieval_record(doc, value, verdict.status, verdict.rule)


def retrieval_record_of_scores(doc: Document, scores: list[float]) -> RetrievalRecord:
    """The record of one image of a row by its matching score, the only one in `scores`."""
    return new_retrieval_record(doc, scores[0], status="scores", rule="scores")


# --- the four tasks ---


def _is_retrieval(request: Request) -> bool:
    return request["table"].endswith("-retrieval-task")


def _has_random_candidates(request: Request) -> bool:
    return request["table"] in random_tables.CONFIGURATIONS


def _has_rotations(request: Request) -> bool:
    return request.get("rotations") == "true"


RETRIEVE = Task(
    name="irfl_retrieve",
    description=(
        "Rank the images of a row by how well each shows the figurative meaning of a phrase."
    ),
    is_for=_is_retrieval,
    documents=rows.documents,
    options=Options,
    preflight=preflight,
    record=retrieval_record,
    record_of_scores=retrieval_record_of_scores,
    answer_field="value",
    measures=measures.RETRIEVE,
)


def _detection_task(
    name: str,
    description: str,
    task_measures: Measures,
    is_for: Callable[[Request], bool] = every_request,
) -> Task:
    """A task of choosing an image; the three of them differ in their rows and measures alone.

    Args:
        name: its name.
        description: what it asks, in a sentence.
        task_measures: its measures.
        is_for: whether a request is for it; by default every request is.
    """
    return Task(
        name=name,
        description=description,
        is_for=is_for,
        documents=rows.documents,
        options=Options,
        preflight=preflight,
        record=detection_record,
        record_of_scores=detection_record_of_scores,
        answer_field="chosen",
        measures=task_measures,
    )


RANDOM = _detection_task(
    "irfl_random",
    "Choose the image that shows the figurative meaning of a phrase among randomly drawn ones.",
    measures.RANDOM,
    _has_random_candidates,
)
CIRCULAR = _detection_task(
    "irfl_detect_circular",
    "As irfl_detect, with each row in all rotations, so that each letter is right once.",
    measures.CIRCULAR,
    _has_rotations,
)
DETECT = _detection_task(
    "irfl_detect",
    "Choose the image that shows the figurative meaning of a phrase among partly literal ones.",
    measures.DETECT,
)
TASKS = (RETRIEVE, RANDOM, CIRCULAR, DETECT)
"""The first task whose `Task.is_for` accepts a request gets it. `DETECT` accepts every request."""

RETRIEVE_METRICS = RETRIEVE.metric_list
RANDOM_METRICS = RANDOM.metric_list
CIRCULAR_METRICS = CIRCULAR.metric_list
DETECT_METRICS = DETECT.metric_list
