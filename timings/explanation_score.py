"""Measure how fast explanations are scored: the published way beside ours, in one run.

    python timings/explanation_score.py [--device cpu|cuda] [--rows N] [--repeats N]
                                           [--threads N]

Backs the tables of docs/explanation_score.md. It needs no pretrained weights: DeBERTa-xlarge (40
layers) and BLEURT-20 have their real sizes and random weights, and the texts are made up, as long
as V-FLUTE's explanations. Speed does not depend on the values; how far bf16 is from fp32 does.

All ways of a model run in turns (A B C, A B C, ...), so that other load on the machine slows all
alike; the median of each counts. With ``--threads 1``, seconds are CPU time of this process.

The second table has the share of the machine's own matmul peak: the operations that the texts need
(`explanation_parts.encoder_operations`) for each second, relative to those of a large square
product in the same dtype, measured before and after each run. The third says which parts of our
code the seconds go to.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
import transformers
from bert_score import BERTScorer
from explanation_models import make_pairs, write_bleurt, write_deberta
from explanation_parts import (
    PARTS,
    Clock,
    EncoderSize,
    MatmulPeak,
    Scorer,
    bertscore_operations,
    bleurt_operations,
    clock_of,
    seconds_of_parts,
)
from user_rows import VFLUTE_ROWS

from figlang_tasks.core.text import markdown_table
from figlang_tasks.metrics.explanation.bertscore import BertScore
from figlang_tasks.metrics.explanation.bleurt import Bleurt, PairTokenizer
from figlang_tasks.metrics.explanation.cache import ScoreCache
from figlang_tasks.metrics.explanation.compute import DType, Pair, kernel_on
from figlang_tasks.metrics.explanation.kernels import _cpu
from figlang_tasks.metrics.explanation.weights import Weights, locate

ROW_BY_ROW = "published way, row by row"
BATCHES = "bert-score in batches of 64, BLEURT row by row"
DTYPES: dict[DType, str] = {"fp32": "ours, fp32", "fast": "ours, fast (bf16)"}
COLD, CACHED = "nothing cached", "all cached"


# --- ways ---


def do_nothing() -> None:
    """Prepare a way that needs no preparation."""


@dataclass
class Way:
    """One way to compute the scores of all rows.

    Attributes:
        run: computes the scores.
        prepare: runs before it, and is not timed.
    """

    run: Callable[[], list[float]]
    prepare: Callable[[], None] = do_nothing


@dataclass
class ColdWay(Way):
    """Our way with an empty cache.

    Attributes:
        scorer: that it scores with.
        operations: that the texts need.
        peak: of the machine.
    """

    scorer: Scorer = field(kw_only=True)
    operations: float = field(kw_only=True)
    peak: MatmulPeak = field(kw_only=True)


@dataclass
class PartsOfRun:
    """What our way with an empty cache does with its time.

    Attributes:
        operations: that the texts need.
        dtype: that it computes in.
        shares: of the machine's matmul peak, in each turn.
        seconds: of all turns, by part.
    """

    operations: float
    dtype: str
    shares: list[float] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass
class Measurement:
    """What was measured of one way.

    Attributes:
        seconds: of each turn.
        scores: of the last turn.
        parts: None for the ways that have none.
    """

    seconds: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    parts: PartsOfRun | None = None


def by_package(folder: Path, layers: int, device: str, pairs: Sequence[Pair]) -> dict[str, Way]:
    """Return the ways of the ``bert-score`` package."""
    scorer = BERTScorer(model_type=str(folder), num_layers=layers, device=device)
    scorer._tokenizer.model_max_length = 512  # on transformers 5 it has none

    def score(pairs: Sequence[Pair], size: int) -> list[float]:
        references = [reference for reference, _ in pairs]
        candidates = [candidate for _, candidate in pairs]
        return scorer.score(candidates, references, batch_size=size)[2].tolist()

    def row_by_row() -> list[float]:
        return [score([pair], 1)[0] for pair in pairs]

    return {ROW_BY_ROW: Way(row_by_row), BATCHES: Way(partial(score, pairs, 64))}


def by_transformers(folder: Path, model: Any, device: str, pairs: Sequence[Pair]) -> dict[str, Way]:
    """Return BLEURT's way, as the official script runs it: one pair at a time, float32."""
    tokenizer = PairTokenizer(locate(Weights(str(folder))))
    model.to(device)

    def one(reference: str, candidate: str) -> float:
        ids, types = tokenizer.join(tokenizer.ids(reference), tokenizer.ids(candidate))
        input_ids = torch.tensor([ids], device=device)
        token_type_ids = torch.tensor([types], device=device)
        with torch.no_grad():
            return model(input_ids=input_ids, token_type_ids=token_type_ids).logits.item()

    def row_by_row() -> list[float]:
        return [one(*pair) for pair in pairs]

    return {ROW_BY_ROW: Way(row_by_row)}


