"""Labels and explanations: their records, and the measures F1@t of V-FLUTE and Acc@t of FLUTE.

A record has ``gold`` (1 entailment, 0 contradiction), ``predicted`` (None: no label was found), ``reference``,
``explanation`` (None is scored as ""), ``status`` and ``rule`` of the reading, ``predicted_strict`` (the label that a
careful reader finds), ``unit`` (what dependent rows share), and, once explanations are scored, ``explanation_scores``
with their ``mean``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from figlang_tasks.answers.verdict import Read
from figlang_tasks.metrics import classification
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring.common_measures import PARSE_DISAGREEMENT, parse_rate
from figlang_tasks.scoring.estimates import Estimate
from figlang_tasks.scoring.measure import (
    BOOTSTRAP,
    TWO_CLASSES,
    WILSON,
    Measure,
    Record,
    Scopes,
    grouped,
    ratio,
    unit_of,
)

MEAN_SCORE = "explanation_score"

# --- records ---


@dataclass(frozen=True)
class Explained(Read[int]):
    """A label (1 entailment, 0 contradiction) and its explanation, read from one output.

    Attributes:
        explanation: possibly empty; None where there is no output, or none is asked for.
    """

    explanation: str | None = None

    def fields(self, careful: int | None) -> dict[str, Any]:
        """What a record says of an output; `careful` is the label that a careful reader finds; None if none."""
        return {
            "predicted": self.value,
            "explanation": self.explanation,
            "status": self.status,
            "rule": self.rule,
            "predicted_strict": careful,
        }


def record_of(doc: Mapping[str, Any], gold: int, found: Explained, careful: int | None) -> dict[str, Any]:
    """The record of a document and what was read from the output; the harness drops documents from its samples."""
    return {
        "id": doc["id"],
        "data": doc["data"],
        "gold": gold,
        **found.fields(careful),
        "report_group": doc["report_group"],
        "reference": doc["explanation"],
        "unit": doc["family"],
    }


# --- schemes ---


@dataclass(frozen=True)
class Threshold:
    """When a right row counts by its explanation."""

    name: str  # of the metric: f1@53
    at: float
    source: str  # of the metric
    explained: classification.Explained | None = None  # of an accuracy, which rows must be explained; None: macro F1

    @property
    def description(self) -> str:
        """What a value of the metric says."""
        if self.explained is None:
            return f"Macro F1, with a label counted as right only if its explanation scores above {self.at:g}."
        if self.at == 0:
            return "Share of outputs with the right label."
        if self.explained == "contradiction":
            return f"Share of outputs with the right label and, for a contradiction, a score above {self.at:g}."
        return f"Share of outputs with the right label and an explanation that scores at least {self.at:g}."


@dataclass(frozen=True)
class Scheme:
    """How a benchmark turns labels and explanation scores into its headline numbers."""

    thresholds: tuple[Threshold, ...]  # the first has a value without scores too: the labels' own
    scorer: str  # the paper's, where neither environment nor task name another
    headline: str  # the metric that stands for the task; "" if that is none of a threshold

    @property
    def of_labels(self) -> str:
        """The metric that has a value without scores."""
        return self.thresholds[0].name

    @property
    def need_scores(self) -> tuple[str, ...]:
        return (*(threshold.name for threshold in self.thresholds[1:]), MEAN_SCORE)


def thresholds(
    name: str, at: Sequence[float], source: str, explained: classification.Explained | None = None
) -> tuple[Threshold, ...]:
    """The thresholds of a metric, which are part of its names: ``f1@0``, ``f1@53``."""
    return tuple(Threshold(f"{name}@{round(100 * value)}", value, source, explained) for value in at)


_VFLUTE_THRESHOLDS = (0.0, 0.53, 0.60)
_FLUTE_THRESHOLDS = (0.0, 0.5, 0.6)
_FLUTE_V1 = "FLUTE, arXiv 2205.12404v1, section 3"

SCHEMES: Mapping[str, Scheme] = {
    "f1": Scheme(
        thresholds("f1", _VFLUTE_THRESHOLDS, "V-FLUTE, arXiv 2405.01474, section 4.2 and Table 4"),
        "vflute25",
        headline="f1@60",
    ),
    # FLUTE as in the FigLang 2022 shared task; beside it the definition of the paper's first version.
    "all": Scheme(
        (
            *thresholds("acc", _FLUTE_THRESHOLDS, "FigLang 2022 shared task, scoring script", "all"),
            *thresholds("v1_acc", _FLUTE_THRESHOLDS[1:], _FLUTE_V1, "contradiction"),
        ),
        "flute22",
        headline="acc@60",
    ),
    # In FLUTE's first version entailments are answered "No." and have no explanation.
    "contradiction": Scheme(
        thresholds("acc", _FLUTE_THRESHOLDS, _FLUTE_V1, "contradiction"), "flute22", headline="acc@60"
    ),
    # Explanations alone (New Yorker Caption Contest): a row is right if there is one.
    "alone": Scheme(thresholds("explained", _VFLUTE_THRESHOLDS, "figlang_tasks", "all"), "vflute25", headline=""),
}
"""By what a record says under ``explained``; V-FLUTE's say nothing."""


def is_explained(record: Record) -> bool:
    """Whether a record is of explainable entailment, with a published answer."""
    return {"gold", "reference", "explanation"} <= record.keys()


def scheme_of(record: Record) -> Scheme:
    return SCHEMES[record.get("explained", "f1")]


