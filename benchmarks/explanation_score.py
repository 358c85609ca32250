"""How fast the explanation scores are: the published way, row by row, against `figlang_tasks.metrics.explanation`.

    python benchmarks/explanation_score.py [--device cpu|cuda] [--rows N] [--profile] [--memory] [--markdown FILE]

Needs no pretrained weights: it writes checkpoints of DeBERTa-xlarge (40 layers) and BLEURT-20 in their real sizes with
random weights, and makes up texts as long as V-FLUTE's explanations. Speed does not depend on the values; how far bf16
scores are from fp32 ones does, so that figure says nothing about real weights.

All variants of a model run in turns (A B C, A B C, ...), so that what else the machine does hits all alike; the best
run of each counts. On a CPU, ours runs with the kernel that it chose by its own timing, and with each other one that
the machine has, forced. Threads that wait for each other suffer far more from other processes than
in proportion, small batches most of all: the table shows how much of the CPU others had during the runs that count, and
`--patience` waits for a quiet moment before each run. Loading is reported apart, and writing the cache on disk is part
of a cold run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import NormalDist, fmean, pstdev
from typing import Any, Literal

import torch
from torch import nn

from figlang_tasks.metrics.explanation import compute
from figlang_tasks.metrics.explanation.bertscore import BertScore
from figlang_tasks.metrics.explanation.bleurt import Bleurt
from figlang_tasks.metrics.explanation.cache import ScoreCache
from figlang_tasks.metrics.explanation.compute import DType, exact_float32
from figlang_tasks.metrics.explanation.encoder import Layer
from figlang_tasks.metrics.explanation.kernels import FLOAT32, Linear, choices, kernels, quickest, timing
from figlang_tasks.metrics.explanation.weights import Weights, locate

Pair = tuple[str, str]
Kind = Literal["BERTScore", "BLEURT"]

VFLUTE_ROWS = 723
MAX_TOKENS = 512
SPECIALS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
SEED = 5

# Explanations of V-FLUTE's test split: words and punctuation marks are log-normal with .40 as the spread of the
# logarithm. The mean is that of their DeBERTa tokens without [CLS] and [SEP].
MEAN_TOKENS = 89
LOG_SPREAD = 0.40
SHORTEST, LONGEST = 20, 250

BUDGETS = {"cpu": 2048, "cuda": 32768}  # padded tokens of a batch, about as the library has them by default

AIMS = {
    "cpu": {"fast": 5.0, "fp32": 2.6, "batches": 1.0, "kernel": 0.9, "second": 1.6, "cached": 100.0},
    "cpu with AMX": {"fast": 8.0, "fp32": 1.8, "batches": 1.0, "kernel": 0.9, "second": 1.6, "cached": 100.0},
    "cpu without bfloat16": {"batches": 1.0, "kernel": 0.9, "second": 1.6, "cached": 100.0},  # fast is float32 there
    "cuda": {"fast": 30.0, "second": 1.6, "cached": 100.0, "peak": 0.40},
}
"""By the machine; what the scores are computed with does not depend on it."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of an encoder; `embedding` is the width of the word embeddings."""

    hidden: int
    heads: int
    layers: int
    intermediate: int
    vocabulary: int
    embedding: int


DEBERTA_XLARGE = Sizes(1024, 16, 40, 4096, 50265, 1024)
BLEURT_20 = Sizes(1152, 18, 32, 4608, 250300, 256)
SMALL_DEBERTA = Sizes(64, 4, 3, 128, 6000, 64)
SMALL_BLEURT = Sizes(72, 6, 2, 144, 6000, 16)


# ---------------------------------------------------------------- texts


@dataclass(frozen=True)
class Texts:
    """References, and the candidates of two models, each of n distinct texts with the same lengths."""

    references: list[str]
    first: list[str]
    second: list[str]

    def pairs(self, candidates: list[str]) -> list[Pair]:
        return list(zip(self.references, candidates, strict=True))


def vocabulary() -> list[str]:
    """English-like words, few enough for a small tokenizer to hold every one of them whole."""
    rng = random.Random(SEED)
    ends = ("", "n", "r", "s", "nd")
    syllables = [a + b + c for a in "b c d f g l m n p r s t th sh st tr".split() for b in "aeiou" for c in ends]
    common = "the a of to and in is that it as for with on by be this which his her are not from like was at an or but"
    made = {"".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(700)}
    return [*common.split(), *sorted(made - set(common.split()))]


def make_texts(rows: int, clusters: int | None = None, seed: int = SEED) -> Texts:
    """Texts whose lengths are even quantiles of the log-normal: every number of rows has the same mean.

    A few rows that cover all lengths would fill batches of mixed lengths, half of them padding, which 723 rows do not.
    So a sample has its lengths in `clusters`, each as wide as a batch of the sorted 723 rows; None: no clusters.
    """
    rng = random.Random(seed)
    words = vocabulary()
    clusters = clusters or rows
    width = min(1.0, 0.015 * clusters)  # a batch holds 1.5 % of V-FLUTE's texts
    normal = NormalDist(0, LOG_SPREAD)
    groups: list[list[float]] = [[] for _ in range(clusters)]
    for row in range(rows):
        groups[row % clusters].append(0)
    for cluster, group in enumerate(groups):
        for index in range(len(group)):
            within = (index + 0.5) / len(group) - 0.5
            group[index] = math.exp(normal.inv_cdf((cluster + 0.5 + width * within) / clusters))
    scale = MEAN_TOKENS / fmean(length for group in groups for length in group)
    sides: list[list[str]] = [[], [], []]
    for group in groups:
        lengths = [max(SHORTEST, min(LONGEST, round(scale * length))) for length in group]
        for side in sides:
            rng.shuffle(lengths)
            side += [_text(length, words, rng) for length in lengths]
    if clusters == rows:  # every pair would be of equal lengths
        for side in sides:
            rng.shuffle(side)
    assert len({text for side in sides for text in side}) == 3 * rows, "texts are not distinct"
    return Texts(*sides)


