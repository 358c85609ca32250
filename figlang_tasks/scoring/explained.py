"""Labels and explanations: their records, and the measures F1@t of V-FLUTE and Acc@t of FLUTE."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from figlang_tasks.answers.verdict import Read
from figlang_tasks.core.record import SharedFields
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


class LabelFields(SharedFields):
    """The fields of a record of a label with its explanation.

    Attributes:
        predicted: 1 entailment, 0 contradiction; None if no label was read.
        explanation: None is scored as "".
        predicted_strict: the label that a careful reader finds.
    """

    predicted: int | None
    explanation: str | None
    predicted_strict: int | None


class ScoreFields(LabelFields, total=False):
    """The fields that the scoring of explanations reads and adds.

    Attributes:
        scorer: the scorer that the request names.
        explanation_scores: the name of the ``scorer``, its parts, and their ``mean``.
        asks_for_explanation: False where the task asks for labels alone.
    """

    scorer: str
    explanation_scores: dict[str, Any]
    asks_for_explanation: bool


class ExplainedRecord(ScoreFields):
    """The record of a label with its explanation, of a row with published ones.

    Attributes:
        gold: the right label.
        reference: the published explanation.
        report_group: the part of the benchmark that tables name.
    """

    gold: int
    reference: str
    report_group: str


def explained_record(
    doc: Mapping[str, Any], gold: int, reading: Explained, careful: int | None
) -> ExplainedRecord:
    """The record of a document and what was read from the output; the harness drops documents from
    its samples.

    Args:
        careful: the label that a careful reader finds; None if none.
    """
    return {
        "id": doc["id"],
        "data": doc["data"],
        "gold": gold,
        "predicted": reading.value,
        "explanation": reading.explanation,
        "status": reading.status,
        "rule": reading.rule,
        "predicted_strict": careful,
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
    explained: classification.Explained | None = (
        None  # of an accuracy, which rows must be explained; None: macro F1
    )

    @property
    def description(self) -> str:
        """What a value of the metric says."""
        if self.explained is None:
            return (
                "Macro F1, with a label counted as right only if its explanation scores above"
                f" {self.at:g}."
            )
        if self.at == 0:
            return "Share of outputs with the right label."
        if self.explained == "contradiction":
            return (
                "Share of outputs with the right label and, for a contradiction, a score above"
                f" {self.at:g}."
            )
        return (
            "Share of outputs with the right label and an explanation that scores at least"
            f" {self.at:g}."
        )


@dataclass(frozen=True)
class Scheme:
    """How a benchmark turns labels and explanation scores into its headline numbers.

    Its scorer is that of the benchmark (`Benchmark.scorer`), where neither environment nor task
    name another.

    Attributes:
        thresholds: the first has a value without scores too: the labels' own.
        headline: the metric that stands for the task; "" if that is none of a threshold.
    """

    thresholds: tuple[Threshold, ...]
    headline: str

    @property
    def label_metric(self) -> str:
        """The metric that has a value without scores."""
        return self.thresholds[0].name

    @property
    def score_metrics(self) -> tuple[str, ...]:
        """The metrics that have no value without scores."""
        return (*(threshold.name for threshold in self.thresholds[1:]), MEAN_SCORE)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics whose values depend on scores, if there are any."""
        return (self.label_metric, *self.score_metrics)

    def needs_score(self, record: Record) -> bool:
        """Whether an explanation is asked for: by the paper's first version of FLUTE, of
        contradictions alone.
        """
        return self.thresholds[0].explained != "contradiction" or record["gold"] == 0

    def has_scores(self, records: Sequence[Record]) -> bool:
        """Whether explanations are scored, as far as these records need scores."""
        needy = [record for record in records if self.needs_score(record)]
        return not needy or any("explanation_scores" in record for record in needy)

    def score_of(self, record: Record) -> float:
        """The explanation score of a record; NaN where it needs none."""
        scores = record.get("explanation_scores")
        if scores is None:
            if self.needs_score(record):
                raise ValueError(
                    f"row {record['id']} has no explanation score, but other rows have one"
                )
            return float("nan")
        return float(scores["mean"])


