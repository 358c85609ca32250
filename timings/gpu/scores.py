"""Explanation scores of V-FLUTE's 723 pairs: DeBERTa-xlarge and BLEURT-20 with random weights."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from figlang_tasks.metrics.explanation.bertscore import BertScore
from figlang_tasks.metrics.explanation.bleurt import Bleurt
from figlang_tasks.metrics.explanation.cache import ScoreCache
from figlang_tasks.metrics.explanation.compute import DType, Pair, PairModel
from figlang_tasks.metrics.explanation.weights import Weights, locate
from timings.candidate_scoring import timed
from timings.explanation_models import make_pairs, write_bleurt, write_deberta
from timings.explanation_score import BATCHES, DTYPES, ROW_BY_ROW, by_package, by_transformers
from timings.gpu.flops import count_flops
from timings.gpu.measurement import Measurement
from timings.user_rows import VFLUTE_ROWS

SECTION = "explanation scores"
SMALL_ROWS = 8
ROWS_BY_ROW = 64
"""BLEURT is scored row by row for so many rows: the time of a row is all that is wanted."""
RUNS: dict[DType, int] = {"fast": 5, "fp32": 1}
AIMS: dict[DType, str] = {"fast": "; aim: 40 % of peak, 1,030 pairs/s on an H200", "fp32": ""}
TORCH_NAMES: dict[DType, str] = {"fast": "bfloat16", "fp32": "float32"}


@dataclass
class OurScores:
    """Our code in one precision.

    Attributes:
        speed: pairs a second, BERTScore and BLEURT one after the other.
        flops: floating point operations of a pair.
        bertscores, bleurts: of the pairs that the published way scores too, in their order.
    """

    speed: float
    flops: float
    bertscores: list[float]
    bleurts: list[float]


def measure(device: str, small: bool) -> Iterator[Measurement]:
    """Yield the speed of ``fast``, of ``fp32`` and of the published way, in pairs a second."""
    rows = SMALL_ROWS if small else VFLUTE_ROWS
    pairs = make_pairs(rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        deberta, bleurt = folder / "deberta", folder / "bleurt"
        with torch.device(device):  # random weights are drawn there
            write_deberta(deberta, small)
            bleurt_model = write_bleurt(bleurt, small)
        layers: int = json.loads((deberta / "config.json").read_text())["num_hidden_layers"]

        ours: dict[DType, OurScores] = {}
        for dtype in RUNS:
            cache = ScoreCache(folder / dtype)
            models = (
                BertScore(locate(Weights(str(deberta))), layers, device, dtype, cache),
                Bleurt(locate(Weights(str(bleurt))), device, dtype, cache),
            )
            ours[dtype] = _score(models, pairs, RUNS[dtype], device)
            yield Measurement(
                SECTION,
                DTYPES[dtype],
                ours[dtype].speed,
                "pairs/s",
                baseline=BATCHES,
                tflops=ours[dtype].flops * ours[dtype].speed / 1e12,
                dtype=TORCH_NAMES[dtype],
                remark=f"{rows} pairs, none cached; runs: {RUNS[dtype]}{AIMS[dtype]}",
            )

        package = by_package(deberta, layers, device, pairs)[BATCHES]
        package_seconds, bertscores = timed(package.run, device)
        step = max(1, rows // ROWS_BY_ROW)
        few_pairs = pairs[::step]
        row_by_row = by_transformers(bleurt, bleurt_model, device, few_pairs)[ROW_BY_ROW]
        row_seconds, bleurts = timed(row_by_row.run, device)

    bertscore_difference = _largest_difference(bertscores, ours["fp32"].bertscores)
    bleurt_difference = _largest_difference(bleurts, ours["fp32"].bleurts[::step])
    yield Measurement(
        SECTION,
        BATCHES,
        1 / (package_seconds / rows + row_seconds / len(few_pairs)),
        "pairs/s",
        dtype="float32",
        remark=f"differs from ours, fp32, by {bertscore_difference:.0e} (BERTScore) and"
        f" {bleurt_difference:.0e} (BLEURT)",
    )


def _score(
    models: tuple[PairModel, PairModel], pairs: Sequence[Pair], runs: int, device: str
) -> OurScores:
    """Score pairs by BERTScore and BLEURT, and time it on other pairs of the same lengths."""
    seconds, flops = 0.0, 0
    scores: list[list[float]] = []
    for model in models:
        score_by_pair = model.score(pairs)  # loads the model
        scores.append([score_by_pair[pair] for pair in pairs])
        # Texts of each run are new, so that none is cached.
        flops += count_flops(partial(model.score, make_pairs(len(pairs), seed=100)))
        run_seconds: list[float] = []
        for run in range(runs):
            new_pairs = make_pairs(len(pairs), seed=101 + run)
            taken, _ = timed(partial(model.score, new_pairs), device)
            run_seconds.append(taken)
        seconds += statistics.median(run_seconds)
        model.runner.release()
    return OurScores(len(pairs) / seconds, flops / len(pairs), *scores)


def _largest_difference(scores: Sequence[float], other_scores: Sequence[float]) -> float:
    differences = [abs(a - b) for a, b in zip(scores, other_scores, strict=True)]
    return max(differences)
