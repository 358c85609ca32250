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
from figlang_tasks.scoring.measure import (
    BOOTSTRAP,
    TWO_CLASSES,
    WILSON,
    Estimate,
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
    explained: classification.Explained | None = None  # of an accuracy, which rows must be explained; None: macro F1


@dataclass(frozen=True)
class Scheme:
    """How a benchmark turns labels and explanation scores into its headline numbers."""

    thresholds: tuple[Threshold, ...]  # the first has a value without scores too: the labels' own
    scorer: str  # the paper's, where neither environment nor task name another
    main: str  # the metric that stands for the task; "" if that is none of a threshold

    @property
    def of_labels(self) -> str:
        """The metric that has a value without scores."""
        return self.thresholds[0].name

    @property
    def need_scores(self) -> tuple[str, ...]:
        return (*(each.name for each in self.thresholds[1:]), MEAN_SCORE)


def _thresholds(
    name: str, at: tuple[float, ...] = (0.0, 0.5, 0.6), explained: classification.Explained | None = None
) -> tuple[Threshold, ...]:
    return tuple(Threshold(f"{name}@{round(100 * each)}", each, explained) for each in at)


_PAPER = (0.0, 0.53, 0.60)  # of V-FLUTE, section 4.2

SCHEMES: Mapping[str, Scheme] = {
    "f1": Scheme(_thresholds("f1", _PAPER), "vflute25", main="f1@60"),
    # FLUTE as in the FigLang 2022 shared task; beside it the definition of the paper's first version.
    "all": Scheme(
        (*_thresholds("acc", explained="all"), *_thresholds("v1_acc", (0.5, 0.6), "contradiction")),
        "flute22",
        main="acc@60",
    ),
    # FLUTE as in arXiv 2205.12404v1, section 3: entailments are answered "No." and have no explanation.
    "contradiction": Scheme(_thresholds("acc", explained="contradiction"), "flute22", main="acc@60"),
    # Explanations alone (New Yorker Caption Contest): a row is right if there is one.
    "alone": Scheme(_thresholds("explained", _PAPER, "all"), "vflute25", main=""),
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


def _at(threshold: Threshold, is_of_labels: bool, scopes: Scopes | None = None, main: bool = False) -> Measure:
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
        statistic=statistic,
        interval=WILSON if threshold.explained else TWO_CLASSES,
        scopes=scopes,
        main=main,
        # It stands for a task whose explanations have no scores: of labels there is a majority.
        answer=_label if is_of_labels else None,
    )


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
    thresholded = [_at(each, each is first, scopes, main=each.name == scheme.main) for each in scheme.thresholds]
    return (
        *thresholded,
        Measure(
            MEAN_SCORE,
            statistic=_mean_score,
            interval=BOOTSTRAP,
            applies=needs_score,
            scopes=scopes,
            bounds=(-math.inf, math.inf),  # BLEURT is not bounded
        ),
        Measure("acc", each=lambda record: float(is_right(record)), scopes=scopes),
        parse_rate(scopes),
        PARSE_DISAGREEMENT,
    )


def parse_rate(scopes: Scopes | None = None) -> Measure:
    """The share of outputs that a label was found in."""
    return Measure(
        "parse_rate", each=lambda record: float(record["predicted"] is not None), scopes=scopes, diagnostic=True
    )


PARSE_DISAGREEMENT = Measure(
    "parse_disagreement",
    each=lambda record: float(record["predicted"] != record["predicted_strict"]),
    higher_is_better=False,
    diagnostic=True,
)
"""The share of outputs that a careful reader takes for another label than the paper's rules."""
