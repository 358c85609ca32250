"""The task of COLUMBUS, and what its task files name: documents, prompts, scoring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from PIL import Image

from figlang_tasks.answers.next_question import whole
from figlang_tasks.answers.verdict import Status
from figlang_tasks.benchmarks.columbus import measures, parse, rows
from figlang_tasks.benchmarks.columbus.records import PuzzleRecord
from figlang_tasks.benchmarks.columbus.rows import DESCRIPTIONS, LETTERS
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import ranking
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document


class Options(TaskOptions):
    """Options of a task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        prompt: ``plain``, ``rebus``, ``nodes`` or ``graph``: the paper's prompts 1 to 4. The last
            two describe the picture, and need ``graph=true`` in ``dataset_name``.
        picture: whether the picture is shown; without it ``prompt`` must describe it.
    """

    OF: ClassVar[str] = "COLUMBUS"

    prompt: Literal["plain", "rebus", "nodes", "graph"]
    picture: bool = True


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Check that the prompt has what it needs; see `Task.preflight`."""
    for options in Options.blocks(config):
        if options.prompt in DESCRIPTIONS and "graph" not in request:
            raise ValueError(
                f"prompt={options.prompt} describes pictures: write graph=true into dataset_name"
            )
        if not options.picture and options.prompt not in DESCRIPTIONS:
            raise ValueError(
                f"picture=false with prompt={options.prompt}; valid: {', '.join(DESCRIPTIONS)}"
            )


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text."""
    options = Options.of(lmms_eval_specific_kwargs)
    return render(
        "columbus/question.jinja",
        prompt=options.prompt,
        picture=options.picture,
        description=doc.get(DESCRIPTIONS.get(options.prompt, "")),
        options=doc["candidates"],
    )


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order; a description stands in the prompts that
    have it alone.
    """
    described = [doc[name] for name in DESCRIPTIONS.values() if doc.get(name)]
    return [*described, *doc["candidates"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The picture, RGB; nothing in a task without pictures."""
    shown = Options.of(lmms_eval_specific_kwargs).picture
    return [images.decode(doc["image"], f"COLUMBUS {doc['id']}")] if shown else []


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn, the picture before the text."""
    shown = doc_to_visual(doc, lmms_eval_specific_kwargs)
    return [user_turn(shown, doc_to_text(doc, lmms_eval_specific_kwargs))]


def by_letter(doc: Document) -> dict[str, str]:
    """The options of a document by their letters."""
    return dict(zip(LETTERS, doc["candidates"], strict=True))


def doc_to_target(doc: Document) -> str:
    """The right answer in the form that the released rule reads."""
    return chance_answers(doc)[0][doc["answer"]]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers to `doc` by label, and the right label."""
    return {letter: f"({letter}) {text}" for letter, text in by_letter(doc).items()}, doc["answer"]


def record(doc: Document, output: str | None) -> PuzzleRecord:
    """The record of an answer in words; no answer is a wrong one."""
    options = by_letter(doc)
    letter = parse.letter(output, options)
    official = parse.parse_official(whole(output) or "", options)
    return _record(doc, letter.value, official, letter.status, letter.rule, None)


def record_of_scores(doc: Document, scores: list[float]) -> PuzzleRecord:
    """The record of a choice by scores. A tie is a wrong answer; the released code takes the first
    of equals.
    """
    best = ranking.index_of_best(scores)
    letter = None if best is None else LETTERS[best]
    return _record(doc, letter, LETTERS[scores.index(max(scores))], "scores", "argmax", scores)


def _record(
    doc: Document,
    predicted: str | None,
    official: str | None,
    status: Status,
    rule: str,
    scores: list[float] | None,
) -> PuzzleRecord:
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": doc["unit"],
        "kind": doc["kind"],
        "overlap": doc["overlap"],
        "gold": doc["answer"],
        "predicted": predicted,
        "predicted_official": official,
        "status": status,
        "rule": rule,
        "scores": scores,
    }


COLUMBUS = Task(
    name="columbus",
    description="Which of four words or phrases does a rebus convey?",
    documents=rows.for_request,
    options=Options,
    preflight=preflight,
    record=record,
    record_of_scores=record_of_scores,
    measures=measures.COLUMBUS,
)
TASKS = (COLUMBUS,)
METRICS = COLUMBUS.metric_list
