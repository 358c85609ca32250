"""Tiny dual encoders and matching heads with random weights, written as checkpoints with tokenizer and processor."""

from __future__ import annotations

import io
import json
import random
import string
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers

WORDS = (
    "love is as sweet honey time money a the of and in sea wave cat dog his her heart stone fire ice not like".split()
)
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SIDE = 32
LENGTHS = {"clip": 40, "siglip": 24, "siglip2": 24, "align": 64, "blip": 20, "vilt": 20}
LENGTHS |= {"aimv2": 40, "blip_model": 20, "blip-2": 20}
CLASSES = {
    "blip": "BlipForImageTextRetrieval",
    "blip_model": "BlipModel",
    "blip-2": "Blip2ForImageTextRetrieval",
    "vilt": "ViltForImageAndTextRetrieval",
}
"""Of checkpoints that are not of the class that ``AutoModel`` takes."""
MEAN = {"image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28]}


def sentences(count: int) -> list[str]:
    """Different texts, each of 1 to 5 words."""
    draw = random.Random(3)
    return [" ".join([WORDS[number], *draw.choices(WORDS, k=draw.randint(0, 4))]) for number in range(count)]


def write(kind: str, folder: Path, seed: int = 0) -> Path:
    """Write a checkpoint of `kind`, one of `KINDS`, into `folder`; returns it. `seed` decides the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    model, processor = KINDS[kind](folder)
    with torch.no_grad():  # Weights as drawn give features that are nearly all alike.
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.1 if kind == "align" else 0.3)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _clip(folder: Path) -> tuple[Any, Any]:
    tokenizer, text = _clip_text(folder)
    vision = _sizes() | {"image_size": SIDE, "patch_size": 8}
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
    return transformers.CLIPModel(config), transformers.CLIPProcessor(_clip_image(), tokenizer)


def _aimv2(folder: Path) -> tuple[Any, Any]:
    tokenizer, text = _clip_text(folder)
    vision = _sizes() | {"image_size": SIDE, "patch_size": 8}
    config = transformers.Aimv2Config(text_config=text, vision_config=vision, projection_dim=16)
    return transformers.Aimv2Model(config), transformers.CLIPProcessor(_clip_image(), tokenizer)


def _clip_image() -> Any:
    return transformers.CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size=SIDE, **MEAN)


def _clip_text(folder: Path) -> tuple[Any, dict[str, Any]]:
    # One piece per letter, and no merges: texts are as many tokens as they have letters.
    letters = [chr(code) for code in range(33, 127)]
    vocabulary = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({piece: index for index, piece in enumerate(vocabulary)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer.from_pretrained(folder, model_max_length=40)
    ends = {"bos_token_id": len(vocabulary) - 2, "eos_token_id": len(vocabulary) - 1, "pad_token_id": 0}
    return tokenizer, _sizes() | ends | {"vocab_size": len(vocabulary), "max_position_embeddings": 40}


def _siglip(folder: Path) -> tuple[Any, Any]:
    pieces = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(WORDS * 4), model_writer=pieces, vocab_size=50, hard_vocab_limit=False, minloglevel=2
    )
    (folder / "spiece.model").write_bytes(pieces.getvalue())
    tokenizer = transformers.SiglipTokenizer(
        str(folder / "spiece.model"), model_max_length=24, model_input_names=["input_ids"]
    )
    vision = _sizes() | {"image_size": SIDE, "patch_size": 8}
    config = transformers.SiglipConfig(text_config=_siglip_text(tokenizer), vision_config=vision)
    image = transformers.SiglipImageProcessor(size={"height": SIDE, "width": SIDE})
    return transformers.SiglipModel(config), transformers.SiglipProcessor(image, tokenizer)


def _siglip2(folder: Path) -> tuple[Any, Any]:
    """The kind that keeps the proportions of pictures (NaFlex); letters are tokens."""
    pieces = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *string.ascii_lowercase]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = transformers.Siglip2Tokenizer(
        vocab=vocabulary, merges=[], model_max_length=24, model_input_names=["input_ids"]
    )
    vision = _sizes() | {"patch_size": 16, "num_patches": 16}
    config = transformers.Siglip2Config(text_config=_siglip_text(tokenizer), vision_config=vision)
    return transformers.Siglip2Model(config), transformers.Siglip2Processor(
        transformers.Siglip2ImageProcessor(), tokenizer
    )


def _siglip_text(tokenizer: Any) -> dict[str, Any]:
    ends = {"bos_token_id": 1, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": 24, "projection_size": 32}
    return _sizes() | ends | sizes


def _align(folder: Path) -> tuple[Any, Any]:
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
    text = _sizes() | {"vocab_size": len(SPECIALS) + len(WORDS), "max_position_embeddings": 80}
    config = transformers.AlignConfig(text_config=text, vision_config=vision, projection_dim=16)
    image = transformers.EfficientNetImageProcessor(size={"height": SIDE, "width": SIDE}, **MEAN)
    return transformers.AlignModel(config), transformers.AlignProcessor(image, _bert(folder, 80))


def _blip(folder: Path) -> tuple[Any, Any]:
    text = _sizes() | {"vocab_size": len(SPECIALS) + len(WORDS), "max_position_embeddings": 20}
    text["encoder_hidden_size"] = 32
    vision = _sizes() | {"image_size": SIDE, "patch_size": 8}
    config = transformers.BlipConfig(text_config=text, vision_config=vision, image_text_hidden_size=16)
    image = transformers.BlipImageProcessor(size={"height": SIDE, "width": SIDE})
    return transformers.BlipForImageTextRetrieval(config), transformers.BlipProcessor(image, _bert(folder, 20))


def _blip_model(folder: Path) -> tuple[Any, Any]:
    model, processor = _blip(folder)
    return transformers.BlipModel(model.config), processor


def _blip2(folder: Path) -> tuple[Any, Any]:
    """With the marks of queries in the prompt, as the released checkpoints have them."""
    tokenizer = _bert(folder, 20)
    processor = transformers.Blip2Processor(
        transformers.BlipImageProcessor(size={"height": SIDE, "width": SIDE}), tokenizer, num_query_tokens=3
    )
    sizes = _sizes() | {"vocab_size": len(tokenizer), "max_position_embeddings": 20, "encoder_hidden_size": 32}
    config = transformers.Blip2Config(
        vision_config=_sizes() | {"image_size": SIDE, "patch_size": 8},
        qformer_config=sizes | {"cross_attention_frequency": 1, "use_qformer_text_input": True},
        text_config={"model_type": "opt", "hidden_size": 16, "ffn_dim": 16, "num_hidden_layers": 1, "vocab_size": 8},
        num_query_tokens=3,
        image_text_hidden_size=16,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )
    return transformers.Blip2ForImageTextRetrieval(config), processor


def _vilt(folder: Path) -> tuple[Any, Any]:
    config = transformers.ViltConfig(
        vocab_size=len(SPECIALS) + len(WORDS),
        max_position_embeddings=20,
        image_size=SIDE,
        patch_size=8,
        max_image_length=-1,
        **_sizes(),
    )
    # Keeps the proportions: pictures of different shapes have different numbers of patches.
    image = transformers.ViltImageProcessor(size={"shortest_edge": SIDE}, size_divisor=8)
    return transformers.ViltForImageAndTextRetrieval(config), transformers.ViltProcessor(image, _bert(folder, 20))


def _sizes() -> dict[str, Any]:
    return {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def _bert(folder: Path, longest: int) -> Any:
    (folder / "vocab.txt").write_text("\n".join([*SPECIALS, *WORDS]))
    return transformers.BertTokenizer.from_pretrained(folder, model_max_length=longest)


KINDS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "clip": _clip,
    "siglip": _siglip,
    "align": _align,
    "aimv2": _aimv2,
    "blip": _blip,
    "blip_model": _blip_model,
    "blip-2": _blip2,
    "vilt": _vilt,
} | ({"siglip2": _siglip2} if hasattr(transformers, "Siglip2Tokenizer") else {})  # transformers 5


@lru_cache(maxsize=16)  # more than there are kinds
def _loaded(folder: Path, kind: str) -> tuple[Any, Any]:
    model = getattr(transformers, CLASSES.get(kind, "AutoModel")).from_pretrained(folder).eval()
    return model, transformers.AutoProcessor.from_pretrained(folder)


def converts(folder: Path, kind: str) -> bool:
    """Whether the processor takes pictures of any mode."""
    return bool(getattr(_loaded(folder, kind)[1].image_processor, "do_convert_rgb", False))


def reference(folder: Path, kind: str, image: Any, text: str) -> float:
    """The score of one pair by the transformers model alone, as its documentation uses it."""
    model, processor = _loaded(folder, kind)
    padding = "max_length" if kind in ("siglip", "siglip2", "align") else kind == "aimv2"
    cut: dict[str, Any] = {"truncation": True, "padding": padding, "max_length": LENGTHS[kind]}
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
