"""The matrix of real architectures: what `figlang_vlm` does with each, and the tiny model that proves it.

`tests/models/test_families.py` builds each model with random weights, writes it to a folder as a real checkpoint, and
compares `figlang_vlm` with transformers' own processor, `generate` and forward pass. `make families-table` writes the
table of `docs/model_classes.md` from what is declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from models import tiny_vlms as tiny
from models.tiny_vlms import IM_END, IM_START, ROPE, SPREAD, TEXT, VISION, hf

Build = Callable[[], tuple[Any, Any]]
FAMILIES: dict[str, Family] = {}
DOCUMENT = Path(__file__).parents[2] / "docs" / "model_classes.md"
COLUMNS = ("architecture", "loads", "batches", "several pictures", "no picture", "candidate scores", "remarks")
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"


@dataclass(frozen=True)
class Family:
    """What `figlang_vlm` does with an architecture.

    Attributes:
        name: as users know it.
        build: makes the tiny model and its processor.
        ci: runs with the slow tests, not by `make test-families` alone.
        refused: what ends with a message, and what that says (a regular expression): "load", "one picture",
            "four pictures", "no picture".
        one_at_a_time: whatever ``--batch_size`` says.
        moves: where pictures stand, if not where the message has them.
        fast: whether candidates share the pass over pictures and prompt.
        one_pass: False where a pass over prompt and candidate as one text is another computation than an answer.
        mark: where a picture stands in the prompt, if the processor takes texts and pictures as one list, and its
            own template call puts pictures behind the prompt.
        auto: transformers' class that loads it.
        needs: a package that its processor or model needs; the test skips without it.
        remark: for users.
    """

    name: str
    build: Build
    ci: bool = False
    refused: Mapping[str, str] = field(default_factory=dict)
    one_at_a_time: bool = False
    moves: str = ""
    fast: bool = True
    one_pass: bool = True
    mark: str = ""
    auto: str = "AutoModelForImageTextToText"
    needs: str = ""
    remark: str = ""

    def row(self) -> str:
        """Return its row of the table."""

        def works(kind: str) -> str:
            return "no" if kind in self.refused else "yes"

        if "load" in self.refused:
            cells = ["no", *["–"] * 4]
        elif "one picture" in self.refused:
            cells = ["yes", "–", "no picture at all", works("no picture"), "–"]
        else:
            several = works("four pictures")
            cells = [
                "yes",
                "no" if self.one_at_a_time else "yes",
                f"{several}, {self.moves}" if several == "yes" and self.moves else several,
            ]
            cells += [works("no picture"), "fast" if self.fast else "slow"]
        remarks = [f"needs `{self.needs}`"] if self.needs else []
        return f"| {' | '.join([self.name, *cells, '; '.join([*remarks, *filter(None, [self.remark])])])} |\n"


def table() -> str:
    """Return the table of all families, by name."""
    return HEAD + "".join(found.row() for found in sorted(FAMILIES.values(), key=lambda found: found.name.lower()))


def document() -> str:
    """Return docs/model_classes.md with its table of families written anew."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(HEAD)
    return before + table() + rest[rest.index("\n\n") + 1 :]


def family(key: str, name: str, **outcome: Any) -> Callable[[Build], Build]:
    """Enter the function into the matrix as the maker of a tiny model."""

    def enter(build: Build) -> Build:
        FAMILIES[key] = Family(name, build, **outcome)
        return build

    return enter


def write(key: str, folder: Path) -> Path:
    """Write the checkpoint of a family below `folder` and return its folder.

    All weights but those of norms and of timm's models are random with the same spread, so that answers depend on
    pictures and positions.
    """
    torch.manual_seed(7)
    model, processor = FAMILIES[key].build()
    for name, weight in model.named_parameters():
        if "norm" not in name.lower() and "timm_model" not in name:
            torch.nn.init.normal_(weight.data, std=SPREAD)
    target = folder / key
    model.eval().save_pretrained(target)
    processor.save_pretrained(target)
    return target


# --- parts that families share ---------------------------------------------------------------------------------------

BEFORE = "before the text"
ENCODER_DECODER = "an encoder-decoder model"
ONE_PICTURE = "takes one image in a prompt"
NO_TEXT_ALONE = {"no picture": "pixel_values"}
OWN = "has no chat template: `chat_template=PATH`"
SIZE = {"height": 32, "width": 32}
PLAIN_TEXT = {name: value for name, value in TEXT.items() if name != "head_dim"}


def ids(tokenizer: Any, **by_option: str) -> dict[str, int]:
    """Return the ids of tokens as options of a configuration."""
    return {option: tokenizer.convert_tokens_to_ids(token) for option, token in by_option.items()}


# --- chat models with a fast path ------------------------------------------------------------------------------------


def known(key: str, name: str, build: str = "", template: str = "", **outcome: Any) -> None:
    """Enter a family of `tests/models/tiny_vlms.py`, with another chat template if one is given."""

    def made() -> tuple[Any, Any]:
        model, processor = getattr(tiny, build or key)()
        if template:
            processor.chat_template = processor.tokenizer.chat_template = template
        return model, processor

    family(key, name, **outcome)(made)


