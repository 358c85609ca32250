"""The kinds of tasks of AdMIRe, and what its task files name: documents, prompts, scoring.

A document says by ``sentence`` which subtask it is of: a sequence has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations
from typing import Any, ClassVar, Literal

from PIL import Image

from figlang_tasks.answers.verdict import Status
from figlang_tasks.benchmarks.admire import measures, parse, rows
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
    """Options of an AdMIRe task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file, by
    model.

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


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; where letters name the pictures, ``<image>`` marks the place of
    each.
    """
    template, _, ordinal = Options.of(lmms_eval_specific_kwargs).prompt.partition("_")
    places = [
        f" the {nth} image" if ordinal else "<image>" for nth in _ORDINALS[: len(doc["paths"])]
    ]
    told = [f" {caption}" for caption in doc["captions"]] or places
    given = len(doc["paths"]) - len(doc["names"])  # of a sequence, before the candidates
    return render(
        f"admire/{template}.jinja",
        compound=doc["compound"],
        sentence=doc["sentence"],
        given=told[:given],
        candidates=dict(zip(LETTERS[: len(doc["names"])], told[given:], strict=True)),
    )


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order; a sequence has no sentence, and pictures no
    captions.
    """
    return [doc["compound"], doc["sentence"], *doc["captions"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The pictures in the order shown, each RGB; none where captions are shown."""
    paths = [] if doc["captions"] else doc["paths"]
    return [
        images.decode({"path": path}, f"{doc['dataset']} {doc['id']}", doc["dataset"])
        for path in paths
    ]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn, the pictures at their places in the text, or before it."""
    return [
        turn_with_pictures_inside(doc_to_visual(doc), doc_to_text(doc, lmms_eval_specific_kwargs))
    ]


def doc_to_target(doc: Document) -> str:
    """The expected answer, in letters."""
    letters = [LETTERS[doc["names"].index(name)] for name in doc["order"]]
    return ", ".join(letters) if doc["sentence"] else _about_sequence(letters[0], doc["sense"])


def _about_sequence(letter: str, sense: str) -> str:
    return f"Image: {letter}\nSense: {sense}"


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers by label, and the right label."""
    letters = LETTERS[: len(doc["names"])]
    if doc["sentence"]:
        answers = [", ".join(order) for order in permutations(letters)]
    else:
        answers = [_about_sequence(letter, sense) for letter in letters for sense in SENSES]
    return dict(zip(answers, answers, strict=True)), doc_to_target(doc)


def ranking_record(doc: Document, output: str | None) -> RankingRecord:
    """The record of a ranking in words; one that is not read is none."""
    ranking = parse.ranking(output, len(doc["names"]))
    return _ranking_record(doc, ranking.value, ranking.status, ranking.rule, None)


def ranking_record_of_scores(doc: Document, scores: list[float]) -> RankingRecord:
    """The record of a ranking by matching scores.

    Equal scores keep the order in which the pictures were shown, which a hash decides.
    """
    places = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    return _ranking_record(doc, places, "scores", "sorted", scores)


def _ranking_record(
    doc: Document,
    places: Sequence[int] | None,
    status: Status,
    rule: str,
    scores: list[float] | None,
) -> RankingRecord:
    names = list(doc["names"])
    return {
        "id": doc["id"],
        "data": doc["data"],
        "shown": doc["shown"],
        "sense": doc["sense"],
        "unit": doc["compound"],
        "names": names,
        "gold": list(doc["order"]),
        "predicted": None if places is None else [names[place] for place in places],
        "status": status,
        "rule": rule,
        "scores": scores,
    }


def sequence_record(doc: Document, output: str | None) -> SequenceRecord:
    """The record of the chosen picture and sense; what is not read is wrong."""
    names = list(doc["names"])
    item, sense = parse.sequence(output, len(names))
    decided = sense if item.status == "read" else item
    return {
        "id": doc["id"],
        "data": doc["data"],
        "shown": doc["shown"],
        "sense": doc["sense"],
        "unit": doc["compound"],
        "names": names,
        "gold": doc["order"][0],
        "predicted": None if item.value is None else names[item.value],
        "predicted_sense": sense.value,
        "status": decided.status,
        "rule": decided.rule,
    }


# --- the kinds ---


def _tables(*, of_sequences: bool, in_both_senses: bool) -> Callable[[Request], bool]:
    """The function of a request that tells whether its table is of this kind."""

    def is_for(request: Request) -> bool:
        table = request["table"]
        return (
            table.startswith("sequence") == of_sequences
            and table.endswith("_both") == in_both_senses
        )

    return is_for


_ranking = partial(
    Task,
    documents=rows.documents,
    options=Options,
    record=ranking_record,
    record_of_scores=ranking_record_of_scores,
    candidates="names",
)
_sequence = partial(Task, documents=rows.documents, options=Options, record=sequence_record)

RANK_BOTH = _ranking(
    name="admire_rank_both",
    description=(
        "As admire_rank, of the compounds of all parts, each in its idiomatic and its literal"
        " sense."
    ),
    is_for=_tables(of_sequences=False, in_both_senses=True),
    measures=measures.RANK_BOTH,
)
RANK = _ranking(
    name="admire_rank",
    description="Rank five pictures by how well they show the sense of a compound in a sentence.",
    is_for=_tables(of_sequences=False, in_both_senses=False),
    measures=measures.RANK,
)
SEQUENCE_BOTH = _sequence(
    name="admire_sequence_both",
    description=(
        "As admire_sequence, of the compounds of all parts, each in its idiomatic and its literal"
        " sense."
    ),
    is_for=_tables(of_sequences=True, in_both_senses=True),
    measures=measures.SEQUENCE_BOTH,
)
SEQUENCE = _sequence(
    name="admire_sequence",
    description=(
        "Choose the picture that ends a sequence, and name the sense in which it shows the"
        " compound."
    ),
    is_for=_tables(of_sequences=True, in_both_senses=False),
    measures=measures.SEQUENCE,
)
TASKS = (RANK_BOTH, RANK, SEQUENCE_BOTH, SEQUENCE)

RANK_METRICS, RANK_BOTH_METRICS = RANK.metric_list, RANK_BOTH.metric_list
SEQUENCE_METRICS, SEQUENCE_BOTH_METRICS = SEQUENCE.metric_list, SEQUENCE_BOTH.metric_list
