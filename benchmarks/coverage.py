"""How often do the intervals hold the truth, and how often do the tests call equal systems different?

Prints the tables of docs/intervals.md: coverage of the 95 % intervals of ``figlang_tasks.metrics.intervals`` beside
that of the percentile bootstrap over rows, and the share of p below .05 between two systems that are equally good.

    python benchmarks/coverage.py                    # as in the document: some minutes on one core
    python benchmarks/coverage.py --simulations 100  # a quick look
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from figlang_tasks.core.text import table
from figlang_tasks.metrics import intervals, significance
from figlang_tasks.metrics.classification import confusion_cells, macro_f1
from figlang_tasks.metrics.significance import Statistic

Floats = npt.NDArray[np.float64]

SIZES = (8, 14, 20, 35, 50, 100, 200, 333, 723)
SHARES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)

# Of each number of rows how many phrases (claims) have it, counted in the released tables.
PHRASES: Mapping[str, Mapping[int, int]] = {
    "IRFL, metaphors: 333 rows, 35 phrases": {
        4: 1,
        5: 2,
        6: 2,
        7: 3,
        8: 7,
        9: 2,
        10: 7,
        11: 2,
        12: 2,
        13: 3,
        14: 3,
        15: 1,
    },
    "IRFL, idioms: 200 rows, 58 phrases": {1: 17, 2: 10, 3: 6, 4: 10, 5: 4, 6: 4, 7: 1, 8: 2, 9: 2, 10: 2},
    "IRFL, similes: 277 rows, 142 phrases": {1: 7, 2: 135},
    "V-FLUTE, IRFL's part: 220 rows, 38 claims": {
        **{2: 9, 3: 3, 4: 12, 5: 1, 6: 1, 7: 1, 8: 3, 10: 2, 12: 2, 14: 2, 15: 1, 16: 1},
    },
}
CORRELATIONS = (0.0, 0.05, 0.1, 0.2, 0.4)
TRUE_SHARES = (0.3, 0.5, 0.8, 0.95, 0.98, 0.99)

CLASSES = ((7, 7), (20, 20), (57, 44), (100, 0), (318, 405))
RECALLS = ((0.5, 0.5), (0.8, 0.8), (0.95, 0.95), (0.99, 0.7), (0.99, 0.99))


def percent(share: float) -> str:
    return f"{100 * share:.0f}"


def of_independent_rows() -> Iterator[list[str]]:
    """Exact, by the binomial distribution: ours / percentile bootstrap."""
    yield ["rows", *(f"p = {share:g}" for share in SHARES)]
    for n in SIZES:
        hits = np.arange(n + 1)
        ours = np.array([intervals.share([1] * k + [0] * (n - k), [1] * n) for k in hits])
        theirs = np.stack([stats.binom.ppf(tail, n, hits / n) / n for tail in (0.025, 0.975)], axis=1)
        theirs[0], theirs[-1] = 0, 1  # all resamples are alike
        cells = []
        for share in SHARES:
            chances = stats.binom.pmf(hits, n, share)
            cells.append(" / ".join(percent(chances[_holds(ends, share)].sum()) for ends in (ours, theirs)))
        yield [str(n), *cells]


def _holds(ends: Floats, truth: float | Floats) -> npt.NDArray[np.bool_]:
    return (ends[:, 0] <= np.asarray(truth) + 1e-12) & (np.asarray(truth) - 1e-12 <= ends[:, 1])


def of_phrases(simulations: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Right answers to one phrase go together, by a beta-binomial distribution: ours / rows taken for independent."""
    yield ["data", "correlation", *(f"p = {share:g}" for share in TRUE_SHARES)]
    for name, sizes_of in PHRASES.items():
        sizes = np.repeat(list(sizes_of), list(sizes_of.values()))
        for correlation in CORRELATIONS:
            cells = []
            for share in TRUE_SHARES:
                hits = _clustered(sizes, share, correlation, simulations, rng)
                ours = np.array([intervals.share(found, sizes) for found in hits])
                n = int(sizes.sum())
                rows = np.array([intervals.share([1] * k + [0] * (n - k), [1] * n) for k in hits.sum(axis=1)])
                cells.append(" / ".join(percent(_holds(ends, share).mean()) for ends in (ours, rows)))
            yield [name, f"{correlation:g}", *cells]