known("qwen2_vl", "Qwen2-VL")
known("qwen2_5_vl", "Qwen2.5-VL", ci=True)
known("qwen3_vl", "Qwen3-VL", ci=True)
known(
    "qwen3_5",
    "Qwen3.5",
    template=tiny.QWEN.replace("assistant\\n' }}", "assistant\\n<think>\\n\\n</think>\\n\\n' }}"),
    remark="candidate scores need `enable_thinking=False`",
    ci=True,
)
known("qwen2_5_omni", "Qwen2.5-Omni")
known("internvl", "InternVL 3", ci=True)
known("llava", "LLaVA 1.5", template=tiny.TEMPLATES["llava_1_5"], moves=BEFORE, ci=True)
known("idefics", "Idefics 1", mark="<fake_token_around_image><image><fake_token_around_image>", one_pass=False)
known("idefics3", "Idefics 3")
known("gemma3", "Gemma 3", ci=True)
known("gemma4", "Gemma 4")
known("paligemma", "PaliGemma", refused={"no picture": "`images` are expected"}, one_pass=False, remark=OWN, ci=True)
known("mllama", "Llama 3.2 Vision", ci=True)
known("pixtral", "Pixtral", ci=True)
known("mistral3", "Mistral 3 (Small 3.1)")
known("ernie4_5_vl_moe", "Ernie 4.5 VL", "ernie4_5_vl", one_pass=False)  # its prompt ends in a space
known("lfm2_vl", "LFM2-VL")
known("minicpmv4_6", "MiniCPM-V 4.6", "minicpm_v")
known(
    "phi4_multimodal",
    "Phi-4-multimodal",
    auto="AutoModelForMultimodalLM",
    ci=True,
)
known(
    "blip_2",
    "BLIP-2 (OPT)",
    "blip2",
    template=tiny.TEMPLATES["blip_2"],
    refused={**NO_TEXT_ALONE, "four pictures": ONE_PICTURE},
    fast=False,
    moves=BEFORE,
    remark=OWN,
)


SUFFIXES = {"text_config": "_text", "vision_config": "_vision"}
QWEN_VISION = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "patch_size": 8}


@family("qwen3_vl_moe", "Qwen3-VL (mixture of experts)")
def qwen3_vl_moe() -> tuple[Any, Any]:
    dense, processor = tiny.qwen3_vl()
    options = dense.config.to_dict()
    parts = {name: {**options.pop(name), "model_type": f"qwen3_vl_moe{end}"} for name, end in SUFFIXES.items()}
    parts["text_config"] |= {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    config = hf.Qwen3VLMoeConfig(**parts, **{name: value for name, value in options.items() if name.endswith("_id")})
    config.tie_word_embeddings = False
    return hf.Qwen3VLMoeForConditionalGeneration(config), processor


CLIP_IMAGES = {"size": {"shortest_edge": 32}, "crop_size": SIZE}
PINPOINTS = [[32, 64], [64, 32], [64, 64]]
LLAMA = {**TEXT, "model_type": "llama"}
QWEN2 = {**TEXT, "model_type": "qwen2"}
CLIP = {**VISION, "model_type": "clip_vision_model", "projection_dim": 32}
SIGLIP = {**VISION, "model_type": "siglip_vision_model", "vision_use_head": False}
FRONT = tiny.TEMPLATES["llava_1_5"]
FRONT_CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' ~ message['role'] ~ ' ' }}"
    "{% for part in message['content'] if part['type'] == 'image' %}{{ '<image>\\n' }}{% endfor %}"
    "{% for part in message['content'] if part['type'] == 'text' %}{{ '\\n' ~ part['text'] }}{% endfor %}"
    "{{ '<|im_end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


@family("llava_next", "LLaVA-NeXT (1.6)", ci=True, moves=BEFORE)
def llava_next() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer()
    config = hf.LlavaNextConfig(
        vision_config=CLIP,
        text_config={**LLAMA, "vocab_size": len(tokenizer)},
        image_token_index=3,
        image_grid_pinpoints=PINPOINTS,
        image_seq_length=16,
        vision_feature_layer=-1,
    )
    images = hf.LlavaNextImageProcessor(**CLIP_IMAGES, image_grid_pinpoints=PINPOINTS)
    processor = hf.LlavaNextProcessor(
        images,
        tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=FRONT,
    )
    return hf.LlavaNextForConditionalGeneration(config), processor


@family("llava_onevision", "LLaVA-OneVision", ci=True, moves=BEFORE)
def llava_onevision() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer("<video>", IM_START, IM_END)
    config = hf.LlavaOnevisionConfig(
        vision_config=SIGLIP,
        text_config={**QWEN2, "vocab_size": len(tokenizer)},
        image_token_index=3,
        **ids(tokenizer, video_token_index="<video>"),
        image_grid_pinpoints=PINPOINTS,
    )
    processor = hf.LlavaOnevisionProcessor(
        hf.LlavaOnevisionImageProcessor(size=SIZE, image_grid_pinpoints=PINPOINTS),
        tokenizer,
        hf.LlavaOnevisionVideoProcessor(size=SIZE),
        num_image_tokens=16,
        vision_feature_select_strategy="full",
        chat_template=FRONT_CHATML,
    )
    return hf.LlavaOnevisionForConditionalGeneration(config), processor


@family("vipllava", "VipLLaVA", moves=BEFORE)
def vipllava() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer()
    config = hf.VipLlavaConfig(
        vision_config={**CLIP, "num_hidden_layers": 4},
        text_config={**LLAMA, "vocab_size": len(tokenizer)},
        image_token_index=3,
        vision_feature_layers=[-1, -2],
        image_seq_length=16,
    )
    processor = hf.LlavaProcessor(
        hf.CLIPImageProcessor(**CLIP_IMAGES),
        tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=FRONT,
    )
    return hf.VipLlavaForConditionalGeneration(config), processor


@family("video_llava", "Video-LLaVA", moves=BEFORE)
def video_llava() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer("<video>")
    config = hf.VideoLlavaConfig(
        vision_config=CLIP,
        text_config={**LLAMA, "vocab_size": len(tokenizer)},
        image_token_index=3,
        **ids(tokenizer, video_token_index="<video>"),
        vision_feature_layer=-1,
        image_seq_length=16,
        video_seq_length=16,
    )
    processor = hf.VideoLlavaProcessor(
        hf.VideoLlavaImageProcessor(**CLIP_IMAGES),
        hf.VideoLlavaVideoProcessor(**CLIP_IMAGES),
        tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=FRONT,
    )
    return hf.VideoLlavaForConditionalGeneration(config), processor


@family("smolvlm", "SmolVLM", needs="num2words")
def smolvlm() -> tuple[Any, Any]:
    named = {
        "fake_image_token": "<fake_token_around_image>",
        "image_token": "<image>",
        "end_of_utterance_token": "<end_of_utterance>",
        "global_image_token": "<global-img>",
        "video_token": "<video>",
    }
    tokenizer = tiny._tokenizer(IM_START, **named)
    config = hf.SmolVLMConfig(
        image_token_id=3,
        vision_config=VISION,
        text_config={**LLAMA, "vocab_size": len(tokenizer)},
        scale_factor=2,
        pad_token_id=0,
    )
    sizes = {"size": {"longest_edge": 64}, "max_image_size": {"longest_edge": 32}}
    processor = hf.SmolVLMProcessor(
        hf.SmolVLMImageProcessor(**sizes, do_image_splitting=True),
        tokenizer,
        hf.SmolVLMVideoProcessor(**sizes),
        image_seq_len=4,
        chat_template=tiny._template("ROLE:", "<end_of_utterance>\\n", "<image>", "Assistant:", bos=IM_START),
    )
    return hf.SmolVLMForConditionalGeneration(config), processor


@family("idefics2", "Idefics 2")
def idefics2() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer("<fake_token_around_image>", "<end_of_utterance>")
    config = hf.Idefics2Config(
        image_token_id=3,
        vision_config=VISION,
        perceiver_config={
            "hidden_size": 64,
            "resampler_n_latents": 4,
            "resampler_depth": 1,
            "resampler_n_heads": 2,
            "num_key_value_heads": 1,
            "resampler_head_dim": 16,
        },
        text_config={**TEXT, "model_type": "mistral", "vocab_size": len(tokenizer)},
    )
    processor = hf.Idefics2Processor(
        hf.Idefics2ImageProcessor(size={"shortest_edge": 24, "longest_edge": 32}, do_image_splitting=False),
        tokenizer,
        image_seq_len=4,
        chat_template=tiny._template("ROLE:", "<end_of_utterance>\\n", "<image>", "Assistant:", bos="<s>"),
    )
    return hf.Idefics2ForConditionalGeneration(config), processor


@family("llama4", "Llama 4")
def llama4() -> tuple[Any, Any]:
    special = ("image", "patch", "image_start", "image_end", "tile_x_separator", "tile_y_separator")
    tokenizer = tiny._tokenizer(*(f"<|{name}|>" for name in special), "<|header_start|>", "<|header_end|>", "<|eot|>")
    config = hf.Llama4Config(
        vision_config={
            **VISION,
            "num_attention_heads": 2,
            "intermediate_size": 128,
            "vision_output_dim": 32,
            "projector_input_dim": 32,
            "projector_output_dim": 32,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        },
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            "intermediate_size_mlp": 96,
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
            "attention_chunk_size": 32,
            "no_rope_layer_interval": 3,
        },
        **ids(
            tokenizer,
            boi_token_index="<|image_start|>",
            eoi_token_index="<|image_end|>",
            image_token_index="<|patch|>",
        ),
    )
    header = "<|header_start|>ROLE<|header_end|>\\n\\n"
    processor = hf.Llama4Processor(
        hf.Llama4ImageProcessor(size=SIZE, max_patches=2),
        tokenizer,
        patch_size=8,
        chat_template=tiny._template(header, "<|eot|>", "<|image|>", header.replace("ROLE", "assistant"), bos="<s>"),
    )
    return hf.Llama4ForConditionalGeneration(config), processor


