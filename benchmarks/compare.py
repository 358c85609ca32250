"""What comparing systems costs: resamples as matrix products, against a plain loop over resamples, side by side.

    python benchmarks/compare.py [--systems 5] [--metrics 20] [--units 723] [--resamples 10000] [--loop-resamples 100]

Made-up systems on as many units as V-FLUTE's test set has. The metrics are means, pooled ratios and macro F1 in turns:
two in five over all units, the rest over one of six sources each. The loop takes rows by index, once per resample,
system and metric, and swaps them once per trial, pair and metric; it is measured on fewer resamples and multiplied.
Both run in turns; the median of each counts. Peak memory is what Python and numpy allocate beyond the input, in a run
of its own that is not timed. That both do the same is shown by the largest difference between their p values.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import statistics
import sys
import time
import tracemalloc
from collections.abc import Sequence

import numpy as np

from figlang_tasks.metrics.significance import Statistic, compare

SOURCES = 6
SEED = 3
AIM_SECONDS = 5.0
Systems = list[dict[str, Statistic]]
PValues = dict[tuple[int, int, str], tuple[float, float]]


def build(systems: int, metrics: int, units: int) -> Systems:
    """Systems of growing quality, with the same metrics over the same units."""
    rng = np.random.default_rng(SEED)
    gold = rng.integers(0, 2, size=units)
    ids = np.array([f"row{at}" for at in range(units)])
    sources = rng.integers(0, SOURCES, size=units)
    built: Systems = []
    for number in range(systems):
        right = rng.random(units) < 0.6 + 0.02 * number
        score = np.clip(rng.normal(0.5 + 0.01 * number, 0.1, size=units), 0, 1)
        hits, k = rng.binomial(12, 0.3 + 0.01 * number, size=units), np.full(units, 12)
        made: dict[str, Statistic] = {}
        for metric in range(metrics):
            chosen = np.ones(units, dtype=bool) if metric % 5 < 2 else sources == metric % SOURCES
            at = np.flatnonzero(chosen)
            of = ids[at].tolist()
            if metric % 3 == 0:
                labels = np.where(right[at] & (score[at] > metric / 50), gold[at], 1 - gold[at])
                made[f"f1_{metric}"] = Statistic.macro_f1_of(of, gold[at].tolist(), labels.tolist())
            elif metric % 3 == 1:
                made[f"mean_{metric}"] = Statistic.mean_of(of, score[at])
            else:
                made[f"ratio_{metric}"] = Statistic.ratio_of(of, hits[at], k[at])
        built.append(made)
    return built


def loop(systems: Systems, resamples: int) -> PValues:
    """Both p values by a plain loop: rows taken by index, or swapped, and the metric of their sum."""
    rng = np.random.default_rng(SEED)
    found: PValues = {}
    for i, j in itertools.combinations(range(len(systems)), 2):
        for name, a in systems[i].items():
            b = systems[j][name]
            n, observed = len(a.units), b.total() - a.total()
            not_better = as_large = 1
            for _ in range(resamples):
                drawn = rng.integers(0, n, size=n)
                difference = b.at(b.rows[drawn].sum(axis=0)) - a.at(a.rows[drawn].sum(axis=0))
                not_better += not difference * np.sign(observed) > 0
                swap = rng.integers(0, 2, size=(n, 1)) == 1
                one, other = np.where(swap, b.rows, a.rows), np.where(swap, a.rows, b.rows)
                as_large += abs(b.at(other.sum(axis=0)) - a.at(one.sum(axis=0))) >= abs(observed) - 1e-12
            found[i, j, name] = (not_better / (resamples + 1), as_large / (resamples + 1))
    return found


def ours(systems: Systems, resamples: int) -> PValues:
    rows = compare(systems, resamples)
    return {(*pair, name): (c.p_bootstrap, c.p_randomization) for pair, by in rows.items() for name, c in by.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if comparing takes less than the aim."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=5)
    parser.add_argument("--metrics", type=int, default=20)
    parser.add_argument("--units", type=int, default=723)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--loop-resamples", type=int, default=100, help="of the loop, then multiplied (%(default)s)")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args(arguments)
    systems = build(given.systems, given.metrics, given.units)
    seconds: dict[str, list[float]] = {"ours": [], "loop": []}
    for _ in range(given.repeats):
        for name, run, resamples in (("loop", loop, given.loop_resamples), ("ours", ours, given.resamples)):
            started = time.perf_counter()
            p_values = run(systems, resamples)
            seconds[name].append((time.perf_counter() - started) * given.resamples / resamples)
            if name == "loop":
                of_loop = p_values
    differences = [max(abs(x - y) for x, y in zip(p_values[key], of_loop[key], strict=True)) for key in of_loop]
    tracemalloc.start()
    compare(systems, given.resamples)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()

    fast, slow = (statistics.median(seconds[name]) for name in ("ours", "loop"))
    drawn = given.resamples * given.units * 8 / 1e6
    print(
        f"{platform.machine()}, numpy {np.__version__}; {given.systems} systems, {given.metrics} metrics, "
        f"{given.units} units; {given.resamples} resamples and as many swaps; median of {given.repeats} runs in turns"
    )
    print(f"plain loop {slow:9.2f} s   (measured on {given.loop_resamples} resamples, multiplied)")
    print(f"ours       {fast:9.2f} s   (aim: below {AIM_SECONDS:g} s: {'met' if fast < AIM_SECONDS else 'MISSED'})")
    print(f"ratio      {slow / fast:9.1f}")
    print(f"peak memory {peak:.0f} MB   (all weights of one set of units at once: {drawn:.0f} MB)")
    print(
        f"largest difference of a p value {max(differences):.3f}   (its standard error in the loop is up to "
        f"{0.5 / given.loop_resamples**0.5:.3f})"
    )
    return 0 if fast < AIM_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