def _text(tokens: int, words: Sequence[str], rng: random.Random) -> str:
    """Sentences of some 16 words; a word is one token, and so is a full stop."""
    said: list[str] = []
    while tokens > 0:
        size = min(rng.randint(11, 20), tokens - 1) or 1
        said.append(" ".join(rng.choices(words, k=size)) + ".")
        tokens -= size + 1
    return " ".join(said)


# ---------------------------------------------------------------- checkpoints


def checkpoint(folder: Path, sizes: Sizes, write: Callable[[Path, Sizes], dict[str, Any]]) -> Path:
    """Write a checkpoint unless `folder` holds it already; config.json comes last, so half a checkpoint is none."""
    config = folder / "config.json"
    mark = {"made_by": Path(__file__).name, "sizes": asdict(sizes)}
    if not (config.is_file() and json.loads(config.read_text()).get("benchmark") == mark):
        folder.mkdir(parents=True, exist_ok=True)
        config.write_text(json.dumps(write(folder, sizes) | {"benchmark": mark}, indent=1), encoding="utf-8")
    return folder


def write_deberta(folder: Path, sizes: Sizes) -> dict[str, Any]:
    """Write weights and tokenizer as ``microsoft/deberta-xlarge-mnli`` has them; returns config.json's content."""
    from safetensors.torch import save_file
    from tokenizers import ByteLevelBPETokenizer

    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(_corpus(), 5000, min_frequency=1, special_tokens=list(SPECIALS[:-1]), show_progress=False)
    learnt = json.loads(bpe.to_str())["model"]
    vocab = learnt["vocab"] | {"[MASK]": len(learnt["vocab"])}
    assert len(vocab) <= sizes.vocabulary
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    merges = "".join(f"{left} {right}\n" for left, right in learnt["merges"])
    (folder / "merges.txt").write_text("#version: 0.2\n" + merges, encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false, "vocab_type": "gpt2"}', encoding="utf-8")

    hidden = sizes.hidden
    state = {
        "deberta.embeddings.word_embeddings.weight": _random(sizes.vocabulary, hidden),
        "deberta.encoder.rel_embeddings.weight": _random(2 * MAX_TOKENS, hidden),
        **_norm("deberta.embeddings", hidden),
    }
    for layer in range(sizes.layers):
        prefix = f"deberta.encoder.layer.{layer}"
        state |= {
            f"{prefix}.attention.self.in_proj.weight": _random(3 * hidden, hidden),
            f"{prefix}.attention.self.q_bias": _random(hidden),
            f"{prefix}.attention.self.v_bias": _random(hidden),
            f"{prefix}.attention.self.pos_proj.weight": _random(hidden, hidden),
            **_linear(f"{prefix}.attention.self.pos_q_proj", hidden, hidden),
            **_after_attention(prefix, sizes),
        }
    save_file(state, folder / "model.safetensors")
    return {
        "model_type": "deberta",
        "architectures": ["DebertaModel"],
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": hidden,
        "initializer_range": 0.02,
        "intermediate_size": sizes.intermediate,
        "layer_norm_eps": 1e-7,
        "max_position_embeddings": MAX_TOKENS,
        "max_relative_positions": -1,
        "num_attention_heads": sizes.heads,
        "num_hidden_layers": sizes.layers,
        "pad_token_id": 0,
        "pos_att_type": ["c2p", "p2c"],
        "position_biased_input": False,
        "relative_attention": True,
        "type_vocab_size": 0,
        "vocab_size": sizes.vocabulary,
    }


def write_bleurt(folder: Path, sizes: Sizes) -> dict[str, Any]:
    """Write weights and tokenizer as ``lucadiliello/BLEURT-20`` has them; returns config.json's content."""
    import sentencepiece
    from safetensors.torch import save_file

    with (folder / "spm.model").open("wb") as model:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(_corpus()),
            model_writer=model,
            model_type="bpe",
            vocab_size=5000,
            hard_vocab_limit=False,
            character_coverage=1.0,
            pad_id=0,
            pad_piece="[PAD]",
            unk_id=1,
            unk_piece="[UNK]",
            bos_id=-1,
            eos_id=-1,
            control_symbols=["[CLS]", "[SEP]"],
            user_defined_symbols=["[MASK]"],
            num_threads=1,
            minloglevel=2,
        )
    hidden = sizes.hidden
    state = {
        "bleurt.embeddings.word_embeddings.weight": _random(sizes.vocabulary, sizes.embedding),
        "bleurt.embeddings.position_embeddings.weight": _random(MAX_TOKENS, sizes.embedding),
        "bleurt.embeddings.token_type_embeddings.weight": _random(2, sizes.embedding),
        "bleurt.embeddings.position_ids": torch.arange(MAX_TOKENS)[None],
        **_norm("bleurt.embeddings", sizes.embedding),
        **_linear("bleurt.encoder.embedding_projection", sizes.embedding, hidden),
        **_linear("bleurt.pooler.dense", hidden, hidden),
        **_linear("classifier", hidden, 1),
    }
    for layer in range(sizes.layers):
        prefix = f"bleurt.encoder.layer.{layer}"
        for name in ("query", "key", "value"):
            state |= _linear(f"{prefix}.attention.self.{name}", hidden, hidden)
        state |= _after_attention(prefix, sizes)
    save_file(state, folder / "model.safetensors")
    return {
        "model_type": "bleurt",
        "architectures": ["BleurtForSequenceClassification"],
        "attention_probs_dropout_prob": 0.0,
        "embedding_size": sizes.embedding,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "hidden_size": hidden,
        "initializer_range": 0.02,
        "intermediate_size": sizes.intermediate,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": MAX_TOKENS,
        "num_attention_heads": sizes.heads,
        "num_hidden_layers": sizes.layers,
        "pad_token_id": 0,
        "type_vocab_size": 2,
        "vocab_size": sizes.vocabulary,
    }


def _corpus() -> list[str]:
    """Every word many times, so that both tokenizers learn it whole."""
    rng = random.Random(SEED)
    words = vocabulary()
    shuffled = [rng.sample(words, len(words)) for _ in range(20)]
    return [" ".join(some[start : start + 60]) + "." for some in shuffled for start in range(0, len(some), 60)]