COHERE = ("<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|SYSTEM_TOKEN|>")
SLIDING = {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
COHERE_TEXT = {**TEXT, **SLIDING, "model_type": "cohere2"}


def cohere(image: str) -> str:
    roles = (
        "{% set roles = {'user': '<|USER_TOKEN|>', 'assistant': '<|CHATBOT_TOKEN|>', 'system': '<|SYSTEM_TOKEN|>'} %}"
    )
    turn = "<|START_OF_TURN_TOKEN|>"
    template = tiny._template(turn + "ROLE", "<|END_OF_TURN_TOKEN|>", image, turn + "<|CHATBOT_TOKEN|>", bos="<s>")
    return roles + template.replace("message['role']", "roles[message['role']]")


@family("aya_vision", "Aya Vision")
def aya_vision() -> tuple[Any, Any]:
    image = ("<|START_OF_IMG|>", "<|END_OF_IMG|>", "<|IMG_PATCH|>", "<|IMG_LINE_BREAK|>", "TILE", "TILE_GLOBAL")
    tokenizer = tiny._tokenizer(*COHERE, *image)
    config = hf.AyaVisionConfig(
        vision_config=SIGLIP,
        text_config={**COHERE_TEXT, "vocab_size": len(tokenizer)},
        **ids(tokenizer, image_token_index="<|IMG_PATCH|>"),
        downsample_factor=2,
        alignment_intermediate_size=64,
    )
    processor = hf.AyaVisionProcessor(
        hf.GotOcr2ImageProcessor(size=SIZE, crop_to_patches=True, max_patches=3),
        tokenizer,
        patch_size=8,
        img_size=32,
        downsample_factor=2,
        chat_template=cohere("<image>"),
    )
    return hf.AyaVisionForConditionalGeneration(config), processor


@family("cohere2_vision", "Command A Vision (Cohere 2)")
def cohere2_vision() -> tuple[Any, Any]:
    named = {"boi_token": "<|START_OF_IMG|>", "eoi_token": "<|END_OF_IMG|>", "image_token": "<|IMG_PATCH|>"}
    named["img_line_break_token"] = "<|IMG_LINE_BREAK|>"
    tokenizer = tiny._tokenizer(*COHERE, **named)
    config = hf.Cohere2VisionConfig(
        vision_config={**SIGLIP, "patch_size": 4},
        text_config={**COHERE_TEXT, "vocab_size": len(tokenizer)},
        image_token_id=tokenizer.image_token_id,
        downsample_factor=2,
        alignment_intermediate_size=64,
    )
    processor = hf.Cohere2VisionProcessor(
        hf.Cohere2VisionImageProcessor(size=SIZE, patch_size=4, downsample_factor=2, max_patches=3),
        tokenizer,
        chat_template=cohere("<|IMG_PATCH|>"),
    )
    return hf.Cohere2VisionForConditionalGeneration(config), processor


GLM_TOKENS = ("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<think>", "</think>")
GLM_IMAGE = {"image": "<|image|>", "video": "<|video|>"}
GLM_MARKS = ("<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>")


def glm(name: str, config: str, processor: str, text: dict[str, Any]) -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer(*GLM_TOKENS, *GLM_IMAGE.values(), *GLM_MARKS)
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3], "partial_rotary_factor": 1.0}
    configuration = getattr(hf, config)(
        text_config={**TEXT, "vocab_size": len(tokenizer), ROPE: rope, **text},
        vision_config={**QWEN_VISION, "out_hidden_size": 64, "image_size": 64},
        **ids(
            tokenizer,
            image_token_id="<|image|>",
            video_token_id="<|video|>",
            image_start_token_id="<|begin_of_image|>",
            image_end_token_id="<|end_of_image|>",
            video_start_token_id="<|begin_of_video|>",
            video_end_token_id="<|end_of_video|>",
        ),
    )
    size = {"shortest_edge": 32**2 * 2, "longest_edge": 64**2 * 2}
    image = "<|begin_of_image|><|image|><|end_of_image|>"
    return getattr(hf, name + "ForConditionalGeneration")(configuration), getattr(hf, processor + "Processor")(
        getattr(hf, processor + "ImageProcessor")(patch_size=8, merge_size=2, size=size),
        tokenizer,
        getattr(hf, processor + "VideoProcessor")(patch_size=8, merge_size=2, size=size),
        chat_template=tiny._template("<|ROLE|>\\n", "", image, "<|assistant|>\\n", bos="[gMASK]<sop>"),
    )


