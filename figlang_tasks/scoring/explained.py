"""Measures of labels and explanations: F1@t of V-FLUTE, Acc@t of FLUTE.

A record has ``gold`` (1 entailment, 0 contradiction), ``predicted`` (None: no label was found), ``reference``,
``explanation`` (None is scored as ""), and, once explanations are scored, ``explanation_scores`` with their ``mean``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from figlang_tasks.metrics import entailment
from figlang_tasks.metrics.classification import confusion_cells, macro_f1
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring.measure import (
    BOOTSTRAP,
    TWO_CLASSES,
    WILSON,
    IntervalMethod,
    Measure,
    Record,
    Scopes,
    grouped,
    ratio,
    unit_of,
)

MEAN_SCORE = "explanation_score"
_macro_f1 = partial(macro_f1, skip_absent=True)


@dataclass(frozen=True)
class Threshold:
    """When a right row counts by its explanation.

    Attributes:
        name: of the metric: ``f1@53``.
        at: 0 to 1.
        explained: of an accuracy, which right rows must be explained; None: macro F1, where a row counts with a score
            strictly above the threshold.
    """

    name: str
    at: float
    explained: entailment.Explained | None = None


@dataclass(frozen=True)
class Scheme:
    """How a benchmark turns labels and explanation scores into its headline numbers.

    Attributes:
        thresholds: the first has a value without scores too: the labels' own.
        scorer: the paper's, where neither environment nor task name another.
        main: the metric that stands for the task; "" if that is none of a threshold.
        explains: which rows are asked for an explanation.
    """

    thresholds: tuple[Threshold, ...]
    scorer: str
    main: str
    explains: entailment.Explained = "all"

    @property
    def by_name(self) -> dict[str, float]:
        """The thresholds' values by metric name."""
        return {each.name: each.at for each in self.thresholds}

    @property
    def of_labels(self) -> str:
        """The metric that has a value without scores."""
        return self.thresholds[0].name

    @property
    def need_scores(self) -> tuple[str, ...]:
        return (*(each.name for each in self.thresholds[1:]), MEAN_SCORE)

    @property
    def without_scorer(self) -> str:
        """What stands in the results in place of a signature."""
        return f"none ({self.of_labels} counts labels alone)"


SCHEMES: Mapping[str, Scheme] = {
    # V-FLUTE, section 4.2.
    "f1": Scheme(
        (Threshold("f1@0", 0.0), Threshold("f1@53", 0.53), Threshold("f1@60", 0.60)), "vflute25", main="f1@60"
    ),
    # FLUTE as in the FigLang 2022 shared task; beside it the definition of the paper's first version.
    "all": Scheme(
        (
            Threshold("acc@0", 0.0, "all"),
            Threshold("acc@50", 0.5, "all"),
            Threshold("acc@60", 0.6, "all"),
            Threshold("v1_acc@50", 0.5, "contradiction"),
            Threshold("v1_acc@60", 0.6, "contradiction"),
        ),
        "flute22",
        main="acc@60",
    ),
    # FLUTE as in arXiv 2205.12404v1, section 3: entailments are answered "No." and have no explanation.
    "contradiction": Scheme(
        (
            Threshold("acc@0", 0.0, "contradiction"),
            Threshold("acc@50", 0.5, "contradiction"),
            Threshold("acc@60", 0.6, "contradiction"),
        ),
        "flute22",
        main="acc@60",
        explains="contradiction",
    ),
    # Explanations alone (New Yorker Caption Contest): a row is right if there is one.
    "alone": Scheme(
        (
            Threshold("explained@0", 0.0, "all"),
            Threshold("explained@53", 0.53, "all"),
            Threshold("explained@60", 0.60, "all"),
        ),
        "vflute25",
        main="",
    ),
}
"""By what a record says under ``explained``; V-FLUTE's say nothing."""


def is_explained(record: Record) -> bool:
    """Whether a record is of explainable entailment, with a published answer."""
    return {"gold", "reference", "explanation"} <= record.keys()


def scheme_of(record: Record) -> Scheme:
    return SCHEMES[record.get("explained", "f1")]


def needs_score(record: Record) -> bool:
    """Whether an explanation is asked for: by the paper's first version of FLUTE, of contradictions alone."""
    return scheme_of(record).explains == "all" or record["gold"] == 0


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


