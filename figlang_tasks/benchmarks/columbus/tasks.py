"""COLUMBUS's task: what a model is asked, and how its answer is judged (arXiv 2409.04053).

A rebus conveys a compound or a phrase; the model chooses which of four options it is. Where the
paper says what, and where it is done here:

- Two kinds of rebus, text and icon, and puzzles that are there in both ("overlap"):
  `figlang_tasks.benchmarks.columbus.rows`.
- Table 2, prompt 2; Figure 5, prompts 1 to 4: `Options.prompt`.
- Mistral's prompts 3 and 4, a description without the picture: `Options.picture`.
- Table 2, CLIP, the option with the highest score: `record_of_scores`.
- The released rule that reads answers: `figlang_tasks.benchmarks.columbus.parse`.
- Table 2, accuracy for text and icons apart: `figlang_tasks.benchmarks.columbus.measures`.

Forward and backward chaining are left out (docs/cards/columbus.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from PIL import Image

from figlang_tasks.answers.next_question import whole
from figlang_tasks.answers.verdict import Status
from figlang_tasks.benchmarks.columbus import measures, parse, rows
from figlang_tasks.benchmarks.columbus.records import PuzzleRecord
from figlang_tasks.benchmarks.columbus.rows import DESCRIPTION_COLUMNS, LETTERS
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import ranking
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document


class Options(TaskOptions):
    """Options of a COLUMBUS task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        prompt: ``plain``, ``rebus``, ``nodes`` or ``graph``: the paper's prompts 1 to 4. The last
            two describe the picture, and need ``graph=true`` in ``dataset_name``.
        picture: whether the picture is shown; without it ``prompt`` must describe it.
    """

    OF: ClassVar[str] = "COLUMBUS"

    prompt: Literal["plain", "rebus", "nodes", "graph"]
    picture: bool = True


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Check that each prompt of a task file has the description that it shows (`Task.preflight`).

    Args:
        config: the task file as a dict.
        request: its parsed ``dataset_name``.

    Raises:
        ValueError: the request asks for no descriptions, or nothing shows the rebus to the model.
    """
    for options in Options.blocks(config):
        describes_picture = options.prompt in DESCRIPTION_COLUMNS
        if describes_picture and "graph" not in request:
            raise ValueError(
                f"prompt={options.prompt} describes pictures: write graph=true into dataset_name"
            )
        if not options.picture and not describes_picture:
            valid_prompts = ", ".join(DESCRIPTION_COLUMNS)
            raise ValueError(f"picture=false with prompt={options.prompt}; valid: {valid_prompts}")


# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text, without the picture: one of the paper's prompts 1 to 4."""
    options = Options.of(lmms_eval_specific_kwargs)
    description = None
    if options.prompt in DESCRIPTION_COLUMNS:
        description = doc.get(DESCRIPTION_COLUMNS[options.prompt])
    return render(
        "columbus/question.jinja",
        prompt=options.prompt,
        picture=options.picture,
        description=description,
        options=doc["candidates"],
    )


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The picture as RGB, in a list; an empty list for a task without pictures."""
    options = Options.of(lmms_eval_specific_kwargs)
    if not options.picture:
        return []
    return [images.decode(doc["image"], f"COLUMBUS {doc['id']}")]


def picture_file(doc: Document) -> Path:
    """The file of a row's picture, which the document has as bytes.

    ``figlang data prompts`` finds this function by its name (`TaskFile.picture_file`).
    """
    return rows.picture_folder() / f"{doc['id']}.png"


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn, the picture before the text."""
    pictures = doc_to_visual(doc, lmms_eval_specific_kwargs)
    text = doc_to_text(doc, lmms_eval_specific_kwargs)
    return [user_turn(pictures, text)]


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row that a prompt may show, in the prompt's order: descriptions, then options.

    An invented next question is found by them. Only some prompts show a description, and only
    documents of ``graph=true`` have any.
    """
    texts: list[str] = []
    for column in DESCRIPTION_COLUMNS.values():
        if doc.get(column):
            texts.append(doc[column])
    texts.extend(doc["candidates"])
    return texts


def options_by_letter(doc: Document) -> dict[str, str]:
    """The text of each option by its letter: ``{"A": "high up", ...}``."""
    return dict(zip(LETTERS, doc["candidates"], strict=True))


def doc_to_target(doc: Document) -> str:
    """The right answer in the form that the released rule reads: ``(A) high up``."""
    answers, right_letter = chance_answers(doc)
    return answers[right_letter]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right one.

    The models ``figlang_random`` and ``figlang_majority`` answer with these texts.

    Returns:
        ``{letter: text of the answer}``, and the right letter.
    """
    answers: dict[str, str] = {}
    for letter, text in options_by_letter(doc).items():
        answers[letter] = f"({letter}) {text}"
    return answers, doc["answer"]


# --- the judgement ---


def record(doc: Document, output: str | None) -> PuzzleRecord:
    """The record of an answer in words, as our reader and the released rule read it.

    Args:
        doc: the row.
        output: the model's answer; None if there is none, which counts as a wrong answer.
    """
    options = options_by_letter(doc)
    reading = parse.letter(output, options)
    # The released rule reads all that a model wrote, also behind the next question that it invents.
    official_letter = parse.parse_official(whole(output) or "", options)
    return _record(
        doc,
        letter=reading.value,
        official_letter=official_letter,
        status=reading.status,
        rule=reading.rule,
        scores=None,
    )


def record_of_scores(doc: Document, scores: list[float]) -> PuzzleRecord:
    """The record of an answer by scores: the option with the highest score is chosen, if it is one.

    If several options share the highest score, none is chosen, and the answer is wrong; the
    released code takes the first of them.

    Args:
        doc: the row.
        scores: the score of each option, A to D.
    """
    best_index = ranking.index_of_best(scores)  # None if several share the highest score
    letter = None if best_index is None else LETTERS[best_index]
    official_letter = LETTERS[scores.index(max(scores))]
    return _record(
        doc,
        letter=letter,
        official_letter=official_letter,
        status="scores",
        rule="argmax",
        scores=scores,
    )


def _record(
    doc: Document,
    *,
    letter: str | None,
    official_letter: str | None,
    status: Status,
    rule: str,
    scores: list[float] | None,
) -> PuzzleRecord:
    """The record of a row, from the letter that our rule reads and that of the released rule.

    None stands for a rule that reads no letter; see `PuzzleRecord`.
    """
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": doc["unit"],
        "kind": doc["kind"],
        "overlap": doc["overlap"],
        "gold": doc["answer"],
        "predicted": letter,
        "predicted_official": official_letter,
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