@family("glm4v", "GLM-4.1V")
def glm4v() -> tuple[Any, Any]:
    return glm("Glm4v", "Glm4vConfig", "Glm4v", {"model_type": "glm4v_text"})


@family("glm46v", "GLM-4.6V")
def glm46v() -> tuple[Any, Any]:
    return glm("Glm46V", "Glm46VConfig", "Glm46V", {"model_type": "glm4v_text"})


@family("aria", "Aria")
def aria() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer(IM_START, IM_END, image_token="<fim_prefix>")
    config = hf.AriaConfig(
        vision_config={**VISION, "model_type": "idefics3_vision", "image_size": 980, "patch_size": 70},
        text_config={
            **TEXT,
            "model_type": "aria_text",
            "vocab_size": len(tokenizer),
            "moe_num_experts": 4,
            "moe_topk": 2,
            "moe_num_shared_experts": 1,
        },
        image_token_index=tokenizer.image_token_id,
        projector_patch_to_query_dict={196: 4},
    )
    images, template = hf.AriaImageProcessor(), tiny._chatml("<fim_prefix>")
    processor = hf.AriaProcessor(images, tokenizer, chat_template=template, size_conversion={490: 4, 980: 4})
    return hf.AriaForConditionalGeneration(config), processor


@family("deepseek_vl", "DeepSeek-VL")
def deepseek_vl() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer(image_token="<image_placeholder>")
    config = hf.DeepseekVLConfig(
        vision_config=SIGLIP,
        text_config={**LLAMA, "vocab_size": len(tokenizer)},
        image_token_id=tokenizer.image_token_id,
        tie_word_embeddings=False,
    )
    processor = hf.DeepseekVLProcessor(
        hf.DeepseekVLImageProcessor(size=SIZE),
        tokenizer,
        chat_template=tiny._template("ROLE: ", "\\n\\n", "<image_placeholder>", "Assistant:", bos="<s>"),
        num_image_tokens=16,
    )
    return hf.DeepseekVLForConditionalGeneration(config), processor


@family("ovis2", "Ovis 2")
def ovis2() -> tuple[Any, Any]:
    indicators = [f"<visual_indicator_{i}>" for i in range(5)]
    tokenizer = tiny._tokenizer(
        "<IMG_ATOM>", "<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>", *indicators, IM_START, IM_END
    )
    config = hf.Ovis2Config(
        vision_config={**VISION, "vocab_size": 32, "hidden_stride": 2},
        text_config={**QWEN2, "vocab_size": len(tokenizer)},
        **ids(tokenizer, image_token_id="<IMG_ATOM>"),
        visual_indicator_token_ids=tokenizer.convert_tokens_to_ids(
            ["<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>"]
        ),
        vocab_size=len(tokenizer),
        hidden_size=64,
        tie_word_embeddings=False,
    )
    processor = hf.Ovis2Processor(
        hf.Ovis2ImageProcessor(size=SIZE, max_patches=2),
        tokenizer,
        chat_template=tiny._chatml("<image>\\n"),
        image_token="<image>",
        image_seq_length=4,
    )
    return hf.Ovis2ForConditionalGeneration(config), processor


