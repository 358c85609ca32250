"""Tiny image-text-to-text models with random weights, written to folders as real checkpoints are.

All share the words of the demo model's tokenizer; each family has its own special tokens, chat template, image
processor and geometry. Weights have a spread of 0.1, so that answers depend on pictures and positions.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer

from figlang_tasks.mini import DEMO_MODEL_DIR

hf: Any = transformers
OLD = hf.__version__.startswith("4.")
ROPE = "rope_scaling" if OLD else "rope_parameters"
SPREAD = 0.1
TEXT: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 4096,
    "initializer_range": SPREAD,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "tie_word_embeddings": False,
}
VISION: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 8,
    "initializer_range": SPREAD,
}


def _tokenizer(*special: str, kind: str = "PreTrainedTokenizerFast", **named: str) -> Any:
    if not OLD:  # 4.x wants the class that a processor is used with
        kind = "PreTrainedTokenizerFast"
    tokenizer = Tokenizer.from_file(str(DEMO_MODEL_DIR / "tokenizer.json"))
    tokenizer.add_special_tokens([*special, *named.values()])
    return getattr(hf, kind)(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        model_max_length=4096,
        model_input_names=["input_ids", "attention_mask"],
        extra_special_tokens=named,
    )


def _template(start: str, end: str, image: str, answer: str, bos: str = "") -> str:
    """A chat template: `start` with ROLE in it, the parts in their order, `end`; last `answer`."""
    begin = "{{ '" + start.replace("ROLE", "' ~ message['role'] ~ '") + "' }}"
    parts = (
        "{% for part in message['content'] %}{% if part['type'] == 'image' %}{{ '" + image + "' }}"
        "{% else %}{{ part['text'] }}{% endif %}{% endfor %}"
    )
    return (
        ("{{ '" + bos + "' }}" if bos else "")
        + "{% for message in messages %}"
        + begin
        + parts
        + "{{ '"
        + end
        + "' }}{% endfor %}{% if add_generation_prompt %}{{ '"
        + answer
        + "' }}{% endif %}"
    )


IM_START, IM_END = "<|im_start|>", "<|im_end|>"


def _chatml(image: str) -> str:
    return _template(IM_START + "ROLE\\n", IM_END + "\\n", image, IM_START + "assistant\\n")


def llava() -> tuple[Any, Any]:
    tokenizer = _tokenizer()
    vision = hf.CLIPVisionConfig(**VISION, projection_dim=32)
    text = hf.LlamaConfig(vocab_size=len(tokenizer), **TEXT)
    config = hf.LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=3, image_seq_length=16, vision_feature_layer=-1
    )
    config.tie_word_embeddings = False
    size = {"height": 32, "width": 32}
    processor = hf.LlavaProcessor(
        hf.CLIPImageProcessor(size=size, do_center_crop=False, crop_size=size),
        tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        image_token="<image>",
        num_additional_image_tokens=1,
        chat_template=_template("ROLE: ", "\\n", "<image>", "ASSISTANT:", bos="<s>"),
    )
    return hf.LlavaForConditionalGeneration(config), processor


def qwen2_5_vl() -> tuple[Any, Any]:
    names = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>", IM_START, IM_END]
    tokenizer = _tokenizer(*names, kind="Qwen2TokenizerFast")
    ids = dict(zip(names, tokenizer.convert_tokens_to_ids(names), strict=True))
    config = hf.Qwen2_5_VLConfig(
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            ROPE: {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "patch_size": 8,
            "window_size": 32,
            "out_hidden_size": 64,
            "fullatt_block_indexes": [1],
            "initializer_range": SPREAD,
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=False,
    )
    images = hf.Qwen2VLImageProcessor(
        patch_size=8,
        merge_size=2,
        size={"shortest_edge": 32 * 32, "longest_edge": 64 * 64},
    )
    processor = hf.Qwen2_5_VLProcessor(
        images,
        tokenizer,
        hf.Qwen2VLVideoProcessor(patch_size=8, merge_size=2),
        chat_template=_chatml("<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return hf.Qwen2_5_VLForConditionalGeneration(config), processor


def qwen3_vl() -> tuple[Any, Any]:
    names = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>", IM_START, IM_END]
    tokenizer = _tokenizer(*names, kind="Qwen2TokenizerFast")
    ids = dict(zip(names, tokenizer.convert_tokens_to_ids(names), strict=True))
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 2, 2], "mrope_interleaved": True}
    config = hf.Qwen3VLConfig(
        text_config={**TEXT, "vocab_size": len(tokenizer), ROPE: rope},
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "patch_size": 8,
            "out_hidden_size": 64,
            "deepstack_visual_indexes": [0, 1],
            "num_position_embeddings": 64,
            "initializer_range": SPREAD,
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=False,
    )
    images = hf.Qwen2VLImageProcessor(
        patch_size=8,
        merge_size=2,
        size={"shortest_edge": 32 * 32, "longest_edge": 64 * 64},
    )
    processor = hf.Qwen3VLProcessor(
        images,
        tokenizer,
        hf.Qwen3VLVideoProcessor(patch_size=8, merge_size=2),
        chat_template=_chatml("<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return hf.Qwen3VLForConditionalGeneration(config), processor


def idefics3() -> tuple[Any, Any]:
    tokenizer = _tokenizer("<fake_token_around_image>", "<end_of_utterance>", "<global-img>")
    config = hf.Idefics3Config(
        image_token_id=3,
        vision_config={**VISION, "image_size": 32, "patch_size": 8},
        text_config={**TEXT, "model_type": "llama", "vocab_size": len(tokenizer)},
        scale_factor=2,
        pad_token_id=0,
        tie_word_embeddings=False,
    )
    images = hf.Idefics3ImageProcessor(
        size={"longest_edge": 64}, max_image_size={"longest_edge": 32}, do_image_splitting=True
    )
    processor = hf.Idefics3Processor(
        images,
        tokenizer,
        image_seq_len=4,
        chat_template=_template("ROLE:", "<end_of_utterance>\\n", "<image>", "Assistant:", bos="<s>"),
    )
    return hf.Idefics3ForConditionalGeneration(config), processor


def internvl() -> tuple[Any, Any]:
    named = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    tokenizer = _tokenizer(IM_START, IM_END, kind="Qwen2TokenizerFast", **named)
    config = hf.InternVLConfig(
        vision_config={**VISION, "image_size": [32, 32], "patch_size": [8, 8]},
        text_config={**TEXT, "model_type": "qwen2", "vocab_size": len(tokenizer)},
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
        downsample_ratio=0.5,
        tie_word_embeddings=False,
    )
    images = hf.GotOcr2ImageProcessor(size={"height": 32, "width": 32}, crop_to_patches=True, max_patches=3)
    processor = hf.InternVLProcessor(
        images,
        tokenizer,
        hf.InternVLVideoProcessor(),
        image_seq_length=4,
        chat_template=_chatml("<IMG_CONTEXT>\\n"),
    )
    return hf.InternVLForConditionalGeneration(config), processor


def gemma3() -> tuple[Any, Any]:
    """With layers of a sliding window that is shorter than any prompt with an image."""
    named = {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}
    tokenizer = _tokenizer("<start_of_turn>", "<end_of_turn>", kind="GemmaTokenizerFast", **named)
    config = hf.Gemma3Config(
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            "sliding_window": 8,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "query_pre_attn_scalar": 16,
        },
        vision_config={**VISION, "vision_use_head": False},
        mm_tokens_per_image=4,
        boi_token_index=tokenizer.boi_token_id,
        eoi_token_index=tokenizer.eoi_token_id,
        image_token_index=tokenizer.image_token_id,
        tie_word_embeddings=False,
    )
    processor = hf.Gemma3Processor(
        hf.Gemma3ImageProcessor(size={"height": 32, "width": 32}),
        tokenizer,
        image_seq_length=4,
        chat_template=_template(
            "<start_of_turn>ROLE\\n",
            "<end_of_turn>\\n",
            "<start_of_image>",
            "<start_of_turn>model\\n",
            bos="<s>",
        ),
    )
    return hf.Gemma3ForConditionalGeneration(config), processor


def mllama() -> tuple[Any, Any]:
    """Images enter by cross-attention, with a mask that has an entry per token."""
    tokenizer = _tokenizer("<|image|>", "<|python_tag|>", IM_START, IM_END)
    config = hf.MllamaConfig(
        text_config={
            **{name: value for name, value in TEXT.items() if name != "head_dim"},
            "vocab_size": len(tokenizer),
            "cross_attention_layers": [1],
            ROPE: {"rope_type": "default", "rope_theta": 10000.0},
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_global_layers": 1,
            "attention_heads": 2,
            "image_size": 32,
            "patch_size": 8,
            "max_num_tiles": 4,
            "vision_output_dim": 64,
            "intermediate_layers_indices": [0],
            "supported_aspect_ratios": [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]],
        },
        image_token_index=tokenizer.convert_tokens_to_ids("<|image|>"),
    )
    processor = hf.MllamaProcessor(
        hf.MllamaImageProcessor(size={"height": 32, "width": 32}, max_image_tiles=4),
        tokenizer,
        chat_template=_chatml("<|image|>"),
    )
    return hf.MllamaForConditionalGeneration(config), processor


def paligemma() -> tuple[Any, Any]:
    """Reads picture and prompt in both directions; the processor ends every prompt with a line break of its own."""
    tokenizer = _tokenizer(kind="GemmaTokenizerFast", image_token="<image>")
    images = hf.SiglipImageProcessor(size={"height": 32, "width": 32})
    images.image_seq_length = 16
    processor = hf.PaliGemmaProcessor(images, tokenizer, chat_template=_template("", "", "<image>", ""))
    config = hf.PaliGemmaConfig(
        vision_config={**VISION, "model_type": "siglip_vision_model", "vision_use_head": False},
        text_config={**TEXT, "model_type": "gemma", "vocab_size": len(tokenizer)},
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        projection_dim=64,
        tie_word_embeddings=False,
    )
    return hf.PaliGemmaForConditionalGeneration(config), processor


LINEAR_TEXT: dict[str, Any] = {
    **TEXT,
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}


def qwen3_5() -> tuple[Any, Any]:
    """With layers of linear attention, whose states have no position."""
    names = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>", IM_START, IM_END]
    tokenizer = _tokenizer(*names)
    ids = dict(zip(names, tokenizer.convert_tokens_to_ids(names), strict=True))
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1], "mrope_interleaved": True}
    config = hf.Qwen3_5Config(
        text_config={
            **LINEAR_TEXT,
            "vocab_size": len(tokenizer),
            "rope_parameters": {**rope, "partial_rotary_factor": 0.5},
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "patch_size": 8,
            "out_hidden_size": 64,
            "num_position_embeddings": 64,
            "initializer_range": SPREAD,
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=False,
    )
    images = hf.Qwen2VLImageProcessor(
        patch_size=8, merge_size=2, size={"shortest_edge": 32 * 32, "longest_edge": 64 * 64}
    )
    processor = hf.Qwen3VLProcessor(
        images,
        tokenizer,
        hf.Qwen3VLVideoProcessor(patch_size=8, merge_size=2),
        chat_template=_chatml("<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return hf.Qwen3_5ForConditionalGeneration(config), processor


def lfm2_vl() -> tuple[Any, Any]:
    """With layers of short convolutions."""
    tokenizer = _tokenizer("<|image_start|>", "<|image_end|>", "<|img_thumbnail|>", IM_START, IM_END)
    config = hf.Lfm2VlConfig(
        text_config={
            **{name: value for name, value in TEXT.items() if name != "tie_word_embeddings"},
            "model_type": "lfm2",
            "vocab_size": len(tokenizer),
            "layer_types": ["conv", "full_attention", "conv"],
            "block_auto_adjust_ff_dim": False,
            "tie_word_embeddings": False,
            "tie_embedding": False,
        },
        vision_config={
            **{name: value for name, value in VISION.items() if name != "image_size"},
            "model_type": "siglip2_vision_model",
            "num_patches": 64,
            "vision_use_head": False,
        },
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        projector_hidden_size=64,
        tie_word_embeddings=False,
        tie_embedding=False,
    )
    processor = hf.Lfm2VlProcessor(
        hf.Lfm2VlImageProcessor(
            encoder_patch_size=8,
            tile_size=32,
            do_image_splitting=False,
            min_image_tokens=4,
            max_image_tokens=16,
            max_num_patches=64,
        ),
        tokenizer,
        chat_template=_chatml("<image>"),
    )
    return hf.Lfm2VlForConditionalGeneration(config), processor


def gemma4() -> tuple[Any, Any]:
    """Its last layers read the keys and values of earlier ones, and each layer has embeddings of its own."""
    named = {"boi_token": "<|image>", "eoi_token": "<image|>", "image_token": "<|image|>", "audio_token": "<|audio|>"}
    named |= {"boa_token": "<|audio>", "eoa_token": "<audio|>"}
    tokenizer = _tokenizer("<|turn>", "<turn|>", "<|video|>", **named)
    config = hf.Gemma4Config(
        text_config={
            **TEXT,
            "num_hidden_layers": 4,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
            "num_kv_shared_layers": 2,
            "vocab_size": len(tokenizer),
            "vocab_size_per_layer_input": len(tokenizer),
            "hidden_size_per_layer_input": 16,
            "sliding_window": 8,
            "global_head_dim": 32,
        },
        vision_config={
            **{name: value for name, value in VISION.items() if name != "image_size"},
            "num_key_value_heads": 2,
            "head_dim": 16,
            "pooling_kernel_size": 2,
            "position_embedding_size": 64,
        },
        audio_config=None,
        boi_token_id=tokenizer.boi_token_id,
        eoi_token_id=tokenizer.eoi_token_id,
        image_token_id=tokenizer.image_token_id,
        video_token_id=tokenizer.convert_tokens_to_ids("<|video|>"),
        audio_token_id=tokenizer.audio_token_id,
        boa_token_id=tokenizer.boa_token_id,
        eoa_token_index=tokenizer.eoa_token_id,
        tie_word_embeddings=False,
    )
    processor = hf.Gemma4Processor(
        hf.Gemma4AudioFeatureExtractor(),
        hf.Gemma4ImageProcessor(patch_size=8, pooling_kernel_size=2, max_soft_tokens=70),
        tokenizer,
        hf.Gemma4VideoProcessor(patch_size=8, pooling_kernel_size=2, max_soft_tokens=70),
        chat_template=_template("<|turn>ROLE\\n", "<turn|>\\n", "<|image|>", "<|turn>model\\n", bos="<s>"),
    )
    return hf.Gemma4ForConditionalGeneration(config), processor


def ernie4_5_vl() -> tuple[Any, Any]:
    """Experts of its own for the tokens of pictures, told by an input that has an entry per token."""
    named = {
        "image_token": "<|IMAGE_PLACEHOLDER|>",
        "image_start_token": "<|IMAGE_START|>",
        "image_end_token": "<|IMAGE_END|>",
        "video_token": "<|VIDEO_PLACEHOLDER|>",
        "video_start_token": "<|VIDEO_START|>",
        "video_end_token": "<|VIDEO_END|>",
    }
    tokenizer = _tokenizer(**named)
    config = hf.Ernie4_5_VLMoeConfig(
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            "moe_intermediate_size": [48, 32],
            "moe_k": 2,
            "moe_num_experts": 4,
            "moe_num_shared_experts": 1,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [3, 3, 2]},
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "patch_size": 8,
            "initializer_range": SPREAD,
        },
        **{f"{name}_id": tokenizer.convert_tokens_to_ids(token) for name, token in named.items()},
        tie_word_embeddings=False,
    )
    processor = hf.Ernie4_5_VLMoeProcessor(
        hf.Ernie4_5_VLMoeImageProcessor(patch_size=8, size={"shortest_edge": 32 * 32, "longest_edge": 64 * 64}),
        tokenizer,
        hf.Ernie4_5_VLMoeVideoProcessor(patch_size=8, draw_on_frames=False),
        chat_template=_template(
            "ROLE: ", "\\n", "<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>", "Assistant: ", bos="<s>"
        ),
    )
    return hf.Ernie4_5_VLMoeForConditionalGeneration(config), processor


def minicpm_v() -> tuple[Any, Any]:
    """The language model of Qwen3.5 behind another vision tower."""
    named = {
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
        "image_start_token": "<im>",
        "image_end_token": "</im>",
        "slice_start_token": "<slice>",
        "slice_end_token": "</slice>",
        "image_id_start_token": "<image_id>",
        "image_id_end_token": "</image_id>",
    }
    tokenizer = _tokenizer(IM_START, IM_END, **named)
    rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}
    config = hf.MiniCPMV4_6Config(
        text_config={
            **LINEAR_TEXT,
            "model_type": "qwen3_5_text",
            "vocab_size": len(tokenizer),
            "rope_parameters": {**rope, "mrope_section": [2, 1, 1], "mrope_interleaved": True},
        },
        vision_config={**VISION, "image_size": 64},
        insert_layer_id=0,
        image_size=64,
        image_token_id=tokenizer.image_token_id,
        video_token_id=tokenizer.video_token_id,
        tie_word_embeddings=False,
    )
    processor = hf.MiniCPMV4_6Processor(
        hf.MiniCPMV4_6ImageProcessor(patch_size=8, scale_resolution=64, slice_mode=False),
        hf.MiniCPMV4_6VideoProcessor(patch_size=8, scale_resolution=64),
        tokenizer,
        chat_template=_chatml("<|image_pad|>"),
    )
    return hf.MiniCPMV4_6ForConditionalGeneration(config), processor


def qwen2_vl() -> tuple[Any, Any]:
    _, processor = qwen2_5_vl()
    tokenizer = processor.tokenizer
    names = ["<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>"]
    image, video, start, end = tokenizer.convert_tokens_to_ids(names)
    config = hf.Qwen2VLConfig(
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            ROPE: {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
        },
        vision_config={
            "depth": 2,
            "embed_dim": 32,
            "hidden_size": 64,
            "num_heads": 2,
            "patch_size": 8,
            "initializer_range": SPREAD,
        },
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
        tie_word_embeddings=False,
    )
    processor = hf.Qwen2VLProcessor(
        processor.image_processor,
        tokenizer,
        hf.Qwen2VLVideoProcessor(patch_size=8, merge_size=2),
        chat_template=processor.chat_template,
    )
    return hf.Qwen2VLForConditionalGeneration(config), processor


def mistral3() -> tuple[Any, Any]:
    tokenizer = _tokenizer("[IMG]", "[IMG_BREAK]", "[IMG_END]", "[INST]", "[/INST]")
    config = hf.Mistral3Config(
        vision_config={**VISION, "model_type": "pixtral", "head_dim": 16, "image_size": 64},
        text_config={**TEXT, "model_type": "mistral", "vocab_size": len(tokenizer)},
        image_token_index=tokenizer.convert_tokens_to_ids("[IMG]"),
        spatial_merge_size=2,
        vision_feature_layer=-1,
        tie_word_embeddings=False,
    )
    processor = hf.PixtralProcessor(
        hf.PixtralImageProcessor(size={"longest_edge": 64}, patch_size={"height": 8, "width": 8}),
        tokenizer,
        patch_size=8,
        spatial_merge_size=2,
        image_token="[IMG]",
        chat_template=_template("[INST]", "[/INST]", "[IMG]", "", bos="<s>"),
    )
    return hf.Mistral3ForConditionalGeneration(config), processor


def qwen2_5_omni() -> tuple[Any, Any]:
    """Without the half that speaks, as a checkpoint with ``enable_audio_output: false``."""
    named = {
        "image_token": "<|IMAGE|>",
        "video_token": "<|VIDEO|>",
        "audio_token": "<|AUDIO|>",
        "vision_bos_token": "<|vision_bos|>",
        "vision_eos_token": "<|vision_eos|>",
        "audio_bos_token": "<|audio_bos|>",
        "audio_eos_token": "<|audio_eos|>",
    }
    tokenizer = _tokenizer(IM_START, IM_END, kind="Qwen2TokenizerFast", **named)
    config = hf.Qwen2_5OmniConfig(
        thinker_config={
            "text_config": {
                **TEXT,
                "vocab_size": len(tokenizer),
                ROPE: {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
            },
            "vision_config": {
                "depth": 2,
                "hidden_size": 32,
                "intermediate_size": 64,
                "num_heads": 2,
                "patch_size": 8,
                "window_size": 32,
                "out_hidden_size": 64,
                "fullatt_block_indexes": [1],
                "initializer_range": SPREAD,
            },
            "audio_config": {
                "encoder_layers": 1,
                "encoder_attention_heads": 2,
                "encoder_ffn_dim": 32,
                "d_model": 32,
                "output_dim": 64,
                "num_mel_bins": 16,
            },
            "image_token_index": tokenizer.image_token_id,
            "video_token_index": tokenizer.video_token_id,
            "audio_token_index": tokenizer.audio_token_id,
            "vision_start_token_id": tokenizer.vision_bos_token_id,
            "vision_end_token_id": tokenizer.vision_eos_token_id,
            "audio_start_token_id": tokenizer.audio_bos_token_id,
            "audio_end_token_id": tokenizer.audio_eos_token_id,
        },
        enable_audio_output=False,
    )
    processor = hf.Qwen2_5OmniProcessor(
        hf.Qwen2VLImageProcessor(patch_size=8, merge_size=2, size={"shortest_edge": 1024, "longest_edge": 4096}),
        hf.Qwen2VLVideoProcessor(patch_size=8, merge_size=2),
        hf.WhisperFeatureExtractor(feature_size=16),
        tokenizer,
        chat_template=_chatml("<|vision_bos|><|IMAGE|><|vision_eos|>"),
    )
    return hf.Qwen2_5OmniForConditionalGeneration(config), processor


def phi4_multimodal() -> tuple[Any, Any]:
    """With 32 patches a side, as the real one: its processor counts on 256 tokens for the whole picture."""
    names = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]
    tokenizer = _tokenizer(*names, image_token="<|image|>", audio_token="<|audio|>")
    config = hf.Phi4MultimodalConfig(
        **{name: value for name, value in TEXT.items() if name != "head_dim"},
        vocab_size=len(tokenizer),
        **{ROPE: {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0}},
        vision_config={
            **{name: value for name, value in VISION.items() if name != "initializer_range"},
            "image_size": 64,
            "crop_size": 64,
            "patch_size": 2,
            "image_token_id": tokenizer.image_token_id,
        },
        audio_config={
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_blocks": 1,
            "num_attention_heads": 2,
            "ext_pw_out_channel": 32,
            "depthwise_separable_out_channel": 32,
            "nemo_conv_channels": 32,
            "input_size": 80,
            "audio_token_id": tokenizer.audio_token_id,
        },
    )
    processor = hf.Phi4MultimodalProcessor(
        hf.Phi4MultimodalImageProcessor(size={"height": 64, "width": 64}, patch_size=2, dynamic_hd=1),
        hf.Phi4MultimodalFeatureExtractor(),
        tokenizer,
        chat_template=_template("<|ROLE|>", "<|end|>", "<|image|>", "<|assistant|>"),
    )
    return hf.Phi4MultimodalForCausalLM(config), processor


def idefics() -> tuple[Any, Any]:
    """The processor writes the first token itself, so the chat template leaves it out."""
    tokenizer = _tokenizer("<fake_token_around_image>", "<end_of_utterance>", kind="LlamaTokenizerFast")
    config = hf.IdeficsConfig(
        **{name: value for name, value in TEXT.items() if name not in ("head_dim", "num_key_value_heads")},
        vocab_size=len(tokenizer),
        vision_config={**{name: value for name, value in VISION.items() if name != "hidden_size"}, "embed_dim": 32},
        cross_layer_interval=1,
        alpha_initializer="ones",
        use_resampler=True,
        perceiver_config={
            "use_resampler": True,
            "resampler_n_latents": 4,
            "resampler_depth": 1,
            "resampler_n_heads": 2,
            "resampler_head_dim": 16,
        },
    )
    image = "<fake_token_around_image><image><fake_token_around_image>"
    tokenizer.chat_template = _template("ROLE:", "<end_of_utterance>\\n", image, "Assistant:")
    return hf.IdeficsForVisionText2Text(config), hf.IdeficsProcessor(hf.IdeficsImageProcessor(image_size=32), tokenizer)


def pixtral() -> tuple[Any, Any]:
    tokenizer = _tokenizer("[INST]", "[/INST]", "[IMG]", "[IMG_BREAK]", "[IMG_END]")
    config = hf.LlavaConfig(
        vision_config={**VISION, "model_type": "pixtral", "head_dim": 16},
        text_config={**TEXT, "model_type": "mistral", "vocab_size": len(tokenizer)},
        image_token_index=tokenizer.convert_tokens_to_ids("[IMG]"),
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
    )
    config.tie_word_embeddings = False
    processor = hf.PixtralProcessor(
        hf.PixtralImageProcessor(size={"longest_edge": 32}, patch_size={"height": 8, "width": 8}),
        tokenizer,
        patch_size=8,
        chat_template=_template("[INST]", "[/INST]", "[IMG]", "", bos="<s>"),
    )
    return hf.LlavaForConditionalGeneration(config), processor


def blip2() -> tuple[Any, Any]:
    """Without a chat template, as BLIP-2 OPT is; the processor puts the places of one picture before each prompt."""
    tokenizer = _tokenizer()
    processor = hf.Blip2Processor(
        hf.BlipImageProcessor(size={"height": 32, "width": 32}), tokenizer, num_query_tokens=4
    )
    config = hf.Blip2Config(
        vision_config=VISION,
        qformer_config={
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "encoder_hidden_size": 32,
            "initializer_range": SPREAD,
        },
        text_config={
            "model_type": "opt",
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "ffn_dim": 96,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "word_embed_proj_dim": 64,
            "init_std": SPREAD,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
        num_query_tokens=4,
        image_token_index=3,
    )
    return hf.Blip2ForConditionalGeneration(config), processor


QWEN = _chatml("<|vision_start|><|image_pad|><|vision_end|>")
# In the style of templates that checkpoints bring.
TEMPLATES = {
    # LLaVA 1.5: pictures first, then texts
    "llava_1_5": (
        "{% for message in messages %}"
        "{% if message['role'] != 'system' %}{{ message['role'].upper() + ': ' }}{% endif %}"
        "{% for part in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\\n' }}{% endfor %}"
        "{% for part in message['content'] | selectattr('type', 'equalto', 'text') %}"
        "{{ part['text'] + ' ' }}{% endfor %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"
    ),
    # Qwen3-VL-Thinking: the answer begins with a thought, always
    "thinking": QWEN.replace("assistant\\n", "assistant\\n<think>\\n"),
    # gpt-oss: the thought is a channel of its own
    "channel": QWEN.replace("assistant\\n", "assistant<|channel|>analysis<|message|>"),
    # Qwen3.5: the same, but for a switch
    "switch": QWEN.replace(
        "{{ '<|im_start|>assistant\\n' }}",
        "{{ '<|im_start|>assistant\\n' }}{% if enable_thinking is defined and enable_thinking is false %}"
        "{{ '<think>\\n\\n</think>\\n\\n' }}{% else %}{{ '<think>\\n' }}{% endif %}",
    ),
    # GLM-4.5V: the model opens the thought itself, unless an empty one stands there
    "hybrid": QWEN.replace(
        "{{ '<|im_start|>assistant\\n' }}",
        "{{ '<|im_start|>assistant\\n' }}{{ '<think></think>\\n' if enable_thinking is false else '' }}",
    ),
    # Pixtral's first: texts are looked up under a name that they do not have
    "pixtral_first": (
        "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST]' }}"
        "{% for chunk in message['content'] %}{% if chunk['type'] == 'text' %}{{ chunk['content'] }}"
        "{% elif chunk['type'] == 'image' %}{{ '[IMG]' }}{% endif %}{% endfor %}{{ '[/INST]' }}"
        "{% elif message['role'] == 'assistant' %}{{ message['content'] }}{% endif %}{% endfor %}"
    ),
    # Mistral: no role system, and the system's text is lost
    "without_system": (
        "{{ bos_token }}{% for message in messages %}{% if message['role'] != 'system' %}{{ '[INST]' }}"
        "{% for chunk in message['content'] %}{% if chunk['type'] == 'text' %}{{ chunk['text'] | trim }}"
        "{% else %}{{ '[IMG]' }}{% endif %}{% endfor %}{{ '[/INST]' }}{% endif %}{% endfor %}"
    ),
    # Mistral: the system's text stands in the last turn
    "system_in_last_turn": (
        "{{ bos_token }}{% for message in messages %}{% if message['role'] != 'system' %}{{ '[INST]' }}"
        "{% if loop.last and messages[0]['role'] == 'system' %}"
        "{{ messages[0]['content'][0]['text'] + '\\n\\n' }}{% endif %}"
        "{% for chunk in message['content'] %}{% if chunk['type'] == 'text' %}{{ chunk['text'] | trim }}"
        "{% else %}{{ '[IMG]' }}{% endif %}{% endfor %}{{ '[/INST]' }}{% endif %}{% endfor %}"
    ),
    # GLM-4.1V: the content of system and assistant is written as it is
    "text_as_it_is": (
        "{% for message in messages %}{{ '<' ~ message.role ~ '>' }}{% if message.role == 'user' %}"
        "{% for part in message.content %}{{ '[IMG]' if part.type == 'image' else part.text }}{% endfor %}"
        "{% else %}{{ message.content }}{% endif %}{% endfor %}{{ '<assistant>' }}"
    ),
    # BLIP-2: none of its own; the paper's question and answer
    "blip_2": (
        "{% for message in messages %}{% for part in message['content'] if part['type'] == 'text' %}"
        "{{ 'Question: ' ~ part['text'] ~ ' ' }}{% endfor %}{% endfor %}{{ 'Answer:' }}"
    ),
}

# Pixtral: the same, joined to other texts
TEMPLATES["text_joined"] = TEMPLATES["text_as_it_is"].replace("{{ message.content }}", "{{ '' + message.content }}")

# Of single tests; those of FAMILIES pass every test of a model.
OTHERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "qwen2_vl": qwen2_vl,
    "mistral3": mistral3,
    "qwen2_5_omni": qwen2_5_omni,
    "phi4_multimodal": phi4_multimodal,
    "idefics": idefics,
    "pixtral": pixtral,
    "blip2": blip2,
}
FAMILIES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "llava": llava,
    "qwen2_5_vl": qwen2_5_vl,
    "qwen3_vl": qwen3_vl,
    "idefics3": idefics3,
    "internvl": internvl,
    "gemma3": gemma3,
    "mllama": mllama,
}
# Whose prompts and answers are of the same kinds as those above; what their caches hold, and how, is not.
OTHER_CACHES: dict[str, Callable[[], tuple[Any, Any]]] = {"paligemma": paligemma}
if not OLD:
    OTHER_CACHES |= {
        "lfm2_vl": lfm2_vl,
        "qwen3_5": qwen3_5,
        "gemma4": gemma4,
        "ernie4_5_vl": ernie4_5_vl,
        "minicpm_v": minicpm_v,
    }


def build(family: str) -> tuple[Any, Any]:
    """Return model and processor of a family."""
    torch.manual_seed(7)
    model, processor = (FAMILIES | OTHER_CACHES | OTHERS)[family]()
    for name, weight in model.named_parameters():
        if weight.abs().max() == 0 and "norm" not in name:  # biases, and the projection of Gemma 3
            torch.nn.init.normal_(weight.data, std=SPREAD)
    return model.eval(), processor


def write(family: str, folder: Path) -> Path:
    """Write the checkpoint of a family below `folder` and return its folder."""
    model, processor = build(family)
    target = folder / family
    model.save_pretrained(target)
    processor.save_pretrained(target)
    return target
