"""A tiny BERT and a tiny ViT with random weights, written as the hub has them, with tokenizer and image processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_SIZES: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}


def write(folder: Path, words: list[str]) -> tuple[str, str]:
    """Write the folders ``bert``, which knows `words`, and ``vit``, of 32 pixels; returns their paths."""
    bert, vit = folder / "bert", folder / "vit"
    bert.mkdir(parents=True)
    torch.manual_seed(0)
    (bert / "vocab.txt").write_text("\n".join([*SPECIALS, *words]))
    transformers.BertTokenizer.from_pretrained(bert, model_max_length=40).save_pretrained(bert)
    size = len(SPECIALS) + len(words)
    transformers.BertModel(
        transformers.BertConfig(**_SIZES, vocab_size=size, max_position_embeddings=40)
    ).save_pretrained(bert)
    transformers.ViTModel(transformers.ViTConfig(**_SIZES, image_size=32, patch_size=16)).save_pretrained(vit)
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(vit)
    return str(bert), str(vit)
