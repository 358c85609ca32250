"""Labels with explanations: their records, and the metrics F1@t of V-FLUTE and Acc@t of FLUTE."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from figlang_tasks.answers.verdict import Read
from figlang_tasks.core.record import Record, SharedFields
from figlang_tasks.metrics import classification
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring.common_measures import PARSE_DISAGREEMENT, parse_rate
from figlang_tasks.scoring.estimates import Estimate
from figlang_tasks.scoring.interval_methods import BOOTSTRAP, TWO_CLASSES, WILSON
from figlang_tasks.scoring.measure import Measure
from figlang_tasks.scoring.records import unit_of
from figlang_tasks.scoring.scopes import Scopes
from figlang_tasks.scoring.statistics import grouped, ratio

MEAN_SCORE = "explanation_score"
"""The metric that is the mean score of the explanations."""

LABEL_NAMES = {1: "entailment", 0: "contradiction"}
"""The names of the labels, by their numbers in records."""

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
        predicted: 1 entailment, 0 contradiction, as the paper's rules read the output; None if no
            label was read.
        explanation: the model's explanation; None is scored as "".
        predicted_strict: the label that a careful reader takes the output for; None if none.
    """

    predicted: int | None
    explanation: str | None
    predicted_strict: int | None


class ScoreFields(LabelFields, total=False):
    """The fields that the scoring of explanations reads and adds.

    Attributes:
        scorer: the scorer that the request names.
        explanation_scores: the name of the ``scorer``, its scores, and their ``mean``.
        asks_for_explanation: False where the task asks for labels alone.
    """

    scorer: str
    explanation_scores: dict[str, Any]
    asks_for_explanation: bool


class ExplainedRecord(ScoreFields):
    """The record of a label with its explanation, of a row whose label and explanation are known.

    Attributes:
        gold: the right label.
        reference: the published explanation.
        report_group: the part of the benchmark that tables name.
    """

    gold: int
    reference: str
    report_group: str


def explained_record(
    doc: Mapping[str, Any], gold: int, reading: Explained, strict_label: int | None
) -> ExplainedRecord:
    """The record of a row: its label and reference explanation, and what was read from the output.

    It holds all that metrics need, since the harness drops documents from its samples.

    Args:
        doc: the row of the benchmark.
        gold: the right label.
        reading: the label and explanation that the paper's rules read from the output.
        strict_label: the label that a careful reader finds, for `predicted_strict`; None if none.
    """
    return {
        "id": doc["id"],
        "data": doc["data"],
        "gold": gold,
        "predicted": reading.value,
        "explanation": reading.explanation,
        "status": reading.status,
        "rule": reading.rule,
        "predicted_strict": strict_label,
        "report_group": doc["report_group"],
        "reference": doc["explanation"],
        "unit": doc["family"],  # dependent rows, which are resampled together
    }


def check_records(records: Sequence[Record]) -> None:
    """Raise a `ValueError` unless all records have the texts that an explanation scorer takes."""
    for record in records:
        has_fields = {"gold", "reference", "explanation"} <= record.keys()
        if not has_fields or not isinstance(record["reference"], str):
            raise ValueError(f"row {record['id']} has no gold, reference and explanation")
        if not isinstance(record["explanation"], str | None):
            raise ValueError(f"row {record['id']} has an explanation that is no text")


def text_pair(record: Record) -> tuple[str, str]:
    """The texts that a scorer compares: the reference explanation and the predicted one."""
    return record["reference"], record["explanation"] or ""


def is_right(record: Record) -> bool:
    """Whether the label of a record is right.

    Raises:
        ValueError: a label is none of 0, 1 and (if it was predicted) None.
    """
    gold = record["gold"]
    predicted = record["predicted"]
    if gold not in (0, 1) or predicted not in (0, 1, None):
        raise ValueError(
            f"row {record['id']} has gold {gold!r}, predicted {predicted!r}, must be 0 or 1"
            " (predicted: or null)"
        )
    return bool(predicted == gold)


def has_label(record: LabelFields) -> bool:
    """Whether a label was read from an output."""
    return record["predicted"] is not None


