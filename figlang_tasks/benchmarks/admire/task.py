"""What the AdMIRe task files name: documents, prompts, scoring.

A document says by ``sentence`` which subtask it is of: a sequence has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any, ClassVar, Literal

from PIL import Image

from figlang_tasks.benchmarks.admire import measures, parse
from figlang_tasks.benchmarks.admire.rows import LETTERS, SENSES
from figlang_tasks.core import images, score_requests
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, turn_with_pictures_inside
from figlang_tasks.scoring import judged

Document = Mapping[str, Any]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


class Options(TaskOptions):
    """Options of an AdMIRe task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file, by model.

    Attributes:
        prompt: ``rank`` and ``sequence`` (each picture or caption behind its letter), the same with ``_ordinal`` (all
            pictures before the text, which says what letter the first has, the second ...), ``polito`` (published),
            ``match`` (a question about one picture) or ``text`` (the sentence alone, as dual encoders take it).
    """

    OF: ClassVar[str] = "AdMIRe"

    prompt: Literal["rank", "rank_ordinal", "polito", "match", "text", "sequence", "sequence_ordinal"]


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; where letters name the pictures, ``<image>`` marks the place of each."""
    template, _, ordinal = Options.of(lmms_eval_specific_kwargs).prompt.partition("_")
    places = [f" the {nth} image" if ordinal else "<image>" for nth in _ORDINALS[: len(doc["paths"])]]
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
    """The texts of a row in its prompt, in this order; a sequence has no sentence, and pictures no captions."""
    return [doc["compound"], doc["sentence"], *doc["captions"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The pictures in the order shown, each RGB; none where captions are shown."""
    paths = [] if doc["captions"] else doc["paths"]
    return [images.decode({"path": path}, f"{doc['dataset']} {doc['id']}", doc["dataset"]) for path in paths]


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
    """The prompt as one user turn, the pictures at their places in the text, or before it."""
    return [turn_with_pictures_inside(doc_to_visual(doc), doc_to_text(doc, lmms_eval_specific_kwargs))]


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


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of a ranking and its numbers: by matching scores where the backend gives them, else in words.

    Equal scores keep the order in which the pictures were shown, which a hash decides.
    """
    names = doc["names"]
    scores = score_requests.read_answer(results[0])
    if scores is not None and len(scores) == len(names):
        places: Sequence[int] | None = sorted(range(len(names)), key=scores.__getitem__, reverse=True)
        status, rule = "scores", "sorted"
    else:
        found, scores = parse.ranking(results[0], len(names)), None
        places, status, rule = found.value, found.status, found.rule
    record = _shared(doc) | {
        "gold": list(doc["order"]),
        "predicted": None if places is None else [names[place] for place in places],
        "status": status,
        "rule": rule,
        "scores": scores,
    }
    return judged(record, measures.of_records([record]))


def sequence_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of the chosen picture and sense, and its numbers; what is not read is wrong."""
    item, sense = parse.sequence(results[0], len(doc["names"]))
    decided = sense if item.status == "read" else item
    record = _shared(doc) | {
        "gold": doc["order"][0],
        "predicted": None if item.value is None else doc["names"][item.value],
        "predicted_sense": sense.value,
        "status": decided.status,
        "rule": decided.rule,
    }
    return judged(record, measures.of_records([record]))


def _shared(doc: Document) -> dict[str, Any]:
    found = {name: doc[name] for name in ("id", "data", "shown", "sense")}
    return found | {"unit": doc["compound"], "names": list(doc["names"])}
