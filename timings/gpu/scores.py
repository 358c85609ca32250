"""Explanation scores of V-FLUTE's 723 pairs: DeBERTa-xlarge and BLEURT-20 with random weights."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from figlang_tasks.metrics.explanation.bertscore import BertScore
from figlang_tasks.metrics.explanation.bleurt import Bleurt
from figlang_tasks.metrics.explanation.compute import DType
from figlang_tasks.metrics.explanation.weights import Weights, locate
from timings.candidate_scoring import timed
from timings.explanation_score import (
    BATCHES,
    COLD,
    DTYPES,
    ROW_BY_ROW,
    VFLUTE_ROWS,
    Way,
    by_package,
    by_transformers,
    make_pairs,
    ours,
    write_bleurt,
    write_deberta,
)
from timings.gpu.measurement import Measurement, count_flops, weights_parent

SECTION = "explanation scores"
SMALL_ROWS = 8
ROWS_BY_ROW = 64
"""BLEURT is scored row by row for so many rows: the time of a row is all that is wanted."""
RUNS: dict[DType, int] = {"fast": 5, "fp32": 1}
TORCH_NAMES: dict[DType, str] = {"fast": "bfloat16", "fp32": "float32"}


def measure(device: str, small: bool) -> Iterator[Measurement]:
    """Yield the speed of ``fast``, of ``fp32`` and of the published way, in pairs a second."""
    pairs = make_pairs(SMALL_ROWS if small else VFLUTE_ROWS)
    with tempfile.TemporaryDirectory(dir=weights_parent()) as name:
        folder = Path(name)
        deberta, bleurt = folder / "deberta", folder / "bleurt"
        with torch.device(device):  # random weights are drawn there
            layers = write_deberta(deberta, small)
            bleurt_model = write_bleurt(bleurt, small)
        located_deberta = locate(Weights(str(deberta)))
        located_bleurt = locate(Weights(str(bleurt)))

        def make_bertscore(dtype: DType, cache: object) -> BertScore:
            return BertScore(located_deberta, layers, device, dtype, cache)

        def make_bleurt(dtype: DType, cache: object) -> Bleurt:
            return Bleurt(located_bleurt, device, dtype, cache)

        bertscore_ways = ours(make_bertscore, folder / "bertscores", pairs)
        bleurt_ways = ours(make_bleurt, folder / "bleurt_scores", pairs)
        for dtype in RUNS:
            way_name = f"{DTYPES[dtype]}, {COLD}"
            ways = (bertscore_ways[way_name], bleurt_ways[way_name])
            yield _our_speed(dtype, ways, len(pairs), device)

        packages = by_package(deberta, layers, device, pairs)[BATCHES]
        few_pairs = pairs[:: max(1, len(pairs) // ROWS_BY_ROW)]
        rows = by_transformers(bleurt, bleurt_model, device, few_pairs)[ROW_BY_ROW]
        seconds_per_pair = _median_seconds(packages, 1, device) / len(pairs)
        seconds_per_pair += _median_seconds(rows, 1, device) / len(few_pairs)

    own_bertscores = bertscore_ways[f"{DTYPES['fp32']}, {COLD}"].scores
    own_bleurts = bleurt_ways[f"{DTYPES['fp32']}, {COLD}"].scores
    bleurt_by_pair = dict(zip(pairs, own_bleurts, strict=True))
    own_bleurts_of_rows = [bleurt_by_pair[pair] for pair in few_pairs]
    yield Measurement(
        SECTION,
        BATCHES,
        1 / seconds_per_pair,
        "pairs/s",
        dtype="float32",
        remark=f"ours, fp32, differs by {_largest_difference(packages.scores, own_bertscores):.0e}"
        f" (BERTScore) and {_largest_difference(rows.scores, own_bleurts_of_rows):.0e} (BLEURT)",
    )


def _our_speed(dtype: DType, ways: Sequence[Way], pairs: int, device: str) -> Measurement:
    """The speed of our code in a precision, with BERTScore and BLEURT one after the other."""
    seconds, flops = 0.0, 0
    for way in ways:
        way.prepare()
        flops += count_flops(way.run)
        seconds += _median_seconds(way, RUNS[dtype], device)
    return Measurement(
        SECTION,
        f"{DTYPES[dtype]}, {COLD}",
        pairs / seconds,
        "pairs/s",
        baseline=BATCHES,
        tflops=flops / seconds / 1e12,
        dtype=TORCH_NAMES[dtype],
        remark=f"runs: {RUNS[dtype]}",
    )


def _median_seconds(way: Way, runs: int, device: str) -> float:
    """The median seconds of some runs; the scores of the last one stay in `way`."""
    for _ in range(runs):
        way.prepare()
        seconds, way.scores = timed(way.run, device)
        way.seconds.append(seconds)
    return statistics.median(way.seconds)


def _largest_difference(scores: Sequence[float], other_scores: Sequence[float]) -> float:
    differences = [abs(a - b) for a, b in zip(scores, other_scores, strict=True)]
    return max(differences)