TIMM = {"model_type": "timm_wrapper"}


@family("fast_vlm", "FastVLM", needs="timm")
def fast_vlm() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer(IM_START, IM_END)
    config = hf.FastVlmConfig(
        vision_config={
            **TIMM,
            "architecture": "fastvit_mci0",
            "do_pooling": True,
            "global_pool": "avg",
            "hidden_size": 64,
            "model_args": {
                "inference_mode": True,
                "layers": [1, 1, 1, 1],
                "embed_dims": [16, 16, 16, 32],
                "mlp_ratios": [1, 1, 1, 1],
            },
        },
        text_config={**QWEN2, "vocab_size": len(tokenizer)},
        image_token_index=3,
        image_seq_length=4,
    )
    processor = hf.LlavaProcessor(
        hf.CLIPImageProcessor(size={"shortest_edge": 64}, crop_size={"height": 64, "width": 64}),
        tokenizer,
        patch_size=32,
        vision_feature_select_strategy="full",
        chat_template=tiny._chatml("<image>"),
    )
    model = hf.FastVlmForConditionalGeneration(config)
    for weight in model.model.vision_tower.parameters():
        if weight.ndim == 4:  # else so small that pictures make no difference
            torch.nn.init.kaiming_normal_(weight.data)
    return model, processor


GEMMA4 = {
    "boi_token": "<|image>",
    "eoi_token": "<image|>",
    "image_token": "<|image|>",
    "boa_token": "<|audio>",
    "eoa_token": "<audio|>",
    "audio_token": "<|audio|>",
}


T5 = {"d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4}
Q_FORMER = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "encoder_hidden_size": 32,
}
BLIP_TEMPLATE = tiny._template("", " ", "", "Answer:")  # the processor puts the picture before the text


