"""What the NYK-MS task files name, in lmms-eval and in lm-eval: documents, prompts, scoring, aggregators.

NYK-MS: "A Well-annotated Multi-modal Metaphor and Sarcasm Understanding Benchmark on Cartoon-Caption Dataset",
arXiv 2409.01037. Serves every dataset in its import format (:mod:`figlang_tasks.nykms.rows`).

A document carries its question and whether the cartoon is shown or told, so one set of functions serves all tasks and
both harnesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from loguru import logger
from PIL import Image

from figlang_tasks import aggregate, hub, images
from figlang_tasks.aggregate import Aggregator, aggregator, aggregators
from figlang_tasks.lm_eval_options import lm_eval_options
from figlang_tasks.metrics import classification, overlap
from figlang_tasks.metrics.intervals import Estimated, bootstrap, of_two_classes, sums_by_unit
from figlang_tasks.metrics.overlap import BleuStatistics
from figlang_tasks.nykms import rows
from figlang_tasks.nykms.parse import (
    FIELDS,
    Annotation,
    parse_official,
    read_annotation,
    read_yes_no,
    same_place,
    without_mark,
)
from figlang_tasks.prompting import render

if TYPE_CHECKING:
    import datasets

Document = Mapping[str, Any]
Kwargs = Mapping[str, Any] | None

_LABELS = ("MC", "SC")
_WORDS = ("MW", "SW")  # judged by exact match as well; the other answers are longer
_KEYS = ("question", "modality")


class LabelPair(NamedTuple):
    """The label of a row, the predicted one, and the row's cartoon, which is what is resampled."""

    gold: int
    predicted: int
    unit: str


class WordsPair(NamedTuple):
    """What corpus BLEU-4 sums of a row, and the row's cartoon."""

    statistics: BleuStatistics
    unit: str


