"""The metrics of YesBut (arXiv 2409.13592, section 5.2, Tables 3 and 6 to 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from figlang_tasks.benchmarks.yesbut.archive import DIFFICULTIES, ORIGINAL
from figlang_tasks.benchmarks.yesbut.records import DetectionRecord, UnderstandingRecord
from figlang_tasks.metrics import classification
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.metrics.statistic import Floats
from figlang_tasks.scoring import (
    BOOTSTRAP,
    TWO_CLASSES,
    Measure,
    Measures,
    Scopes,
    grouped,
    parse_rate,
    ratio,
)
from figlang_tasks.scoring.explained import Scheme, explained_measures, thresholds
from figlang_tasks.scoring.records import unit_of

_PAPER: Final = "YesBut, arXiv 2409.13592"
_STAGES: Final = ("stage_2", "stage_3", "stage_4")

# --- detection: Table 3 ---

_GENERATED_STYLES: Final = (
    "orig_stick",
    "orig_3d",
    "stick_orig",
    "stick_stick",
    "stick_3d",
    "3d_orig",
    "3d_stick",
    "3d_3d",
)


def _detection_scopes(record: DetectionRecord) -> Iterator[str]:
    """The stage of a record, and of a generated picture also ``generated`` and its style."""
    yield f"stage_{record['stage']}"
    if record["style"] != ORIGINAL:
        yield "generated"
        yield record["style"]


_DETECTION_SCOPES = Scopes(("generated", *_STAGES, *_GENERATED_STYLES), _detection_scopes)


def _is_right(record: DetectionRecord) -> float:
    """1.0 if the right label was read, else 0.0."""
    return float(record["predicted"] == record["gold"])


def _predicted(record: DetectionRecord) -> str | None:
    """The label that was read; None if none was."""
    return record["predicted"]


def _score_of_labels(
    records: Sequence[DetectionRecord], score: Callable[[Floats], Floats]
) -> Statistic:
    """A score of counts ``tn, fp, fn, tp``, where an unread answer counts as the wrong label."""
    gold = [record["gold"] == "Y" for record in records]
    right = [_is_right(record) for record in records]
    return grouped(map(unit_of, records), classification.confusion_cells(gold, right), score)


def _f1_of_satirical(counts: Floats) -> Floats:
    """The F1 of the class Y from counts ``tn, fp, fn, tp``; 0 without any Y."""
    _, fp, fn, tp = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    total = 2 * tp + fp + fn
    return np.asarray(np.divide(2 * tp, total, out=np.zeros_like(total), where=total > 0))


_label_score = partial(
    Measure,
    source=f"{_PAPER}, Table 3",
    interval=TWO_CLASSES,
    scopes=_DETECTION_SCOPES,
    answer=_predicted,
)

DETECTION = Measures.of(
    Measure(
        "acc",
        description="Share of pictures that are rightly called satirical or not.",
        source=f"{_PAPER}, Table 3",
        value_of_record=_is_right,
        scopes=_DETECTION_SCOPES,
        answer=_predicted,
    ),
    _label_score(
        "f1",
        description="F1 of the class satirical.",
        statistic=partial(_score_of_labels, score=_f1_of_satirical),
    ),
    _label_score(
        "f1_macro",
        description="Unweighted mean of the F1 of both classes.",
        statistic=partial(_score_of_labels, score=classification.macro_f1),
    ),
    parse_rate(),
)

# --- understanding: Tables 6 to 8 ---


SCHEME = Scheme(
    thresholds("explained", (0.0,), "figlang_tasks", "all"),
    headline="",
    means=("average", "bertscore"),
    asks_label=False,
)
"""Which metrics need BERTScore. No label is asked for."""


def _understanding_scopes(record: UnderstandingRecord) -> Iterator[str]:
    """The stage, the difficulty and ``text`` or ``no_text`` of a record, as far as known."""
    if record["stage"] is not None:
        yield f"stage_{record['stage']}"
    if record["difficulty"]:
        yield record["difficulty"]
    if record["has_text"] is not None:
        yield "text" if record["has_text"] else "no_text"


_UNDERSTANDING_SCOPES = Scopes(
    (*_STAGES, "stage_3_or_4", *DIFFICULTIES, "text", "no_text"), _understanding_scopes
)


def _text_score(record: UnderstandingRecord, metric: str) -> float | None:
    """The score of a record by a metric of `text_scores`; None if it has none."""
    score: float | None = record[metric]  # type: ignore[literal-required]
    return score


def _bertscore(record: UnderstandingRecord) -> float:
    """The BERTScore of a record that has scores."""
    return float(record["explanation_scores"]["bertscore"])


def _mean_bertscore(records: Sequence[UnderstandingRecord]) -> Statistic | None:
    """The mean BERTScore; None without scores."""
    if not SCHEME.has_scores(records):
        return None
    return ratio(map(unit_of, records), [_bertscore(record) for record in records])


def _average(records: Sequence[UnderstandingRecord]) -> Statistic | None:
    """The mean of the four metrics; None where METEOR or BERTScore has no value."""
    if not SCHEME.has_scores(records):
        return None
    averages: list[float] = []
    for record in records:
        meteor = record["sentence_meteor"]
        if meteor is None:
            return None
        scores = (record["sentence_bleu"], record["rouge_l"], meteor, _bertscore(record))
        averages.append(sum(scores) / 4)
    return ratio(map(unit_of, records), averages)


_text_measure = partial(
    Measure, source=f"{_PAPER}, Table 6", interval=BOOTSTRAP, scopes=_UNDERSTANDING_SCOPES
)
_explained, *_ = explained_measures(SCHEME)

UNDERSTANDING = Measures.of(
    _text_measure(
        "average",
        description="Mean of BLEU, ROUGE-L, METEOR and BERTScore; it hardly tells models apart.",
        source=f"{_PAPER}, Figure 5",
        statistic=_average,
        role="headline",
    ),
    _text_measure(
        "bertscore",
        description="Mean BERTScore F1 of the explanations.",
        statistic=_mean_bertscore,
        bounds=(-1.0, 1.0),
    ),
    _text_measure(
        "sentence_bleu",
        description="Mean BLEU-4 of single explanations, without smoothing.",
        value_of_record=partial(_text_score, metric="sentence_bleu"),
    ),
    _text_measure(
        "rouge_l",
        description="Mean ROUGE-L F1 of the explanations, without stemming.",
        value_of_record=partial(_text_score, metric="rouge_l"),
    ),
    _text_measure(
        "sentence_meteor",
        description="Mean METEOR of single explanations, by NLTK with WordNet.",
        value_of_record=partial(_text_score, metric="sentence_meteor"),
    ),
    replace(_explained, description="Share of outputs with an explanation.", in_table=False),
    parse_rate(),
)
