"""Simulate how often intervals contain the true value, and how often tests call equal systems
different.

Backs the numbers of docs/intervals.md, in one table: shares of samples, in percent, by our method
and by another. For an interval, it is how often it contains the true value (95 is right). For a
test, it is how often p is below .05 for two systems that are equally good (5 is right).

    python tools/interval_coverage.py  # as in the document: some minutes on one core
    python tools/interval_coverage.py --simulations 100  # a quick look
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import stats

from figlang_tasks.core.text import markdown_table
from figlang_tasks.metrics import intervals, significance
from figlang_tasks.metrics.classification import confusion_cells, macro_f1
from figlang_tasks.metrics.significance import Statistic

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Row = tuple[str, float, str, float]  # the sample, our share, the other way, its share

PERCENTILES = "percentile bootstrap"
# IRFL's metaphors, 333 rows: how many phrases have how many rows, counted in the released table.
METAPHORS = np.repeat(
    [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [1, 2, 2, 3, 7, 2, 7, 2, 2, 3, 3, 1]
)


def holds(ends: Floats, truth: float | Floats) -> npt.NDArray[np.bool_]:
    return (ends[:, 0] <= np.asarray(truth) + 1e-12) & (np.asarray(truth) - 1e-12 <= ends[:, 1])


def of_rows(hits: Ints, n: int) -> Floats:
    """Return Wilson's interval for each number of hits in n rows."""
    return np.array([intervals.share([1] * k + [0] * (n - k), [1] * n) for k in hits])


def independent_rows() -> Iterator[Row]:
    """Compute the coverage for independent rows exactly, from the binomial distribution."""
    for n, share in itertools.product((14, 723), (0.5, 0.8, 0.95, 0.99)):
        hits = np.arange(n + 1)
        theirs = np.stack(
            [stats.binom.ppf(tail, n, hits / n) / n for tail in (0.025, 0.975)], axis=1
        )
        theirs[0], theirs[-1] = 0, 1  # here all resamples are equal
        chances = stats.binom.pmf(hits, n, share)
        ours, other = (chances[holds(ends, share)].sum() for ends in (of_rows(hits, n), theirs))
        yield f"a share of {n} rows, p = {share:g}", ours, PERCENTILES, other


def clustered(
    sizes: Ints, share: float, correlation: float, times: int, rng: np.random.Generator
) -> Ints:
    """Draw the hits of each phrase from a beta-binomial distribution: its rows are correlated."""
    of_phrase = np.full((times, len(sizes)), share)
    if correlation:
        spread = (1 - correlation) / correlation
        of_phrase = rng.beta(share * spread, (1 - share) * spread, size=of_phrase.shape)
    return rng.binomial(sizes, of_phrase)


def rows_of_phrases(simulations: int, rng: np.random.Generator) -> Iterator[Row]:
    for share in (0.5, 0.8, 0.95):
        hits = clustered(METAPHORS, share, 0.4, simulations, rng)
        ours = np.array([intervals.share(phrase_hits, METAPHORS) for phrase_hits in hits])
        rows = of_rows(hits.sum(axis=1), int(METAPHORS.sum()))
        shares = [holds(ends, share).mean() for ends in (ours, rows)]
        yield (
            f"333 rows of 35 phrases, correlation .4, p = {share:g}",
            shares[0],
            "rows as if independent",
            shares[1],
        )


def of_macro_f1(simulations: int, rng: np.random.Generator) -> Iterator[Row]:
    """Simulate the coverage for macro F1, with fixed gold labels."""
    for sizes, recall in itertools.product(((20, 20), (100, 0), (318, 405)), (0.5, 0.95, 0.99)):
        gold = np.repeat([0, 1], sizes)
        truth = float(
            macro_f1(
                [
                    recall * sizes[0],
                    (1 - recall) * sizes[0],
                    (1 - recall) * sizes[1],
                    recall * sizes[1],
                ]
            )
        )
        ours, theirs = [], []
        for right in rng.binomial(sizes, recall, size=(simulations, 2)):
            hits = np.concatenate(
                [np.arange(size) < hits for size, hits in zip(sizes, right, strict=True)]
            )
            rows = confusion_cells(gold, hits)
            ours.append(intervals.of_two_classes(rows, macro_f1))
            drawn = rng.multinomial(len(rows), rows.mean(axis=0), size=400)
            theirs.append(np.quantile(macro_f1(drawn), [0.025, 0.975]))
        shares = [holds(np.array(ends), truth).mean() for ends in (ours, theirs)]
        yield (
            f"macro F1, {sizes[0]} + {sizes[1]} rows, recalls {recall:g}",
            shares[0],
            PERCENTILES,
            shares[1],
        )