@dataclass(frozen=True)
class Record:
    """What was judged for one document.

    The harness drops the document itself from ``samples.jsonl``, so the id has to be here.

    Attributes:
        id: id of the row.
        data: dataset, file, digest of its texts (``figlang_tasks.nykms.rows.load``).
        unit: the cartoon; up to three captions of one are not independent.
        question: what was asked.
        modality: whether the cartoon was shown (``image``) or told (``text``).
        gold: the annotated answers asked for, with their marks; the label as 0 or 1.
        predicted: the answers by the published post-processing, by field.
        status: outcome of the post-processing (``figlang_tasks.nykms.parse``).
        rule: the rule that decided.
        predicted_strict: the label as a careful reader takes it; None if there is none, or none was asked for.
        kinds: of a positive, what the annotated MW, SW and ST name (by their marks), by field.
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
    predicted_marks: list[str]
    bleu: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


# --- data ------------------------------------------------------------------------------------------------------------


def process_docs(stub: datasets.Dataset) -> datasets.Dataset:
    """Return the documents that the task file names, as ``dataset_name: NYK-MS,question=mc,modality=image``.

    Raises:
        SystemExit: the data is missing or wrong. Not an Exception, because the harness would try those five times
            and then exit with status 0.
    """
    try:
        return _load(hub.named(stub.config_name, required=_KEYS))
    except hub.DataError as error:
        raise SystemExit(f"figlang_tasks: {error}") from error


def lm_eval_dataset(**settings: Any) -> dict[str, datasets.Dataset]:
    """Return the documents for lm-eval (``custom_dataset`` of its task files).

    Args:
        settings: ``dataset``, ``question``, ``modality`` (the YAML's ``dataset_kwargs``), and what else lm-eval passes
            (:mod:`figlang_tasks.lm_eval_options`).

    Raises:
        SystemExit: an option is missing or wrong, or the data is.
    """
    try:
        keys = ("dataset", *_KEYS)
        asked = lm_eval_options(settings, keys, required=keys)
        if asked["modality"] != "text":
            raise ValueError(
                f"modality={asked['modality']!r} of an NYK-MS task in lm-eval, which shows no pictures; valid: text"
            )
        return {"test": _load(asked)}
    except (hub.DataError, ValueError) as error:
        raise SystemExit(f"figlang_tasks: {error}") from error


def preflight(config: Mapping[str, Any]) -> None:
    """Check the options and the data of a task before a model is loaded.

    Args:
        config: the task's YAML as a dict.

    Raises:
        SystemExit: as :func:`process_docs`; also for an option, since there are none.
    """
    kwargs = config.get("lmms_eval_specific_kwargs") or {}
    blocks = [kwargs, *(block for block in kwargs.values() if isinstance(block, Mapping))]
    options = sorted({key for block in blocks for key, value in block.items() if not isinstance(value, Mapping)})
    try:
        if options:
            raise hub.DataError(f"NYK-MS tasks take no options, but there are: {', '.join(options)}")
        _load(hub.named(config.get("dataset_name"), required=_KEYS))
    except hub.DataError as error:
        raise SystemExit(f"figlang_tasks: task {config.get('task')}: {error}") from error


def _load(asked: Mapping[str, Any]) -> datasets.Dataset:
    return rows.load(asked["dataset"], asked["question"], asked["modality"])


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
    pictures = [{"type": "image", "url": picture} for picture in doc_to_visual(doc)]
    return [{"role": "user", "content": [*pictures, {"type": "text", "text": doc_to_text(doc)}]}]


def doc_to_target(doc: Document) -> str:
    """Return the annotated answers, without marks, in the form that the prompt asks for."""
    lines = []
    for field in FIELDS[doc["question"]]:
        if field in _LABELS:
            lines.append("Yes" if doc["label"] else "No")
        elif doc["label"]:
            lines.append(read_annotation(doc[field], field).text)
    return render("nykms/answer.jinja", lines=lines, numbered=doc["question"] in ("metaphor", "sarcasm"))


# --- scoring ---------------------------------------------------------------------------------------------------------


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge one output.

    Returns:
        ``sample``: the :class:`Record` as a dict. And for each metric that applies to the document the value that its
        aggregators take, the same under ``{metric}_ci_low`` and ``{metric}_ci_high``:

        - ``{mc|sc}_acc`` (0 or 1), ``..._macro_precision``, ``..._macro_recall``, ``..._macro_f1`` (`LabelPair`);
        - of positives, whatever was answered to the first question: ``{field}_bleu4`` (0 to 1) and
          ``{field}_corpus_bleu4`` (`WordsPair`); of MW and SW also ``..._em``, ``..._em_{kind}`` and
          ``..._relaxed_em`` (0 or 1); of MW, SW and ST ``..._marked`` and ``..._marked_{kind}`` (0 or 1, facts of the
          data, without intervals);
        - ``parse_rate``, ``refusal_rate``, and where a label was asked for ``parse_disagreement`` (0 or 1).
    """
    output = None if not results or results[0] is None else str(results[0])
    fields = FIELDS[doc["question"]]
    parsed = parse_official(output, doc["question"])
    asks_for_label = fields[0] in _LABELS
    strict = read_yes_no(output, doc["question"]).label if asks_for_label else None

    values: dict[str, Any] = {}
    facts: dict[str, float] = {}
    gold: dict[str, int | str] = {}
    kinds: dict[str, str] = {}
    predicted_marks: list[str] = []
    for field in fields:
        name, predicted = field.lower(), parsed.values[field]
        if field in _LABELS:
            gold[field] = doc["label"]
            pair = LabelPair(doc["label"], int(predicted), doc["cartoon"])
            values[f"{name}_acc"] = float(doc["label"] == predicted)
            values |= dict.fromkeys((f"{name}_macro_precision", f"{name}_macro_recall", f"{name}_macro_f1"), pair)
            continue
        gold[field] = doc[field]
        text, has_mark = without_mark(str(predicted)) if field in rows.MARKED_FIELDS else (str(predicted), False)
        if has_mark:
            predicted_marks.append(field)
        if doc["label"] == 1:  # scores of words are over all positives (Table 9: 56 of 687 is the 8.15 of LLaVA's SW)
            annotated = read_annotation(doc[field], field)
            if field in rows.MARKED_FIELDS:
                kinds[field] = annotated.kind
            values |= _judge(field, text, annotated, doc["cartoon"])
            facts |= _marks(field, annotated)

    values["parse_rate"] = float(parsed.status == "answered")
    values["refusal_rate"] = float(parsed.status == "refused")
    if asks_for_label:
        values["parse_disagreement"] = float(strict != parsed.label)

    record = Record(
        id=doc["id"],
        data=doc["data"],
        unit=doc["cartoon"],
        question=doc["question"],
        modality=doc["modality"],
        gold=gold,
        predicted=parsed.values,
        status=parsed.status,
        rule=parsed.rule,
        predicted_strict=strict,
        kinds=kinds,
        predicted_marks=predicted_marks,
        bleu=overlap.signature(),
    )
    return {"sample": record.as_dict(), **facts, **aggregate.with_ends(values, record.unit)}


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """As :func:`process_results`, and of questions in words what BLEU-4 was computed with: lm-eval has no other place
    for signatures."""
    judged = process_results(doc, results)
    if any(field not in _LABELS for field in FIELDS[doc["question"]]):
        judged["bleu_signature"] = f"{overlap.signature()}, {overlap.signature(corpus=True)}"
    return judged


def _judge(field: str, predicted: str, annotated: Annotation, unit: str) -> dict[str, Any]:
    name = field.lower()
    text = same_place(predicted) if annotated.kind == "image" else predicted
    statistics = overlap.bleu_statistics(text, annotated.text)
    values: dict[str, Any] = {}
    if field in _WORDS:
        match = float(overlap.exact_match(text, annotated.text))
        values |= {
            f"{name}_em": match,
            f"{name}_em_{annotated.kind}": match,
            f"{name}_relaxed_em": float(overlap.relaxed_match(text, annotated.text)),
        }
    values[f"{name}_bleu4"] = overlap.sentence_bleu4(statistics)
    values[f"{name}_corpus_bleu4"] = WordsPair(statistics, unit)
    return values


def _marks(field: str, annotated: Annotation) -> dict[str, float]:
    if field not in rows.MARKED_FIELDS:
        return {}
    name = f"{field.lower()}_marked"
    kinds = ("object", "image", "free") if field in _WORDS else ("object", "free")
    return {name: float(annotated.kind != "word")} | {f"{name}_{kind}": float(annotated.kind == kind) for kind in kinds}


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return the possible answers to `doc` by label, and its label (for ``figlang_tasks.models.baselines``).

    There is no chance level of words: to the joint questions the baselines answer the first only, to a question in
    words nothing (the one possible answer is the empty text, which scores 0). So groups that hold both kinds of
    question run to their end.
    """
    if FIELDS[doc["question"]][0] not in _LABELS:
        return {"": ""}, ""
    numbered = doc["question"] in ("metaphor", "sarcasm")
    answers = {word: render("nykms/answer.jinja", lines=[word], numbered=numbered) for word in ("No", "Yes")}
    return answers, "Yes" if doc["label"] else "No"


# --- aggregators -----------------------------------------------------------------------------------------------------


def _of_labels(statistic: str) -> list[Aggregator]:
    """Aggregators of a score of labels and of the ends of its 95 % interval."""

    @lru_cache(maxsize=8)
    def estimate(pairs: tuple[tuple, ...]) -> Estimated:
        found, score = [LabelPair(*pair) for pair in pairs], classification.STATISTICS[statistic]
        counts = [classification.confusion_counts([pair.gold], [pair.predicted]) for pair in found]
        _, of_cartoons = sums_by_unit([pair.unit for pair in found], counts)
        return Estimated.of(float(score(of_cartoons.sum(axis=0))), of_two_classes(of_cartoons, score))

    return aggregators(estimate, statistic)


macro_precision, macro_precision_ci_low, macro_precision_ci_high = _of_labels("macro_precision")
macro_recall, macro_recall_ci_low, macro_recall_ci_high = _of_labels("macro_recall")
macro_f1, macro_f1_ci_low, macro_f1_ci_high = _of_labels("macro_f1")


@lru_cache(maxsize=2)
def _tell_signature(corpus: bool) -> None:
    logger.info(f"figlang_tasks: BLEU-4 {overlap.signature(corpus)}")


@aggregator
def bleu4(scores: Sequence[float]) -> float:
    """Mean of the sentence BLEU-4 scores."""
    _tell_signature(False)
    return aggregate.mean(scores)


@lru_cache(maxsize=16)
def _corpus_bleu4(pairs: tuple[tuple, ...]) -> Estimated:
    """Corpus BLEU-4."""
    _tell_signature(True)
    found = [BleuStatistics(*statistics) for statistics, _ in pairs]
    _, of_cartoons = sums_by_unit([unit for _, unit in pairs], overlap.matrix(found))
    return Estimated.of(overlap.corpus_bleu4(found), bootstrap(of_cartoons, overlap.corpus_bleu4_of_sums))


corpus_bleu4, corpus_bleu4_ci_low, corpus_bleu4_ci_high = aggregators(_corpus_bleu4, "corpus_bleu4")


@aggregator
def bleu_signature(signatures: Sequence[str]) -> str:
    """What BLEU-4 was computed with, averaged and of the corpus (lm-eval)."""
    return ", ".join(sorted(set(signatures)))
