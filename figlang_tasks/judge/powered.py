"""What people would say of all rows: from their judgements of some, and machine scores of all.

Methods and their coverage: `figlang_tasks.metrics.prediction_powered`, docs/intervals.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from figlang_tasks.core.text import listing
from figlang_tasks.judge import figures
from figlang_tasks.judge.judgements import Judgements
from figlang_tasks.judge.key import BY_SOURCE, ExplanationKey, MachineRow
from figlang_tasks.judge.reports import PoweredEstimate, PoweredReport
from figlang_tasks.metrics import classification, prediction_powered
from figlang_tasks.metrics.draw import Draw
from figlang_tasks.metrics.intervals import Interval
from figlang_tasks.metrics.prediction_powered import Powered

LEAST_LABELS = 30
"""Judgements of a system that estimates need: below, intervals are too narrow."""

ADEQUATE = "adequate explanation"
RIGHT_REASON = "right for the right reason"
MACRO_F1 = "macro F1, adequate only"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _JudgedSystem:
    """A system whose explanations were judged, with an entry for each row of the benchmark.

    Attributes:
        is_judged: whether all annotators judged the explanation.
        counts: whether the judged explanation counts, 0 or 1, as in the agreement: all chose the
            right label, and all say the same of its adequacy.
        adequate: whether people find it adequate, 0 or 1; 0 where it does not count.
        expected: the adequacy that its score predicts, 0 to 1.
        is_right: whether the system's label is right, 0 or 1.
    """

    is_judged: npt.NDArray[np.bool_]
    counts: Floats
    adequate: Floats
    expected: Floats
    is_right: Floats

    @property
    def reasons(self) -> tuple[Floats, Floats]:
        """Whether a row is right for the right reason: as people say, and as its score predicts."""
        return self.adequate * self.is_right, self.expected * self.is_right


def estimate(
    key: ExplanationKey, judgements: Judgements, label_counts: Mapping[str, bool | None]
) -> PoweredReport:
    """Estimate what people would say of all rows, for each system and each pair of systems.

    Args:
        key: with the record of the draw, and what machines say of all rows.
        judgements: those of all annotators, of all items.
        label_counts: whether each item counts by its label; None while a label is missing.

    Returns:
        The estimates, and a sentence for each that is refused.
    """
    if "draw" not in key or "rows" not in key:
        return {
            "estimates": [],
            "refused": [
                "the key has no record of how its rows were drawn, so they may be no random"
                " sample: export again with this version, and judge its sheets"
            ],
        }
    report = PoweredReport(draw=key["draw"], estimates=[], refused=[])
    status = _status_table(key, judgements, label_counts)
    rows = key["rows"]
    systems: dict[str, _JudgedSystem] = {}
    for name in key["systems"]:
        refusal = _refusal(name, key, status)
        if refusal:
            report["refused"].append(refusal)
            continue
        systems[name] = _judged_system(name, rows, status)

    estimation = _Estimation(rows, is_by_source=key["draw"]["method"] == BY_SOURCE)
    for name, system in systems.items():
        report["estimates"] += estimation.of_system(name, system)
    for baseline, candidate in combinations(systems, 2):
        first, second = systems[baseline], systems[candidate]
        if estimation.has_enough_in_common(first, second):
            report["estimates"] += estimation.of_pair(baseline, candidate, first, second)
        else:
            report["refused"].append(
                f"{candidate} and {baseline} have too few rows that are judged of both, so there"
                " is none of their difference: judge the explanations of all systems of a row"
            )
    report["unjudged"] = int((~status["is_judged"]).sum())
    return report


# --- judgements ---


def _status_table(
    key: ExplanationKey, judgements: Judgements, label_counts: Mapping[str, bool | None]
) -> pd.DataFrame:
    """What became of each drawn explanation, by row id and system: is_judged, counts, adequate.

    An item whose label does not count is judged: its explanations do not count. One with a missing
    label or a missing adequacy is not judged.
    """
    agreed = figures.unanimous(judgements.adequate)
    lacks_adequacy = judgements.adequate.isna().any(axis=1)
    status: list[dict[str, object]] = []
    for item in key["items"]:
        number = str(item["number"])
        label_is_right = label_counts[number]
        for letter, system in item["systems"].items():
            place = (number, letter)
            is_judged = label_is_right is not None and not (
                label_is_right and lacks_adequacy[place]
            )
            counts = bool(label_is_right) and not lacks_adequacy[place] and place in agreed.index
            status.append(
                {
                    "id": item["id"],
                    "system": system,
                    "is_judged": is_judged,
                    "counts": counts,
                    "adequate": counts and agreed[place] == "yes",
                }
            )
    return pd.DataFrame(status).set_index(["system", "id"])


def _refusal(name: str, key: ExplanationKey, status: pd.DataFrame) -> str:
    """Why a system gets no estimates, and what to do about it; "" if it gets some."""
    rows = key["rows"]
    is_by_source = key["draw"]["method"] == BY_SOURCE
    if all(row["scores"][name] is None for row in rows):
        return (
            f"{name} has no explanation scores: add some (figlang score, or figlang judge llm and"
            " --scores), and export again with --seed and --n as before: the filled sheets belong"
            " to the new key too"
        )
    status_of_system = status.loc[name]
    labels = int(status_of_system["counts"].sum())
    if labels < LEAST_LABELS:
        return (
            f"{name} has {labels} judgements that count, {LEAST_LABELS - labels} fewer than the"
            f" {LEAST_LABELS} that an estimate needs: judge more rows (export --n)"
        )
    judged_rows = set(status_of_system.index[status_of_system["is_judged"]])
    judged_sources = {row["source"] for row in rows if row["id"] in judged_rows}
    missing_sources = {row["source"] for row in rows} - judged_sources
    if is_by_source and missing_sources:
        return (
            f"{name}: no row of {listing(sorted(missing_sources))} is judged, of which the draw by"
            " source has some: judge them"
        )
    return ""


def _judged_system(name: str, rows: Sequence[MachineRow], status: pd.DataFrame) -> _JudgedSystem:
    """A system with an entry for each row; rows that were not drawn are not judged."""
    ids = [row["id"] for row in rows]
    columns = status.loc[name].reindex(ids, fill_value=False)
    counts = columns["counts"].to_numpy(dtype=np.float64)
    adequate = columns["adequate"].to_numpy(dtype=np.float64)
    scores = np.array([row["scores"][name] for row in rows], dtype=np.float64)  # None: NaN
    is_right = [row["predicted"][name] == row["gold"] for row in rows]
    return _JudgedSystem(
        is_judged=columns["is_judged"].to_numpy(dtype=bool),
        counts=counts,
        adequate=adequate,
        expected=prediction_powered.expected_judgements(scores, adequate, counts > 0),
        is_right=np.array(is_right, dtype=np.float64),
    )


# --- estimates ---


@dataclass(frozen=True)
class _Estimation:
    """Estimates over the rows of a key.

    Attributes:
        rows: what machines say of all rows.
        is_by_source: whether rows were drawn from each source, not from all rows.
    """

    rows: Sequence[MachineRow]
    is_by_source: bool

    @cached_property
    def _gold(self) -> Floats:
        """The right label of each row."""
        return np.array([row["gold"] for row in self.rows], dtype=np.float64)

    @property
    def _has_labels(self) -> bool:
        """Whether rows have both labels; those of a benchmark that asks for none have one alone."""
        return len(set(self._gold)) > 1

    def _draw(self, is_judged: npt.NDArray[np.bool_]) -> Draw:
        """The rows as the estimators take them; a simple draw has a single stratum."""
        units = [row["unit"] for row in self.rows]
        strata = [row["source"] if self.is_by_source else "all" for row in self.rows]
        return Draw(units, strata, is_judged)

    def has_enough_in_common(self, first: _JudgedSystem, second: _JudgedSystem) -> bool:
        """Whether enough rows are judged of both systems, of each source if a draw is by source."""
        is_judged = first.is_judged & second.is_judged
        if min(first.counts[is_judged].sum(), second.counts[is_judged].sum()) < LEAST_LABELS:
            return False
        sources = np.array([row["source"] for row in self.rows], dtype=object)
        return not self.is_by_source or set(sources[is_judged]) == set(sources)

    def of_system(self, name: str, system: _JudgedSystem) -> list[PoweredEstimate]:
        """The estimates of one system."""
        draw = self._draw(system.is_judged)
        estimates = [
            _entry(
                ADEQUATE,
                name,
                prediction_powered.mean(draw, system.adequate, system.expected, system.counts),
            )
        ]
        if not self._has_labels:
            return estimates

        judged, predicted = system.reasons
        right_reason = prediction_powered.mean(draw, judged, predicted, system.counts)
        macro_f1 = prediction_powered.bootstrap(
            draw,
            self._cells(judged) * system.counts[:, None],
            self._cells(predicted),
            _macro_f1,
            labels=right_reason.labels,
        )
        estimates.append(_entry(RIGHT_REASON, name, right_reason))
        estimates.append(_entry(MACRO_F1, name, macro_f1))
        return estimates

    def of_pair(
        self, baseline: str, candidate: str, first: _JudgedSystem, second: _JudgedSystem
    ) -> list[PoweredEstimate]:
        """The differences of two systems, candidate minus baseline.

        Args:
            baseline, candidate: their names.
            first, second: the baseline and the candidate.
        """
        draw = self._draw(first.is_judged & second.is_judged)
        counts = (first.counts, second.counts)
        adequate = prediction_powered.difference(
            draw,
            (first.adequate, second.adequate),
            (first.expected, second.expected),
            counts,
        )
        estimates = [_entry(ADEQUATE, candidate, adequate, baseline)]
        if not self._has_labels:
            return estimates

        judged = (first.reasons[0], second.reasons[0])
        predicted = (first.reasons[1], second.reasons[1])
        right_reason = prediction_powered.difference(draw, judged, predicted, counts)
        judged_cells = [
            self._cells(reasons) * count[:, None]
            for reasons, count in zip(judged, counts, strict=True)
        ]
        macro_f1 = prediction_powered.bootstrap(
            draw,
            np.concatenate(judged_cells, axis=1),
            np.concatenate([self._cells(reasons) for reasons in predicted], axis=1),
            _macro_f1_difference,
            labels=right_reason.labels,
        )
        estimates.append(_entry(RIGHT_REASON, candidate, right_reason, baseline))
        estimates.append(_entry(MACRO_F1, candidate, macro_f1, baseline))
        return estimates

    def _cells(self, is_right: Floats) -> Floats:
        """What each row adds to the confusion matrix ``tn, fp, fn, tp``: [rows, 4].

        Args:
            is_right: whether its label counts as right; of a machine, how likely that is.
        """
        gold = self._gold
        wrong = 1 - is_right
        columns = [
            (1 - gold) * is_right,
            (1 - gold) * wrong,
            gold * wrong,
            gold * is_right,
        ]
        return np.stack(columns, axis=1)


def _macro_f1(cells: Floats) -> Floats:
    """Macro F1 of summed cells, [..., 4] to [...]; NaN without rows, as a resample may be."""
    is_empty = np.asarray(cells.sum(axis=-1) == 0)
    filled_cells = np.where(is_empty[..., None], 1.0, cells)
    values = classification.macro_f1(filled_cells, skip_absent=True)
    return np.where(is_empty, np.nan, values)


def _macro_f1_difference(cells: Floats) -> Floats:
    """Macro F1 of a candidate, minus that of a baseline, whose cells come first."""
    return _macro_f1(cells[..., 4:]) - _macro_f1(cells[..., :4])


def _entry(
    measure: str, system: str, estimate: Powered, baseline: str | None = None
) -> PoweredEstimate:
    """An estimate as ``--json`` prints it."""
    return {
        "measure": measure,
        "system": system,
        "baseline": baseline,
        "value": estimate.value,
        "interval": _ends(estimate.interval),
        "labels": estimate.labels,
        "effective_labels": estimate.effective_labels,
        "tuning": estimate.tuning,
        "labels_alone": {
            "value": estimate.labels_value,
            "interval": _ends(estimate.labels_interval),
        },
    }


def _ends(interval: Interval | None) -> list[float] | None:
    """Both ends of an interval as a list; None without one."""
    return None if interval is None else list(interval)