def blip(name: str, text: dict[str, Any]) -> tuple[Any, Any]:
    """BLIP-2 or InstructBLIP, with a chat template of one's own, since they have none."""
    tokenizer = tiny._tokenizer()
    config = getattr(hf, name + "Config")(
        vision_config=VISION,
        qformer_config={**Q_FORMER, "vocab_size": len(tokenizer)},
        text_config={**text, "vocab_size": len(tokenizer), "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
        num_query_tokens=4,
        image_token_index=3,
    )
    images = hf.BlipImageProcessor(size=SIZE)
    tokenizers = [tokenizer] if name == "Blip2" else [tokenizer, tiny._tokenizer()]
    processor = getattr(hf, name + "Processor")(images, *tokenizers, num_query_tokens=4)
    tokenizer.chat_template = BLIP_TEMPLATE
    return getattr(hf, name + "ForConditionalGeneration")(config), processor


@family("blip_2_t5", "BLIP-2 (T5)", refused={"load": "encoder-decoder"}, remark=ENCODER_DECODER)
def blip_2_t5() -> tuple[Any, Any]:
    return blip("Blip2", {**T5, "model_type": "t5", "decoder_start_token_id": 0})


@family(
    "instructblip",
    "InstructBLIP (Vicuna)",
    remark=OWN,
    moves=BEFORE,
    refused={**NO_TEXT_ALONE, "four pictures": ONE_PICTURE},
    fast=False,
    one_pass=False,  # its Q-Former would read the candidate
)
def instructblip() -> tuple[Any, Any]:
    return blip("InstructBlip", LLAMA)


@family(
    "instructblip_t5",
    "InstructBLIP (T5)",
    ci=True,
    refused={"load": "encoder-decoder"},
    remark=ENCODER_DECODER,
)
def instructblip_t5() -> tuple[Any, Any]:
    return blip("InstructBlip", {**T5, "model_type": "t5", "decoder_start_token_id": 0})


@family(
    "git",
    "GIT",
    refused={"four pictures": ONE_PICTURE},
    moves=BEFORE,
    remark=OWN,
)
def git() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer()
    config = hf.GitConfig(
        vision_config=VISION,
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        bos_token_id=1,
        eos_token_id=2,
    )
    tokenizer.chat_template = tiny._template("", " ", "", "Answer:")
    processor = hf.GitProcessor(hf.CLIPImageProcessor(**CLIP_IMAGES), tokenizer)
    return hf.GitForCausalLM(config), processor


@family("granite_vision", "Granite Vision 3.2")
def granite_vision() -> tuple[Any, Any]:
    """Granite Vision 3 is LLaVA-NeXT with Granite's language model and features of several layers."""
    tokenizer = tiny._tokenizer("<|system|>", "<|user|>", "<|assistant|>")
    config = hf.LlavaNextConfig(
        vision_config=SIGLIP,
        text_config={**TEXT, "model_type": "granite", "vocab_size": len(tokenizer), "embedding_multiplier": 2.0},
        image_token_index=3,
        image_grid_pinpoints=PINPOINTS,
        image_seq_length=16,
        vision_feature_layer=[-2, -1],
        vision_feature_select_strategy="full",
    )
    processor = hf.LlavaNextProcessor(
        hf.LlavaNextImageProcessor(**CLIP_IMAGES, image_grid_pinpoints=PINPOINTS),
        tokenizer,
        patch_size=8,
        vision_feature_select_strategy="full",
        chat_template=tiny._template("<|ROLE|>\\n", "\\n", "<image>\\n", "<|assistant|>\\n"),
    )
    return hf.LlavaNextForConditionalGeneration(config), processor


UNEQUAL_TILES = "Unable to convert output 'pixel_values'"  # transformers stacks tiles only of as many per picture


@family(
    "perception_lm",
    "Perception LM",
    needs="timm",
    refused={"four pictures": UNEQUAL_TILES},
    one_at_a_time=True,
    remark="pictures of unlike shapes do not go into one prompt; runs one request at a time",
)
def perception_lm() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer(IM_START, IM_END, image_token="<|image|>", video_token="<|video|>")
    config = hf.PerceptionLMConfig(
        vision_config={
            **TIMM,
            "architecture": "vit_pe_core_large_patch14_336",
            "num_labels": 0,
            "model_args": {
                "embed_dim": 32,
                "img_size": [32, 32],
                "patch_size": 8,
                "depth": 2,
                "num_heads": 2,
                "global_pool": "",
                "ref_feat_shape": [4, 4],
                "use_post_transformer_norm": False,
                "init_values": 0.1,
            },
        },
        text_config={**LLAMA, "vocab_size": len(tokenizer)},
        vision_use_cls_token=True,
        projector_pooling_ratio=2,
        image_token_id=tokenizer.image_token_id,
        video_token_id=tokenizer.video_token_id,
    )
    processor = hf.PerceptionLMProcessor(
        hf.PerceptionLMVideoProcessor(size=SIZE),
        hf.PerceptionLMImageProcessor(tile_size=32, max_num_tiles=2, vision_input_type="thumb+tile"),
        tokenizer,
        patch_size=8,
        pooling_ratio=2,
        chat_template=tiny._chatml("<|image|>"),
    )
    return hf.PerceptionLMForConditionalGeneration(config), processor


@family("kimi_k25", "Kimi K2.5")
def kimi_k25() -> tuple[Any, Any]:
    tokens = (
        "<|media_begin|>",
        "<|media_content|>",
        "<|media_end|>",
        "<|media_pad|>",
        "<|kimi_k25_video_placeholder|>",
    )
    tokenizer = tiny._tokenizer(*tokens, "<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|im_middle|>", IM_END)
    config = hf.Kimi_K25Config(
        vision_config={
            **{name: value for name, value in VISION.items() if name != "image_size"},
            "pos_emb_height": 8,
            "pos_emb_width": 8,
            "pos_emb_time": 2,
        },
        text_config={
            **PLAIN_TEXT,
            "num_key_value_heads": 4,
            "model_type": "deepseek_v3",
            "vocab_size": len(tokenizer),
            "moe_intermediate_size": 32,
            "n_routed_experts": 4,
            "num_experts_per_tok": 2,
            "n_shared_experts": 1,
            "n_group": 1,
            "topk_group": 1,
            "first_k_dense_replace": 1,
            "kv_lora_rank": 16,
            "q_lora_rank": 16,
            "qk_rope_head_dim": 8,
            "qk_nope_head_dim": 8,
            "v_head_dim": 16,
        },
        projection_hidden_size=32,
        **ids(tokenizer, image_token_id="<|media_pad|>", video_token_id="<|kimi_k25_video_placeholder|>"),
        **ids(tokenizer, vision_start_token_id="<|media_begin|>", vision_end_token_id="<|media_end|>"),
        tie_word_embeddings=False,
    )
    image = "<|media_begin|>image<|media_content|><|media_pad|><|media_end|>"
    processor = hf.Kimi_K25Processor(
        hf.Kimi_K25ImageProcessor(patch_size=8, merge_size=2, size={"max_height": 64, "max_width": 64}),
        tokenizer,
        hf.Kimi_K25VideoProcessor(patch_size=8, merge_size=2),
        chat_template=tiny._template("<|im_ROLE|>", IM_END, image, "<|im_assistant|>assistant<|im_middle|>"),
    )
    return hf.Kimi_K25ForConditionalGeneration(config), processor


@family("molmo2", "Molmo 2")
def molmo2() -> tuple[Any, Any]:
    tokens = ["<im_start>", "<im_end>", "<im_patch>", "<im_col>", "<low_res_im_start>", "<|image|>", "<im_low>"]
    tokens += ["<frame_start>", "<frame_end>", "<|video|>"]
    tokenizer = tiny._tokenizer(IM_START, IM_END)
    base = len(tokenizer)
    tokenizer.add_special_tokens({"additional_special_tokens": tokens})
    config = hf.Molmo2Config(
        vision_config={
            **{name: value for name, value in VISION.items() if name != "image_size"},
            "num_key_value_heads": 2,
            "head_dim": 16,
            "image_size": [32, 32],
        },
        adapter_config={
            "vision_feature_layer": [-1, -2],
            "hidden_size": 32,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "intermediate_size": 64,
            "text_hidden_size": 64,
        },
        text_config={**TEXT, "vocab_size": base, "additional_vocab_size": 16},
        **ids(
            tokenizer,
            image_start_token_id="<im_start>",
            low_res_image_start_token_id="<low_res_im_start>",
            image_end_token_id="<im_end>",
            image_patch_id="<im_patch>",
            image_col_id="<im_col>",
            frame_start_token_id="<frame_start>",
            frame_end_token_id="<frame_end>",
        ),
    )
    processor = hf.Molmo2Processor(
        hf.Molmo2ImageProcessor(size=SIZE, patch_size=8, max_crops=2, overlap_margins=[1, 1], pooling_size=[2, 2]),
        hf.Molmo2VideoProcessor(size=SIZE, patch_size=8),
        tokenizer,
        chat_template=tiny._chatml("<|image|>"),
    )
    return hf.Molmo2ForConditionalGeneration(config), processor


@family("hunyuan_vl", "HunYuan-VL")
def hunyuan_vl() -> tuple[Any, Any]:
    named = {"image_token": "<hy_image>", "image_start_token": "<hy_image_start>", "image_end_token": "<hy_image_end>"}
    tokenizer = tiny._tokenizer("<hy_newline>", "<hy_user>", "<hy_assistant>", "<hy_system>", **named)
    config = hf.HunYuanVLConfig(
        vision_config={
            **{name: value for name, value in VISION.items() if name != "image_size"},
            "out_hidden_size": 64,
            "text_hidden_size": 64,
            "max_image_size": 64,
            "min_image_size": 32,
            "img_max_token_num": 64,
        },
        text_config={
            **TEXT,
            ROPE: {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 2, 2, 2]},
            "vocab_size": len(tokenizer),
        },
        image_token_id=tokenizer.image_token_id,
        im_start_id=tokenizer.image_start_token_id,
        im_end_id=tokenizer.image_end_token_id,
        **ids(tokenizer, im_newline_id="<hy_newline>"),
        tie_word_embeddings=False,
    )
    image = "<hy_image_start><hy_image><hy_image_end>"
    processor = hf.HunYuanVLProcessor(
        hf.HunYuanVLImageProcessor(patch_size=8, merge_size=2, size={"shortest_edge": 32**2, "longest_edge": 64**2}),
        tokenizer,
        chat_template=tiny._template("<hy_ROLE>", "", image, "<hy_assistant>", bos="<s>"),
    )
    return hf.HunYuanVLForConditionalGeneration(config), processor