def the_scheme(records: Sequence[Record]) -> Scheme:
    """The one scheme of the records of a task, all of which have a reference and an explanation."""
    for record in records:
        if not (is_explained(record) and isinstance(record["reference"], str)):
            raise ValueError(f"row {record['id']} has no gold, reference and explanation, but other rows have them")
        if not isinstance(record["explanation"], str | None):
            raise ValueError(f"row {record['id']} has an explanation that is no text")
    first, *others = {record.get("explained", "f1"): scheme_of(record) for record in records}.items()
    if others:
        raise ValueError(f"explained is {first[0]!r} in some rows and {others[0][0]!r} in others")
    return first[1]


def needs_score(record: Record) -> bool:
    """Whether an explanation is asked for: by the paper's first version of FLUTE, of contradictions alone."""
    return scheme_of(record).thresholds[0].explained != "contradiction" or record["gold"] == 0


def pair(record: Record) -> tuple[str, str]:
    """What is scored: the reference explanation, and the predicted one."""
    return record["reference"], record["explanation"] or ""


def has_scores(records: Sequence[Record]) -> bool:
    """Whether explanations are scored, as far as these records need scores."""
    needy = [record for record in records if needs_score(record)]
    return not needy or any("explanation_scores" in record for record in needy)


def score_of(record: Record) -> float:
    """The explanation score of a record; NaN where it needs none."""
    scores = record.get("explanation_scores")
    if scores is None:
        if needs_score(record):
            raise ValueError(f"row {record['id']} has no explanation score, but other rows have one")
        return float("nan")
    return float(scores["mean"])


def is_right(record: Record) -> bool:
    """Whether the label of a record is right."""
    if record["gold"] not in (0, 1) or record["predicted"] not in (0, 1, None):
        found = f"gold {record['gold']!r}, predicted {record['predicted']!r}"
        raise ValueError(f"row {record['id']} has {found}, must be 0 or 1 (predicted: or null)")
    return bool(record["predicted"] == record["gold"])


# --- measures ---


def curve(records: Sequence[Record], at: Sequence[float] = classification.CURVE_THRESHOLDS) -> list[Estimate]:
    """F1@t or Acc@t of records that have scores, by their scheme, at many thresholds t, each with its interval."""
    of_labels = scheme_of(records[0]).thresholds[0]
    made = [_at(replace(of_labels, at=t), is_of_labels=t == of_labels.at).estimate(records) for t in at]
    found = [each for each in made if each is not None]
    if len(found) < len(made):
        raise ValueError("there are no explanation scores")
    return found


def _at(threshold: Threshold, is_of_labels: bool, scopes: Scopes | None = None, is_headline: bool = False) -> Measure:
    """The measure of one threshold; where it `is_of_labels`, without scores the labels alone decide."""

    def statistic(records: Sequence[Record]) -> Statistic | None:
        gold, hit = [record["gold"] for record in records], list(map(is_right, records))
        is_scored = has_scores(records)
        # Acc@0 never looks at scores: "a threshold of 0% does not account for the quality of NLE and is equivalent to
        # simply reporting label accuracy" (arXiv 2205.12404v1, section 4; the shared task's page says the same).
        if not (is_of_labels and (threshold.explained or not is_scored)):
            if not is_scored:
                return None
            scores = list(map(score_of, records))
            hit = classification.counts_as_right(gold, hit, scores, threshold.at, threshold.explained).tolist()
        units = map(unit_of, records)
        if threshold.explained:
            return ratio(units, hit)
        cells = classification.confusion_cells(gold, hit)
        return grouped(units, cells, partial(classification.macro_f1, skip_absent=True))

    return Measure(
        threshold.name,
        threshold.description,
        threshold.source,
        statistic=statistic,
        interval=WILSON if threshold.explained else TWO_CLASSES,
        scopes=scopes,
        role="headline" if is_headline else "secondary",
        # It stands for a task whose explanations have no scores: of labels there is a majority.
        answer=_label if is_of_labels else None,
    )


def _label_hit(record: Record) -> float:
    """1 if the label of a record is right, else 0."""
    return float(is_right(record))


def _label(record: Record) -> int | None:
    """The label that was read from an answer."""
    label: int | None = record["predicted"]
    return label


def _mean_score(records: Sequence[Record]) -> Statistic | None:
    if not has_scores(records):
        return None
    return ratio(map(unit_of, records), [score_of(record) for record in records])


def explained_measures(scheme: Scheme, scopes: Scopes | None = None) -> tuple[Measure, ...]:
    """The measures of labels and explanations, ``acc`` and ``parse_rate`` of labels alone, and the readers' dissent."""
    first = scheme.thresholds[0]
    at_thresholds: list[Measure] = []
    for threshold in scheme.thresholds:
        at_thresholds.append(_at(threshold, threshold is first, scopes, threshold.name == scheme.headline))
    return (
        *at_thresholds,
        Measure(
            MEAN_SCORE,
            description="Mean score of the explanations, of right and of wrong labels.",
            source=first.source,
            statistic=_mean_score,
            interval=BOOTSTRAP,
            applies=needs_score,
            scopes=scopes,
            bounds=(-math.inf, math.inf),  # BLEURT is not bounded
        ),
        Measure(
            "acc",
            description="Share of outputs with the right label, whatever the explanation.",
            source="figlang_tasks",
            value_of_record=_label_hit,
            scopes=scopes,
        ),
        parse_rate(has_label, scopes),
        PARSE_DISAGREEMENT,
    )


def has_label(record: Record) -> bool:
    """Whether a label was read from an output."""
    return record["predicted"] is not None
