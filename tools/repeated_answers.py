"""Simulate how well the test of two runs works if each row was asked K times.

Backs the table of docs/intervals.md. Each line is a kind of rows; its numbers are the percentages
of simulated pairs of runs whose p is below .05, by three tests: ours (randomization of the means of
rows), the paired t test of the same means, and the test for runs that differ in a seed, which takes
the k-th answers to all rows for a run. The first numbers are for systems that are equally good (5
is right), the others for systems whose difference a t test should find in 80 %.

    python tools/repeated_answers.py                    # as in the document: minutes on a core
    python tools/repeated_answers.py --simulations 200  # a quick look
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from figlang_tasks.core.text import markdown_table
from figlang_tasks.metrics import significance
from figlang_tasks.metrics.significance import Statistic

Floats = npt.NDArray[np.float64]

ALPHA = 0.05
DRAWN = 150_000
"""Units drawn for a test: resamples times rows. A test of few rows is cheap, and can have more
resamples.
"""


@dataclass(frozen=True)
class Rows:
    """A kind of rows.

    Attributes:
        kind: the kind of score: ``binary`` (right in half of all cases) or ``continuous``.
        answers: how many answers each of the two systems gives to a row.
        rows: the number of rows.
        correlation: of two answers of a system to a row (of what decides whether they are right, if
            binary). Half of it is shared by the two systems: some rows are hard for both.
    """

    kind: str
    answers: tuple[int, int]
    rows: int
    correlation: float

    def scores(self, shift: float, rng: np.random.Generator) -> list[Floats]:
        """Scores [rows, answers] of two systems, of which the second is better by `shift` (before a
        threshold).
        """
        shared = rng.normal(size=(self.rows, 1)) * (self.correlation / 2) ** 0.5
        systems = []
        for answers, better in zip(self.answers, (0.0, shift), strict=True):
            of_system = rng.normal(size=(self.rows, 1)) * (self.correlation / 2) ** 0.5
            of_answer = rng.normal(size=(self.rows, answers)) * (1 - self.correlation) ** 0.5
            latent = better + shared + of_system + of_answer
            systems.append((latent > 0).astype(np.float64) if self.kind == "binary" else latent)
        return systems

    def shift_for_power(self) -> float:
        """The shift that a t test at .05 finds in about 80 % of samples."""
        many = Rows(self.kind, self.answers, 100_000, self.correlation)
        first, second = (
            scores.mean(axis=1) for scores in many.scores(0.0, np.random.default_rng(0))
        )
        error = float((second - first).std()) / self.rows**0.5
        per_shift = stats.norm.pdf(0) if self.kind == "binary" else 1.0
        return float((stats.norm.ppf(1 - ALPHA / 2) + stats.norm.ppf(0.8)) * error / per_shift)

    def __str__(self) -> str:
        first, second = self.answers
        answers = f"{first}" if first == second else f"{first} and {second}"
        return f"{self.kind}, {answers} answers, {self.rows} rows, correlation {self.correlation:g}"


ROWS = [
    Rows("binary", (3, 3), 300, 0.4),
    Rows("binary", (3, 3), 60, 0.4),
    Rows("binary", (5, 5), 300, 0.0),
    Rows("binary", (5, 5), 300, 0.8),
    Rows("binary", (3, 1), 300, 0.4),
    Rows("continuous", (3, 3), 300, 0.4),
    Rows("continuous", (10, 10), 60, 0.0),
    Rows("continuous", (10, 1), 100, 0.4),
]


def p_of_row_means(systems: list[Floats]) -> float:
    """Ours: p of the randomization test of the means of rows."""
    means = [scores.mean(axis=1) for scores in systems]
    units = [f"{row:04}" for row in range(len(means[0]))]
    compared = significance.compare(
        [{"m": Statistic.ratio_of(units, mean)} for mean in means], resamples=DRAWN // len(units)
    )
    return compared[0, 1]["m"].p_randomization


def p_of_seeds(systems: list[Floats]) -> float:
    """P of the test for runs that differ in the seed, if the k-th answers to all rows were such a
    run.
    """
    units = [f"{row:04}" for row in range(len(systems[0]))]
    runs = [
        [{"m": Statistic.ratio_of(units, answers)} for answers in scores.T] for scores in systems
    ]
    return significance.compare_repeats(runs, resamples=DRAWN // len(units))[0, 1]["m"].p_repeats


def p_of_t_test(systems: list[Floats]) -> float:
    """P of the paired t test of the means of rows."""
    first, second = (scores.mean(axis=1) for scores in systems)
    return float(stats.ttest_rel(second, first).pvalue)


def share_below_alpha(p_values: list[float]) -> str:
    """Return the share of p values below .05, in percent."""
    return f"{100 * np.mean(np.array(p_values) < ALPHA):.1f}"


def shares_of_tests(rows: Rows, shift: float, simulations: int, seed: int) -> list[str]:
    """The shares of simulated pairs of systems with p below .05, by each of the three tests.

    The test for seeds, which is slow, takes a quarter of the simulations.
    """
    rng = np.random.default_rng([seed, *f"{rows} {shift > 0}".encode()])
    of_row_means, of_t_test, of_seeds = [], [], []
    for simulation in range(simulations):
        systems = rows.scores(shift, rng)
        of_row_means.append(p_of_row_means(systems))
        of_t_test.append(p_of_t_test(systems))
        if simulation % 4 == 0:
            of_seeds.append(p_of_seeds(systems))
    return list(map(share_below_alpha, (of_row_means, of_t_test, of_seeds)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--simulations",
        type=int,
        default=1000,
        help="pairs of equal runs, and half as many different ones",
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lines = [["rows", "equal: ours", "t test", "as seeds", "different: ours", "t test", "as seeds"]]
    for rows in ROWS:
        equal = shares_of_tests(rows, 0.0, options.simulations, options.seed)
        different = shares_of_tests(
            rows, rows.shift_for_power(), options.simulations // 2, options.seed
        )
        lines.append([str(rows), *equal, *different])
        print("; ".join(lines[-1]), flush=True)
    print(markdown_table(lines))


if __name__ == "__main__":
    main()
