"""CII-Bench's task: what a model is asked, and how its answer is judged (arXiv 2410.13854).

A question asks for an implication of a Chinese picture, mostly its metaphor; the model chooses one
of six options. Where the paper says what, and where it is done here:

- Table 1, and Figures 8 to 11, the prompts: `Options.prompt`.
- Table 2, chain of thought, and keywords for domain, emotion and rhetoric: the same option.
- The rule that reads answers, released but not in the paper: `parse_official`.
- Tables 1, 6, 7 and 8, accuracy by domain, emotion, type, difficulty and rhetoric:
  `figlang_tasks.benchmarks.ciibench.measures`.
- Table 4, descriptions of paintings: `figlang_tasks.benchmarks.ciibench.reproduced`.

Few-shot prompts (Table 3) are left out: dev shares five pictures with test.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from PIL import Image

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.next_question import whole
from figlang_tasks.answers.option import option
from figlang_tasks.benchmarks.ciibench import measures, rows
from figlang_tasks.benchmarks.ciibench.parse import parse_official
from figlang_tasks.benchmarks.ciibench.records import ImplicationRecord
from figlang_tasks.benchmarks.ciibench.rows import LETTERS
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.simple_tasks import options_by_letter
from figlang_tasks.scoring.task import Document


class Options(TaskOptions):
    """Options of a CII-Bench task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        prompt: ``none``, ``cot``, or the column whose labels are shown as keywords.
        blind: whether a white square replaces the picture.
    """

    OF: ClassVar[str] = "CII-Bench"

    prompt: Literal["none", "cot", "domain", "emotion", "rhetoric"]
    blind: bool = False


# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text, without the picture."""
    options = Options.of(lmms_eval_specific_kwargs)
    return render(
        "ciibench/question.jinja",
        prompt=options.prompt,
        keywords=doc.get(options.prompt),  # "none" and "cot" are no columns
        question=doc["question"],
        options=options_by_letter(doc),
    )


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The picture as RGB, in a list; a white square for a task that is blind."""
    if Options.of(lmms_eval_specific_kwargs).blind:
        return [images.white_square()]
    return [images.decode(doc["image"], f"{rows.NAME} {doc['id']}", rows.NAME)]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn, the picture before the text."""
    pictures = doc_to_visual(doc, lmms_eval_specific_kwargs)
    return [user_turn(pictures, doc_to_text(doc, lmms_eval_specific_kwargs))]


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row that its prompt shows, by which an invented next question is found."""
    return [doc["question"], *doc["options"]]


def doc_to_target(doc: Document) -> str:
    """The right answer in the form that the prompt asks for: ``答案：C``."""
    answers, right_letter = chance_answers(doc)
    return answers[right_letter]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right one.

    The models ``figlang_random`` and ``figlang_majority`` answer with these texts.
    """
    return {letter: f"答案：{letter}" for letter in LETTERS}, doc["answer"]


# --- the judgement ---


def record(doc: Document, output: str | None) -> ImplicationRecord:
    """The record of an answer, as our reader and the released rule read it.

    Args:
        doc: the row.
        output: the model's answer; None if there is none, which counts as a wrong answer.
    """
    texts = tuple(doc["options"])
    reading = option(output, Choices(len(LETTERS), texts=texts))
    # The released rule reads all that a model wrote, also behind the next question that it invents.
    # The released code counts an empty output as wrong, and does not read it.
    whole_output = whole(output)
    official_letter = None
    if whole_output:
        official_letter = parse_official(whole_output, options_by_letter(doc))
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": doc["unit"],
        "scopes": doc["scopes"],
        "gold": doc["answer"],
        "predicted": None if reading.value is None else LETTERS[reading.value],
        "predicted_official": official_letter,
        "status": reading.status,
        "rule": reading.rule,
    }


CIIBENCH = Task(
    name="ciibench",
    description="Which of six texts says what a Chinese picture implies?",
    documents=rows.for_request,
    options=Options,
    record=record,
    measures=measures.CIIBENCH,
)
TASKS = (CIIBENCH,)
METRICS = CIIBENCH.metric_list
