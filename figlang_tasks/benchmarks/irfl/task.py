"""What the IRFL task files name: documents, prompts, scoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal

from loguru import logger
from PIL import Image

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.irfl import rows
from figlang_tasks.benchmarks.irfl.archive import grid, pictures
from figlang_tasks.benchmarks.irfl.measures import DETECT, RETRIEVE, of_records
from figlang_tasks.core import notes, score_requests
from figlang_tasks.core.benchmark import Asked, chosen
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, turn_with_pictures_inside
from figlang_tasks.metrics import ranking
from figlang_tasks.scoring import judged

Document = Mapping[str, Any]

# Of the four parts of a grid, in the order of the letters: "the top-left image", "upper left", "left top".
PLACES = tuple(
    rf"(?:the\s)?(?:(?:{row})[\s-]{side}|{side}[\s-](?:{row}))(?:[\s-]hand)?(?:\s(?:corner|image|picture|panel|one))?"
    for row in ("top|upper", "bottom|lower")
    for side in ("left", "right")
)
# What an image shows if the answer is yes. "The idiom has the figurative meaning of ..." says nothing of the image.
FIGURATIVE = r"(?<!has\sa\s)(?<!has\sthe\s)(?<!with\sthe\s)figurative\smeaning"
# An output that is neither yes nor no is ranked against the model: a positive image last, a negative one first.
UNREADABLE = {True: -1.0, False: 2.0}


class Options(TaskOptions):
    """Options of an IRFL task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file, by model.

    Attributes:
        prompt: ``choose`` (all candidates, each behind its letter), ``ordinal`` (all before the text, which says what
            letter the first has, the second ...), ``grid`` (the four in one picture), ``match`` (a question to answer
            Yes or No) or ``text`` (nothing but the text, as dual encoders take it).
        phrase_only: leave out the definitions of an idiom.
    """

    OF: ClassVar[str] = "IRFL"

    prompt: Literal["choose", "ordinal", "grid", "match", "text"]
    phrase_only: bool = False


# --- data ---


def preflight(config: Mapping[str, Any], asked: Asked) -> None:
    """Check that a run holds a whole row, whose documents (pictures, rotations) are judged together."""
    of_docs = list(rows.load_asked(asked)["row"])
    places = chosen(len(of_docs), config)
    sizes, here = Counter(of_docs), Counter(of_docs[place] for place in places)
    if all(found < sizes[row] for row, found in here.items()):
        first = of_docs[places[0]]
        offset = of_docs.index(first)
        raise ValueError(
            f"--limit and --offset leave no complete row: {first} has {sizes[first]} documents, which are scored "
            f"together. Use --limit {sizes[first]}{f' --offset {offset}' if offset else ''}, or a larger limit"
        )


# --- prompts ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; where letters name the pictures, ``<image>`` marks the place of each."""
    options = Options.of(lmms_eval_specific_kwargs)
    return render(
        f"irfl/{options.prompt}.jinja",
        figurative_type=doc["figurative_type"],
        text=rows.text(doc, options.phrase_only),
        letters=rows.LETTERS[: len(doc["candidates"])],
    )


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order; without definitions where the task leaves them out."""
    return [doc["phrase"], *doc["definitions"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The pictures of the candidates in the order shown, each RGB; for a grid, one."""
    store = pictures(doc["dataset"])
    shown = [store.read(uuid, f"{doc['dataset']} {doc['id']}") for uuid in doc["candidates"]]
    return [grid(shown, rows.LETTERS)] if Options.of(lmms_eval_specific_kwargs).prompt == "grid" else shown


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
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


# --- scoring of one document ---


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of a choice and its numbers: by matching scores where the backend gives them, else in words."""
    record = _choice(doc, results[0])
    return judged(record, of_records([record]))


def grid_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of a choice among the four parts of one picture, and its numbers; an answer may name their place."""
    return judged(_choice(doc, results[0], PLACES), DETECT)


def match_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of a choice by matching scores, and its numbers.

    A request that got no answer counts as wrong; where it is in words, the run has failed.
    """
    record = _choice(doc, results[0])
    if record["scores"] is None and results[0]:
        _report_no_scores()
        notes.note("irfl_match: answers without matching scores have no accuracy, see the log")
        record |= {"chosen": None, "status": "no_scores", "rule": ""}
    return judged(record, DETECT)


def retrieve_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of one image of a row, by its matching score or by Yes or No in words, and its numbers."""
    scores = score_requests.read_answer(results[0])
    if scores is not None and len(scores) == 1:
        value, status, rule = scores[0], "scores", "scores"
    else:
        found = yes_no(results[0], FIGURATIVE)
        status, rule = found.status, found.rule
        value = UNREADABLE[doc["positive"]] if found.value is None else float(found.value)
    record = {name: doc[name] for name in ("id", "data", "row", "type", "role", "positive", "images")}
    record |= {"unit": doc["phrase"], "uuid": doc["candidates"][0], "value": value, "status": status, "rule": rule}
    return judged(record, RETRIEVE)


def _choice(doc: Document, output: str, places: Sequence[str] = ()) -> dict[str, Any]:
    """The record of one document of detection (`measures`)."""
    count = len(doc["candidates"])
    scores = score_requests.read_answer(output)
    if scores is not None and len(scores) == count:
        status, rule = "scores", "argmax"
        # A tie chose nothing: of the images that share the highest score none is the model's choice.
        chosen = None if ranking.tied_at_top(scores) else scores.index(max(scores))
    else:
        scores = None
        found = option(output, Choices(count, are_pictures=True, places=tuple(places)))
        chosen, status, rule = found.value, found.status, found.rule
    record = {name: doc[name] for name in ("id", "data", "row", "type", "candidates", "roles", "answer")}
    return record | {"unit": doc["phrase"], "chosen": chosen, "status": status, "rule": rule, "scores": scores}


@lru_cache(maxsize=1)  # once a process
def _report_no_scores() -> None:
    logger.error(
        "figlang_tasks: irfl_match compares matching scores, but this model answers in words: those rows have no "
        "accuracy. Use a model class that gives scores (figlang_clip, figlang_vlm, figlang_openai), or run irfl_detect "
        "with this one."
    )