def _clustered(
    sizes: npt.NDArray[np.int64], share: float, correlation: float, times: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    of_phrase = np.full((times, len(sizes)), share)
    if correlation:
        spread = (1 - correlation) / correlation
        of_phrase = rng.beta(share * spread, (1 - share) * spread, size=of_phrase.shape)
    return rng.binomial(sizes, of_phrase)


def of_macro_f1(simulations: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Gold labels are given; ours / percentile bootstrap."""
    yield ["contradictions + entailments", *(f"recalls {one:g}, {other:g}" for one, other in RECALLS)]
    for sizes in CLASSES:
        cells, gold = [], np.repeat([0, 1], sizes)
        for recalls in RECALLS:
            right = rng.binomial(sizes, recalls, size=(simulations, 2)).astype(float)
            truth = float(macro_f1(_cells(np.multiply(sizes, recalls), sizes)))
            ours, theirs = [], []
            for each in right:
                hits = np.concatenate([np.arange(size) < hits for size, hits in zip(sizes, each, strict=True)])
                rows = confusion_cells(gold, hits)
                ours.append(intervals.of_two_classes(rows, macro_f1))
                drawn = rng.multinomial(len(rows), rows.mean(axis=0), size=400)
                theirs.append(np.quantile(macro_f1(drawn), [0.025, 0.975]))
            cells.append(" / ".join(percent(_holds(np.array(ends), truth).mean()) for ends in (ours, theirs)))
        yield [" + ".join(map(str, sizes)), *cells]


def of_means(simulations: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Explanation scores, say: ours (the bootstrap with wider tails) / percentile bootstrap."""
    yield ["units", "normal, sd .07", "skewed, 0 to 1"]
    for n in (8, 14, 35, 100):
        cells = []
        for kind, parameters, truth in (("normal", (0.57, 0.07), 0.57), ("beta", (1, 4), 0.2)):
            held = np.zeros(2)
            for _ in range(simulations):
                values = getattr(rng, kind)(*parameters, size=n)
                rows = np.stack([values, np.ones(n)], axis=1)
                ours = intervals.bootstrap(rows, lambda sums: sums[..., 0] / sums[..., 1])
                drawn = values[rng.integers(0, n, size=(400, n))].mean(axis=1)
                both = np.array([ours, np.quantile(drawn, [0.025, 0.975])])
                held += _holds(both, truth)
            cells.append(" / ".join(percent(share) for share in held / simulations))
        yield [str(n), *cells]


def _cells(right: Floats, sizes: Sequence[int]) -> Floats:
    return np.array([right[0], sizes[0] - right[0], sizes[1] - right[1], right[1]])


def of_tests(simulations: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Two systems that are right on each row with its own chance, the same for both: p below .05."""
    yield [
        "rows",
        "approximate randomization",
        "paired bootstrap, one-sided",
        "randomization of rows in place of phrases",
    ]
    plain = {f"{n} independent": np.ones(n, dtype=int) for n in (14, 100, 723)}
    name = next(iter(PHRASES))
    of_metaphors = np.repeat(list(PHRASES[name]), list(PHRASES[name].values()))
    for label, sizes in (plain | {f"{name}, correlation .2": of_metaphors}).items():
        clustered = sizes.max() > 1
        found = []
        for _ in range(simulations):
            systems = [_clustered(sizes, 0.6, 0.2 if clustered else 0.0, 1, rng)[0] for _ in range(2)]
            p = _test(systems, sizes)
            by_rows = _test([_rows(hits, sizes, rng) for hits in systems], np.ones(sizes.sum())) if clustered else None
            found.append((p.p_randomization, p.p_bootstrap, by_rows.p_randomization if by_rows else np.nan))
        shares = (np.array(found) < 0.05).mean(axis=0)
        yield [label, *(f"{100 * share:.1f}" for share in shares[:2]), f"{100 * shares[2]:.1f}" if clustered else ""]


def of_repeats(simulations: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Two systems that are equally good over all seeds, on one set of rows: p below .05."""
    counts = (2, 3, 5, 10)
    yield ["rows", "sd of accuracy between seeds", "one run each", *(f"{count} runs each" for count in counts)]
    for n, spread in itertools.product((100, 723), (0.06, 0.15)):
        found = []
        units = [f"{at:04}" for at in range(n)]
        for _ in range(simulations):
            hard, own = rng.normal(size=n), rng.normal(0, 0.5, size=(2, 1, n))
            right = (
                hard + own + rng.normal(0, spread, (2, max(counts), 1)) + rng.normal(0, 0.5, (2, max(counts), n)) > 0
            )
            runs = [[{"acc": Statistic.ratio_of(units, run)} for run in of] for of in right]
            single = significance.compare([of[0] for of in runs], resamples=300)[0, 1]["acc"]
            pooled = [significance.compare_repeats([of[:count] for of in runs], resamples=300) for count in counts]
            found.append((single.p_randomization, *(of[0, 1]["acc"].p_repeats for of in pooled)))
        points = 100 * spread / np.sqrt(2 * np.pi * 1.5)  # at an accuracy of .5, of normal scores of variance 1.5
        yield [str(n), f"{points:.1f} points", *(f"{100 * of:.1f}" for of in (np.array(found) < 0.05).mean(axis=0))]


def _rows(hits: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], rng: np.random.Generator) -> Floats:
    return np.concatenate([rng.permutation(np.arange(size) < hit) for hit, size in zip(hits, sizes, strict=True)])


def _test(systems: Sequence[npt.ArrayLike], sizes: npt.ArrayLike) -> significance.Comparison:
    units = [f"{at:04}" for at in range(len(np.asarray(sizes)))]
    of = [{"acc": Statistic.ratio_of(units, hits, sizes)} for hits in systems]
    return significance.compare(of, resamples=500)[0, 1]["acc"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=2000, help="samples of each cell (default: 2000)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    for title, rows in (
        ("Shares of independent rows: ours / percentile bootstrap", of_independent_rows()),
        ("Shares of rows that share a phrase: ours / as if rows were independent", of_phrases(given.simulations, rng)),
        ("Macro F1: ours / percentile bootstrap", of_macro_f1(given.simulations, rng)),
        ("Means of scores: ours / percentile bootstrap", of_means(given.simulations // 4, rng)),
        ("Equal systems called different (p < .05), in percent", of_tests(given.simulations, rng)),
        ("Systems equal over all seeds called different, in percent", of_repeats(given.simulations // 4, rng)),
    ):
        print(f"{title}\n\n{table(list(rows))}\n", flush=True)


if __name__ == "__main__":
    main()
