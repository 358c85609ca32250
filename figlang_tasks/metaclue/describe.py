"""What is compared with what? Judging of ``metaclue_caption`` and ``metaclue_vqa`` (paper, 3.2, Table 3).

Exact match is the maximum over the references, the other metrics are COCO's (``figlang_tasks.metrics.captions``).
METEOR and SPICE need Java and are left out where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from loguru import logger

from figlang_tasks import failures
from figlang_tasks.aggregate import aggregators, with_ends
from figlang_tasks.metaclue import schema
from figlang_tasks.metaclue.parse import Caption, parse_caption, parse_official, shortened
from figlang_tasks.metaclue.task import Document
from figlang_tasks.metrics import captions
from figlang_tasks.metrics.intervals import Estimated, bootstrap, mean, sums_by_unit

METRICS = ("em", "bleu4", "rouge_l", "meteor", "spice", "cider")
# Of these the value of a corpus is the mean of those of its texts, so that an interval can be had by resampling.
_MEANS = ("em", "rouge_l", "spice", "cider")


@dataclass(frozen=True)
class CaptionRecord:
    """What was read for one document of captioning.

    Attributes:
        id: the image's path.
        data: dataset, task, revision and digest.
        caption: the whole caption, as it is judged.
        primary, relationship, secondary: its parts; None if it could not be parsed: then they score 0.
        status, rule: outcome of parsing (``figlang_tasks.metaclue.parse``).
        em: whether the caption is one of the references.
    """

    id: str
    data: str
    caption: str
    primary: str | None
    relationship: str | None
    secondary: str | None
    status: str
    rule: str
    em: bool


@dataclass(frozen=True)
class AnswerRecord:
    """What was read for one question.

    Attributes:
        id: ``{image}#{role}-{template}-{number}``.
        data: dataset, task, revision and digest.
        role: the part of the metaphor that is asked for.
        question: as asked.
        answer: the output.
        references: all right answers.
        em: whether the answer is one of them.
    """

    id: str
    data: str
    role: str
    question: str
    answer: str
    references: list[str]
    em: bool


class Text(NamedTuple):
    """A text to be judged, as the aggregators take it; without one (an unparsable caption) `candidate` is empty."""

    id: str
    candidate: str
    references: tuple[str, ...]

    @property
    def image(self) -> str:
        return self.id.partition("#")[0]


def doc_to_target(doc: Document) -> str:
    """Return the references, one a line."""
    return "\n".join(doc["references"])


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return one empty answer: there is no chance level, and ``figlang_random`` and ``figlang_majority`` say nothing.

    So they can run a group that has such a task (``figlang_tasks.models.baselines``).
    """
    return {"": ""}, ""


# --- scoring of one document -----------------------------------------------------------------------------------------


def caption_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Read a caption as the paper does: the whole output is the statement."""
    return _captioned(doc, parse_official(results[0]))


def careful_caption_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Read a caption as a careful reader does: words around the statement are left out."""
    return _captioned(doc, parse_caption(results[0]))


def _captioned(doc: Document, found: Caption) -> dict[str, Any]:
    """Return a record and what is scored.

    Returns:
        ``sample``: the :class:`CaptionRecord` as a dict (in no metric list: only logged); each of `METRICS`, of the
        whole caption and of its parts (``em_primary`` ...): a :class:`Text`; ``parse_rate``. Each also with
        ``_ci_low`` and ``_ci_high``.
    """
    parsed = found.status == "parsed"
    parts = {part: (getattr(found, part) or "") if parsed else "" for part in schema.PARTS}
    texts = {"": Text(doc["id"], found.text, tuple(doc["references"]))}
    texts |= {f"_{part}": Text(doc["id"], parts[part], tuple(doc[f"references_{part}"])) for part in schema.PARTS}
    record = CaptionRecord(
        id=doc["id"],
        data=doc["data"],
        caption=found.text,
        **{part: parts[part] if parsed else None for part in schema.PARTS},
        status=found.status,
        rule=found.rule,
        em=captions.exact_match(found.text, doc["references"]),
    )
    values: dict[str, Any] = {f"{metric}{scope}": text for metric in METRICS for scope, text in texts.items()}
    return {"sample": asdict(record), **with_ends(values | {"parse_rate": float(parsed)}, doc["id"])}


def vqa_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return a record and what is scored: the whole output is the answer.

    Returns:
        ``sample``: the :class:`AnswerRecord` as a dict (in no metric list: only logged); each of `METRICS`, of all
        questions and of those of the role (``em_primary`` ...): a :class:`Text`. Each also with ``_ci_low`` and
        ``_ci_high``.
    """
    answer = " ".join(shortened(results[0] or "").split())
    text = Text(doc["id"], answer, tuple(doc["references"]))
    shared = {name: doc[name] for name in ("id", "data", "role", "question")}
    right = captions.exact_match(answer, doc["references"])
    record = AnswerRecord(**shared, answer=answer, references=list(doc["references"]), em=right)
    values = {f"{metric}{scope}": text for metric in METRICS for scope in ("", f"_{doc['role']}")}
    return {"sample": asdict(record), **with_ends(values, doc["id"])}


# --- aggregation -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _scores(texts: tuple[tuple, ...]) -> captions.CaptionScores:
    """All metrics of all texts, once for all their aggregators."""
    given = [Text(*text) for text in texts]
    scores = captions.caption_scores([text.candidate for text in given], [text.references for text in given], java=True)
    logger.info(f"figlang_tasks: {len(given)} texts: {scores.signature}")
    return scores


def _of(metric: str) -> Callable[[tuple[tuple, ...]], Estimated | None]:
    @lru_cache(maxsize=8)
    def known(texts: tuple[tuple, ...]) -> Estimated | None:
        """The metric with its interval; images are resampled whole, since the texts of one are not independent."""
        scores = _scores(texts)
        found = scores.metrics.get(metric)
        if found is None:
            return None
        if metric not in (*_MEANS, "bleu4"):
            return Estimated(found.value)
        of_texts = [Text(*text).image for text in texts]
        if metric == "bleu4":
            _, statistics = sums_by_unit(of_texts, scores.bleu_statistics)
            return Estimated.of(found.value, bootstrap(statistics, captions.bleu4))
        return Estimated.of(found.value, mean(found.per_image, of_texts, is_share=metric == "em"))

    def estimate(texts: tuple[tuple, ...]) -> Estimated | None:
        found = known(texts)
        if found is None:  # the reason is logged
            failures.note(f"{metric} could not be computed and is missing, see the log")
        return found

    estimate.__name__ = metric
    return estimate


em, em_ci_low, em_ci_high = aggregators(_of("em"))
bleu4, bleu4_ci_low, bleu4_ci_high = aggregators(_of("bleu4"))
rouge_l, rouge_l_ci_low, rouge_l_ci_high = aggregators(_of("rouge_l"))
meteor, meteor_ci_low, meteor_ci_high = aggregators(_of("meteor"))
spice, spice_ci_low, spice_ci_high = aggregators(_of("spice"))
cider, cider_ci_low, cider_ci_high = aggregators(_of("cider"))