def _random(*shape: int) -> torch.Tensor:
    """Values that keep a layer's variance, so that different texts come out with different scores."""
    return torch.empty(shape).normal_(0, shape[-1] ** -0.5)


def _linear(name: str, inputs: int, outputs: int) -> dict[str, torch.Tensor]:
    return {f"{name}.weight": _random(outputs, inputs), f"{name}.bias": _random(outputs)}


def _norm(name: str, size: int) -> dict[str, torch.Tensor]:
    return {f"{name}.LayerNorm.weight": torch.ones(size), f"{name}.LayerNorm.bias": torch.zeros(size)}


def _after_attention(prefix: str, sizes: Sizes) -> dict[str, torch.Tensor]:
    """What follows the attention in a layer, of the same names in both architectures."""
    return {
        **_linear(f"{prefix}.attention.output.dense", sizes.hidden, sizes.hidden),
        **_norm(f"{prefix}.attention.output", sizes.hidden),
        **_linear(f"{prefix}.intermediate.dense", sizes.hidden, sizes.intermediate),
        **_linear(f"{prefix}.output.dense", sizes.intermediate, sizes.hidden),
        **_norm(f"{prefix}.output", sizes.hidden),
    }


# ---------------------------------------------------------------- the published way


class PackageBertScore:
    """The ``bert-score`` package; kept from its fault on transformers 5 by a declared maximum length."""

    def __init__(self, folder: Path, layer: int, device: str) -> None:
        from bert_score import BERTScorer

        self._scorer = BERTScorer(model_type=str(folder), num_layers=layer, device=device)
        self._scorer._tokenizer.model_max_length = MAX_TOKENS

    def row_by_row(self, pairs: Sequence[Pair]) -> list[float]:
        return [self._score([pair], batch_size=1)[0] for pair in pairs]

    def batched(self, pairs: Sequence[Pair]) -> list[float]:
        return self._score(pairs, batch_size=64)  # the package's default

    def _score(self, pairs: Sequence[Pair], batch_size: int) -> list[float]:
        references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
        return self._scorer.score(candidates, references, batch_size=batch_size)[2].tolist()


class StockBleurt:
    """BLEURT as the official script runs it: transformers' model as it is, one pair at a time, float32."""

    def __init__(self, folder: Path, sizes: Sizes, device: str) -> None:
        import sentencepiece
        from safetensors.torch import load_file
        from transformers import RemBertConfig, RemBertForSequenceClassification

        given = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kept = {key: value for key, value in given.items() if key not in ("model_type", "architectures", "benchmark")}
        kept |= {"input_embedding_size": sizes.embedding, "num_labels": 1}
        config = RemBertConfig(**kept)
        state = load_file(folder / "model.safetensors")
        del state["bleurt.embeddings.position_ids"]
        state = {
            key.replace("bleurt.", "rembert.").replace("embedding_projection", "embedding_hidden_mapping_in"): value
            for key, value in state.items()
        }
        model = RemBertForSequenceClassification.from_pretrained(
            None, config=config, state_dict=state, dtype=torch.float32
        )
        self._model: Any = model.eval().to(device)
        self._device = device
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
        self._cls, self._sep = (self._pieces.piece_to_id(name) for name in ("[CLS]", "[SEP]"))

    def row_by_row(self, pairs: Sequence[Pair]) -> list[float]:
        return [self._one(*pair) for pair in pairs]

    def _one(self, reference: str, candidate: str) -> float:
        first = [self._cls, *self._pieces.encode(reference), self._sep]
        second = [*self._pieces.encode(candidate), self._sep]
        ids = torch.tensor([first + second], device=self._device)
        types = torch.tensor([[0] * len(first) + [1] * len(second)], device=self._device)
        with torch.no_grad():
            output = self._model(input_ids=ids, token_type_ids=types, attention_mask=torch.ones_like(ids))
        return output.logits[0, 0].item()


# ---------------------------------------------------------------- arithmetic

FLOPS = """Useful FLOPs, from token counts without padding, the same for every variant that does the same work; T tokens
of a text (BERTScore) or pair (BLEURT), H hidden, I intermediate, L layers: linear layers L * T * (8 H^2 + 4 H I);
attention L * 4 T^2 H; DeBERTa's terms content-position and position-content L * 8 T^2 H. Its projections of positions
depend on no text and count as waste where they are computed for each (a third on top, row by row). BLEURT reads [CLS]
alone: of its last layer the keys and values of all tokens, T * 4 H^2, and the rest of one token; its embedding
projection is T * 2 E H, its pooler 2 H^2."""


@dataclass(frozen=True)
class Work:
    """Useful arithmetic (`FLOPS`) in 10^9, and the tokens that must enter the model."""

    gflops: float = 0.0
    tokens: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.gflops + other.gflops, self.tokens + other.tokens)


def bertscore_work(sizes: Sizes, lengths: Sequence[int]) -> Work:
    """To encode texts of those `lengths`."""
    hidden, layers = sizes.hidden, sizes.layers
    linear = sum(lengths) * (8 * hidden**2 + 4 * hidden * sizes.intermediate)
    attention = 12 * hidden * sum(length**2 for length in lengths)
    return Work(1e-9 * layers * (linear + attention), sum(lengths))


def bleurt_work(sizes: Sizes, lengths: Sequence[int]) -> Work:
    """To score pairs of those `lengths`."""
    hidden, tokens, pairs = sizes.hidden, sum(lengths), len(lengths)
    of_token = 8 * hidden**2 + 4 * hidden * sizes.intermediate
    whole = tokens * of_token + 4 * hidden * sum(length**2 for length in lengths)
    last = tokens * 4 * hidden**2 + pairs * (of_token - 4 * hidden**2) + 4 * hidden * tokens
    ends = tokens * 2 * sizes.embedding * hidden + pairs * 2 * hidden**2
    return Work(1e-9 * ((sizes.layers - 1) * whole + last + ends), tokens)