def by_us(
    make: Callable[[DType, ScoreCache], Scorer],
    count: Callable[[Scorer], float],
    folder: Path,
    device: str,
    pairs: Sequence[Pair],
) -> dict[str, Way]:
    """Return our ways, cold and all cached, in an order in which each finds the right cache.

    Args:
        make: makes a scorer.
        count: returns the operations that its texts need.
        folder: of its caches.
        device: where it computes.
        pairs: to score.
    """
    ways: dict[str, Way] = {}
    for dtype, name in DTYPES.items():
        scorer = make(dtype, ScoreCache(folder / dtype))

        def score(pairs: Sequence[Pair], scorer: Scorer = scorer) -> list[float]:
            scores = scorer.score(pairs)
            return [scores[pair] for pair in pairs]

        def load_and_empty_cache(score: Any = score, dtype: str = dtype) -> None:
            score(make_pairs(2, seed=6))  # loads the model
            with sqlite3.connect(folder / dtype / "scores.sqlite") as database:
                database.execute("DELETE FROM scores")

        _, computed_in = kernel_on(torch.device(device), scorer.runner.dtype)
        ways[f"{name}, {COLD}"] = ColdWay(
            partial(score, pairs),
            load_and_empty_cache,
            operations=count(scorer),
            peak=MatmulPeak(computed_in, device),
            scorer=scorer,
        )
        ways[f"{name}, {CACHED}"] = Way(partial(score, pairs))
    return ways


# --- measuring ---


def measure(ways: dict[str, Way], device: str, repeats: int) -> dict[str, Measurement]:
    """Run all ways in turns, then let go of our models."""
    clock = clock_of(device)
    measurements = {name: Measurement() for name in ways}
    for turn in range(repeats):
        for name, way in ways.items():
            way.prepare()
            if isinstance(way, ColdWay):
                _run_by_parts(way, measurements[name], clock)
            else:
                start = clock()
                measurements[name].scores = way.run()
                measurements[name].seconds.append(clock() - start)
            seconds = measurements[name].seconds[-1]
            print(f"turn {turn + 1}: {name}: {seconds:.3f} s", file=sys.stderr, flush=True)
    for way in ways.values():
        if isinstance(way, ColdWay):
            way.scorer.runner.release()
    return measurements


def _run_by_parts(way: ColdWay, measurement: Measurement, clock: Clock) -> None:
    """Run our way between two measurements of the machine's peak; add to its measurement."""

    def run() -> None:
        measurement.scores = way.run()

    peak_before = way.peak.measure()
    seconds_by_part = seconds_of_parts(way.scorer, run, clock)
    peak = max(peak_before, way.peak.measure())
    seconds = sum(seconds_by_part.values())
    measurement.seconds.append(seconds)
    parts = measurement.parts or PartsOfRun(way.operations, way.peak.dtype)
    parts.shares.append(way.operations / seconds / peak)
    for part, part_seconds in seconds_by_part.items():
        parts.seconds[part] = parts.seconds.get(part, 0) + part_seconds
    measurement.parts = parts


def measure_bertscore(
    options: argparse.Namespace, folder: Path, pairs: Sequence[Pair]
) -> dict[str, Measurement]:
    """Measure all ways to compute BERTScore."""
    weights = folder / "deberta"
    size = write_deberta(weights, options.small)
    located = locate(Weights(str(weights)))

    def make(dtype: DType, cache: ScoreCache) -> Scorer:
        return BertScore(located, size.layers, options.device, dtype, cache)

    def count(scorer: Scorer) -> float:
        assert isinstance(scorer, BertScore)
        return bertscore_operations(scorer, size, pairs)

    ways = by_package(weights, size.layers, options.device, pairs)
    ways |= by_us(make, count, folder / "bertscore", options.device, pairs)
    return measure(ways, options.device, options.repeats)


