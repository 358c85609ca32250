"""Tiny dual encoders, matching heads and towers with random weights, written with tokenizer and
processor.

All but the towers have BERT's tokenizer with the letters as its pieces: each word has as many
tokens as letters.
"""

from __future__ import annotations

import random
import string
from functools import lru_cache
from pathlib import Path
from typing import Any

import tiny_vlms
import torch
import transformers

hf: Any = transformers
KINDS = tiny_vlms.read("encoders.yaml")
WORDS = (
    "love is as sweet honey time money a the of and in sea wave cat dog his her heart stone fire"
    " ice not like".split()
)
LETTERS = [*string.ascii_lowercase, *string.digits, *string.punctuation]
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
]
LONGEST = 40  # tokens of a text
SIZES = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}


def longest(kind: str) -> int:
    """The tokens that a text is cut to."""
    return KINDS[kind].get("cut", LONGEST)


def sentences(count: int) -> list[str]:
    """Different texts, each of 1 to 5 words."""
    draw = random.Random(3)
    return [
        " ".join([WORDS[number], *draw.choices(WORDS, k=draw.randint(0, 4))])
        for number in range(count)
    ]


def write(kind: str, folder: Path, seed: int = 0) -> Path:
    """Write a checkpoint of `kind`, one of `KINDS`, into `folder`; returns it. `seed` decides the
    weights.
    """
    data = KINDS[kind]
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    (folder / "vocab.txt").write_text("\n".join(PIECES))
    tokenizer = hf.BertTokenizer.from_pretrained(
        folder,
        model_max_length=data.get("longest", LONGEST),
        model_input_names=["input_ids", "attention_mask", "token_type_ids"][
            : data.get("inputs", 3)
        ],
    )
    # That of BLIP-2 adds <image> to the tokenizer
    processor = tiny_vlms.made(data["processor"], data, tokenizer)
    model = getattr(hf, data["model"])(tiny_vlms.made(data["config"], data, tokenizer))
    with torch.no_grad():  # Weights as drawn give features that are nearly all alike.
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, data.get("spread", 0.3))
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@lru_cache(maxsize=16)  # more than there are kinds
def _loaded(folder: Path, kind: str) -> tuple[Any, Any]:
    model = getattr(hf, KINDS[kind]["model"]).from_pretrained(folder).eval()
    return model, hf.AutoProcessor.from_pretrained(folder)


def reference(folder: Path, kind: str, image: Any, text: str) -> float:
    """The score of one pair by the transformers model alone, as its documentation uses it."""
    model, processor = _loaded(folder, kind)
    padding = "max_length" if kind in ("siglip", "siglip2", "align") else kind == "aimv2"
    cut: dict[str, Any] = {"truncation": True, "padding": padding, "max_length": longest(kind)}
    if kind == "blip-2":  # it takes the queries off before it cuts
        cut["max_length"] += 3
    # In a batch without padding aimv2 reads texts in both directions, whatever it was trained for:
    # a shorter text pads.
    said = [text, ""] if kind == "aimv2" else text
    inputs = processor(images=image, text=said, return_tensors="pt", **cut)
    with torch.inference_mode():
        if kind == "blip":
            return model(**inputs, use_itm_head=True).itm_score.softmax(dim=-1)[0, 1].item()
        if kind == "blip-2":
            return (
                model(**inputs, use_image_text_matching_head=True)
                .logits_per_image.softmax(dim=1)[0, 1]
                .item()
            )
        if kind == "vilt":
            return model(**inputs).logits[0, 0].sigmoid().item()
        found = model(**inputs)
        return torch.nn.functional.cosine_similarity(
            found.image_embeds, found.text_embeds[:1]
        ).item()


def write_towers(folder: Path, words: list[str]) -> tuple[str, str]:
    """Write the folders ``bert``, which knows `words`, and ``vit``, of 32 pixels; returns their
    paths.
    """
    bert, vit = folder / "bert", folder / "vit"
    bert.mkdir(parents=True)
    torch.manual_seed(0)
    (bert / "vocab.txt").write_text("\n".join([*PIECES[:5], *words]))
    hf.BertTokenizer.from_pretrained(bert, model_max_length=40).save_pretrained(bert)
    size = 5 + len(words)
    hf.BertModel(
        hf.BertConfig(**SIZES, vocab_size=size, max_position_embeddings=40)
    ).save_pretrained(bert)
    hf.ViTModel(hf.ViTConfig(**SIZES, image_size=32, patch_size=16)).save_pretrained(vit)
    hf.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(vit)
    return str(bert), str(vit)