@dataclass(frozen=True)
class Stopwatch:
    """Times work on a device: wall clock, or (`cpu`) the CPU time of this process, whatever else the machine does."""

    device: str
    cpu: bool = False

    def time(self, run: Callable[[], Any]) -> tuple[float, Any]:
        """Seconds that `run` takes, with what it returns."""
        clock = time.process_time if self.cpu else time.perf_counter
        self._synchronise()
        start = clock()
        result = run()
        self._synchronise()
        return clock() - start, result

    def _synchronise(self) -> None:
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()


class Others:
    """Share of this machine's cores that other processes use (Linux), from here to `share`."""

    def __init__(self) -> None:
        self._start = self._now()

    def share(self) -> float | None:
        """None where it cannot be told: not on Linux, or too short a time for the kernel's clock ticks."""
        wall, own, busy = (now - then for now, then in zip(self._now(), self._start, strict=True))
        if not Path("/proc/stat").exists() or wall < 0.3:
            return None
        return max(0.0, busy - own) / (wall * (os.cpu_count() or 1))

    def _now(self) -> tuple[float, float, float]:
        return time.perf_counter(), time.process_time(), self._busy()

    @staticmethod
    def _busy() -> float:
        """CPU seconds of all processes, and those that a hypervisor kept."""
        path = Path("/proc/stat")
        if not path.exists():
            return 0.0
        user, nice, system, _, _, irq, softirq, steal = map(int, path.read_text().split("\n", 1)[0].split()[1:9])
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Patience:
    """Waits for a moment when others leave the machine alone, `seconds` in all."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def wait(self) -> None:
        while self._left > 0:
            others = Others()
            time.sleep(1)
            self._left -= 1
            share = others.share()
            if share is None or share < 0.05:
                return


def peak(watch: Stopwatch, dtype: torch.dtype, small: bool) -> dict[str, float]:
    """Best GFLOP/s of linear layers at the models' shapes, by kernel."""
    device = watch.device
    best: dict[str, float] = {}
    rows = (256,) if small else (2048, 4096) if device == "cpu" else (8192, 32768)
    shapes = [(1024, 1024), (1024, 4096), (4096, 1024), (1152, 4608), (4608, 1152), (4096, 4096)]
    with torch.inference_mode(), exact_float32():
        for count in rows:
            for inputs, outputs in shapes[: 1 if small else None]:
                x, weight = (
                    torch.randn(size, device=device).to(dtype) for size in ((count, inputs), (outputs, inputs))
                )
                for kernel in kernels(dtype) if device == "cpu" else ["torch"]:
                    layer = Linear(weight, None)
                    if kernel == "onednn":
                        layer.pack()
                    seconds = min(watch.time(partial(layer, x))[0] for _ in range(3))
                    best[kernel] = max(best.get(kernel, 0.0), 2e-9 * count * inputs * outputs / seconds)
    return best


# ---------------------------------------------------------------- measuring


@dataclass
class Variant:
    """One way to compute the scores of the benchmark's rows.

    Attributes:
        name: row of the table.
        run: computes the scores, in the order of the rows.
        prepare, clean_up: set the stage for a run, and clear it; not timed.
        work: what has to be done.
        dtype: whose matrix-product peak it is held against.
        seconds: every run.
        padded: tokens that entered the model, with padding.
        others: share of the CPU that other processes had in the best run; None if unknown.
        scores: of the last run.
    """

    name: str
    run: Callable[[], list[float]]
    work: Work
    dtype: DType
    prepare: Callable[[], None] = lambda: None
    clean_up: Callable[[], None] = lambda: None
    seconds: list[float] = field(default_factory=list)
    padded: int = 0
    others: float | None = None
    scores: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.seconds)


ROW_BY_ROW = "reference, row by row"
BATCHES = "reference, bert-score in batches of 64"
DTYPES: dict[DType, str] = {"fp32": "ours fp32", "fast": "ours fast (bf16)"}
FORCED = "cold cache, kernel "
COLD, SECOND, CACHED = "cold cache", "second model", "all cached"


@dataclass(frozen=True)
class Setup:
    """What a run of the benchmark is about."""

    device: str
    small: bool
    rows: int
    repeats: int
    token_budget: int | None
    workdir: Path
    patience: Patience = field(default_factory=lambda: Patience(0))
    cpu_clock: bool = False

    @property
    def watch(self) -> Stopwatch:
        return Stopwatch(self.device, self.cpu_clock)

    @property
    def clusters(self) -> int | None:
        """For `make_texts`: as many as the sample fills batches."""
        if self.small or self.rows >= VFLUTE_ROWS:
            return None
        return max(1, round(self.rows * 2 * MEAN_TOKENS / (self.token_budget or BUDGETS["cpu"])))

    @property
    def bertscore(self) -> Sizes:
        return SMALL_DEBERTA if self.small else DEBERTA_XLARGE

    @property
    def bleurt(self) -> Sizes:
        return SMALL_BLEURT if self.small else BLEURT_20

    def sizes(self, kind: Kind) -> Sizes:
        return self.bertscore if kind == "BERTScore" else self.bleurt

    def folder(self, kind: Kind) -> Path:
        name, sizes, write = (
            ("deberta", self.bertscore, write_deberta) if kind == "BERTScore" else ("bleurt", self.bleurt, write_bleurt)
        )
        return checkpoint(self.workdir / f"{name}{'-small' if self.small else ''}", sizes, write)

    def model(self, kind: Kind, dtype: DType, cache: ScoreCache, token_budget: int | None = None) -> BertScore | Bleurt:
        located = locate(Weights(str(self.folder(kind).resolve())))
        budget = token_budget or self.token_budget
        if kind == "BERTScore":
            return BertScore(located, self.bertscore.layers, self.device, dtype, cache, budget)
        return Bleurt(located, self.device, dtype, cache, budget)


@dataclass(frozen=True)
class Lengths:
    """Token counts under the benchmark's tokenizers."""

    references: list[int]
    first: list[int]
    second: list[int]
    pairs: list[int]