# --- schemes ---


@dataclass(frozen=True)
class Threshold:
    """A metric of labels that count only if their explanation scores well enough.

    Attributes:
        name: of the metric: ``f1@53``.
        at: the explanation score that a right label needs, 0 to 1.
        source: of the metric.
        explained: of an accuracy, the labels that need an explanation: ``all``, or
            ``contradiction`` alone. None for macro F1, where all need one.
    """

    name: str
    at: float
    source: str
    explained: classification.Explained | None = None

    @property
    def description(self) -> str:
        """What a value of the metric says: ``Share of outputs with the right label.``"""
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


def thresholds(
    name: str, at: Sequence[float], source: str, explained: classification.Explained | None = None
) -> tuple[Threshold, ...]:
    """One `Threshold` per score t in `at`, named after it in percent: ``f1@0``, ``f1@53``."""
    return tuple(Threshold(f"{name}@{round(100 * t)}", t, source, explained) for t in at)


@dataclass(frozen=True)
class Scheme:
    """How a benchmark turns labels and explanation scores into its metrics.

    Attributes:
        thresholds: the metrics. The first one, with a threshold of 0, also has a value without
            scores: that of the labels alone.
        headline: the name of the metric that stands for the task; "" if that has no threshold.
        means: the metrics of scores that have no threshold.
        asks_label: whether models choose a label; else no label can be wrong.
    """

    thresholds: tuple[Threshold, ...]
    headline: str
    means: tuple[str, ...] = (MEAN_SCORE,)
    asks_label: bool = True

    @property
    def label_metric(self) -> str:
        """The metric that counts labels alone if there are no scores."""
        return self.thresholds[0].name

    def is_label_metric(self, threshold: Threshold) -> bool:
        """Whether a threshold is the first one of the scheme, or a copy of it.

        The name does not tell: `curve` gives it to copies at other scores.
        """
        first = self.thresholds[0]
        return (threshold.at, threshold.explained) == (first.at, first.explained)

    @property
    def score_metrics(self) -> tuple[str, ...]:
        """The metrics that have no value without scores."""
        return (*(threshold.name for threshold in self.thresholds[1:]), *self.means)

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics whose values change with scores."""
        return (self.label_metric, *self.score_metrics)

    def needs_score(self, record: Record) -> bool:
        """Whether the explanation of a record is scored.

        In FLUTE's first version only the explanations of contradictions are.
        """
        # The label 0 is contradiction.
        return self.thresholds[0].explained != "contradiction" or record["gold"] == 0

    def has_scores(self, records: Sequence[Record]) -> bool:
        """Whether explanations are scored; True also if none of the records needs a score."""
        scorable = [record for record in records if self.needs_score(record)]
        # One score is enough: `score_of` raises an error if another record lacks its own.
        return not scorable or any("explanation_scores" in record for record in scorable)

    def score_of(self, record: Record) -> float:
        """The explanation score of a record; NaN where it needs none.

        Raises:
            ValueError: it needs a score and has none.
        """
        scores = record.get("explanation_scores")
        if scores is not None:
            return float(scores["mean"])
        if self.needs_score(record):
            raise ValueError(
                f"row {record['id']} has no explanation score, but other rows have one"
            )
        return math.nan


# --- measures ---


def explained_measures(scheme: Scheme, scopes: Scopes | None = None) -> tuple[Measure, ...]:
    """The measures of a task with labels and explanations, in the order of tables.

    They are the thresholds of the scheme, the mean explanation score, ``acc`` and ``parse_rate`` of
    the labels alone, and ``parse_disagreement``.
    """
    measures = [_threshold_measure(scheme, threshold, scopes) for threshold in scheme.thresholds]
    label_accuracy = Measure(
        "acc",
        description="Share of outputs with the right label, whatever the explanation.",
        source="figlang_tasks",
        value_of_record=_label_hit,
        scopes=scopes,
    )
    return (
        *measures,
        _mean_score(scheme, scopes),
        label_accuracy,
        parse_rate(has_label, scopes),
        PARSE_DISAGREEMENT,
    )


def _threshold_measure(
    scheme: Scheme, threshold: Threshold, scopes: Scopes | None = None
) -> Measure:
    """The metric of one threshold: macro F1 or accuracy of labels whose explanations are good."""
    is_accuracy = threshold.explained is not None  # else macro F1
    is_label_metric = scheme.is_label_metric(threshold)

    def statistic(records: Sequence[Record]) -> Statistic | None:
        """The counts of right labels with good enough explanations; None if scores are missing."""
        has_scores = scheme.has_scores(records)
        if not (has_scores or is_label_metric):
            return None
        gold = [record["gold"] for record in records]
        right = [is_right(record) for record in records]
        # F1@0 looks at scores where there are any, so that a score of 0 costs a label. The paper
        # calls it "simply F1 score" and states the rule for F1@53: "all predictions with
        # ExplanationScore <= 53 are considered incorrect" (arXiv 2405.01474, section 4.2). The
        # released scorer applies it at 0 too.
        # Acc@0 never looks at scores: "a threshold of 0% does not account for the quality of NLE
        # and is equivalent to simply reporting label accuracy" (arXiv 2205.12404v1, section 4; the
        # shared task's page says the same).
        counts_labels_alone = is_label_metric and (is_accuracy or not has_scores)
        if counts_labels_alone:
            counted_as_right = right
        else:
            scores = [scheme.score_of(record) for record in records]
            counted_as_right = classification.counts_as_right(
                gold, right, scores, threshold.at, threshold.explained
            ).tolist()

        units = map(unit_of, records)
        if is_accuracy:
            return ratio(units, counted_as_right)
        cells = classification.confusion_cells(gold, counted_as_right)
        return grouped(units, cells, partial(classification.macro_f1, skip_absent=True))

    return Measure(
        threshold.name,
        threshold.description,
        threshold.source,
        statistic=statistic,
        interval=WILSON if is_accuracy else TWO_CLASSES,
        scopes=scopes,
        role="headline" if threshold.name == scheme.headline else "secondary",
        # It stands for a task without explanation scores, and is then about labels. Labels can be
        # put to the vote (`maj@K`), explanations cannot.
        answer=_label if is_label_metric else None,
    )


def _mean_score(scheme: Scheme, scopes: Scopes | None) -> Measure:
    """The measure of the mean explanation score."""

    def statistic(records: Sequence[Record]) -> Statistic | None:
        """The mean score of explanations; None without scores."""
        if not scheme.has_scores(records):
            return None
        # `applies` has left only records that need a score, so that none of these is NaN.
        scores = [scheme.score_of(record) for record in records]
        return ratio(map(unit_of, records), scores)  # a mean: each record counts 1

    return Measure(
        MEAN_SCORE,
        description="Mean score of the explanations, of right and of wrong labels.",
        source=scheme.thresholds[0].source,
        statistic=statistic,
        interval=BOOTSTRAP,
        applies=scheme.needs_score,
        scopes=scopes,
        bounds=(-math.inf, math.inf),  # BLEURT is not bounded
    )


def _label_hit(record: Record) -> float:
    """1 if the label of a record is right, else 0."""
    return float(is_right(record))


def _label(record: Record) -> int | None:
    """The label that was read from an answer."""
    label: int | None = record["predicted"]
    return label


def curve(
    scheme: Scheme, records: Sequence[Record], at: Sequence[float] = classification.CURVE_THRESHOLDS
) -> list[Estimate]:
    """F1@t or Acc@t of records with scores, with its interval, for every threshold t in `at`.

    Args:
        scheme: its first threshold says which of the two, and which labels need an explanation.
        records: the records of one scope.
        at: the thresholds, from 0 to 1.

    Raises:
        ValueError: the records have no scores.
    """
    first_threshold = scheme.thresholds[0]
    estimates: list[Estimate] = []
    for least_score in at:
        threshold = replace(first_threshold, at=least_score)
        estimate = _threshold_measure(scheme, threshold).estimate(records)
        if estimate is None:
            raise ValueError("there are no explanation scores")
        estimates.append(estimate)
    return estimates
