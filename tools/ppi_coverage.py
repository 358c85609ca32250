"""Simulate how often the intervals of human judgement with machine scores contain the true value.

Backs the table of docs/intervals.md, "Human judgements and machine scores". Two systems answer 723
rows, of which some are judged. The scores of their explanations are good (they predict what people
say well), useless (noise) or biased (lower by far, lower for the candidate, and higher for
entailments, whatever people say).

    python tools/ppi_coverage.py  # as in the document: three minutes on one core
    python tools/ppi_coverage.py --simulations 100  # a quick look
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from figlang_tasks.core.text import markdown_table
from figlang_tasks.metrics import prediction_powered
from figlang_tasks.metrics.classification import macro_f1
from figlang_tasks.metrics.draw import Draw
from figlang_tasks.metrics.prediction_powered import Powered

Floats = npt.NDArray[np.float64]

ROWS = 723
"""The rows of V-FLUTE's test split, and its share of entailments."""
ENTAILMENTS = 405 / 723
ADEQUATE = (0.55, 0.65)
"""The share of adequate explanations of the baseline and of the candidate."""
ACCURACY = 0.8
RESAMPLES = 500
MEASURES = ("adequate", "right reason", "macro F1", "difference")


class Answers(NamedTuple):
    """Answers of a system to all rows: 0 or 1 each, and their scores."""

    adequate: Floats
    is_right: Floats
    scores: Floats


def draw_answers(kind: str, system: int, gold: Floats, rng: np.random.Generator) -> Answers:
    """Draw whether answers are right and adequate, and scores of a kind."""
    adequate = (rng.random(ROWS) < ADEQUATE[system]).astype(np.float64)
    is_right = (rng.random(ROWS) < ACCURACY).astype(np.float64)
    noise = rng.normal(size=ROWS)
    scores = noise
    if kind == "good":
        scores = 1.5 * adequate + 0.6 * noise
    elif kind == "biased":
        scores = 0.1 * (adequate + 0.6 * noise) + 0.05 * gold - 5 - 0.2 * system
    return Answers(adequate, is_right, scores)


def cells(gold: Floats, is_right: Floats) -> Floats:
    """What each row adds to ``tn, fp, fn, tp``."""
    return np.stack(
        [
            (1 - gold) * is_right,
            (1 - gold) * (1 - is_right),
            gold * (1 - is_right),
            gold * is_right,
        ],
        axis=1,
    )


def true_values() -> dict[str, float]:
    """The values of the population that the rows are drawn from."""
    reason = ADEQUATE[0] * ACCURACY
    f1 = macro_f1(
        [
            (1 - ENTAILMENTS) * reason,
            (1 - ENTAILMENTS) * (1 - reason),
            ENTAILMENTS * (1 - reason),
            ENTAILMENTS * reason,
        ]
    )
    return dict(
        zip(MEASURES, [ADEQUATE[0], reason, float(f1), ADEQUATE[1] - ADEQUATE[0]], strict=True)
    )


def estimates(kind: str, labels: int, rng: np.random.Generator) -> Mapping[str, Powered]:
    """The estimates from one sample of rows, of which some are judged."""
    gold = (rng.random(ROWS) < ENTAILMENTS).astype(np.float64)
    baseline = draw_answers(kind, 0, gold, rng)
    candidate = draw_answers(kind, 1, gold, rng)
    is_judged = np.arange(ROWS) < labels
    counts = is_judged.astype(np.float64)
    draw = Draw(list(map(str, range(ROWS))), ["all"] * ROWS, is_judged)
    expected = [
        prediction_powered.expected_judgements(answers.scores, answers.adequate, is_judged)
        for answers in (baseline, candidate)
    ]
    judged_reasons = baseline.adequate * baseline.is_right
    expected_reasons = expected[0] * baseline.is_right
    return {
        "adequate": prediction_powered.mean(draw, baseline.adequate, expected[0], counts),
        "right reason": prediction_powered.mean(draw, judged_reasons, expected_reasons, counts),
        "macro F1": prediction_powered.bootstrap(
            draw,
            cells(gold, judged_reasons) * counts[:, None],
            cells(gold, expected_reasons),
            partial(macro_f1, skip_absent=True),
            labels,
            RESAMPLES,
        ),
        "difference": prediction_powered.difference(
            draw,
            (baseline.adequate, candidate.adequate),
            (expected[0], expected[1]),
            (counts, counts),
        ),
    }


def simulated_row(kind: str, labels: int, simulations: int) -> list[str]:
    """A row of the table: coverage of each estimate, and its width against labels alone."""
    rng = np.random.default_rng([labels, len(kind)])
    hits: dict[str, list[bool]] = {measure: [] for measure in MEASURES}
    widths: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    label_widths: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    truths = true_values()
    for _ in range(simulations):
        for measure, estimate in estimates(kind, labels, rng).items():
            assert estimate.interval is not None
            assert estimate.labels_interval is not None
            low, high = estimate.interval
            label_low, label_high = estimate.labels_interval
            hits[measure].append(low <= truths[measure] <= high)
            widths[measure].append(high - low)
            label_widths[measure].append(label_high - label_low)

    cells_of_row = [kind, str(labels)]
    for measure in MEASURES:
        coverage = 100 * float(np.mean(hits[measure]))
        ratio = float(np.mean(widths[measure]) / np.mean(label_widths[measure]))
        cells_of_row.append(f"{coverage:.1f} / {ratio:.2f}")
    return cells_of_row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=1000)
    simulations = parser.parse_args().simulations
    rows = [["scores", "labels", *MEASURES]]
    for kind in ("good", "useless", "biased"):
        for labels in (30, 95, 300):
            rows.append(simulated_row(kind, labels, simulations))
    print(markdown_table(rows))


if __name__ == "__main__":
    main()