def of_means(simulations: int, rng: np.random.Generator) -> Iterator[Row]:
    """Simulate the coverage for means, such as mean explanation scores."""
    for n, (kind, parameters, truth) in itertools.product(
        (8, 35), (("normal", (0.57, 0.07), 0.57), ("beta", (1, 4), 0.2))
    ):
        held = np.zeros(2)
        for _ in range(simulations):
            values = getattr(rng, kind)(*parameters, size=n)
            rows = np.stack([values, np.ones(n)], axis=1)
            ours = intervals.bootstrap(rows, lambda sums: sums[..., 0] / sums[..., 1])
            drawn = values[rng.integers(0, n, size=(400, n))].mean(axis=1)
            held += holds(np.array([ours, np.quantile(drawn, [0.025, 0.975])]), truth)
        yield (
            f"a mean of {n} units, {kind}",
            held[0] / simulations,
            PERCENTILES,
            held[1] / simulations,
        )


def of_tests(simulations: int, rng: np.random.Generator) -> Iterator[Row]:
    """Simulate tests of two systems that have the same chance of being right on each row."""
    for name, sizes, correlation in (
        ("100 rows", np.ones(100, dtype=int), 0.0),
        ("333 rows of 35 phrases, correlation .2", METAPHORS, 0.2),
    ):
        found = []
        for _ in range(simulations):
            systems = [clustered(sizes, 0.6, correlation, 1, rng)[0] for _ in range(2)]
            shuffled = [
                np.concatenate(
                    [
                        rng.permutation(np.arange(size) < hit)
                        for hit, size in zip(hits, sizes, strict=True)
                    ]
                )
                for hits in systems
            ]
            p, by_rows = tested(systems, sizes), tested(shuffled, np.ones(sizes.sum()))
            found.append((p.p_randomization, p.p_bootstrap, by_rows.p_randomization))
        ours, bootstrap, rows = (np.array(found) < 0.05).mean(axis=0)
        yield f"test, {name}", ours, "paired bootstrap, one-sided", bootstrap
        if correlation:
            yield f"test, {name}", ours, "rows swapped, not phrases", rows


def tested(systems: list[Ints], sizes: npt.ArrayLike) -> significance.Comparison:
    units = [f"{at:04}" for at in range(len(np.asarray(sizes)))]
    of = [{"acc": Statistic.ratio_of(units, hits, sizes)} for hits in systems]
    return significance.compare(of, resamples=500)[0, 1]["acc"]


def of_repeats(simulations: int, rng: np.random.Generator) -> Iterator[Row]:
    """Simulate tests of two systems that are equally good over all seeds, on one set of rows, where
    seeds differ by 4.9 points of accuracy.
    """
    n, counts, units = 723, (2, 5, 10), [f"{at:04}" for at in range(723)]
    found = []
    for _ in range(simulations):
        hard, own = rng.normal(size=n), rng.normal(0, 0.5, size=(2, 1, n))
        of_runs = rng.normal(0, 0.15, (2, max(counts), 1)) + rng.normal(0, 0.5, (2, max(counts), n))
        runs = [
            [{"acc": Statistic.ratio_of(units, run)} for run in of]
            for of in hard + own + of_runs > 0
        ]
        single = significance.compare([of[0] for of in runs], resamples=300)[0, 1]["acc"]
        pooled = [
            significance.compare_repeats([of[:count] for of in runs], resamples=300)
            for count in counts
        ]
        found.append((single.p_randomization, *(of[0, 1]["acc"].p_repeats for of in pooled)))
    alone, *ours = (np.array(found) < 0.05).mean(axis=0)
    for count, share in zip(counts, ours, strict=True):
        yield f"test, 723 rows, {count} runs each", share, "one run each", alone


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--simulations", type=int, default=2000, help="samples of each row (default: 2000)"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    few, rng = given.simulations // 4, np.random.default_rng(given.seed)
    found = itertools.chain(
        independent_rows(),
        rows_of_phrases(given.simulations, rng),
        of_macro_f1(given.simulations, rng),
        of_means(few, rng),
        of_tests(given.simulations, rng),
        of_repeats(few, rng),
    )
    print(
        markdown_table(
            [
                ["sample", "ours", "beside it", ""],
                *(
                    [sample, f"{100 * ours:.1f}", way, f"{100 * other:.1f}"]
                    for sample, ours, way, other in found
                ),
            ]
        )
    )


if __name__ == "__main__":
    main()
