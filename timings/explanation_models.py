"""Make the texts and models of ``explanation_score.py``: made-up texts, random weights."""

from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path
from statistics import NormalDist
from typing import Any

import torch
import transformers
from explanation_parts import EncoderSize
from safetensors.torch import save_file
from sentencepiece import SentencePieceProcessor
from user_rows import VFLUTE_ROWS

from figlang_tasks import mini
from figlang_tasks.metrics.explanation.compute import Pair

FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures"  # with tokenizers
BATCH_TOKENS = 2048  # the batch size of our code on a CPU
# Explanations of V-FLUTE's test split: tokens are log-normal, with .40 as the spread of the
# logarithm.
MEAN_TOKENS, LOG_SPREAD = 89, 0.40
LONGEST_WORD = 3  # tokens, so that texts of one length by one tokenizer are so by the other
DEBERTA_XLARGE = {
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "num_hidden_layers": 40,
    "intermediate_size": 4096,
    "vocab_size": 50265,
}
BLEURT_20 = {
    "hidden_size": 1152,
    "num_attention_heads": 18,
    "num_hidden_layers": 32,
    "intermediate_size": 4608,
    "vocab_size": 250300,
}
SMALL = {
    "hidden_size": 48,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "intermediate_size": 96,
}


def make_pairs(rows: int, seed: int = 5) -> list[Pair]:
    """Return pairs of made-up texts of V-FLUTE's lengths.

    A few rows of all lengths would fill batches of mixed lengths, half of them padding, which 723
    rows do not. So a sample has blocks of neighbouring lengths, as many as it fills batches.
    """
    draw = random.Random(seed)
    pieces = SentencePieceProcessor(model_file=str(FIXTURES / "bleurt" / "spm.model"))
    tokens_by_word: dict[str, int] = {}
    for word in sorted(set((mini.DATA_DIR / "README.md").read_text().split())):
        tokens = len(pieces.encode(word))
        if tokens <= LONGEST_WORD:
            tokens_by_word[word] = tokens
    words = list(tokens_by_word)

    def make_text(tokens: float) -> str:
        text_words: list[str] = []
        while tokens > 0:
            text_words.append(draw.choice(words))
            tokens -= tokens_by_word[text_words[-1]]
        return " ".join(text_words)

    return [(make_text(tokens), make_text(tokens)) for tokens in _sample_lengths(rows)]


def _sample_lengths(rows: int) -> list[float]:
    """Return the tokens of a text of each row, as V-FLUTE's are distributed."""
    normal = NormalDist(math.log(MEAN_TOKENS) - LOG_SPREAD**2 / 2, LOG_SPREAD)
    quantiles = [(row + 0.5) / VFLUTE_ROWS for row in range(VFLUTE_ROWS)]
    lengths = [math.exp(normal.inv_cdf(quantile)) for quantile in quantiles]
    blocks = max(1, round(rows * 2 * MEAN_TOKENS / BATCH_TOKENS))
    rows_of_block = math.ceil(rows / blocks)
    sample: list[float] = []
    for block in range(blocks):
        middle = (2 * block + 1) * VFLUTE_ROWS // (2 * blocks)
        for offset in range(rows_of_block):
            row = middle - rows_of_block // 2 + offset
            sample.append(lengths[min(max(row, 0), VFLUTE_ROWS - 1)])
    return sample[:rows]


def with_random_weights(model: Any) -> Any:
    """Return a model whose layers keep their variance, so that texts have different scores."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" not in name.lower():
                weight.normal_(0, weight.shape[-1] ** -0.5)
    return model.eval()


def write_deberta(folder: Path, small: bool) -> EncoderSize:
    """Write a checkpoint as ``microsoft/deberta-xlarge-mnli`` is; return its size."""
    options = json.loads((FIXTURES / "deberta" / "config.json").read_text())
    options |= SMALL if small else DEBERTA_XLARGE
    config = transformers.DebertaConfig(**options)
    model = with_random_weights(transformers.DebertaForSequenceClassification(config))
    model.save_pretrained(folder)
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        shutil.copy(FIXTURES / "deberta" / name, folder)
    return EncoderSize(
        width=config.hidden_size,
        inner=config.intermediate_size,
        layers=config.num_hidden_layers,
        position_terms=len(config.pos_att_type),
    )


def write_bleurt(folder: Path, small: bool) -> Any:
    """Write a checkpoint as ``lucadiliello/BLEURT-20`` is; return transformers' same model."""
    options = json.loads((FIXTURES / "bleurt" / "config.json").read_text())
    options |= SMALL if small else BLEURT_20
    options["embedding_size"] = 16 if small else 256
    rembert_options = dict(options)
    for name in ("model_type", "architectures"):
        rembert_options.pop(name, None)
    config = transformers.RemBertConfig(
        **rembert_options, input_embedding_size=options["embedding_size"], num_labels=1
    )
    model = with_random_weights(transformers.RemBertForSequenceClassification(config))
    weights: dict[str, torch.Tensor] = {}
    for name, weight in model.state_dict().items():
        bleurt_name = name.replace("rembert.", "bleurt.")
        bleurt_name = bleurt_name.replace("embedding_hidden_mapping_in", "embedding_projection")
        weights[bleurt_name] = weight
    folder.mkdir()
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(options))
    for name in ("spm.model", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(FIXTURES / "bleurt" / name, folder)
    return model
