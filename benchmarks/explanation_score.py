"""How fast explanation scores are: the published way beside ours, in one run.

    python benchmarks/explanation_score.py [--device cpu|cuda] [--rows N] [--repeats N] [--threads N]

Backs the table of docs/explanation_score.md. Needs no pretrained weights: it writes checkpoints of DeBERTa-xlarge (40
layers) and BLEURT-20 in their real sizes with random weights, and makes up texts as long as V-FLUTE's explanations.
Speed does not depend on the values; how far bf16 scores are from fp32 ones does.

All ways of a model run in turns (A B C, A B C, ...), so that what else the machine does hits all alike; the best run of
each counts. With ``--threads 1`` seconds are CPU time of this process.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any, Literal

import torch

from figlang_tasks.core.text import table
from figlang_tasks.metrics.explanation.bertscore import BertScore
from figlang_tasks.metrics.explanation.bleurt import Bleurt
from figlang_tasks.metrics.explanation.cache import ScoreCache
from figlang_tasks.metrics.explanation.compute import DType
from figlang_tasks.metrics.explanation.weights import Weights, locate

Pair = tuple[str, str]
Kind = Literal["BERTScore", "BLEURT"]

VFLUTE_ROWS = 723
MAX_TOKENS = 512
BATCH_TOKENS = 2048  # of ours on a CPU
SPECIALS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
SEED = 5

# Explanations of V-FLUTE's test split: words and punctuation marks are log-normal with .40 as the spread of the
# logarithm. The mean is that of their DeBERTa tokens without [CLS] and [SEP].
MEAN_TOKENS = 89
LOG_SPREAD = 0.40
SHORTEST, LONGEST = 20, 250


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
    """References and candidates, each of n distinct texts with the same lengths."""

    references: list[str]
    candidates: list[str]

    def pairs(self) -> list[Pair]:
        return list(zip(self.references, self.candidates, strict=True))


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
    sides: list[list[str]] = [[], []]
    for group in groups:
        lengths = [max(SHORTEST, min(LONGEST, round(scale * length))) for length in group]
        for side in sides:
            rng.shuffle(lengths)
            side += [_text(length, words, rng) for length in lengths]
    if clusters == rows:  # every pair would be of equal lengths
        for side in sides:
            rng.shuffle(side)
    assert len({text for side in sides for text in side}) == 2 * rows, "texts are not distinct"
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


# ---------------------------------------------------------------- measuring

ROW_BY_ROW = "published way, row by row"
BATCHES = "bert-score in batches of 64, BLEURT row by row"
DTYPES: dict[DType, str] = {"fp32": "ours, fp32", "fast": "ours, fast (bf16)"}
COLD, CACHED = "nothing cached", "all cached"


@dataclass
class Way:
    """One way to compute the scores of all rows; `prepare` sets its stage, and is not timed."""

    run: Callable[[], list[float]]
    prepare: Callable[[], None] = lambda: None
    seconds: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Setup:
    """Sizes, device and folder of a run of this script."""

    device: str
    small: bool
    rows: int
    repeats: int
    folder: Path

    def sizes(self, kind: Kind) -> Sizes:
        if kind == "BERTScore":
            return SMALL_DEBERTA if self.small else DEBERTA_XLARGE
        return SMALL_BLEURT if self.small else BLEURT_20

    def checkpoint(self, kind: Kind) -> Path:
        write = write_deberta if kind == "BERTScore" else write_bleurt
        return checkpoint(self.folder / f"{kind}{'-small' if self.small else ''}", self.sizes(kind), write)

    def texts(self) -> Texts:
        """As many clusters of lengths as the rows fill batches."""
        whole = self.small or self.rows >= VFLUTE_ROWS
        return make_texts(self.rows, None if whole else max(1, round(self.rows * 2 * MEAN_TOKENS / BATCH_TOKENS)))


def timed(run: Callable[[], Any], device: str) -> tuple[float, Any]:
    """Seconds that `run` takes, with what it returns: CPU time of one thread, else the wall's."""
    clock = time.process_time if device == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    result = run()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return clock() - start, result


def published_ways(setup: Setup, kind: Kind, pairs: list[Pair]) -> dict[str, Way]:
    folder = setup.checkpoint(kind)
    if kind == "BLEURT":
        stock = StockBleurt(folder, setup.sizes(kind), setup.device)
        stock.row_by_row(pairs[:1])
        return {ROW_BY_ROW: Way(partial(stock.row_by_row, pairs))}
    package = PackageBertScore(folder, setup.sizes(kind).layers, setup.device)
    package.row_by_row(pairs[:1])
    return {
        ROW_BY_ROW: Way(partial(package.row_by_row, pairs)),
        BATCHES: Way(partial(package.batched, pairs)),
    }


