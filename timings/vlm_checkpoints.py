"""Vision-language models with random weights and processors of the real sizes, for
`vlm_requests.py`.

The processors resize, cut and normalise pictures as those of the published checkpoints do. The
tokenizer is the demo model's, with the special tokens of the family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer

from figlang_tasks.mini import DEMO_MODEL_DIR

hf: Any = transformers
PATCH = 14  # pixels, as in the vision towers of all three families
LLAVA_SIDE = 336  # pixels, LLaVA 1.5
TILE_SIDE = 448  # pixels, InternVL 3
TILE_TOKENS = 256  # that a tile of InternVL 3 becomes
END_TOKEN = 2


@dataclass(frozen=True)
class Size:
    """How large a model is.

    Attributes:
        text: of the language model, by the names of its configuration.
        mrope_section: how Qwen2.5-VL divides half a head between time, height and width.
        vision_hidden, vision_intermediate, vision_layers, vision_heads: of the vision tower.
        weight_spread: the standard deviation of the weights; answers shall depend on pictures.
    """

    text: dict[str, int]
    mrope_section: list[int]
    vision_hidden: int
    vision_intermediate: int
    vision_layers: int
    vision_heads: int
    weight_spread: float


SIZES = {
    "tiny": Size(
        text={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "head_dim": 16,
        },
        mrope_section=[2, 3, 3],
        vision_hidden=16,
        vision_intermediate=32,
        vision_layers=1,
        vision_heads=1,
        weight_spread=0.1,
    ),
    "100m": Size(
        text={
            "hidden_size": 768,
            "intermediate_size": 2048,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "num_key_value_heads": 4,
            "head_dim": 64,
        },
        mrope_section=[8, 12, 12],
        vision_hidden=512,
        vision_intermediate=2048,
        vision_layers=6,
        vision_heads=8,
        weight_spread=0.05,
    ),
    # Qwen2.5-VL-3B, for a GPU.
    "3b": Size(
        text={
            "vocab_size": 151936,
            "hidden_size": 2048,
            "intermediate_size": 11008,
            "num_hidden_layers": 36,
            "num_attention_heads": 16,
            "num_key_value_heads": 2,
            "head_dim": 128,
        },
        mrope_section=[16, 24, 24],
        vision_hidden=1280,
        vision_intermediate=3420,
        vision_layers=32,
        vision_heads=16,
        weight_spread=0.02,
    ),
}


@dataclass(frozen=True)
class PictureLimits:
    """How many pixels and tiles of a picture the processors keep.

    Attributes:
        min_pixels, max_pixels: of a picture, Qwen2.5-VL.
        max_tiles: of a picture, without the thumbnail, InternVL 3.
    """

    min_pixels: int
    max_pixels: int
    max_tiles: int


# The defaults of lmms-eval's classes, which are those of the authors' own evaluations.
_DEFAULT_LIMITS = PictureLimits(256 * 28 * 28, 2048 * 28 * 28, 12)
LIMITS = {
    "tiny": _DEFAULT_LIMITS,
    # Fewer, because such a model takes 10 seconds for one of these pictures on a CPU.
    "100m": PictureLimits(4 * 28 * 28, 256 * 28 * 28, 1),
    "3b": _DEFAULT_LIMITS,
}


def write_checkpoint(family: str, size_name: str, folder: Path) -> Path:
    """Write a model with its processor into a folder, and return the folder.

    No answer of the model ends early.

    Args:
        family: a key of `FAMILIES`.
        size_name: a key of `SIZES`.
        folder: where the files go.
    """
    size = SIZES[size_name]
    torch.manual_seed(0)
    model, processor = FAMILIES[family](size, LIMITS[size_name])
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(std=size.weight_spread)
        # Other tokens have larger logits than this one.
        model.get_output_embeddings().weight[END_TOKEN] = 0
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _llava(size: Size, limits: PictureLimits) -> tuple[Any, Any]:
    """Model and processor of LLaVA 1.5: each picture becomes a square of 576 tokens."""
    tokenizer = _tokenizer()
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(
            hidden_size=size.vision_hidden,
            intermediate_size=size.vision_intermediate,
            num_hidden_layers=size.vision_layers,
            num_attention_heads=size.vision_heads,
            image_size=LLAVA_SIDE,
            patch_size=PATCH,
            projection_dim=32,
        ),
        text_config=hf.LlamaConfig(**_text_options(size, tokenizer)),
        image_token_index=_token_id(tokenizer, "<image>"),
    )
    image_processor = hf.CLIPImageProcessor(
        size={"shortest_edge": LLAVA_SIDE},
        crop_size={"height": LLAVA_SIDE, "width": LLAVA_SIDE},
    )
    processor = hf.LlavaProcessor(
        image_processor,
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        image_token="<image>",
        num_additional_image_tokens=1,
        chat_template=_chat_template("<image>\n"),
    )
    return hf.LlavaForConditionalGeneration(config), processor


def _qwen2_5_vl(size: Size, limits: PictureLimits) -> tuple[Any, Any]:
    """Model and processor of Qwen2.5-VL: a token for each 28 x 28 pixels."""
    tokenizer = _tokenizer("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    rope = {
        "rope_type": "default",
        "rope_theta": 1000000.0,
        "mrope_section": size.mrope_section,
    }
    config = hf.Qwen2_5_VLConfig(
        text_config=_text_options(size, tokenizer) | {"rope_parameters": rope},
        vision_config={
            "depth": size.vision_layers,
            "hidden_size": size.vision_hidden,
            "intermediate_size": size.vision_intermediate,
            "num_heads": size.vision_heads,
            "patch_size": PATCH,
            "window_size": 112,
            "out_hidden_size": size.text["hidden_size"],
            # These layers look at the whole picture: one of six, and as in real ones four of 32.
            "fullatt_block_indexes": [5, 13, 21, 29],
        },
        image_token_id=_token_id(tokenizer, "<|image_pad|>"),
        video_token_id=_token_id(tokenizer, "<|video_pad|>"),
        vision_start_token_id=_token_id(tokenizer, "<|vision_start|>"),
        vision_end_token_id=_token_id(tokenizer, "<|vision_end|>"),
        tie_word_embeddings=False,
    )
    pixels = {"shortest_edge": limits.min_pixels, "longest_edge": limits.max_pixels}
    processor = hf.Qwen2_5_VLProcessor(
        hf.Qwen2VLImageProcessor(size=pixels),
        tokenizer,
        hf.Qwen2VLVideoProcessor(),
        chat_template=_chat_template("<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return hf.Qwen2_5_VLForConditionalGeneration(config), processor


def _internvl(size: Size, limits: PictureLimits) -> tuple[Any, Any]:
    """Model and processor of InternVL 3: tiles of 448 x 448 pixels, 256 tokens each."""
    tokenizer = _tokenizer(
        start_image_token="<img>",
        end_image_token="</img>",
        context_image_token="<IMG_CONTEXT>",
        video_token="<video>",
    )
    config = hf.InternVLConfig(
        vision_config={
            "hidden_size": size.vision_hidden,
            "intermediate_size": size.vision_intermediate,
            "num_hidden_layers": size.vision_layers,
            "num_attention_heads": size.vision_heads,
            "image_size": [TILE_SIDE, TILE_SIDE],
            "patch_size": [PATCH, PATCH],
        },
        text_config=_text_options(size, tokenizer) | {"model_type": "qwen2"},
        image_token_id=_token_id(tokenizer, "<IMG_CONTEXT>"),
        image_seq_length=TILE_TOKENS,
        downsample_ratio=0.5,
        tie_word_embeddings=False,
    )
    image_processor = hf.GotOcr2ImageProcessor(
        size={"height": TILE_SIDE, "width": TILE_SIDE},
        crop_to_patches=True,
        max_patches=limits.max_tiles,
    )
    processor = hf.InternVLProcessor(
        image_processor,
        tokenizer,
        hf.InternVLVideoProcessor(),
        image_seq_length=TILE_TOKENS,
        chat_template=_chat_template("<IMG_CONTEXT>\n"),
    )
    return hf.InternVLForConditionalGeneration(config), processor


FAMILIES: dict[str, Callable[[Size, PictureLimits], tuple[Any, Any]]] = {
    "llava": _llava,
    "qwen2_5_vl": _qwen2_5_vl,
    "internvl": _internvl,
}


def _tokenizer(*special_tokens: str, **named_tokens: str) -> Any:
    """The demo model's tokenizer with more special tokens, some of which a processor asks for."""
    fast_tokenizer = Tokenizer.from_file(str(DEMO_MODEL_DIR / "tokenizer.json"))
    fast_tokenizer.add_special_tokens([*special_tokens, *named_tokens.values()])
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=fast_tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        model_max_length=8192,
        model_input_names=["input_ids", "attention_mask"],
        extra_special_tokens=named_tokens,
    )


def _token_id(tokenizer: Any, token: str) -> int:
    token_id: int = tokenizer.convert_tokens_to_ids(token)
    return token_id


def _text_options(size: Size, tokenizer: Any) -> dict[str, Any]:
    """The configuration of a language model for a tokenizer."""
    return {
        "vocab_size": len(tokenizer),
        **size.text,
        "max_position_embeddings": 8192,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": END_TOKEN,
        "tie_word_embeddings": False,
    }


def _chat_template(image: str) -> str:
    """A chat template that writes `image` for a picture."""
    return (
        "{% for message in messages %}{{ message['role'].upper() }}: {% for part in"
        " message['content'] %}{% if part['type'] == 'image' %}{{ '"
        + image.replace("\n", "\\n")
        + "' }}{% else %}{{ part['text'] }}{% endif %}{% endfor %} {% endfor %}"
        "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
    )
