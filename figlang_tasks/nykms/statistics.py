"""Sufficient statistics of NYK-MS samples (``figlang_tasks.statistics``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from figlang_tasks.metrics import classification, overlap
from figlang_tasks.metrics.overlap import BleuStatistics
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.statistics import Line, columns, grouped, means, unit


def statistics(lines: Sequence[Line]) -> dict[str, Statistic]:
    """Each metric of a samples file, by name."""
    found = means(lines)
    for name, own in columns(lines).items():
        units = [unit(line) for line in own]
        if name.endswith("corpus_bleu4"):
            rows = overlap.matrix([BleuStatistics(*line[name][0]) for line in own])
            found[name] = grouped(units, rows, overlap.corpus_bleu4_of_sums)
        elif "_macro_" in name:
            pairs = np.array([line[name][:2] for line in own], dtype=np.int64)
            counts = np.eye(4)[2 * pairs[:, 0] + pairs[:, 1]]  # tn, fp, fn, tp
            found[name] = grouped(units, counts, classification.STATISTICS[name.partition("_")[2]])
    return found
