"""AdMIRe's tasks: what a model is asked, and how its answer is judged (arXiv 2503.15358).

SemEval-2025 Task 1 has two subtasks about nominal compounds that may be idiomatic. Where they are
done here:

- Subtask A, rank five pictures by how well they show the sense of a compound in a sentence:
  `ranking_record`, `RANK`, `RANK_BOTH`.
- Subtask B, choose the third picture of a sequence, and name the sense, which is not given:
  `sequence_record`, `SEQUENCE`, `SEQUENCE_BOTH`.
- Both with captions in place of the pictures: ``shown=captions`` in ``dataset_name``.
- The extended evaluation, with the other sense of each compound, and tables that join both senses:
  `figlang_tasks.benchmarks.admire.counts`.
- Official scorers: `figlang_tasks.benchmarks.admire.measures`.

The shared task has no prompt. All but ``polito`` and ``text`` are ours (``prompts/admire``), as are
the rules that read answers (`figlang_tasks.benchmarks.admire.parse`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any, ClassVar, Literal

from PIL import Image

from figlang_tasks.answers.verdict import Status
from figlang_tasks.benchmarks.admire import measures, parse, rows
from figlang_tasks.benchmarks.admire.counts import is_sequence_table
from figlang_tasks.benchmarks.admire.records import RankingRecord, SequenceRecord
from figlang_tasks.benchmarks.admire.rows import LETTERS, SENSES
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, turn_with_pictures_inside
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


class Options(TaskOptions):
    """Options of an AdMIRe task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        prompt: ``rank`` and ``sequence`` (each picture or caption behind its letter), the same with
            ``_ordinal`` (all pictures before the text, which says what letter the first has, the
            second ...), ``polito`` (published), ``match`` (a question about one picture) or
            ``text`` (the sentence alone, as dual encoders take it).
    """

    OF: ClassVar[str] = "AdMIRe"

    prompt: Literal[
        "rank", "rank_ordinal", "polito", "match", "text", "sequence", "sequence_ordinal"
    ]


# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; ``<image>`` marks where a picture stands behind its letter.

    A caption may stand in its place, or, if the pictures come before the text, " the first image".
    """
    options = Options.of(lmms_eval_specific_kwargs)
    template = options.prompt.removesuffix("_ordinal")
    is_ordinal = options.prompt.endswith("_ordinal")
    n_pictures = len(doc["paths"])
    n_candidates = len(doc["names"])
    if doc["captions"]:
        picture_texts = [f" {caption}" for caption in doc["captions"]]
    elif is_ordinal:
        picture_texts = [f" the {ordinal} image" for ordinal in _ORDINALS[:n_pictures]]
    else:
        picture_texts = ["<image>"] * n_pictures

    # The pictures that begin a sequence come first; a ranking has candidates alone.
    n_given = n_pictures - n_candidates
    candidates = dict(zip(LETTERS[:n_candidates], picture_texts[n_given:], strict=True))
    return render(
        f"admire/{template}.jinja",
        compound=doc["compound"],
        sentence=doc["sentence"],
        given=picture_texts[:n_given],
        candidates=candidates,
    )


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The pictures as RGB, in the order shown; an empty list where captions are shown."""
    if doc["captions"]:
        return []
    location = f"{doc['dataset']} {doc['id']}"
    pictures: list[Image.Image] = []
    for path in doc["paths"]:
        pictures.append(images.decode({"path": path}, location, doc["dataset"]))
    return pictures


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn: pictures where the text has ``<image>``, else before it."""
    text = doc_to_text(doc, lmms_eval_specific_kwargs)
    return [turn_with_pictures_inside(doc_to_visual(doc), text)]


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row that its prompt shows, by which an invented next question is found.

    They are the compound, the sentence ("" for a sequence), and the captions, if any.
    """
    return [doc["compound"], doc["sentence"], *doc["captions"]]


# --- the right answer, and chance ---


def doc_to_target(doc: Document) -> str:
    """The expected answer in letters: ``C, A, E, B, D``; for a sequence picture and sense."""
    letters = [LETTERS[doc["names"].index(name)] for name in doc["order"]]
    if _is_sequence(doc):
        return _sequence_answer(letters[0], doc["sense"])
    return ", ".join(letters)


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right one.

    The models ``figlang_random`` and ``figlang_majority`` answer with these texts.

    Returns:
        ``{label: text of the answer}``, for all possible answers; here label and text are the same
        (``{"B, A, C": "B, A, C", ...}``). And the right label.
    """
    letters = LETTERS[: len(doc["names"])]
    answers: list[str] = []
    if _is_sequence(doc):
        for letter in letters:
            for sense in SENSES:
                answers.append(_sequence_answer(letter, sense))
    else:
        for order in permutations(letters):
            answers.append(", ".join(order))
    return {answer: answer for answer in answers}, doc_to_target(doc)


def _is_sequence(doc: Document) -> bool:
    """Whether a row is of subtask B, whose rows have no sentence."""
    return not doc["sentence"]


def _sequence_answer(letter: str, sense: str) -> str:
    """An answer about a sequence in the two lines that the prompt asks for."""
    return f"Image: {letter}\nSense: {sense}"


# --- the judgement of a ranking (subtask A) ---


