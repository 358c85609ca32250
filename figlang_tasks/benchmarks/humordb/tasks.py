"""HumorDB's tasks: what a model is asked, and how its answer is judged (arXiv 2406.13564).

Is a picture funny (binary), how funny is it from 1 to 10 (range), and which of two pictures is
funnier (comparison)? Where the paper says what, and where it is done here:

- Section 4, sections 7.4 and 7.5, the prompts: `doc_to_text`.
- Section 4, binary: both wordings of the question, and the mean of their accuracies:
  `figlang_tasks.benchmarks.humordb.rows`.
- Section 4, the measures: `figlang_tasks.benchmarks.humordb.measures`.
- Table 3, "testOnlyPairs": `figlang_tasks.benchmarks.humordb.names`.
- Table 1 and the labels from people's answers: `figlang_tasks.benchmarks.humordb.reproduced`.

How the authors read an answer is not published. Words and explanations are left out
(docs/cards/humordb.md).
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from PIL import Image

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.humordb import measures, parse, rows
from figlang_tasks.benchmarks.humordb.records import (
    BinaryRecord,
    ComparisonRecord,
    PictureFields,
    Position,
    RangeRecord,
    YesOrNo,
)
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document


class Options(TaskOptions):
    """Options of a HumorDB task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        blind: whether a white square stands in place of each picture.
    """

    OF: ClassVar[str] = "HumorDB"

    blind: bool = False


# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt, without the pictures."""
    return render("humordb/question.jinja", question=doc["question"])


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The picture as RGB, in a comparison with that of the anchor behind it."""
    location = f"HumorDB {doc['id']}"
    is_comparison = doc["question"] == "comparison"
    if Options.of(lmms_eval_specific_kwargs).blind:
        return [images.white_square()] * (2 if is_comparison else 1)
    pictures = [images.decode(rows.picture_of(doc["id"]), location)]
    if is_comparison:
        pictures.append(images.decode(rows.anchor_picture(doc["anchor"]), location))
    return pictures


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn, the pictures before the text."""
    pictures = doc_to_visual(doc, lmms_eval_specific_kwargs)
    return [user_turn(pictures, doc_to_text(doc, lmms_eval_specific_kwargs))]


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row that its prompt shows: none."""
    return []


def doc_to_target(doc: Document) -> str:
    """The right answer: ``Yes``, ``second``, or the mean rating of people, ``4.33``."""
    gold = doc["gold"]
    return f"{gold:.2f}" if doc["question"] == "range" else str(gold)


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right one.

    In the binary task the labels are ``funny`` and ``not funny``, whichever prompt asks, so that
    ``figlang_majority`` says one thing of all pictures.
    """
    if doc["question"] == "range":
        ratings = {str(rating): str(rating) for rating in range(1, 11)}
        return ratings, str(round(doc["gold"]))
    if doc["question"] == "comparison":
        return {"first": "first", "second": "second"}, doc["gold"]
    answers = {"funny": "Yes", "not funny": "No"}
    if doc["question"] == "not_funny":
        answers = {"funny": "No", "not funny": "Yes"}
    right_label = "funny" if doc["gold"] == answers["funny"] else "not funny"
    return answers, right_label


# --- the judgement ---


def binary_record(doc: Document, output: str | None) -> BinaryRecord:
    """The record of a yes or no; no output is None, and counts as a wrong answer."""
    if doc["question"] == "funny":
        reading = yes_no(output, about=parse.FUNNY)
    else:
        reading = parse.is_not_funny(output)
    predicted: YesOrNo | None = None
    if reading.value is not None:
        predicted = "Yes" if reading.value else "No"
    return {
        **_picture_fields(doc),
        "question": doc["question"],
        "gold": doc["gold"],
        "predicted": predicted,
        "status": reading.status,
        "rule": reading.rule,
    }


def range_record(doc: Document, output: str | None) -> RangeRecord:
    """The record of a rating; no output is None, and counts in no error."""
    reading = parse.rating(output)
    return {
        **_picture_fields(doc),
        "gold": doc["gold"],
        "predicted": reading.value,
        "status": reading.status,
        "rule": reading.rule,
        "unread_counts_as": "no rating",
    }


def comparison_record(doc: Document, output: str | None) -> ComparisonRecord:
    """The record of "first" or "second"; no output is None, and counts as a wrong answer."""
    reading = option(output, Choices(2, names="numbers", are_pictures=True))
    predicted: Position | None = None
    if reading.value is not None:
        predicted = "first" if reading.value == 0 else "second"
    return {
        **_picture_fields(doc),
        "anchor": doc["anchor"],
        "gold": doc["gold"],
        "predicted": predicted,
        "status": reading.status,
        "rule": reading.rule,
    }


def _picture_fields(doc: Document) -> PictureFields:
    """The fields of a record that tell its row."""
    fields: PictureFields = {
        "id": doc["id"],
        "data": doc["data"],
        "unit": doc["unit"],
        "kind": doc["kind"],
        "pair": doc["pair"],
    }
    if "row" in doc:  # comparisons have none
        fields["row"] = doc["row"]
    return fields


# --- the three tasks ---


def _asks(question: str, request: Request) -> bool:
    """Whether a request asks a question of `rows.QUESTIONS`."""
    return request["question"] == question


BINARY = Task(
    name="humordb",
    description="Is a picture funny? Is it not funny?",
    is_for=partial(_asks, "binary"),
    documents=rows.documents,
    options=Options,
    record=binary_record,
    measures=measures.BINARY,
)
RANGE = Task(
    name="humordb_range",
    description="How funny is a picture, from 1 to 10?",
    is_for=partial(_asks, "range"),
    documents=rows.documents,
    options=Options,
    record=range_record,
    measures=measures.RANGE,
)
COMPARISON = Task(
    name="humordb_comparison",
    description="Which of two pictures is funnier?",
    is_for=partial(_asks, "comparison"),
    documents=rows.documents,
    options=Options,
    record=comparison_record,
    measures=measures.COMPARISON,
)
TASKS = (BINARY, RANGE, COMPARISON)

# What the task files name.
BINARY_METRICS = BINARY.metric_list
RANGE_METRICS = RANGE.metric_list
COMPARISON_METRICS = COMPARISON.metric_list
