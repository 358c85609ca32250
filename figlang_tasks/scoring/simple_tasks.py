"""Tasks of simple benchmarks: multiple choice, yes or no, and short free answers.

A benchmark of this kind is a declaration: its module ``tasks`` calls `simple_task`, its template
``question.jinja`` has the words, and its task file names the functions of this module
(docs/own_benchmark.md). `figlang_tasks.scoring.simple_rows` describes the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from PIL import Image

from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Read, find_answer
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.core import images
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.core.choice import YES_OR_NO, Choice, predicted_label
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.prompting import render
from figlang_tasks.core.record import Record, RowIfKnown, SharedFields
from figlang_tasks.metrics import overlap
from figlang_tasks.scoring import simple_rows
from figlang_tasks.scoring.common_measures import parse_rate
from figlang_tasks.scoring.evaluation import Measures
from figlang_tasks.scoring.measure import Measure
from figlang_tasks.scoring.simple_rows import LETTERS, Kind
from figlang_tasks.scoring.task import Document, Task

_SOURCE = "figlang_tasks"
# "Answer: love", "The answer is love."
_ANNOUNCEMENT = re.compile(r"\s*(?:(?:the|my)\s+)?(?:final\s+)?answer(?:\s+is\b|\s*:)\s*:?", re.I)


class _SharedFields(SharedFields):
    """The fields of each record.

    Attributes:
        gold: the right answer: the letter of an option, ``Yes`` or ``No``, or a text.
        predicted: what was read, in the same form; None if nothing was.
    """

    gold: str
    predicted: str | None


class SimpleRecord(_SharedFields, total=False):
    """The record of an answer.

    Attributes:
        is_right: only of free answers: whether the text matches the right one (`relaxed_match`).
    """

    is_right: bool


def simple_task(name: str, kind: Kind, description: str) -> Task:
    """A kind of task with one right answer.

    Args:
        name: of the benchmark.
        kind: how its questions are answered.
        description: one line that says what a model has to do.
    """
    return Task(
        name=name,
        description=description,
        documents=partial(simple_rows.documents, kind=kind),
        record=partial(_record, kind=kind),
        measures=_measures(kind),
    )


# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt: the benchmark's template ``question.jinja``.

    The template gets ``question``, and ``options``, the texts by their letters.
    """
    benchmark, _ = parse_request(doc["request"])
    return render(
        f"{benchmark.name}/question.jinja",
        question=doc["question"],
        options=options_by_letter(doc),
    )


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The picture of a row, in a list; an empty list for a row without one."""
    if doc.get("image") is None:
        return []
    benchmark, request = parse_request(doc["request"])
    return [images.decode(doc["image"], f"{benchmark.name} {doc['id']}", request.dataset)]


def doc_to_target(doc: Document) -> str:
    """The right answer; that of a choice has its text too: ``D. a bridge``."""
    answer: str = doc["answer"]
    return _answer_texts(doc).get(answer, answer)


def chance_answers(doc: Document) -> tuple[Mapping[str, str], str]:
    """The answers that ``figlang_random`` draws from, by label, and the right label.

    Raises:
        FigLangError: the answer is free, so there is nothing to draw from.
    """
    answer_by_label = _answer_texts(doc)
    if not answer_by_label:
        raise FigLangError(
            f"{doc['request']}: answers in free words have no chance level: evaluate another model"
        )
    return answer_by_label, doc["answer"]


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, by which a next question that a model invents is found."""
    return [doc["question"], *options_by_letter(doc).values()]


def options_by_letter(doc: Document) -> dict[str, str]:
    """The text of each option by its letter; empty for a question without options."""
    return dict(zip(LETTERS, doc.get("options") or (), strict=False))


def _answer_texts(doc: Document) -> dict[str, str]:
    """The text of each possible answer by its label; empty if the answer is free."""
    options = options_by_letter(doc)
    if options:
        return {letter: f"{letter}. {text}" for letter, text in options.items()}
    if doc["answer"] in simple_rows.YES_OR_NO:
        return {label: label for label in simple_rows.YES_OR_NO}
    return {}


# --- the judgement ---


def _record(doc: Document, output: str | None, kind: Kind) -> SimpleRecord:
    """The record of an answer; no output is None, and counts as a wrong answer."""
    if kind == "choice":
        reading = _read_letter(doc, output)
    elif kind == "yes-no":
        reading = _read_yes_or_no(doc, output)
    else:
        reading = read_free_answer(output)
    record: SimpleRecord = {
        "id": doc["id"],
        "data": doc["data"],
        "gold": doc["answer"],
        "predicted": reading.value,
        "status": reading.status,
        "rule": reading.rule,
    }
    if kind == "free":
        record["is_right"] = overlap.relaxed_match(reading.value or "", doc["answer"])
    return record


def _read_letter(doc: Document, output: str | None) -> Read[str]:
    """The letter of the option that an output chooses."""
    reading = option(output, len(doc["options"]), texts=doc["options"])
    letter = None if reading.value is None else LETTERS[reading.value]
    return Read(letter, reading.status, reading.rule)


def _read_yes_or_no(doc: Document, output: str | None) -> Read[str]:
    """``Yes`` or ``No``, whichever an output says."""
    reading = yes_no(output, prompt_texts=[doc["question"]])
    label = None
    if reading.value is not None:
        label = "Yes" if reading.value else "No"
    return Read(label, reading.status, reading.rule)


def read_free_answer(output: str | None) -> Read[str]:
    """The words of an answer, without thoughts, tags and "The answer is"; rule ``words``."""
    answer = find_answer(output)
    if isinstance(answer, Read):
        return answer
    announcement = _ANNOUNCEMENT.match(answer.raw)
    words = answer.raw[announcement.end() :] if announcement else answer.raw
    if not words.strip():
        return Read(None, "unreadable", "nothing")
    return Read(words.strip(), "read", "words")


def _measures(kind: Kind) -> Measures:
    """The measures of a kind of question: accuracy, or for free answers relaxed exact match."""
    if kind == "free":
        headline = Measure(
            "relaxed_em",
            description=(
                "Share of answers that equal the right one, without case, surrounding punctuation"
                " and a leading article."
            ),
            source=_SOURCE,
            value_of_record=_is_match,
        )
    else:
        headline = Measure(
            "acc",
            description="Share of questions with the right answer.",
            source=_SOURCE,
            value_of_record=_is_right,
            answer=_predicted,
        )
    return Measures.of(headline, parse_rate())


def _is_right(record: Record) -> float:
    """1.0 if the right answer was read, else 0.0."""
    return float(record["predicted"] == record["gold"])


def _is_match(record: Record) -> float:
    """1.0 if the words of a free answer match the right one, else 0.0."""
    return float(record["is_right"])


def _predicted(record: Record) -> str | None:
    """What was read from an answer."""
    predicted: str | None = record["predicted"]
    return predicted


# --- answers that a language model reads (`figlang judge read`) ---


def _options_of_row(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The text of each option of a row, or Yes and No."""
    # `needs_document` below: the document is always there.
    return options_by_letter(document or {}) or YES_OR_NO


_CHOICE = Choice(
    "What is the answer to the question?",
    options=_options_of_row,
    fields=predicted_label,
    needs_document=True,
)


def choice_of(record: Record) -> Choice:
    """What a question with options, or with yes and no, offers (module ``choice``)."""
    return _CHOICE
