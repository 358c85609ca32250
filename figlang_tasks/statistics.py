"""Sufficient statistics of saved samples: each metric of a task as a function of sums over what is resampled.

The sum over all units gives the reported value again, which the tests hold every task to; resampled and swapped sums
give the paired tests of ``figlang compare``. Each benchmark package has a ``statistics`` module with a function of that
name, which adds to :func:`means` what is no mean of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from figlang_tasks import explanations
from figlang_tasks.explanations import Explained
from figlang_tasks.metric_names import ENDS
from figlang_tasks.metrics.entailment import macro_f1_from_counts
from figlang_tasks.metrics.intervals import sums_by_unit
from figlang_tasks.metrics.significance import Statistic

Line = Mapping[str, Any]
Floats = npt.NDArray[np.float64]


def columns(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """The lines that hold a value of each metric that has an interval."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        for key in line:
            if key.endswith(ENDS[0]):
                found.setdefault(key.removesuffix(ENDS[0]), []).append(line)
    return found


def means(lines: Sequence[Line]) -> dict[str, Statistic]:
    """Every metric that is the mean of a number of each row."""
    found = {}
    for name, own in columns(lines).items():
        values = [line[name] for line in own]
        numbers = [isinstance(value, int | float) for value in values]
        if any(numbers) and not all(numbers):
            at = numbers.index(False)
            raise ValueError(f"{name} of row {row_id(own[at])} is {values[at]!r}, must be a number")
        if all(numbers):
            found[name] = of_ratio([unit(line) for line in own], values, np.ones(len(values)))
    return found


def row_id(line: Line) -> str:
    return str(line["sample"]["id"])


def unit(line: Line) -> str:
    """What is resampled: the unit that the record names (a phrase, a claim), else the row itself."""
    return str(line["sample"].get("unit", line["sample"]["id"]))


def of_ratio(
    units: Sequence[str], numerators: Sequence[float] | Floats, denominators: Sequence[float] | Floats
) -> Statistic:
    """The ratio of two sums; rows of one unit are added up."""
    return grouped(units, np.stack([numerators, denominators], axis=1), _ratio)


def _ratio(sums: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums[..., 0] / sums[..., 1]


def grouped(units: Sequence[str], rows: npt.ArrayLike, value: Callable[[Floats], Floats]) -> Statistic:
    """A statistic whose rows of one unit are added up."""
    return Statistic(*sums_by_unit(units, rows), value)


def of_explained(lines: Sequence[Line]) -> dict[str, Statistic]:
    """The metrics of labels and explanations (V-FLUTE, FLUTE), overall and by scope.

    Without explanation scores there are only those of the labels alone.
    """
    columns_of = columns(lines)
    found: dict[str, Statistic] = {}
    rows = [_explained(line) for line in lines]
    scheme = explanations.scheme_of(rows)
    places = {row.id: place for place, row in enumerate(rows)}
    scored = any("explanation_scores" in line["sample"] for line in lines)
    scores = np.array([_score(line, row) if scored else np.nan for line, row in zip(lines, rows, strict=True)])
    for metric in (*scheme.thresholds, explanations.MEAN_SCORE):
        if not scored and metric != scheme.of_labels:
            continue
        of_metric = {name: own for name, own in columns_of.items() if name == metric or name.startswith(f"{metric}_")}
        for name, own in of_metric.items():
            chosen = [places[row_id(line)] for line in own]
            statistic = _of_explained(metric, [rows[place] for place in chosen], scores[chosen], scored)
            if statistic is not None:
                found[name] = statistic
    return found


def _of_explained(metric: str, rows: Sequence[Explained], scores: Floats, scored: bool) -> Statistic | None:
    scheme = explanations.scheme_of(rows)
    units = [row.unit for row in rows]
    if metric == explanations.MEAN_SCORE:
        needed = [place for place, row in enumerate(rows) if row.needs_score]
        return of_ratio([units[place] for place in needed], scores[needed], np.ones(len(needed))) if needed else None
    of_labels = not scored or (scheme.explained and metric == scheme.of_labels)
    asked = scheme.explained.get(metric)
    hits = explanations.kept(rows, None if of_labels else scores, scheme.thresholds[metric], asked)
    if scheme.explained:
        return of_ratio(units, hits.astype(float), np.ones(len(units)))
    return grouped(units, explanations.cells(rows, hits), macro_f1_from_counts)


def _explained(line: Line) -> Explained:
    sample = line["sample"]
    scheme = sample.get("explained", "f1")
    fields = ("id", "gold", "predicted", "reference", "explanation", "unit")
    if sample["gold"] not in (0, 1) or sample["predicted"] not in (0, 1, None):
        found = f"gold {sample['gold']!r}, predicted {sample['predicted']!r}"
        raise ValueError(f"row {row_id(line)} has {found}, must be 0 or 1 (predicted: or null)")
    return Explained(**{field: sample[field] for field in fields}, scheme=scheme)


def _score(line: Line, row: Explained) -> float:
    scores = line["sample"].get("explanation_scores")
    if scores is None:
        if row.needs_score:
            raise ValueError(f"row {row.id} has no explanation score, others have")
        return np.nan
    return float(scores["mean"])
