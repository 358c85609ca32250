"""What the NYK-MS task files name, in lmms-eval and in lm-eval: documents, prompts, scoring.

NYK-MS: "A Well-annotated Multi-modal Metaphor and Sarcasm Understanding Benchmark on Cartoon-Caption Dataset",
arXiv 2409.01037. Serves every dataset in its import format (:mod:`figlang_tasks.benchmarks.nykms.rows`).

A document carries its question and whether the cartoon is shown or told, so one set of functions serves all tasks and
both harnesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from PIL import Image

from figlang_tasks.answers.echo import without_echoes
from figlang_tasks.benchmarks.nykms import measures, rows
from figlang_tasks.benchmarks.nykms.measures import LABELS, WORDS
from figlang_tasks.benchmarks.nykms.parse import (
    FIELDS,
    Annotation,
    first_answer,
    parse_official,
    read_annotation,
    same_place,
    without_mark,
)
from figlang_tasks.core import hub, images
from figlang_tasks.core.lm_eval_options import LmEvalError, lm_eval_options
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.metrics import overlap
from figlang_tasks.scoring import judged, judged_for_lm_eval

if TYPE_CHECKING:
    import datasets

Document = Mapping[str, Any]
Kwargs = Mapping[str, Any] | None

_KEYS = ("question", "modality")


class Options(TaskOptions):
    """NYK-MS tasks have none."""

    OF: ClassVar[str] = "NYK-MS"


@dataclass(frozen=True)
class Record:
    """The record of one document.

    The harness drops the document itself from ``samples.jsonl``, so the id has to be here.

    Attributes:
        id: id of the row.
        data: dataset, file, digest of its texts (``figlang_tasks.benchmarks.nykms.rows.load``).
        unit: the cartoon; up to three captions of one are not independent.
        question: what was asked.
        modality: whether the cartoon was shown (``image``) or told (``text``).
        gold: the annotated answers asked for, with their marks; the label as 0 or 1.
        predicted: the answers by the published post-processing, by field.
        status: outcome of the post-processing (``figlang_tasks.answers.verdict.Status``).
        rule: the rule that decided.
        predicted_strict: the label as a careful reader takes it; None if there is none, or none was asked for.
        kinds: of a positive, what the annotated MW, SW and ST name (by their marks), by field.
        words: of a positive, the scores of the answers in words, by field, whatever was answered to the first question:
            ``em``, ``relaxed_em`` (of MW and SW: whether they match), ``bleu4`` (0 to 1) and ``bleu4_sums``, the ten
            numbers that corpus BLEU-4 sums (``figlang_tasks.metrics.overlap.bleu_statistics``).
        predicted_marks: the fields whose predicted answer carries a mark.
        bleu: what BLEU-4 was computed with.
    """

    id: str
    data: str
    unit: str
    question: str
    modality: str
    gold: dict[str, int | str]
    predicted: dict[str, int | str]
    status: str
    rule: str
    predicted_strict: int | None
    kinds: dict[str, str]
    words: dict[str, dict[str, Any]]
    predicted_marks: list[str]
    bleu: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


# --- data ------------------------------------------------------------------------------------------------------------


def lm_eval_dataset(**settings: Any) -> dict[str, datasets.Dataset]:
    """Return the documents for lm-eval (``custom_dataset`` of its task files).

    Args:
        settings: ``dataset``, ``question``, ``modality`` (the YAML's ``dataset_kwargs``), and what else lm-eval passes
            (:mod:`figlang_tasks.core.lm_eval_options`).

    Raises:
        LmEvalError: an option is missing or wrong, or the data is.
    """
    try:
        keys = ("dataset", *_KEYS)
        asked = lm_eval_options(settings, keys, required=keys)
        if asked["modality"] != "text":
            raise ValueError(
                f"modality={asked['modality']!r} of an NYK-MS task in lm-eval, which shows no pictures; valid: text"
            )
        return {"test": rows.load(asked["dataset"], asked["question"], asked["modality"])}
    except (hub.DataError, ValueError) as error:
        raise LmEvalError(f"figlang_tasks: {error}") from error


# --- prompts ---------------------------------------------------------------------------------------------------------


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """Return the question about `doc`, without its image."""
    question = doc["question"]
    shown = {
        "topic": "metaphor" if rows.part(question) == "nyk_m" else "sarcasm",
        "caption": doc["caption"],
        "description": doc["description"] if doc["modality"] == "text" else None,
    }
    if question in ("metaphor", "sarcasm"):
        return render("nykms/joint.jinja", **shown)
    return render("nykms/single.jinja", question=question, **shown)


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """Return the cartoon (RGB), or nothing where its description stands in the prompt."""
    if doc["modality"] == "text":
        return []
    return [images.decode(doc["image"], f"{doc['dataset']} {doc['id']}", doc["dataset"])]


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
    """Return the prompt as one turn of the user: the cartoon, if it is shown, and the question."""
    return [user_turn(doc_to_visual(doc), doc_to_text(doc))]


def doc_to_target(doc: Document) -> str:
    """Return the annotated answers, without marks, in the form that the prompt asks for."""
    lines = []
    for field in FIELDS[doc["question"]]:
        if field in LABELS:
            lines.append("Yes" if doc["label"] else "No")
        elif doc["label"]:
            lines.append(read_annotation(doc[field], field).text)
    return render("nykms/answer.jinja", lines=lines, numbered=doc["question"] in ("metaphor", "sarcasm"))


# --- scoring ---------------------------------------------------------------------------------------------------------


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge one output: a :class:`Record` and its numbers (``figlang_tasks.scoring.judged``)."""
    return judged(_record(doc, results).as_dict(), measures.BY_QUESTION[doc["question"]])


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """As :func:`process_results`, for lm-eval."""
    record = _record(doc, without_echoes(doc, results, doc_to_text)).as_dict()
    return judged_for_lm_eval(record, measures.BY_QUESTION[doc["question"]], results)


def _record(doc: Document, results: Sequence[str]) -> Record:
    output = None if not results or results[0] is None else str(results[0])
    fields = FIELDS[doc["question"]]
    parsed = parse_official(output, doc["question"])
    careful = first_answer(output, doc["question"]).value if fields[0] in LABELS else None
    kinds: dict[str, str] = {}
    words: dict[str, dict[str, Any]] = {}
    predicted_marks: list[str] = []
    for field in fields:
        if field in LABELS:
            continue
        predicted = str(parsed.values[field])
        text, has_mark = without_mark(predicted) if field in rows.MARKED_FIELDS else (predicted, False)
        if has_mark:
            predicted_marks.append(field)
        if doc["label"] == 1:  # scores of words are over all positives (Table 9: 56 of 687 is the 8.15 of LLaVA's SW)
            annotated = read_annotation(doc[field], field)
            if field in rows.MARKED_FIELDS:
                kinds[field] = annotated.kind
            words[field] = _scores(field, text, annotated)
    return Record(
        id=doc["id"],
        data=doc["data"],
        unit=doc["cartoon"],
        question=doc["question"],
        modality=doc["modality"],
        gold={field: doc["label"] if field in LABELS else doc[field] for field in fields},
        predicted=parsed.values,
        status=parsed.status,
        rule=parsed.rule,
        predicted_strict=None if careful is None else int(careful),
        kinds=kinds,
        words=words,
        predicted_marks=predicted_marks,
        bleu=overlap.signature(),
    )


def _scores(field: str, predicted: str, annotated: Annotation) -> dict[str, Any]:
    """Return the scores of an answer in words (:attr:`Record.words`)."""
    text = same_place(predicted) if annotated.kind == "image" else predicted
    found: dict[str, Any] = {}
    if field in WORDS:
        found["em"] = overlap.exact_match(text, annotated.text)
        found["relaxed_em"] = overlap.relaxed_match(text, annotated.text)
    statistics = overlap.bleu_statistics(text, annotated.text)
    found["bleu4"] = overlap.sentence_bleu4(statistics)
    return found | {"bleu4_sums": statistics}


def answered_as_annotated(record: Mapping[str, Any]) -> bool:
    """Return whether each answer of a :class:`Record` is the annotated one, word for word."""
    return all(
        record["predicted"][field] == (gold if field in LABELS or not gold else read_annotation(gold, field).text)
        for field, gold in record["gold"].items()
    )


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return the possible answers to `doc` by label, and its label (for ``figlang_tasks.models.baselines``).

    There is no chance level of words: to the joint questions the baselines answer the first only, to a question in
    words nothing (the one possible answer is the empty text, which scores 0). So groups that hold both kinds of
    question run to their end.
    """
    if FIELDS[doc["question"]][0] not in LABELS:
        return {"": ""}, ""
    numbered = doc["question"] in ("metaphor", "sarcasm")
    answers = {word: render("nykms/answer.jinja", lines=[word], numbered=numbered) for word in ("No", "Yes")}
    return answers, "Yes" if doc["label"] else "No"