def token_lengths(setup: Setup, texts: Texts) -> Lengths:
    import sentencepiece
    from transformers import AutoTokenizer

    bpe = AutoTokenizer.from_pretrained(setup.folder("BERTScore"))
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(setup.folder("BLEURT") / "spm.model"))

    def count(side: list[str]) -> list[int]:
        return [len(ids) for ids in bpe(side)["input_ids"]]

    pairs = [3 + sum(len(pieces.encode(text)) for text in pair) for pair in texts.pairs(texts.first)]
    assert max(pairs) <= MAX_TOKENS, "a pair would be cut"
    return Lengths(count(texts.references), count(texts.first), count(texts.second), pairs)


class OnDisk:
    """A cache in a folder that can be emptied, or opened anew as a later process would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = ScoreCache(folder)

    def empty(self) -> None:
        self.cache.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def reopen(self) -> None:
        self.cache.close()


class PaddedTokens:
    """Counts the tokens, padding included, that enter the layers: ours, or by word embeddings of `vocabulary` rows."""

    def __init__(self, sizes: Sizes) -> None:
        self._embedded = self._in_layers = 0
        self._sizes = sizes
        self._hook = nn.modules.module.register_module_forward_pre_hook(self._seen)

    def _seen(self, module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if isinstance(module, nn.Embedding) and module.num_embeddings == self._sizes.vocabulary:
            self._embedded += inputs[0].numel()
        elif isinstance(module, Layer):
            self._in_layers += len(inputs[0])

    @property
    def count(self) -> int:
        return self._in_layers // self._sizes.layers or self._embedded

    def remove(self) -> None:
        self._hook.remove()


@contextmanager
def forced(kernel: str) -> Iterator[None]:
    """Ours computes with `kernel` inside, where that has the model's dtype."""
    own = compute.choose
    compute.choose = lambda dtype: kernel if kernel in choices(dtype) else own(dtype)
    try:
        yield
    finally:
        compute.choose = own


def chosen(device: str, dtype: DType) -> str:
    """The kernel that ours takes here by itself, timed now."""
    if device != "cpu":
        return "torch"
    return quickest(torch.float32 if dtype == "fp32" else torch.bfloat16, None)


def comparable(dtype: torch.dtype) -> list[str]:
    """Kernels that do not take hours: bfloat16 where the processor has none is ten times as slow as float32."""
    seconds = timing(dtype)
    return [kernel for kernel, each in seconds.items() if each < 3 * min(seconds.values())]


def our_variants(
    setup: Setup, kind: Kind, dtype: DType, texts: Texts, lengths: Lengths, loading: dict[str, float]
) -> list[Variant]:
    """Cold, second model and all cached, in the order in which each finds its cache as it should be; then the other
    kernels. A model is loaded before its first variant and released after its last: they need not fit together.
    """
    disk = OnDisk(setup.workdir / "cache" / f"{kind}-{dtype}")
    first, second = texts.pairs(texts.first), texts.pairs(texts.second)
    if kind == "BERTScore":
        work = bertscore_work(setup.bertscore, lengths.references + lengths.first)
    else:
        work = bleurt_work(setup.bleurt, lengths.pairs)
    precision = torch.float32 if dtype == "fp32" else torch.bfloat16
    own = chosen(setup.device, dtype)
    others = [kernel for kernel in comparable(precision) if kernel != own] if setup.device == "cpu" else []
    variants = []
    for kernel in (own, *others):
        with forced(kernel):
            model = setup.model(kind, dtype, disk.cache)

        def score(pairs: list[Pair], model: BertScore | Bleurt = model) -> list[float]:
            found = model.score(pairs)
            return [found[pair] for pair in pairs]

        def load(score: Callable[[list[Pair]], list[float]] = score, kernel: str = kernel) -> None:
            """Score two rows that are not among the measured ones; the first loads the model."""
            disk.empty()
            warm = make_texts(2, seed=SEED + 1)
            with forced(kernel):
                seconds = setup.watch.time(lambda: score(warm.pairs(warm.first)[:1]))[0]
            loading.setdefault(f"{kind}, {DTYPES[dtype]}, {kernel}", seconds)
            score(warm.pairs(warm.first))
            disk.empty()

        name = DTYPES[dtype]
        cold = f"{name}, {COLD}" if kernel == own else f"{name}, {FORCED}{kernel}"
        variants.append(Variant(cold, partial(score, first), work, dtype, load))
        if kernel == own:
            if kind == "BERTScore":
                extra = bertscore_work(setup.bertscore, lengths.second)
                variants.append(Variant(f"{name}, {SECOND}", partial(score, second), extra, dtype, disk.reopen))
            variants.append(Variant(f"{name}, {CACHED}", partial(score, first), Work(), dtype, disk.reopen))
        variants[-1].clean_up = model.release
    return variants


def reference_variants(
    setup: Setup, kind: Kind, texts: Texts, lengths: Lengths, loading: dict[str, float]
) -> list[Variant]:
    pairs = texts.pairs(texts.first)
    folder = setup.folder(kind)
    if kind == "BERTScore":
        work = bertscore_work(setup.bertscore, lengths.references + lengths.first)
        seconds, package = setup.watch.time(lambda: PackageBertScore(folder, setup.bertscore.layers, setup.device))
        package.row_by_row(pairs[:1])
        variants = [
            Variant(ROW_BY_ROW, lambda: package.row_by_row(pairs), work, "fp32"),
            Variant(BATCHES, lambda: package.batched(pairs), work, "fp32"),
        ]
    else:
        work = bleurt_work(setup.bleurt, lengths.pairs)
        seconds, stock = setup.watch.time(lambda: StockBleurt(folder, setup.bleurt, setup.device))
        stock.row_by_row(pairs[:1])
        variants = [Variant(ROW_BY_ROW, lambda: stock.row_by_row(pairs), work, "fp32")]
    loading[f"{kind}, reference"] = seconds
    return variants


