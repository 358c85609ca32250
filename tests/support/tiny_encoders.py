"""Tiny dual encoders and matching heads with random weights, written as checkpoints with tokenizer and processor.

All have BERT's tokenizer with the letters as its pieces, so that each word has as many tokens as letters.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import transformers

hf: Any = transformers
WORDS = (
    "love is as sweet honey time money a the of and in sea wave cat dog his her heart stone fire ice not like".split()
)
LETTERS = [*string.ascii_lowercase, *string.digits, *string.punctuation]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
SIDE = 32
LONGEST = 40  # tokens of a text; of align, whose tokenizer would take 80, those that it was trained with
LENGTHS = {"align": 64}
SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
VISION = SIZES | {"image_size": SIDE, "patch_size": 8}
TEXT = SIZES | {"vocab_size": len(PIECES) + 1, "max_position_embeddings": LONGEST}  # one more for <image> of BLIP-2
ENDS = {"bos_token_id": PIECES.index("[CLS]"), "eos_token_id": PIECES.index("[SEP]"), "pad_token_id": 0}
MEAN = {"image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28]}


def sentences(count: int) -> list[str]:
    """Different texts, each of 1 to 5 words."""
    draw = random.Random(3)
    return [" ".join([WORDS[number], *draw.choices(WORDS, k=draw.randint(0, 4))]) for number in range(count)]


def write(kind: str, folder: Path, seed: int = 0) -> Path:
    """Write a checkpoint of `kind`, one of `KINDS`, into `folder`; returns it. `seed` decides the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    (folder / "vocab.txt").write_text("\n".join(PIECES))
    names = {"clip": 2, "aimv2": 2, "siglip": 1, "siglip2": 1}.get(kind, 3)  # of what the real tokenizers give
    tokenizer = hf.BertTokenizer.from_pretrained(
        folder,
        model_max_length=80 if kind == "align" else LONGEST,
        model_input_names=["input_ids", "attention_mask", "token_type_ids"][:names],
    )
    model, processor = KINDS[kind](tokenizer)
    with torch.no_grad():  # Weights as drawn give features that are nearly all alike.
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.1 if kind == "align" else 0.3)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _like_clip(name: str) -> Callable[[Any], tuple[Any, Any]]:
    def made(tokenizer: Any) -> tuple[Any, Any]:
        config = getattr(hf, f"{name}Config")(text_config=TEXT | ENDS, vision_config=VISION, projection_dim=16)
        image = hf.CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size=SIDE, **MEAN)
        return getattr(hf, f"{name}Model")(config), hf.CLIPProcessor(image, tokenizer)

    return made


def _siglip(tokenizer: Any) -> tuple[Any, Any]:
    config = hf.SiglipConfig(text_config=TEXT | ENDS | {"projection_size": 32}, vision_config=VISION)
    image = hf.SiglipImageProcessor(size={"height": SIDE, "width": SIDE})
    return hf.SiglipModel(config), hf.SiglipProcessor(image, tokenizer)


def _siglip2(tokenizer: Any) -> tuple[Any, Any]:
    """The kind that keeps the proportions of pictures (NaFlex)."""
    vision = SIZES | {"patch_size": 16, "num_patches": 16}
    config = hf.Siglip2Config(text_config=TEXT | ENDS | {"projection_size": 32}, vision_config=vision)
    return hf.Siglip2Model(config), hf.Siglip2Processor(hf.Siglip2ImageProcessor(), tokenizer)


def _align(tokenizer: Any) -> tuple[Any, Any]:
    vision = {
        "image_size": SIDE,
        "kernel_sizes": [3, 3],
        "in_channels": [32, 16],
        "out_channels": [16, 16],
        "strides": [1, 2],
        "num_block_repeats": [1, 1],
        "expand_ratios": [1, 2],
        "depthwise_padding": [],
        "width_coefficient": 1.0,
        "depth_coefficient": 1.0,
        "hidden_dim": 16,
    }
    text = TEXT | {"max_position_embeddings": 80}
    image = hf.EfficientNetImageProcessor(size={"height": SIDE, "width": SIDE}, **MEAN)
    config = hf.AlignConfig(text_config=text, vision_config=vision, projection_dim=16)
    return hf.AlignModel(config), hf.AlignProcessor(image, tokenizer)


