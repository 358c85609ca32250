"""Is one system better than another? Paired tests over the same units.

A metric here is a function of statistics summed over units (`Statistic`): a mean, a pooled ratio,
macro F1 of counts, corpus BLEU. A resample then is one product of weights with the rows, whatever
the metric, and the resamples of a set of units are drawn once for all systems and metrics over it.

Paired bootstrap: Koehn 2004 (EMNLP, "Statistical significance tests for machine translation
evaluation"), the test that V-FLUTE reports (arXiv 2405.01474, footnote 4). Approximate
randomization: Noreen 1989, "Computer-intensive methods for testing hypotheses"; Riezler & Maxwell
2005 ("On some pitfalls in automatic evaluation and significance testing for MT"), who show that the
bootstrap calls differences significant too easily. Holm 1979: "A simple sequentially rejective
multiple test procedure".

The smallest difference that rows can show: Connor 1987 (Biometrics 43, "Sample size for testing
differences in proportions for the paired-sample design"); for NLP Card et al. 2020 (EMNLP, "With
little power comes great responsibility").

Repeats that differ in the seed: the Multi-Bootstrap of Sellam et al. 2022 (ICLR, "The MultiBERTs",
arXiv 2106.16163).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .intervals import DEFAULT_SEED, RESAMPLES
from .paired_test import PairedTest, count_extreme_swaps
from .pairs import (
    Comparison,
    Pair,
    RunMetric,
    bootstrap_values,
    group_by_units,
    random_generators,
    statistics_of_runs,
)
from .power import smallest_difference
from .repeats import compare_repeats
from .statistic import Statistic

__all__ = [
    "Comparison",
    "Statistic",
    "compare",
    "compare_any",
    "compare_repeats",
    "holm",
    "smallest_difference",
]


def compare(
    systems: Sequence[Mapping[str, Statistic]],
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[Pair, dict[str, Comparison]]:
    """Compare every two systems by each metric that both have, with two paired tests.

    Paired bootstrap: units are drawn with replacement, the same ones for both systems. Ties count
    against the better system. Over a handful of units its p is too small (of a single one, 1 /
    (resamples + 1)): read the other one there.

    Approximate randomization: the outputs of the two systems for a unit change places with
    probability 1/2. A swap that gives the observed difference up to rounding counts as one at least
    as large.

    The observed data count as one resample: both p are ``(c + 1) / (resamples + 1)``, where c is
    the number of resamples that speak against the difference. So they are never 0, and 1 where
    there is no difference. They depend on the two systems, the metric, `resamples` and `seed` only:
    a further system or metric changes nothing, and neither does the order of units.

    Args:
        systems: the statistics of each system, by the name of the metric. Those of one name must be
            over the same units, with the same `value`.
        resamples: at least 1; of the bootstrap, and as many swaps.
        seed: a non-negative int.

    Returns:
        `Comparison` by pair ``(i, j)``, i < j, and metric, in the order of the metrics of system i;
        system i is the baseline. Work grows with ``resamples * n`` times the number of metrics of
        all pairs, memory does not grow with ``resamples * n``.

    Raises:
        ValueError: different units or numbers of columns behind one name, a metric that is
            undefined on all units, or no resamples.

    Examples:
        Two systems on the same twenty rows, of which the candidate has five more right:

        >>> baseline = Statistic.ratio_of("abcdefghijklmnopqrst", [1] * 10 + [0] * 10)
        >>> candidate = Statistic.ratio_of("abcdefghijklmnopqrst", [1] * 15 + [0] * 5)
        >>> comparison = compare([{"acc": baseline}, {"acc": candidate}])[0, 1]["acc"]
        >>> comparison.difference, 0.05 < comparison.p_randomization < 0.08
        (0.25, True)

    Source: Koehn 2004; Noreen 1989; Riezler & Maxwell 2005.
    """
    pairs = itertools.combinations(range(len(systems)), 2)
    comparisons: dict[Pair, dict[str, Comparison]] = {pair: {} for pair in pairs}
    runs_of_systems = [[system] for system in range(len(systems))]  # each system is a single run
    for units, systems_by_metric in group_by_units(systems, runs_of_systems).items():
        bootstrap_generator, swap_generator = random_generators(seed, units)
        statistics = statistics_of_runs(systems, systems_by_metric, runs_of_systems)
        tests = _paired_tests(systems_by_metric, statistics, resamples, bootstrap_generator)
        extreme_swaps = count_extreme_swaps(tests, statistics, resamples, swap_generator)
        for test, count in zip(tests, extreme_swaps, strict=True):
            pair = (test.baseline.run, test.candidate.run)
            comparisons[pair][test.baseline.metric] = test.comparison(count)
    return {
        (i, j): _in_order_of(systems[i], by_metric) for (i, j), by_metric in comparisons.items()
    }


def _paired_tests(
    systems_by_metric: Mapping[str, Sequence[int]],
    statistics: Mapping[RunMetric, Statistic],
    resamples: int,
    rng: np.random.Generator,
) -> list[PairedTest]:
    """The tests of every two systems by each metric that both have, over the same resamples.

    Args:
        systems_by_metric: the indices of the systems that have each metric.
        statistics: the statistic of each system and metric, all over the same units.
        resamples: the number of resamples of the bootstrap.
        rng: draws them.
    """
    values = bootstrap_values(statistics, resamples, rng)
    tests: list[PairedTest] = []
    for name, indices in systems_by_metric.items():
        for i, j in itertools.combinations(indices, 2):
            tests.append(PairedTest(RunMetric(i, name), RunMetric(j, name), statistics, values))
    return tests


def _in_order_of(
    system: Mapping[str, Statistic], comparisons: Mapping[str, Comparison]
) -> dict[str, Comparison]:
    """The comparisons by metric, in the order of the metrics of a system."""
    return {name: comparisons[name] for name in system if name in comparisons}


def compare_any(
    systems: Sequence[Sequence[Mapping[str, Statistic]]],
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[Pair, dict[str, Comparison]]:
    """Compare every two systems, with or without repeats; return the results by pair and metric.

    If one of the two has repeats, they are compared by `compare_repeats`, else by `compare`.

    A system need not have all units of another (a metric may count failures alone): the units that
    it lacks add nothing to its sums.

    Args:
        systems: the statistics of each repeat of each system, by the name of the metric; a single
            repeat for a system without repeats.
        resamples: at least 1.
        seed: a non-negative int.

    Returns:
        `Comparison` by pair ``(i, j)``, i < j, and metric; system i is the baseline.

    Raises:
        ValueError: different numbers of columns behind one name, a metric that is undefined on all
            units, or no resamples.

    Examples:
        The baseline lacks a unit of the candidate:

        >>> baseline = Statistic.ratio_of("abcd", [True, False, False, False])
        >>> candidate = Statistic.ratio_of("abcde", [True] * 5)
        >>> systems = [[{"acc": baseline}], [{"acc": candidate}]]
        >>> comparison = compare_any(systems, resamples=100)[0, 1]["acc"]
        >>> comparison.baseline, comparison.candidate
        (0.25, 1.0)
    """
    systems = _with_all_units(systems)
    has_repeats = [len(repeats) != 1 for repeats in systems]
    # Systems with repeats stand as systems without metrics, so that indices stay.
    single_runs = [repeats[0] if len(repeats) == 1 else {} for repeats in systems]
    comparisons = compare(single_runs, resamples, seed)
    if not any(has_repeats):
        return comparisons
    for (i, j), by_metric in compare_repeats(systems, resamples, seed).items():
        if has_repeats[i] or has_repeats[j]:
            comparisons[i, j] = by_metric
    return comparisons


def _with_all_units(
    systems: Sequence[Sequence[Mapping[str, Statistic]]],
) -> list[list[dict[str, Statistic]]]:
    """The same systems, each metric over the units that it has in any run of any system."""
    units_by_metric: dict[str, dict[str, None]] = {}  # as keys: each unit once, in order
    for repeats in systems:
        for run in repeats:
            for name, statistic in run.items():
                units = units_by_metric.setdefault(name, {})
                units.update(dict.fromkeys(statistic.units))

    completed_systems: list[list[dict[str, Statistic]]] = []
    for repeats in systems:
        completed_runs: list[dict[str, Statistic]] = []
        for run in repeats:
            completed_runs.append(
                {name: _with_units(run[name], units_by_metric[name]) for name in run}
            )
        completed_systems.append(completed_runs)
    return completed_systems


def _with_units(statistic: Statistic, units: Iterable[str]) -> Statistic:
    """The statistic with a row of zeros for each unit that it lacks."""
    missing_units = tuple(set(units) - set(statistic.units))
    zeros = np.zeros((len(missing_units), statistic.rows.shape[1]))
    rows = np.concatenate([statistic.rows, zeros])
    return Statistic((*statistic.units, *missing_units), rows, statistic.value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values by Holm's method, which bounds the familywise error.

    If you reject the hypotheses with an adjusted p of at most alpha, the chance to reject any true
    one is at most alpha. The i-th smallest of m values becomes
    ``max over k <= i of min(1, (m - k + 1) * p_k)``.

    Args:
        p_values: m numbers in [0, 1] in any order.

    Returns:
        The m adjusted values, in the order given.

    Raises:
        ValueError: a value outside [0, 1] or NaN (names its index).

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]

    Source: Holm 1979.
    """
    for index, p in enumerate(p_values):
        if not 0 <= p <= 1:
            raise ValueError(f"p_values[{index}] is {p}, must lie in [0, 1]")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    rising_indices = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(rising_indices):
        largest = max(largest, min(1.0, (len(p_values) - rank) * float(p_values[index])))
        adjusted[index] = largest
    return adjusted