def measure(setup: Setup, kind: Kind, texts: Texts, lengths: Lengths, loading: dict[str, float]) -> dict[str, Variant]:
    """All variants of one model, in turns. Their models are freed at the end, before the other kind's are loaded."""
    variants = reference_variants(setup, kind, texts, lengths, loading)
    for dtype in DTYPES:
        variants += our_variants(setup, kind, dtype, texts, lengths, loading)
    for repeat in range(setup.repeats):
        for variant in variants:
            setup.patience.wait()
            variant.prepare()
            # Row by row there is no padding, and counting would cost the very many small calls most.
            padded = None if variant.name == ROW_BY_ROW else PaddedTokens(setup.sizes(kind))
            others = Others()
            seconds, variant.scores = setup.watch.time(variant.run)
            share = others.share()
            variant.clean_up()
            variant.padded = variant.work.tokens
            if padded is not None:
                variant.padded = padded.count
                padded.remove()
            variant.seconds.append(seconds)
            if seconds == variant.best:
                variant.others = share
            say(f"{kind} {repeat + 1}/{setup.repeats}: {variant.name}: {seconds:.3f} s, others {percent(share)}")
    for variant in variants:  # what they compute with holds the models
        variant.run, variant.prepare, variant.clean_up = list, lambda: None, lambda: None
    return {variant.name: variant for variant in variants}


# ---------------------------------------------------------------- memory


class _Peak:
    """Filled when `peak_memory` ends."""

    bytes = 0


@contextmanager
def peak_memory(device: str) -> Iterator[_Peak]:
    """Highest memory inside: of the process (Linux), sampled, or allocated by torch on a GPU. Bytes."""
    found = _Peak()
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
        yield found
        found.bytes = torch.cuda.max_memory_allocated()
        return
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(0.002):
            found.bytes = max(found.bytes, resident())

    found.bytes = resident()
    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()