@family("gemma3n", "Gemma 3n", needs="timm")
def gemma3n() -> tuple[Any, Any]:
    named = {
        **GEMMA4,
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    tokenizer = tiny._tokenizer("<start_of_turn>", "<end_of_turn>", **named)
    size = len(tokenizer)
    config = hf.Gemma3nConfig(
        text_config={
            **TEXT,
            **SLIDING,
            "vocab_size": size,
            "vocab_size_per_layer_input": size,
            "hidden_size_per_layer_input": 8,
            "num_kv_shared_layers": 1,
            "altup_num_inputs": 2,
            "laurel_rank": 4,
            "activation_sparsity_pattern": [0.0, 0.0, 0.0],
        },
        # Small, in place of MobileNetV5: four positions of a picture of 64 x 64 pixels.
        vision_config={"architecture": "resnet10t", "hidden_size": 512, "vocab_size": 8, "vocab_offset": size},
        audio_config={
            "vocab_size": 8,
            "vocab_offset": size + 8,
            "hidden_size": 32,
            "conf_num_attention_heads": 2,
            "conf_num_hidden_layers": 1,
            "sscp_conv_channel_size": [8, 4],
        },
        vision_soft_tokens_per_image=4,
        tie_word_embeddings=False,
        **{name.replace("token", "token_id"): tokenizer.convert_tokens_to_ids(token) for name, token in named.items()},
    )
    processor = hf.Gemma3nProcessor(
        hf.Gemma3nAudioFeatureExtractor(),
        hf.SiglipImageProcessor(size={"height": 64, "width": 64}, do_normalize=False),
        tokenizer,
        image_seq_length=4,
        chat_template=tiny._template(
            "<start_of_turn>ROLE\\n", "<end_of_turn>\\n", "<image_soft_token>", "<start_of_turn>model\\n", bos="<s>"
        ),
    )
    return hf.Gemma3nForConditionalGeneration(config), processor


VQ = {
    "embed_dim": 8,
    "num_embeddings": 16,
    "latent_channels": 8,
    "base_channels": 32,
    "channel_multiplier": [1, 1],
    "num_res_blocks": 1,
}


@family("janus", "Janus")
def janus() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer(
        image_token="<image_placeholder>", boi_token="<begin_of_image>", eoi_token="<end_of_image>"
    )
    config = hf.JanusConfig(
        text_config={**LLAMA, "vocab_size": len(tokenizer)},
        vision_config={
            **{name: value for name, value in VISION.items() if name != "intermediate_size"},
            "mlp_ratio": 2,
            "projection_dim": 64,
            "num_image_tokens": 16,
        },
        vq_config={**VQ, "num_patches": 4, "projection_dim": 64, "image_token_embed_dim": 64},
        image_token_id=tokenizer.image_token_id,
        tie_word_embeddings=False,
    )
    processor = hf.JanusProcessor(
        hf.JanusImageProcessor(size=SIZE),
        tokenizer,
        chat_template=tiny._template("<|ROLE|>: ", "\\n\\n", "<image_placeholder>\\n", "<|Assistant|>:"),
        num_image_tokens=16,
    )
    return hf.JanusForConditionalGeneration(config), processor


@family(
    "emu3",
    "Emu 3",
    one_at_a_time=True,
    remark="runs one request at a time: transformers pads the pictures of a batch, which changes answers",
)
def emu3() -> tuple[Any, Any]:
    named = {
        "image_token": "<image>",
        "boi_token": "<|image start|>",
        "eoi_token": "<|image end|>",
        "image_wrapper_token": "<|image token|>",
        "eof_token": "<|extra_201|>",
    }
    visual = [f"<|visual token {i:06d}|>" for i in range(16)]
    tokenizer = tiny._tokenizer("<|extra_200|>", *visual, **named)
    words = {**{token: tokenizer.convert_tokens_to_ids(token) for token in visual}, "<image>": 3}
    words |= {"<|extra_200|>": tokenizer.convert_tokens_to_ids("<|extra_200|>")}
    config = hf.Emu3Config(
        vq_config={
            "codebook_size": 16,
            "embed_dim": 4,
            "latent_channels": 4,
            "base_channels": 32,
            "channel_multiplier": [1, 1, 1, 1],
            "num_res_blocks": 1,
            "attn_resolutions": [],
            "hidden_size": 32,
            "temporal_downsample_factor": 1,
        },
        text_config={**TEXT, "vocab_size": len(tokenizer)},
        vocabulary_map=words,
    )
    processor = hf.Emu3Processor(
        hf.Emu3ImageProcessor(min_pixels=32 * 32, max_pixels=64 * 64),
        tokenizer,
        chat_template=tiny._template("ROLE: ", " ", "<image>", "ASSISTANT:"),
    )
    return hf.Emu3ForConditionalGeneration(config), processor


@family("chameleon", "Chameleon", one_pass=False, remark=OWN)
def chameleon() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer(image_token="<image>", boi_token="<racm3:break>", eoi_token="<eoss>", sep_token="<sep>")
    digits = str.maketrans("0123456789", "ABCDEFGHIJ")
    codes = {f"IMGIMG{i}Z".translate(digits): 100 + i for i in range(16)}  # the model reads the code from the name
    config = hf.ChameleonConfig(
        **{name: value for name, value in PLAIN_TEXT.items() if name != "num_key_value_heads"},
        num_key_value_heads=4,
        vocab_size=len(tokenizer),
        vq_config={**VQ, "resolution": 32, "channel_multiplier": [1, 1, 1, 1]},
        vocabulary_map={**codes, "<image>": 3},
    )
    tokenizer.chat_template = tiny._template("", "", "<image>", "")
    images = hf.ChameleonImageProcessor(size={"shortest_edge": 32}, crop_size=SIZE)
    return hf.ChameleonForConditionalGeneration(config), hf.ChameleonProcessor(images, tokenizer, image_seq_length=16)


@family(
    "kosmos2",
    "Kosmos-2",
    refused=dict.fromkeys(("one picture", "four pictures"), "0 image placeholders"),
    remark="its processor writes the pictures itself, which cannot be checked",
)
def kosmos2() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer()
    tokenizer.unk_token = "<pad>"
    images = hf.CLIPImageProcessor(**CLIP_IMAGES)
    tokenizer.chat_template = tiny._template("<grounding>", " ", "", "Answer:")
    processor = hf.Kosmos2Processor(images, tokenizer, num_patch_index_tokens=4)
    config = hf.Kosmos2Config(
        vision_config=VISION,
        text_config={
            "vocab_size": len(tokenizer),
            "embed_dim": 64,
            "layers": 2,
            "ffn_dim": 96,
            "attention_heads": 4,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
        latent_query_num=64,
    )
    return hf.Kosmos2ForConditionalGeneration(config), processor


@family("florence2", "Florence-2", refused={"load": "encoder-decoder"}, remark=ENCODER_DECODER)
def florence2() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer(image_token="<image>")
    config = hf.Florence2Config(
        vision_config={
            "depths": [1, 1, 1, 1],
            "embed_dim": [16, 16, 16, 16],
            "num_heads": [2, 2, 2, 2],
            "num_groups": [2, 2, 2, 2],
            "window_size": 2,
            "projection_dim": 64,
            "drop_path_rate": 0.0,
        },
        text_config={
            "model_type": "bart",
            "vocab_size": len(tokenizer),
            "d_model": 64,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 96,
            "decoder_ffn_dim": 96,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 2,
            "forced_eos_token_id": None,
        },
        image_token_id=3,
    )
    images = hf.CLIPImageProcessor(size={"height": 64, "width": 64}, do_center_crop=False)
    images.image_seq_length = 5
    processor = hf.Florence2Processor(images, tokenizer)
    tokenizer.chat_template = tiny._template("", "", "", "")
    return hf.Florence2ForConditionalGeneration(config), processor


@family("step3p7", "Step 3.7")
def step3p7() -> tuple[Any, Any]:
    tokens = ("<im_patch>", "<im_start>", "<im_end>", "<patch_start>", "<patch_end>", "<patch_newline>")
    tokenizer = tiny._tokenizer(*tokens, IM_START, IM_END)
    config = hf.Step3p7Config(
        vision_config={
            **{name: value for name, value in VISION.items() if name != "intermediate_size"},
            "image_size": 64,
            "patch_size": 8,
            "mlp_ratio": 2.0,
        },
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            "layer_types": ["sliding_attention", "full_attention", "full_attention"],
            "sliding_window": 8,
            "moe_intermediate_size": 32,
            "n_routed_experts": 4,
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "share_expert_dim": 32,
            "mlp_layer_types": ["dense", "sparse", "sparse"],
        },
        **ids(tokenizer, image_token_id="<im_patch>"),
    )
    images = hf.Step3p7ImageProcessor(size={"height": 64, "width": 64}, patch_size=32)
    images.vision_patch_size = 8
    processor = hf.Step3p7Processor(images, tokenizer, chat_template=tiny._chatml("<im_patch>"))
    return hf.Step3p7ForConditionalGeneration(config), processor


@family("granite4_vision", "Granite 4 Vision")
def granite4_vision() -> tuple[Any, Any]:
    tokenizer = tiny._tokenizer("<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>")
    config = hf.Granite4VisionConfig(
        vision_config={**SIGLIP, "hidden_size": 64},
        text_config={**TEXT, "model_type": "granite4_vision_text", "vocab_size": len(tokenizer)},
        image_token_index=3,
        image_grid_pinpoints=PINPOINTS,
        image_seq_length=16,
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        downsample_rate="1/2",
        deepstack_layer_map=[[-1, 0]],
        qformer_config={**Q_FORMER, "model_type": "blip_2_qformer"},
    )
    processor = hf.Granite4VisionProcessor(
        hf.LlavaNextImageProcessor(**CLIP_IMAGES, image_grid_pinpoints=PINPOINTS),
        tokenizer,
        patch_size=8,
        vision_feature_select_strategy="full",
        downsample_rate="1/2",
        chat_template=tiny._template(
            "<|start_of_role|>ROLE<|end_of_role|>",
            "<|end_of_text|>\\n",
            "<image>",
            "<|start_of_role|>assistant<|end_of_role|>",
        ),
    )
    return hf.Granite4VisionForConditionalGeneration(config), processor


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