def thresholds(
    name: str, at: Sequence[float], source: str, explained: classification.Explained | None = None
) -> tuple[Threshold, ...]:
    """The thresholds of a metric, which are part of its names: ``f1@0``, ``f1@53``."""
    return tuple(
        Threshold(f"{name}@{round(100 * value)}", value, source, explained) for value in at
    )


def check_records(records: Sequence[Record]) -> None:
    """Raise a `ValueError` unless all records of a task have what the scorer of explanations
    takes.
    """
    for record in records:
        if not (
            {"gold", "reference", "explanation"} <= record.keys()
            and isinstance(record["reference"], str)
        ):
            raise ValueError(f"row {record['id']} has no gold, reference and explanation")
        if not isinstance(record["explanation"], str | None):
            raise ValueError(f"row {record['id']} has an explanation that is no text")


def text_pair(record: Record) -> tuple[str, str]:
    """What is scored: the reference explanation, and the predicted one."""
    return record["reference"], record["explanation"] or ""


def is_right(record: Record) -> bool:
    """Whether the label of a record is right."""
    if record["gold"] not in (0, 1) or record["predicted"] not in (0, 1, None):
        found = f"gold {record['gold']!r}, predicted {record['predicted']!r}"
        raise ValueError(f"row {record['id']} has {found}, must be 0 or 1 (predicted: or null)")
    return bool(record["predicted"] == record["gold"])


# --- measures ---


def curve(
    scheme: Scheme, records: Sequence[Record], at: Sequence[float] = classification.CURVE_THRESHOLDS
) -> list[Estimate]:
    """F1@t or Acc@t of records that have scores, at many thresholds t, each with its interval."""
    of_labels = scheme.thresholds[0]
    estimates: list[Estimate] = []
    for threshold in at:
        estimate = _at(
            scheme, replace(of_labels, at=threshold), is_of_labels=threshold == of_labels.at
        ).estimate(records)
        if estimate is None:
            raise ValueError("there are no explanation scores")
        estimates.append(estimate)
    return estimates


def _at(
    scheme: Scheme, threshold: Threshold, is_of_labels: bool, scopes: Scopes | None = None
) -> Measure:
    """The measure of one threshold; where it `is_of_labels`, without scores the labels alone
    decide.
    """

    def statistic(records: Sequence[Record]) -> Statistic | None:
        gold, hit = [record["gold"] for record in records], list(map(is_right, records))
        is_scored = scheme.has_scores(records)
        # Acc@0 never looks at scores: "a threshold of 0% does not account for the quality of NLE
        # and is equivalent to simply reporting label accuracy" (arXiv 2205.12404v1, section 4; the
        # shared task's page says the same).
        if not (is_of_labels and (threshold.explained or not is_scored)):
            if not is_scored:
                return None
            scores = list(map(scheme.score_of, records))
            hit = classification.counts_as_right(
                gold, hit, scores, threshold.at, threshold.explained
            ).tolist()
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
        role="headline" if threshold.name == scheme.headline else "secondary",
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


def explained_measures(scheme: Scheme, scopes: Scopes | None = None) -> tuple[Measure, ...]:
    """The measures of labels and explanations, ``acc`` and ``parse_rate`` of labels alone, and the
    readers' dissent.
    """
    first = scheme.thresholds[0]
    at_thresholds = [
        _at(scheme, threshold, threshold is first, scopes) for threshold in scheme.thresholds
    ]

    def mean_score(records: Sequence[Record]) -> Statistic | None:
        if not scheme.has_scores(records):
            return None
        return ratio(map(unit_of, records), [scheme.score_of(record) for record in records])

    return (
        *at_thresholds,
        Measure(
            MEAN_SCORE,
            description="Mean score of the explanations, of right and of wrong labels.",
            source=first.source,
            statistic=mean_score,
            interval=BOOTSTRAP,
            applies=scheme.needs_score,
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


def has_label(record: LabelFields) -> bool:
    """Whether a label was read from an output."""
    return record["predicted"] is not None