@dataclass(frozen=True)
class _Columns:
    """What n records say, as arrays of n; each is read when it is asked for."""

    records: Sequence[Record]

    @cached_property
    def gold(self) -> npt.NDArray[np.int64]:
        return np.array([record["gold"] for record in self.records])

    @cached_property
    def right(self) -> npt.NDArray[np.bool_]:
        return np.array([is_right(record) for record in self.records], dtype=bool)

    @cached_property
    def scores(self) -> npt.NDArray[np.float64] | None:
        """None: explanations are not scored."""
        return np.array([score_of(record) for record in self.records]) if has_scores(self.records) else None

    def hits(self, threshold: Threshold, is_of_labels: bool) -> npt.NDArray[np.bool_] | None:
        """Whether each record counts as right; None without scores where they are needed.

        Args:
            is_of_labels: whether without scores the labels alone decide. Acc@0 never looks at scores: "a threshold of
                0% does not account for the quality of NLE and is equivalent to simply reporting label accuracy" (arXiv
                2205.12404v1, section 4; the shared task's page says the same).
        """
        if is_of_labels and (threshold.explained or self.scores is None):
            return self.right  # scores are not looked at, nor do all have to be there
        if self.scores is None:
            return None
        return entailment.counts_as_right(self.gold, self.right, self.scores, threshold.at, threshold.explained)


def curve(records: Sequence[Record], at: Sequence[float] = entailment.CURVE_THRESHOLDS) -> list[float]:
    """F1@t or Acc@t of records that have scores, by their scheme, at many thresholds t.

    Raises:
        ValueError: there are no scores, or one is missing.
    """
    columns, of_labels = _Columns(records), scheme_of(records[0]).thresholds[0]
    if columns.scores is None:
        raise ValueError("there are no explanation scores")
    values = []
    for t in at:
        hit = columns.hits(replace(of_labels, at=t), is_of_labels=t == of_labels.at)
        assert hit is not None  # there are scores
        kept = hit.mean() if of_labels.explained else _macro_f1(confusion_cells(columns.gold, hit).sum(axis=0))
        values.append(float(kept))
    return values


def curve_intervals(
    records: Sequence[Record], at: Sequence[float] = entailment.CURVE_THRESHOLDS
) -> list[tuple[float, float] | None]:
    """The 95 % interval of each value of `curve`, as measures make it; None where there is no sound one."""
    of_labels = scheme_of(records[0]).thresholds[0]
    columns, method = _Columns(records), _interval(of_labels)
    found = []
    for t in at:
        statistic = _statistic_of(columns, replace(of_labels, at=t), is_of_labels=t == of_labels.at)
        if statistic is None:
            raise ValueError("there are no explanation scores")
        found.append(method.of(statistic))
    return found


def _interval(threshold: Threshold) -> IntervalMethod:
    return WILSON if threshold.explained else TWO_CLASSES


def _statistic(threshold: Threshold, is_of_labels: bool) -> Callable[[Sequence[Record]], Statistic | None]:
    return lambda records: _statistic_of(_Columns(records), threshold, is_of_labels)


def _statistic_of(columns: _Columns, threshold: Threshold, is_of_labels: bool) -> Statistic | None:
    hit = columns.hits(threshold, is_of_labels)
    if hit is None:
        return None
    units = map(unit_of, columns.records)
    if threshold.explained:
        return ratio(units, hit.astype(float))
    return grouped(units, confusion_cells(columns.gold, hit), _macro_f1)


def _mean_score(records: Sequence[Record]) -> Statistic | None:
    if not has_scores(records):
        return None
    return ratio(map(unit_of, records), [score_of(record) for record in records])


def explained_measures(scheme: Scheme, scopes: Scopes | None = None) -> tuple[Measure, ...]:
    """The measures of labels and explanations, ``acc`` and ``parse_rate`` of labels alone, and the readers' dissent."""
    thresholded = [
        Measure(
            each.name,
            statistic=_statistic(each, is_of_labels=each is scheme.thresholds[0]),
            scopes=scopes,
            interval=_interval(each),
            main=each.name == scheme.main,
        )
        for each in scheme.thresholds
    ]
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
