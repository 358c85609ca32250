"""Measure how fast explanations are scored: the published way beside ours, in one run.

    python timings/explanation_score.py [--device cpu|cuda] [--rows N] [--repeats N]
                                           [--threads N]

Backs the table of docs/explanation_score.md: `fp32` is 2.5 times, `fast` 5.3 times as fast as row
by row. It needs no pretrained weights: DeBERTa-xlarge (40 layers) and BLEURT-20 have their real
sizes and random weights, and the texts are made up, as long as V-FLUTE's explanations. Speed does
not depend on the values; how far bf16 is from fp32 does.

All ways of a model run in turns (A B C, A B C, ...), so that other load on the machine slows all
alike; the best run of each counts. With ``--threads 1``, seconds are CPU time of this process.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import torch
import transformers
from bert_score import BERTScorer
from safetensors.torch import save_file

from figlang_tasks import mini
from figlang_tasks.core.text import markdown_table
from figlang_tasks.metrics.explanation.bertscore import BertScore
from figlang_tasks.metrics.explanation.bleurt import Bleurt, PairTokenizer
from figlang_tasks.metrics.explanation.cache import ScoreCache
from figlang_tasks.metrics.explanation.compute import DType
from figlang_tasks.metrics.explanation.weights import Weights, locate

Pair = tuple[str, str]
FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures"  # with tokenizers
VFLUTE_ROWS = 723
BATCH_TOKENS = 2048  # the batch size of our code on a CPU
# Explanations of V-FLUTE's test split: tokens are log-normal, with .40 as the spread of the
# logarithm.
MEAN_TOKENS, LOG_SPREAD = 89, 0.40
TOKENS_OF_WORD = 2.5  # by the tokenizers of the fixtures, whose vocabulary is small
DEBERTA_XLARGE = {
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "num_hidden_layers": 40,
    "intermediate_size": 4096,
}
DEBERTA_XLARGE |= {"vocab_size": 50265}
BLEURT_20 = {
    "hidden_size": 1152,
    "num_attention_heads": 18,
    "num_hidden_layers": 32,
    "intermediate_size": 4608,
}
BLEURT_20 |= {"vocab_size": 250300}
SMALL = {
    "hidden_size": 48,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "intermediate_size": 96,
}
ROW_BY_ROW = "published way, row by row"
BATCHES = "bert-score in batches of 64, BLEURT row by row"
DTYPES: dict[DType, str] = {"fp32": "ours, fp32", "fast": "ours, fast (bf16)"}
COLD, CACHED = "nothing cached", "all cached"


# --- texts and models ---


def make_pairs(rows: int, seed: int = 5) -> list[Pair]:
    """Return pairs of made-up texts of V-FLUTE's lengths.

    A few rows of all lengths would fill batches of mixed lengths, half of them padding, which 723
    rows do not. So a sample has blocks of neighbouring lengths, as many as it fills batches.
    """
    draw = random.Random(seed)
    words = sorted(
        {
            word
            for line in (mini.DATA_DIR / "README.md").read_text().splitlines()
            for word in line.split()
        }
    )
    normal = NormalDist(math.log(MEAN_TOKENS) - LOG_SPREAD**2 / 2, LOG_SPREAD)
    every = [math.exp(normal.inv_cdf((row + 0.5) / VFLUTE_ROWS)) for row in range(VFLUTE_ROWS)]
    blocks = max(1, round(rows * 2 * MEAN_TOKENS / BATCH_TOKENS))
    size = math.ceil(rows / blocks)
    middles = [(2 * block + 1) * VFLUTE_ROWS // (2 * blocks) for block in range(blocks)]
    lengths = [
        every[min(max(middle - size // 2 + at, 0), VFLUTE_ROWS - 1)]
        for middle in middles
        for at in range(size)
    ]

    def text(tokens: float) -> str:
        return " ".join(draw.choices(words, k=round(tokens / TOKENS_OF_WORD))) + "."

    return [(text(length), text(length)) for length in lengths[:rows]]


def with_random_weights(model: Any) -> Any:
    """Return a model whose layers keep their variance, so that different texts have different
    scores.
    """
    torch.manual_seed(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" not in name.lower():
                weight.normal_(0, weight.shape[-1] ** -0.5)
    return model.eval()


def write_deberta(folder: Path, small: bool) -> int:
    """Write a checkpoint as ``microsoft/deberta-xlarge-mnli`` is; return the number of its
    layers.
    """
    given = json.loads((FIXTURES / "deberta" / "config.json").read_text()) | (
        SMALL if small else DEBERTA_XLARGE
    )
    config = transformers.DebertaConfig(**given)
    with_random_weights(transformers.DebertaForSequenceClassification(config)).save_pretrained(
        folder
    )
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        shutil.copy(FIXTURES / "deberta" / name, folder)
    return config.num_hidden_layers


def write_bleurt(folder: Path, small: bool) -> Any:
    """Write a checkpoint as ``lucadiliello/BLEURT-20`` is; return the same model by
    transformers.
    """
    given = json.loads((FIXTURES / "bleurt" / "config.json").read_text()) | (
        SMALL if small else BLEURT_20
    )
    given["embedding_size"] = 16 if small else 256
    kept = {
        name: value for name, value in given.items() if name not in ("model_type", "architectures")
    }
    config = transformers.RemBertConfig(
        **kept, input_embedding_size=given["embedding_size"], num_labels=1
    )
    model = with_random_weights(transformers.RemBertForSequenceClassification(config))
    renamed = {
        name.replace("rembert.", "bleurt.").replace(
            "embedding_hidden_mapping_in", "embedding_projection"
        ): value
        for name, value in model.state_dict().items()
    }
    folder.mkdir()
    save_file(renamed, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(given))
    for name in ("spm.model", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(FIXTURES / "bleurt" / name, folder)
    return model


# --- ways ---


@dataclass
class Way:
    """One way to compute the scores of all rows; `prepare` runs before it, and is not timed."""

    run: Callable[[], list[float]]
    prepare: Callable[[], Any] = list
    seconds: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


def by_package(folder: Path, layers: int, device: str, pairs: Sequence[Pair]) -> dict[str, Way]:
    """Return the ways of the ``bert-score`` package."""
    scorer = BERTScorer(model_type=str(folder), num_layers=layers, device=device)
    scorer._tokenizer.model_max_length = 512  # on transformers 5 it has none

    def score(pairs: Sequence[Pair], size: int) -> list[float]:
        references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
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
        inputs = {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([types])}
        with torch.no_grad():
            return (
                model(**{name: value.to(device) for name, value in inputs.items()})
                .logits[0, 0]
                .item()
            )

    return {ROW_BY_ROW: Way(lambda: [one(*pair) for pair in pairs])}


def ours(
    make: Callable[[DType, ScoreCache], Any], folder: Path, pairs: Sequence[Pair]
) -> dict[str, Way]:
    """Return our ways, cold and all cached, in an order in which each finds the right cache."""
    ways: dict[str, Way] = {}
    for dtype, name in DTYPES.items():
        model = make(dtype, ScoreCache(folder / dtype))

        def score(pairs: Sequence[Pair], model: Any = model) -> list[float]:
            found = model.score(pairs)
            return [found[pair] for pair in pairs]

        def empty(score: Any = score, dtype: str = dtype) -> None:
            score(make_pairs(2, seed=6))  # loads the model
            with sqlite3.connect(folder / dtype / "scores.sqlite") as database:
                database.execute("DELETE FROM scores")

        ways[f"{name}, {COLD}"] = Way(partial(score, pairs), empty)
        ways[f"{name}, {CACHED}"] = Way(partial(score, pairs))
    return ways


# --- measuring ---


def timed(run: Callable[[], Any], device: str) -> tuple[float, Any]:
    """Return the seconds that `run` takes (CPU time of one thread, else the wall's), with what it
    returns.
    """
    clock = (
        time.process_time if device == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    )
    start = clock()
    result = run()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return clock() - start, result


def measure(ways: dict[str, Way], device: str, repeats: int) -> dict[str, Way]:
    for turn in range(repeats):
        for name, way in ways.items():
            way.prepare()
            seconds, way.scores = timed(way.run, device)
            way.seconds.append(seconds)
            print(f"turn {turn + 1}: {name}: {seconds:.3f} s", file=sys.stderr, flush=True)
    return ways


def report(given: argparse.Namespace, folder: Path) -> str:
    """Measure both models; return a table of seconds and ratios, and how far the scores are
    apart.
    """
    device, pairs = given.device, make_pairs(given.rows)

    def of_bertscore() -> dict[str, Way]:
        weights = folder / "deberta"
        layers = write_deberta(weights, given.small)
        located = locate(Weights(str(weights)))
        own = ours(
            lambda dtype, cache: BertScore(located, layers, device, dtype, cache),
            folder / "bertscore",
            pairs,
        )
        return measure(by_package(weights, layers, device, pairs) | own, device, given.repeats)

    def of_bleurt() -> dict[str, Way]:
        weights = folder / "bleurt"
        model = write_bleurt(weights, given.small)
        located = locate(Weights(str(weights)))
        own = ours(
            lambda dtype, cache: Bleurt(located, device, dtype, cache), folder / "scores", pairs
        )
        return measure(by_transformers(weights, model, device, pairs) | own, device, given.repeats)

    bertscore, bleurt = of_bertscore(), of_bleurt()
    rows = [["", "BERTScore s", "BLEURT s", "both s", "as fast", f"{VFLUTE_ROWS} rows, min"]]
    slowest = min(bertscore[ROW_BY_ROW].seconds) + min(bleurt[ROW_BY_ROW].seconds)
    for name, way in bertscore.items():
        first, second = (
            min(way.seconds),
            min(bleurt[ROW_BY_ROW if name == BATCHES else name].seconds),
        )
        both = first + second
        minutes = both * VFLUTE_ROWS / given.rows / 60
        rows.append(
            [
                name,
                f"{first:.2f}",
                f"{second:.2f}",
                f"{both:.3f}",
                f"{slowest / both:.2f}x",
                f"{minutes:.1f}",
            ]
        )
    lines = [
        (
            f"{given.rows} rows, best of {given.repeats}, {device}, {torch.get_num_threads()}"
            f" threads, torch {torch.__version__}, transformers {transformers.__version__}"
        ),
        markdown_table(rows),
    ]
    for kind, ways in (("BERTScore", bertscore), ("BLEURT", bleurt)):
        for name in DTYPES.values():
            both_scores = zip(ways[ROW_BY_ROW].scores, ways[f"{name}, {COLD}"].scores, strict=True)
            lines.append(
                f"{kind}, {name}: at most {max(abs(a - b) for a, b in both_scores):.1e} from row"
                " by row"
            )
    return "\n\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", help="cpu, or cuda where there is one")
    parser.add_argument("--rows", type=int, default=24, help="rows to score (%(default)s)")
    parser.add_argument(
        "--repeats", type=int, default=2, help="runs of each way, of which the best counts"
    )
    parser.add_argument("--threads", type=int, help="threads on the CPU (torch's default)")
    parser.add_argument("--small", action="store_true", help="tiny models: the ratios mean nothing")
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    with tempfile.TemporaryDirectory() as folder:
        print(report(given, Path(folder)))


if __name__ == "__main__":
    main()