def our_ways(setup: Setup, kind: Kind, dtype: DType, texts: Texts) -> dict[str, Way]:
    """Cold and all cached, in the order in which each finds the cache as it should be."""
    cache = ScoreCache(setup.folder / "cache" / f"{kind}-{dtype}")
    weights = locate(Weights(str(setup.checkpoint(kind).resolve())))
    model: BertScore | Bleurt
    if kind == "BERTScore":
        model = BertScore(weights, setup.sizes(kind).layers, setup.device, dtype, cache)
    else:
        model = Bleurt(weights, setup.device, dtype, cache)
    pairs = texts.pairs()
    other = make_texts(2, seed=SEED + 1)

    def score(pairs: list[Pair]) -> list[float]:
        found = model.score(pairs)
        return [found[pair] for pair in pairs]

    def empty() -> None:
        score(other.pairs())  # loads the model
        cache.close()
        shutil.rmtree(setup.folder / "cache" / f"{kind}-{dtype}", ignore_errors=True)

    ways = {COLD: Way(partial(score, pairs), empty), CACHED: Way(partial(score, pairs), cache.close)}
    return {f"{DTYPES[dtype]}, {name}": way for name, way in ways.items()}


def measure(setup: Setup, kind: Kind, texts: Texts) -> dict[str, Way]:
    """All ways of one model, run in turns."""
    ways = published_ways(setup, kind, texts.pairs())
    for dtype in DTYPES:
        ways |= our_ways(setup, kind, dtype, texts)
    for repeat in range(setup.repeats):
        for name, way in ways.items():
            way.prepare()
            seconds, way.scores = timed(way.run, setup.device)
            way.seconds.append(seconds)
            print(f"{kind} {repeat + 1}/{setup.repeats}: {name}: {seconds:.3f} s", file=sys.stderr, flush=True)
    for way in ways.values():  # what they run holds the models
        way.run, way.prepare = list, lambda: None
    return ways


def report(setup: Setup) -> str:
    """Measure both models; a table of seconds and ratios, and how far the scores are apart."""
    texts = setup.texts()
    bertscore = measure(setup, "BERTScore", texts)
    bleurt = measure(setup, "BLEURT", texts)
    rows, base = [], 0.0
    for name, first in bertscore.items():
        second = bleurt[ROW_BY_ROW if name == BATCHES else name]
        both = min(first.seconds) + min(second.seconds)
        base = base or both
        minutes = both * VFLUTE_ROWS / setup.rows / 60
        rows.append(
            [name, *(f"{min(each.seconds):.2f}" for each in (first, second)), f"{both:.2f}", f"{base / both:.2f}x"]
            + [f"{minutes:.1f}"]
        )
    header = ["", "BERTScore s", "BLEURT s", "both s", "as fast", f"{VFLUTE_ROWS} rows, min"]
    lines = [
        f"{setup.rows} rows, best of {setup.repeats}, {setup.device}, {torch.get_num_threads()} threads, "
        f"torch {torch.__version__}",
        table([header, *rows]),
    ]
    for kind, ways in (("BERTScore", bertscore), ("BLEURT", bleurt)):
        for name in DTYPES.values():
            pairs = zip(ways[ROW_BY_ROW].scores, ways[f"{name}, {COLD}"].scores, strict=True)
            lines.append(f"{kind}, {name}: at most {max(abs(a - b) for a, b in pairs):.1e} from row by row")
    return "\n\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu, or cuda where there is one")
    parser.add_argument("--rows", type=int, default=24, help="rows to score (%(default)s)")
    parser.add_argument("--repeats", type=int, default=2, help="runs of each way, of which the best counts")
    parser.add_argument("--threads", type=int, help="threads on the CPU (torch's default)")
    parser.add_argument("--folder", type=Path, help="where checkpoints (5 GB) are kept for the next time")
    parser.add_argument("--small", action="store_true", help="tiny models, for a test of this script")
    given = parser.parse_args(arguments)
    if given.threads:
        torch.set_num_threads(given.threads)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        print(report(Setup(given.device, given.small, given.rows, given.repeats, folder)))


if __name__ == "__main__":
    main()
