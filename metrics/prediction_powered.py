"""Estimates from few human judgements and a machine's prediction for every row.

Rows are drawn at random and judged. Alone they give an unbiased estimate with a wide interval. The
machine predicts the judgement of every row. How much its mean over the judged rows differs from
that over the other rows tells how lucky the draw was, and corrects the estimate. A wrong machine
cannot bias it: the predictions of the judged rows are subtracted again. *Power tuning* chooses how
much to correct (lambda, 0 to 1), so that a useless machine changes nothing.

Sources: PPI++ (Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453) for means; its bootstrap
(Zrnic 2024, "A note on the prediction-powered bootstrap", arXiv 2405.18379) for other functions of
sums. The value of `mean` is that of ``ppi_py.ppi_mean_pointestimate`` (ppi-python 0.2.3), of which
this is own code: the package needs numba, statsmodels and a downloader, 275 MB, for a few lines.
Beyond it, rows of one unit are taken together, and draws may be stratified.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .array_types import Floats
from .draw import Bools, Draw
from .formula_intervals import Interval, t_quantile, wilson
from .intervals import DEFAULT_SEED, RESAMPLES, interval_of_resamples
from .resampling import RowSums


class Powered(NamedTuple):
    """An estimate from judgements and predictions, beside that from the judgements alone.

    Attributes:
        value: the estimate.
        interval: its 95 % interval; None where the judgements do not vary.
        labels_value: the estimate from the judgements alone.
        labels_interval: its interval, by the same method.
        tuning: lambda, how much of the predictions is used, 0 to 1.
        labels: the number of judgements that count.
        effective_labels: how many judgements alone would give an error as small.
        error: the standard error of `value`.
    """

    value: float
    interval: Interval | None
    labels_value: float
    labels_interval: Interval | None
    tuning: float
    labels: int
    effective_labels: float
    error: float


def mean(draw: Draw, judgements: Floats, predictions: Floats, counts: Floats) -> Powered:
    """The mean judgement of the rows that count, with Wilson's interval.

    Args:
        draw: the N rows.
        judgements: the judgement of each row, 0 to 1; those of other rows than judged ones are
            ignored.
        predictions: the machine's prediction for each row: any finite number.
        counts: 1 for judged rows that count, 0 for the others; what of the rows counts is seen
            when they are judged (annotators agree, say).

    Returns:
        `Powered`. The interval is Wilson's of as many independent judgements as have its error.
    """
    share, influence = _ratio(draw, judgements, counts)
    labels = int(counts[draw.is_judged].sum())
    estimate = _linear(draw, share, influence, predictions, labels)

    variation = share * (1 - share)
    independent = labels * 1.0
    if variation > 0 and estimate.labels_error > 0:
        independent = variation / estimate.labels_error**2  # Korn & Graubard 1998
    gain = estimate.effective_labels / labels
    value = min(max(estimate.value, 0.0), 1.0)
    return Powered(
        value=value,
        interval=wilson(value, independent * gain),
        labels_value=share,
        labels_interval=wilson(share, independent),
        tuning=estimate.tuning,
        labels=labels,
        effective_labels=estimate.effective_labels,
        error=estimate.error,
    )


def difference(
    draw: Draw,
    judgements: tuple[Floats, Floats],
    predictions: tuple[Floats, Floats],
    counts: tuple[Floats, Floats],
) -> Powered:
    """The difference of two means of the same rows, candidate minus baseline, with a t interval.

    Args:
        draw: the N rows.
        judgements, predictions, counts: as `mean` takes them, of baseline and candidate.

    Returns:
        `Powered`. The difference is tuned as a whole: it is near that of the two values of `mean`,
        but not the same.
    """
    baseline, baseline_influence = _ratio(draw, judgements[0], counts[0])
    candidate, candidate_influence = _ratio(draw, judgements[1], counts[1])
    labels = int(min(count[draw.is_judged].sum() for count in counts))
    estimate = _linear(
        draw,
        candidate - baseline,
        candidate_influence - baseline_influence,
        predictions[1] - predictions[0],
        labels,
    )
    quantile = t_quantile(labels - 1)
    return Powered(
        value=estimate.value,
        interval=_around(estimate.value, quantile * estimate.error),
        labels_value=estimate.labels_value,
        labels_interval=_around(estimate.labels_value, quantile * estimate.labels_error),
        tuning=estimate.tuning,
        labels=labels,
        effective_labels=estimate.effective_labels,
        error=estimate.error,
    )


def _around(value: float, half: float) -> Interval | None:
    """The interval of a difference of shares; None without variation."""
    if half == 0:
        return None
    return Interval(max(value - half, -1.0), min(value + half, 1.0))


class _Linear(NamedTuple):
    """An estimate that is linear in judgements and predictions, with both standard errors."""

    value: float
    error: float
    labels_value: float
    labels_error: float
    tuning: float
    effective_labels: float


def _ratio(draw: Draw, judgements: Floats, counts: Floats) -> tuple[float, Floats]:
    """The mean judgement of the rows that count, and how much each row moves it."""
    counted = np.where(draw.is_judged, counts, 0.0)
    values = np.where(counted > 0, judgements, 0.0)
    counted_share = float(draw.judged_weights @ counted)
    if counted_share == 0:
        raise ValueError("no judged row counts")
    share = float(draw.judged_weights @ (counted * values)) / counted_share
    return share, counted * (values - share) / counted_share


def _linear(
    draw: Draw, labels_value: float, influence: Floats, predictions: Floats, labels: int
) -> _Linear:
    """Correct a mean of judgements by the predictions, and tune the correction.

    Args:
        draw: the N rows.
        labels_value: the estimate from the judgements alone.
        influence: how much each judged row moves it.
        predictions: for each row.
        labels: the number of judgements that count.
    """
    control_weights = draw.judged_weights - draw.other_weights
    tuning = _tuning(draw, influence, predictions)
    value = labels_value - tuning * float(control_weights @ predictions)
    small_sample = math.sqrt(labels / max(labels - 1, 1))
    error = small_sample * _error(
        draw, draw.judged_weights * influence, tuning * control_weights, predictions
    )
    labels_error = small_sample * _error(
        draw, draw.judged_weights * influence, np.zeros(len(influence)), predictions
    )
    gain = (labels_error / error) ** 2 if error > 0 else 1.0
    return _Linear(value, error, labels_value, labels_error, tuning, labels * gain)


def _tuning(draw: Draw, influence: Floats, predictions: Floats) -> float:
    """Lambda, 0 to 1, that makes the error smallest (PPI++, section 6), over the strata."""
    covariance = 0.0
    variance = 0.0
    for is_in_stratum in draw.stratum_rows.values():
        judged = is_in_stratum & draw.is_judged
        n_judged = int(judged.sum())
        n_others = int(is_in_stratum.sum()) - n_judged
        if n_others == 0:
            continue  # nothing to correct
        weight = (n_judged + n_others) / len(influence)
        deviations = predictions[judged] - predictions[judged].mean()
        covariance += weight**2 * float(np.mean(influence[judged] * deviations)) / n_judged
        pooled = float(np.var(predictions[is_in_stratum], ddof=1))
        variance += weight**2 * pooled * (1 / n_judged + 1 / n_others)
    if variance <= 1e-24:  # the machine says the same of all rows
        return 0.0
    return min(max(covariance / variance, 0.0), 1.0)


def _error(draw: Draw, judged_terms: Floats, control_weights: Floats, predictions: Floats) -> float:
    """The standard error of a sum over rows, whose units are independent.

    Args:
        draw: the N rows.
        judged_terms: what each row adds to the sum of judgements.
        control_weights: the weight of each prediction, which is subtracted.
        predictions: of each row.
    """
    terms = judged_terms - control_weights * predictions
    for group in draw.groups:
        terms[group] -= terms[group].mean()
    unit_sums = np.bincount(draw.unit_of_row, weights=terms)
    return float(np.sqrt((unit_sums**2).sum()))


def bootstrap(
    draw: Draw,
    judged_sums: Floats,
    predicted_sums: Floats,
    value: Callable[[Floats], Floats],
    labels: int,
    resamples: int = RESAMPLES,
) -> Powered:
    """A function of sums over rows (macro F1 of counts, say), by the bootstrap of PPI++.

    Units are drawn with replacement within each stratum. Judgements, the predictions of the judged
    rows, and those of all rows give a value each. The first minus lambda times the difference of
    the two others is the estimate. All rows stand in place of the rows that were not judged, which
    may be too few for a value; for means, both give the same.

    Args:
        draw: the N rows.
        judged_sums: what each row adds to the sums as it was judged, shape [N, k]; zeros for rows
            that do not count.
        predicted_sums: what it adds as the machine predicts it, shape [N, l].
        value: the metric of sums of either kind: [..., k or l] to [...]; resamples whose value is
            not finite are left out.
        labels: the number of judged rows that count.
        resamples: at least 100.

    Returns:
        `Powered`, with percentiles as interval.
    """
    rows = np.concatenate(
        [
            judged_sums * draw.judged_weights[:, None],
            predicted_sums * draw.judged_weights[:, None],
            predicted_sums / len(predicted_sums),
        ],
        axis=1,
    )
    columns = (judged_sums.shape[1], predicted_sums.shape[1])
    labels_value, control = _values(rows.sum(axis=0), columns, value)
    labels_values, controls = _values(_resampled_sums(draw, rows, resamples), columns, value)
    is_finite = np.isfinite(labels_values) & np.isfinite(controls)
    labels_values = labels_values[is_finite]
    controls = controls[is_finite]

    tuning = _tuning_of_resamples(labels_values, controls)
    powered_values = labels_values - tuning * controls
    variance = float(powered_values.var())
    gain = float(labels_values.var()) / variance if variance > 0 else 1.0
    return Powered(
        value=float(labels_value - tuning * control),
        interval=interval_of_resamples(powered_values, labels),
        labels_value=float(labels_value),
        labels_interval=interval_of_resamples(labels_values, labels),
        # On the scale of `mean`, where the other rows stand in place of all rows.
        tuning=tuning * float(np.mean(~draw.is_judged)),
        labels=labels,
        effective_labels=labels * gain,
        error=math.sqrt(variance * labels / max(labels - 1, 1)),
    )


def _values(
    sums: Floats, columns: tuple[int, int], value: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """The value of the judgements, and by how much that of the judged rows' predictions is off.

    Args:
        sums: of judgements, of the judged rows' predictions, and of all predictions, side by side.
        columns: how many columns the judgements have, and each of the predictions.
        value: the metric of sums.
    """
    n_judged, n_predicted = columns
    splits = [n_judged, n_judged + n_predicted]
    judged, predicted, predicted_of_all = np.split(sums, splits, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return value(judged), value(predicted) - value(predicted_of_all)


def _tuning_of_resamples(labels_values: Floats, controls: Floats) -> float:
    """Lambda, 0 to 1, that makes the variance over resamples smallest."""
    variance = float(controls.var())
    if variance <= 1e-24:  # the machine says the same of all rows, or all are judged
        return 0.0
    covariance = float(np.mean((labels_values - labels_values.mean()) * controls))
    return min(max(covariance / variance, 0.0), 1.0)


def _resampled_sums(draw: Draw, rows: Floats, resamples: int) -> Floats:
    """The sums of rows in resamples of units, drawn within each stratum: [resamples, k]."""
    rng = np.random.default_rng(DEFAULT_SEED)
    sums = np.zeros((resamples, rows.shape[1]))
    for is_in_stratum in draw.stratum_rows.values():
        unit_of_row = np.unique(draw.unit_of_row[is_in_stratum], return_inverse=True)[1]
        unit_rows = np.zeros((unit_of_row.max() + 1, rows.shape[1]))
        np.add.at(unit_rows, unit_of_row, rows[is_in_stratum])
        [sums_of_stratum] = RowSums([unit_rows]).of_resamples(resamples, rng)
        sums += sums_of_stratum
    return sums


def expected_judgements(scores: Floats, judgements: Floats, is_counted: Bools) -> Floats:
    """The judgement that each row's score predicts: a line through the rows that count, 0 to 1.

    A row that counts is left out of the line that predicts it. Else the predictions of these rows
    would be too good, and intervals too narrow.

    Args:
        scores: of each row; NaN where there is none, which predicts the mean judgement.
        judgements: of each row, 0 or 1; those of rows that do not count are ignored.
        is_counted: which rows are judged and count; at least two.

    Returns:
        For each row a number from 0 to 1. The line never falls: if higher scores speak against
        adequacy, all rows get the mean judgement.
    """
    n_counted = int(is_counted.sum())
    mean_judgement = float(judgements[is_counted].mean())
    expected = np.full(len(scores), mean_judgement)
    leverages = np.full(len(scores), 1 / n_counted)
    is_used = is_counted & np.isfinite(scores)
    used_scores = scores[is_used]
    if len(used_scores) > 2 and used_scores.var() > 1e-24:
        used_judgements = judgements[is_used]
        deviations = scores - used_scores.mean()
        spread = float((deviations[is_used] ** 2).sum())
        slope = float(deviations[is_used] @ used_judgements) / spread
        if slope > 0:
            has_score = np.isfinite(scores)
            line = used_judgements.mean() + slope * deviations
            expected[has_score] = line[has_score]
            leverages[is_used] = 1 / len(used_scores) + deviations[is_used] ** 2 / spread

    # The prediction of a least-squares line without a row, from that with it.
    residuals = judgements[is_counted] - expected[is_counted]
    without_row = residuals / np.maximum(1 - leverages[is_counted], 1e-9)
    expected[is_counted] = judgements[is_counted] - without_row
    return np.clip(expected, 0.0, 1.0)


def needed_labels(width: float, share: float, correlation: float, rows: int) -> int | None:
    """How many judged rows give an interval that is about as wide as wanted.

    Args:
        width: of the 95 % interval, from end to end, as a share: 0.1.
        share: the share that is expected; .5 needs most.
        correlation: of the predictions with the judgements, 0 to 1.
        rows: of the benchmark.

    Returns:
        The number; None if all rows are too few.

    Examples:
        >>> needed_labels(0.2, 0.5, 0.0, 100_000), needed_labels(0.2, 0.5, 0.5, 100_000)
        (93, 70)

    Source: the variance of PPI++ with the best lambda; the interval is Wilson's.
    """
    for labels in range(2, rows + 1):
        # The correction gets worse as fewer rows are left to compare with.
        left = 1 - correlation**2 * (1 - labels / rows)
        interval = wilson(share, labels / left)
        if interval.high - interval.low <= width:
            return labels
    return None