def _blip(tokenizer: Any) -> tuple[Any, Any]:
    text = TEXT | {"encoder_hidden_size": 32}
    config = hf.BlipConfig(text_config=text, vision_config=VISION, image_text_hidden_size=16)
    image = hf.BlipImageProcessor(size={"height": SIDE, "width": SIDE})
    return hf.BlipForImageTextRetrieval(config), hf.BlipProcessor(image, tokenizer)


def _blip2(tokenizer: Any) -> tuple[Any, Any]:
    """With the marks of queries in the prompt, as the released checkpoints have them."""
    image = hf.BlipImageProcessor(size={"height": SIDE, "width": SIDE})
    processor = hf.Blip2Processor(image, tokenizer, num_query_tokens=3)  # which adds <image> to the tokenizer
    config = hf.Blip2Config(
        vision_config=VISION,
        qformer_config=TEXT
        | {"encoder_hidden_size": 32, "cross_attention_frequency": 1, "use_qformer_text_input": True},
        text_config={"model_type": "opt", "hidden_size": 16, "ffn_dim": 16, "num_hidden_layers": 1, "vocab_size": 8},
        num_query_tokens=3,
        image_text_hidden_size=16,
        image_token_index=len(PIECES),
    )
    return hf.Blip2ForImageTextRetrieval(config), processor


def _vilt(tokenizer: Any) -> tuple[Any, Any]:
    config = hf.ViltConfig(**TEXT, image_size=SIDE, patch_size=8, max_image_length=-1)
    # Keeps the proportions: pictures of different shapes have different numbers of patches.
    image = hf.ViltImageProcessor(size={"shortest_edge": SIDE}, size_divisor=8)
    return hf.ViltForImageAndTextRetrieval(config), hf.ViltProcessor(image, tokenizer)


KINDS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "clip": _like_clip("CLIP"),
    "siglip": _siglip,
    "siglip2": _siglip2,
    "align": _align,
    "aimv2": _like_clip("Aimv2"),
    "blip": _blip,
    "blip-2": _blip2,
    "vilt": _vilt,
}
CLASSES = {
    "blip": "BlipForImageTextRetrieval",
    "blip-2": "Blip2ForImageTextRetrieval",
    "vilt": "ViltForImageAndTextRetrieval",
}
"""Of checkpoints that are not of the class that ``AutoModel`` takes."""


@lru_cache(maxsize=16)  # more than there are kinds
def _loaded(folder: Path, kind: str) -> tuple[Any, Any]:
    model = getattr(hf, CLASSES.get(kind, "AutoModel")).from_pretrained(folder).eval()
    return model, hf.AutoProcessor.from_pretrained(folder)


def reference(folder: Path, kind: str, image: Any, text: str) -> float:
    """The score of one pair by the transformers model alone, as its documentation uses it."""
    model, processor = _loaded(folder, kind)
    padding = "max_length" if kind in ("siglip", "siglip2", "align") else kind == "aimv2"
    cut: dict[str, Any] = {"truncation": True, "padding": padding, "max_length": LENGTHS.get(kind, LONGEST)}
    if kind == "blip-2":  # it takes the queries off before it cuts
        cut["max_length"] += 3
    # In a batch without padding aimv2 reads texts in both directions, whatever it was trained for: a shorter text pads.
    said = [text, ""] if kind == "aimv2" else text
    inputs = processor(images=image, text=said, return_tensors="pt", **cut)
    with torch.inference_mode():
        if kind == "blip":
            return model(**inputs, use_itm_head=True).itm_score.softmax(dim=-1)[0, 1].item()
        if kind == "blip-2":
            return model(**inputs, use_image_text_matching_head=True).logits_per_image.softmax(dim=1)[0, 1].item()
        if kind == "vilt":
            return model(**inputs).logits[0, 0].sigmoid().item()
        found = model(**inputs)
        return torch.nn.functional.cosine_similarity(found.image_embeds, found.text_embeds[:1]).item()