def measure_bleurt(
    options: argparse.Namespace, folder: Path, pairs: Sequence[Pair]
) -> dict[str, Measurement]:
    """Measure all ways to compute BLEURT."""
    weights = folder / "bleurt"
    model = write_bleurt(weights, options.small)
    located = locate(Weights(str(weights)))
    size = EncoderSize(
        width=model.config.hidden_size,
        inner=model.config.intermediate_size,
        layers=model.config.num_hidden_layers,
        embedding=model.config.input_embedding_size,
        is_first_alone=True,
    )

    def make(dtype: DType, cache: ScoreCache) -> Scorer:
        return Bleurt(located, options.device, dtype, cache)

    def count(scorer: Scorer) -> float:
        assert isinstance(scorer, Bleurt)
        return bleurt_operations(scorer, size, pairs)

    ways = by_transformers(weights, model, options.device, pairs)
    ways |= by_us(make, count, folder / "bleurt-scores", options.device, pairs)
    return measure(ways, options.device, options.repeats)


# --- tables ---


def seconds_table(
    bertscore: dict[str, Measurement], bleurt: dict[str, Measurement], rows: int
) -> str:
    """Return the table of median seconds and ratios."""
    table = [["", "BERTScore s", "BLEURT s", "both s", "as fast", f"{VFLUTE_ROWS} rows, min"]]
    row_by_row = median(bertscore[ROW_BY_ROW].seconds) + median(bleurt[ROW_BY_ROW].seconds)
    for name, measurement in bertscore.items():
        bleurt_name = ROW_BY_ROW if name == BATCHES else name
        bertscore_seconds = median(measurement.seconds)
        bleurt_seconds = median(bleurt[bleurt_name].seconds)
        both = bertscore_seconds + bleurt_seconds
        minutes = both * VFLUTE_ROWS / rows / 60
        cells = [f"{bertscore_seconds:.2f}", f"{bleurt_seconds:.2f}", f"{both:.3f}"]
        table.append([name, *cells, f"{row_by_row / both:.2f}x", f"{minutes:.1f}"])
    return markdown_table(table)


def shares_table(models: dict[str, dict[str, Measurement]]) -> str:
    """Return the table of shares of the machine's matmul peak, medians of all turns."""
    table = [["", "dtype", "10^12 operations", "10^9 operations / s", "share of peak"]]
    for model, measurements in models.items():
        for name, measurement in measurements.items():
            parts = measurement.parts
            if parts is None:
                continue
            rate = parts.operations / median(measurement.seconds)
            cells = [f"{parts.operations / 1e12:.3f}", f"{rate / 1e9:.1f}"]
            table.append([f"{model}, {name}", parts.dtype, *cells, f"{median(parts.shares):.1%}"])
    return markdown_table(table)


def parts_table(models: dict[str, dict[str, Measurement]]) -> str:
    """Return the table of the parts of our ways, in percent of all turns."""
    table = [["part of the run, %"], *([part] for part in PARTS)]
    for model, measurements in models.items():
        for name, measurement in measurements.items():
            if measurement.parts is None:
                continue
            seconds = measurement.parts.seconds
            total = sum(seconds.values())
            shares = [f"{100 * seconds[part] / total:.1f}" for part in PARTS]
            column = [f"{model}, {name}", *shares]
            for cells, cell in zip(table, column, strict=True):
                cells.append(cell)
    return markdown_table(table)


def report(options: argparse.Namespace, folder: Path) -> str:
    """Measure both models; return the tables, and how far the scores are apart."""
    pairs = make_pairs(options.rows)
    bertscore = measure_bertscore(options, folder, pairs)
    bleurt = measure_bleurt(options, folder, pairs)
    models = {"BERTScore": bertscore, "BLEURT": bleurt}
    machine = f"{_cpu()}, {torch.get_num_threads()} threads"
    paragraphs = [
        f"{options.rows} rows, median of {options.repeats}, {options.device}; {machine}; torch"
        f" {torch.__version__}, transformers {transformers.__version__}",
        seconds_table(bertscore, bleurt, options.rows),
        shares_table(models),
        parts_table(models),
    ]
    for model, measurements in models.items():
        row_by_row = measurements[ROW_BY_ROW].scores
        for name in DTYPES.values():
            both_scores = zip(row_by_row, measurements[f"{name}, {COLD}"].scores, strict=True)
            largest = max(abs(a - b) for a, b in both_scores)
            paragraphs.append(f"{model}, {name}: at most {largest:.1e} from row by row")
    return "\n\n".join(paragraphs)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", help="cpu, or cuda where there is one")
    parser.add_argument("--rows", type=int, default=8, help="rows to score (%(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each way (%(default)s)")
    parser.add_argument("--threads", type=int, help="threads on the CPU (torch's default)")
    parser.add_argument("--small", action="store_true", help="tiny models: the ratios mean nothing")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        print(report(options, Path(folder)))


if __name__ == "__main__":
    main()