def resident() -> int:
    """Resident set of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def memory_table(setup: Setup) -> list[list[str]]:
    """Growth of memory while n and 4n rows are scored; both against the memory before the first of them."""
    if setup.device == "cpu" and not Path("/proc/self/statm").exists():
        return []
    # So small a budget that n rows already fill BERTScore's chunk of held embeddings (8 budgets): from there on, more
    # rows may cost no more. Yet no smaller than the longest pair, which is always a batch.
    few = max(24, setup.rows)
    budget = max(MAX_TOKENS, few * 2 * MEAN_TOKENS // 8 // 64 * 64)
    table = []
    for kind in ("BERTScore", "BLEURT"):
        model = setup.model(kind, "fast", ScoreCache(None), budget)
        warm = make_texts(2, seed=SEED + 1)
        model.score(warm.pairs(warm.first))
        before = torch.cuda.memory_allocated() if setup.device.startswith("cuda") else resident()
        growth = []
        for rows in (few, 4 * few):
            texts = make_texts(rows, clusters=few // 2, seed=SEED + 2)  # the same lengths, four times as often
            with peak_memory(setup.device) as found:
                model.score(texts.pairs(texts.first))
            growth.append((found.bytes - before) / 2**20)
            say(f"memory of {kind}, {rows} rows: {growth[-1]:.0f} MiB")
        table.append([kind, str(budget), f"{few}: {growth[0]:.0f} MiB", f"{4 * few}: {growth[1]:.0f} MiB"])
        model.release()
    return table


# ---------------------------------------------------------------- profile


def profile_tables(setup: Setup, lengths: Lengths, top: int = 14) -> dict[str, list[list[str]]]:
    """Operations by the time spent in themselves, of about one full batch of ours."""
    from torch.profiler import ProfilerActivity, profile

    cuda = setup.device.startswith("cuda")
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if cuda else [])]
    budget = setup.token_budget or BUDGETS["cuda" if cuda else "cpu"]
    tables = {}
    for kind in ("BERTScore", "BLEURT"):
        tokens = fmean(lengths.pairs if kind == "BLEURT" else [2 * length for length in lengths.references])
        texts = make_texts(max(1, int(budget / tokens * 0.9)), clusters=1, seed=SEED + 3)
        pairs = texts.pairs(texts.first)
        for dtype, name in DTYPES.items():
            model = setup.model(kind, dtype, ScoreCache(None))
            model.score(pairs)
            with profile(activities=activities) as record:
                seconds, _ = setup.watch.time(partial(model.score, pairs))
            model.release()
            attribute = "self_device_time_total" if cuda else "self_cpu_time_total"
            events = sorted(record.key_averages(), key=lambda event: -getattr(event, attribute))
            total = sum(getattr(event, attribute) for event in events)
            tables[f"{kind}, {name}: {len(pairs)} pairs, {seconds:.2f} s"] = [
                [event.key[:60], f"{spent / 1e3:.1f} ms", f"{spent / total:.1%}", str(event.count)]
                for event in events[:top]
                if (spent := getattr(event, attribute)) > 0
            ]
    return tables


# ---------------------------------------------------------------- report


def say(text: str) -> None:
    """Progress goes to stderr, the tables to stdout."""
    print(text, file=sys.stderr, flush=True)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that is aligned in a terminal too."""
    cells = [list(header), *map(list, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return "| " + " | ".join([first, *others]) + " |"

    rule = (
        "|" + "|".join("-" * (width + 2) if i == 0 else "-" * (width + 1) + ":" for i, width in enumerate(widths)) + "|"
    )
    return "\n".join([line(cells[0]), rule, *map(line, cells[1:])])


def cpu_fields() -> dict[str, str]:
    """What Linux says of the first processor; empty elsewhere."""
    info = Path("/proc/cpuinfo")
    first = info.read_text().split("\n\n")[0] if info.exists() else ""
    fields = dict(line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in fields.items()}


def machine(device: str) -> str:
    name = platform.processor() or platform.machine()
    special = []
    if fields := cpu_fields():
        name = f"{fields.get('model name', name)} (family {fields.get('cpu family')}, model {fields.get('model')})"
        special = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if flag in fields.get("flags", "")]
    import transformers

    parts = [
        f"{name}, {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} cores",
        f"{torch.get_num_threads()} threads",
        *([" ".join(special)] if special else []),
        f"torch {torch.__version__}",
        f"transformers {transformers.__version__}",
        f"Python {platform.python_version()}",
        f"{platform.system()} {platform.machine()}",
    ]
    if device.startswith("cuda"):
        parts.insert(0, torch.cuda.get_device_name(device))
    return ", ".join(parts)


@dataclass(frozen=True)
class Row:
    """One line of the tables, for BERTScore, for BLEURT and for both, one after the other."""

    name: str
    dtype: DType
    seconds: dict[str, float]
    work: dict[str, Work]
    padded: dict[str, int]
    others: float | None

    def rate(self, part: str) -> float:
        """Useful GFLOP/s."""
        return self.work[part].gflops / self.seconds[part]


def combine(bertscore: dict[str, Variant], bleurt: dict[str, Variant]) -> list[Row]:
    """Rows of the tables. Where a variant exists for BERTScore alone, BLEURT is done in the nearest way it has."""
    rows = []
    for name, first in bertscore.items():
        # BLEURT reads both texts together: a second model's pairs are all new to it.
        second = bleurt[ROW_BY_ROW] if name == BATCHES else bleurt[name.replace(SECOND, COLD)]
        shares = [share for share in (first.others, second.others) if share is not None]
        rows.append(
            Row(
                name,
                first.dtype,
                {"BERTScore": first.best, "BLEURT": second.best, "both": first.best + second.best},
                {"BERTScore": first.work, "BLEURT": second.work, "both": first.work + second.work},
                {"BERTScore": first.padded, "BLEURT": second.padded, "both": first.padded + second.padded},
                max(shares) if shares else None,
            )
        )
    return rows


def number(value: float) -> str:
    """Three digits."""
    return (
        f"{value:,.0f}"
        if value >= 100
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
        if value >= 1
        else f"{value:.3f}"
    )


def percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


PARTS = ("BERTScore", "BLEURT", "both")


def speed_table(rows: Sequence[Row], count: int) -> str:
    base = rows[0].seconds
    header = [
        "",
        *(f"{part} {what}" for part in PARTS for what in ("s", "ratio")),
        f"{VFLUTE_ROWS} rows, min",
        "others' CPU",
    ]
    return markdown(
        header,
        [
            [
                row.name,
                *(
                    cell
                    for part in PARTS
                    for cell in (number(row.seconds[part]), number(base[part] / row.seconds[part]))
                ),
                number(row.seconds["both"] * VFLUTE_ROWS / count / 60),
                percent(row.others),
            ]
            for row in rows
        ],
    )


def peak_table(rows: Sequence[Row], peaks: dict[DType, float]) -> str:
    lines = []
    for row in rows:
        if not row.work["BERTScore"].tokens:  # all cached: no arithmetic
            continue
        cells = []
        for part in PARTS:
            padding = row.padded[part] / row.work[part].tokens - 1
            cells += [number(row.rate(part)), percent(row.rate(part) / peaks[row.dtype]), percent(padding)]
        lines.append([row.name, *cells])
    columns = ("GFLOP/s", "of peak", "padding")
    return markdown(["", *(f"{part} {what}" for part in PARTS for what in columns)], lines)


def aims_table(rows: Sequence[Row], device: str, peaks: dict[DType, float]) -> str:
    """Each aim of the project beside what was measured."""
    by_name = {row.name: row for row in rows}
    base = rows[0]
    fp32, fast = (f"{name}, " for name in DTYPES.values())
    if device.startswith("cuda"):
        kind = "cuda"
    elif chosen(device, "fast") == FLOAT32:
        kind = "cpu without bfloat16"
    else:
        kind = "cpu with AMX" if "amx_bf16" in cpu_fields().get("flags", "").split() else "cpu"
    aims = AIMS[kind]
    lines = []

    def add(text: str, value: float, aim: float, unit: str = "x") -> None:
        shown = (f"{value:.0%}", f"{aim:.0%}") if unit == "%" else (f"{number(value)}x", f"{aim:g}x")
        lines.append([text, shown[0], f">= {shown[1]}", "met" if value >= aim else "MISSED"])

    def against_base(name: str) -> float:
        return base.seconds["both"] / by_name[name].seconds["both"]

    for name, prefix in (("fast", fast), ("fp32", fp32)):
        if name in aims:
            add(f"{name}, cold, both, against row by row", against_base(prefix + COLD), aims[name])
    if "batches" in aims:
        ratio = by_name[BATCHES].seconds["both"] / by_name[fp32 + COLD].seconds["both"]
        add("fp32, cold, both, against bert-score in batches", ratio, aims["batches"])
    for name, prefix in (("fp32", fp32), ("fast", fast)):
        others = [row.seconds["both"] for row in rows if row.name.startswith(prefix + FORCED)]
        if "kernel" in aims and others:
            own = by_name[prefix + COLD].seconds["both"]
            add(f"{name}, cold, both, speed of the best kernel", min(own, *others) / own, aims["kernel"], "%")
    for name, prefix in (("fp32", fp32), ("fast", fast)):
        ratio = by_name[prefix + COLD].seconds["BERTScore"] / by_name[prefix + SECOND].seconds["BERTScore"]
        add(f"{name}, second model, BERTScore, against cold", ratio, aims["second"])
    for name, prefix in (("fp32", fp32), ("fast", fast)):
        add(f"{name}, all cached, both, against row by row", against_base(prefix + CACHED), aims["cached"])
    if "peak" in aims:
        share = by_name[fast + COLD].rate("both") / peaks["fast"]
        add("fast, cold, both, of the bf16 matrix peak", share, aims["peak"], "%")
    return markdown(["aim", "measured", "wanted", ""], lines)


def agreement_table(kinds: dict[str, dict[str, Variant]]) -> str:
    def apart(left: list[float], right: list[float]) -> float:
        return max(abs(a - b) for a, b in zip(left, right, strict=True))

    lines = []
    for kind, variants in kinds.items():
        reference = variants[ROW_BY_ROW].scores
        fp32, fast = (variants[f"{name}, {COLD}"].scores for name in DTYPES.values())
        cached = variants[f"{DTYPES['fp32']}, {CACHED}"].scores
        spread = f"{min(reference):.4f} to {max(reference):.4f}"
        lines.append(
            [
                kind,
                spread,
                *(f"{value:.1e}" for value in (apart(fp32, reference), apart(fast, fp32), apart(cached, fp32))),
            ]
        )
    return markdown(["largest difference", "scores", "fp32 - reference", "fast - fp32", "cached - fp32"], lines)


def spread(name: str, lengths: Sequence[int]) -> str:
    ordered = sorted(lengths)
    return f"{name}: mean {fmean(ordered):.1f}, sd {pstdev(ordered):.1f}, {ordered[0]} to {ordered[-1]}"


def report(setup: Setup, with_profile: bool, with_memory: bool) -> str:
    """Measure, and return all tables as Markdown."""
    start = time.perf_counter()
    device = setup.device
    texts = make_texts(setup.rows, setup.clusters)
    say("writing checkpoints")
    lengths = token_lengths(setup, texts)
    say("matrix-product peak")
    precisions: dict[DType, torch.dtype] = {"fp32": torch.float32, "fast": torch.bfloat16}
    by_library = {dtype: peak(setup.watch, precision, setup.small) for dtype, precision in precisions.items()}
    loading: dict[str, float] = {}
    kinds: dict[str, dict[str, Variant]] = {}
    for kind in ("BERTScore", "BLEURT"):
        kinds[kind] = measure(setup, kind, texts, lengths, loading)
        if device.startswith("cuda"):
            torch.cuda.empty_cache()
    for dtype, precision in precisions.items():  # again, should the first have been disturbed
        for library, rate in peak(setup.watch, precision, setup.small).items():
            by_library[dtype][library] = max(by_library[dtype][library], rate)
    peaks = {dtype: max(rates.values()) for dtype, rates in by_library.items()}
    if chosen(device, "fast") == FLOAT32:
        peaks["fast"] = peaks["fp32"]
    rows = combine(kinds["BERTScore"], kinds["BLEURT"])
    libraries = "; ".join(
        f"{dtype}: " + ", ".join(f"{library} {number(rate)}" for library, rate in rates.items())
        for dtype, rates in by_library.items()
    )
    budget = setup.token_budget or "default"
    parts = [
        f"Device {device}: {machine(device)}.",
        f"{setup.rows} rows, best of {setup.repeats} interleaved runs, token budget {budget}"
        + (", tiny models (--small): the ratios mean nothing." if setup.small else ".")
        + (" Seconds are CPU time of this process, without its waiting for the disk." if setup.cpu_clock else ""),
        f"Tokens: {spread('a text for BERTScore', lengths.references + lengths.first)}; "
        f"{spread('a pair for BLEURT', lengths.pairs)}."
        + (f" Lengths in {setup.clusters} clusters, as batches of {VFLUTE_ROWS} rows are." if setup.clusters else ""),
        "Time, and how many times as fast as row by row (both: one after the other):",
        speed_table(rows, setup.rows),
        aims_table(rows, device, peaks),
        f"Matrix-product peak in GFLOP/s: {libraries}. Kernels that ours chose: "
        + ", ".join(f"{dtype} {chosen(device, dtype)}" for dtype in DTYPES)
        + ".",
        peak_table(rows, peaks),
        FLOPS.replace("\n", " "),
        agreement_table(kinds),
        "Seconds to load (ours with the first row): "
        + ", ".join(f"{name} {number(seconds)}" for name, seconds in loading.items())
        + ".",
    ]
    if with_memory:
        header = ["memory beyond the loaded model", "token budget", "n rows", "4n rows"]
        parts.append(markdown(header, memory_table(setup)))
    if with_profile:
        for title, table in profile_tables(setup, lengths).items():
            parts.append(markdown([title, "self", "share", "calls"], table))
    say(f"{time.perf_counter() - start:.0f} s in all")
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu, or cuda where there is one")
    parser.add_argument("--rows", type=int, help=f"rows to score (24 on a CPU, {VFLUTE_ROWS} on a GPU, 6 with --small)")
    parser.add_argument("--repeats", type=int, help="runs of each variant, of which the best counts (2; 3 on a GPU)")
    parser.add_argument("--token-budget", type=int, help="padded tokens of a batch (the library's own default)")
    parser.add_argument(
        "--patience", type=float, default=0, metavar="SECONDS", help="wait so long, in all, for others to leave the CPU"
    )
    parser.add_argument("--threads", type=int, help="threads on the CPU (torch's default)")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="cpu: time only what this process uses; with --threads 1 for a machine that is never quiet",
    )
    parser.add_argument("--workdir", type=Path, help="where checkpoints (5 GB) are kept for the next time")
    parser.add_argument("--small", action="store_true", help="tiny models, for a test of this script")
    parser.add_argument("--profile", action="store_true", help="show what a batch of ours spends its time on")
    parser.add_argument("--memory", action="store_true", help="show peak memory at n and at 4n rows")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    given = parser.parse_args(arguments)
    cuda = given.device.startswith("cuda")
    if cuda and not torch.cuda.is_available():
        parser.error(f"--device {given.device}: torch sees no GPU")
    if given.clock == "cpu" and (cuda or (given.threads or torch.get_num_threads()) > 1):
        parser.error("--clock cpu needs --threads 1 on a CPU: threads that wait for each other use time as well")
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(given.threads or threads)
        with tempfile.TemporaryDirectory() as temporary:
            setup = Setup(
                device=given.device,
                small=given.small,
                rows=given.rows or (6 if given.small else VFLUTE_ROWS if cuda else 24),
                repeats=given.repeats or (3 if cuda else 2),
                token_budget=given.token_budget,
                workdir=given.workdir or Path(temporary),
                patience=Patience(given.patience),
                cpu_clock=given.clock == "cpu",
            )
            text = report(setup, given.profile, given.memory)
    finally:
        torch.set_num_threads(threads)
    print(text)
    if given.markdown:
        given.markdown.parent.mkdir(parents=True, exist_ok=True)
        given.markdown.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