def ranking_record(doc: Document, output: str | None) -> RankingRecord:
    """The record of an answer in words: the ranking that is read in it, if any.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
    """
    reading = parse.ranking(output, len(doc["names"]))
    return _ranking_record(
        doc, ranking=reading.value, status=reading.status, rule=reading.rule, scores=None
    )


def ranking_record_of_scores(doc: Document, scores: list[float]) -> RankingRecord:
    """The record of a ranking by matching scores, the highest first.

    Equal scores keep the order in which the pictures were shown, which a hash decides.

    Args:
        doc: the row.
        scores: the score of each picture in the order shown.
    """
    ranking = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    return _ranking_record(doc, ranking=ranking, status="scores", rule="sorted", scores=scores)


def _ranking_record(
    doc: Document,
    *,
    ranking: Sequence[int] | None,
    status: Status,
    rule: str,
    scores: list[float] | None,
) -> RankingRecord:
    """The record of a row; `ranking` holds 0-based positions in the order shown, the best first."""
    names = list(doc["names"])
    ranked_names = None
    if ranking is not None:
        ranked_names = [names[position] for position in ranking]
    return {
        "id": doc["id"],
        "data": doc["data"],
        "shown": doc["shown"],
        "sense": doc["sense"],
        "unit": doc["compound"],
        "names": names,
        "gold": list(doc["order"]),
        "predicted": ranked_names,
        "status": status,
        "rule": rule,
        "scores": scores,
    }


# --- the judgement of a sequence (subtask B) ---


def sequence_record(doc: Document, output: str | None) -> SequenceRecord:
    """The record of the picture that a model chooses, and of the sense that it names.

    The status is that of the picture if this was not read, else that of the sense.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
    """
    names = list(doc["names"])
    picture_reading, sense_reading = parse.sequence(output, len(names))
    chosen_name = None
    if picture_reading.value is not None:
        chosen_name = names[picture_reading.value]
    if picture_reading.status == "read":
        status, rule = sense_reading.status, sense_reading.rule
    else:
        status, rule = picture_reading.status, picture_reading.rule
    return {
        "id": doc["id"],
        "data": doc["data"],
        "shown": doc["shown"],
        "sense": doc["sense"],
        "unit": doc["compound"],
        "names": names,
        "gold": doc["order"][0],
        "predicted": chosen_name,
        "predicted_sense": sense_reading.value,
        "status": status,
        "rule": rule,
    }


# --- the kinds of tasks ---


def _asks_rankings(request: Request) -> bool:
    """Whether a request is for a table of subtask A with one sense of each compound."""
    table = request["table"]
    return not is_sequence_table(table) and not _has_both_senses(table)


def _asks_rankings_in_both_senses(request: Request) -> bool:
    """Whether a request is for a table of subtask A with both senses of each compound."""
    table = request["table"]
    return not is_sequence_table(table) and _has_both_senses(table)


def _asks_sequences(request: Request) -> bool:
    """Whether a request is for a table of subtask B with one sense of each compound."""
    table = request["table"]
    return is_sequence_table(table) and not _has_both_senses(table)


def _asks_sequences_in_both_senses(request: Request) -> bool:
    """Whether a request is for a table of subtask B with both senses of each compound."""
    table = request["table"]
    return is_sequence_table(table) and _has_both_senses(table)


def _has_both_senses(table: str) -> bool:
    """Whether a table has each compound in both senses, as ``en_both`` does."""
    return table.endswith("_both")


RANK_BOTH = Task(
    name="admire_rank_both",
    description=(
        "As admire_rank, of the compounds of all parts, each in its idiomatic and its literal"
        " sense."
    ),
    is_for=_asks_rankings_in_both_senses,
    documents=rows.documents,
    options=Options,
    record=ranking_record,
    record_of_scores=ranking_record_of_scores,
    candidates="names",
    measures=measures.RANK_BOTH,
)
RANK = Task(
    name="admire_rank",
    description="Rank five pictures by how well they show the sense of a compound in a sentence.",
    is_for=_asks_rankings,
    documents=rows.documents,
    options=Options,
    record=ranking_record,
    record_of_scores=ranking_record_of_scores,
    candidates="names",
    measures=measures.RANK,
)
SEQUENCE_BOTH = Task(
    name="admire_sequence_both",
    description=(
        "As admire_sequence, of the compounds of all parts, each in its idiomatic and its literal"
        " sense."
    ),
    is_for=_asks_sequences_in_both_senses,
    documents=rows.documents,
    options=Options,
    record=sequence_record,
    measures=measures.SEQUENCE_BOTH,
)
SEQUENCE = Task(
    name="admire_sequence",
    description=(
        "Choose the picture that ends a sequence, and name the sense in which it shows the"
        " compound."
    ),
    is_for=_asks_sequences,
    documents=rows.documents,
    options=Options,
    record=sequence_record,
    measures=measures.SEQUENCE,
)
TASKS = (RANK_BOTH, RANK, SEQUENCE_BOTH, SEQUENCE)

# Task files name these.
RANK_METRICS = RANK.metric_list
RANK_BOTH_METRICS = RANK_BOTH.metric_list
SEQUENCE_METRICS = SEQUENCE.metric_list
SEQUENCE_BOTH_METRICS = SEQUENCE_BOTH.metric_list
