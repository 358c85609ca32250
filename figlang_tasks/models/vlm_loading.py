"""Loads the model and the processor behind ``figlang_vlm``; whatever goes wrong ends in one message with a remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import torch
from loguru import logger

from figlang_tasks import models
from figlang_tasks.core.errors import FigLangError

if TYPE_CHECKING:
    from accelerate import Accelerator

NAME = "figlang_vlm"
AUTO_CLASSES = (*models.GENERATIVE_CLASSES, "AutoModelForCausalLM", "AutoModel")
"""Of transformers. The first that knows a model loads it; the last two know it by code that the checkpoint brings."""

COUNTS = {
    "patch_size": "vision_config.patch_size",
    "vision_feature_select_strategy": "vision_feature_select_strategy",
    "num_image_tokens": "the square of vision_config.image_size / vision_config.patch_size",
    "num_query_tokens": "num_query_tokens",
    "image_seq_length": "vision_config.num_image_tokens, or image_seq_length",
}
"""The value that a processor needs to count the tokens of an image, and its place in config.json."""


def stop(problem: str) -> NoReturn:
    """End the run before it starts."""
    raise FigLangError(f"{NAME}: {problem}")


def accelerator() -> Accelerator:
    """Return this process's accelerate state; the process group is the harness's."""
    from accelerate import Accelerator

    return Accelerator()


def placement(process: Accelerator, device: str | None, device_map: Any) -> Any:
    """Return the ``device_map`` for ``from_pretrained``.

    Without `device` and `device_map` the accelerator of the process, else the CPU. Under accelerate data parallel each
    rank has its own device.

    Raises:
        FigLangError: a `device_map` that spreads the model, under data parallel.
    """
    device_map = device_map or None
    if process.num_processes > 1:
        if device_map not in (None, "cpu", "cuda"):
            stop(f"device_map={device_map!r} does not work with {process.num_processes} processes: use one of the two")
        return {"": process.device}
    if device_map in (None, "cpu", "cuda") or str(device_map).startswith("cuda:"):
        return {"": torch.device(device_map or device or process.device)}
    return device_map


def dtype_for(name: Any, where: Any) -> Any:
    """Return the dtype to load with: `name`, else what the checkpoint says on a GPU and float32 on the CPU.

    Raises:
        FigLangError: `name` is not a floating point type of torch.
    """
    if name is None:
        on_cpu = isinstance(where, dict) and {str(device) for device in where.values()} == {"cpu"}
        return torch.float32 if on_cpu else "auto"
    found = name if isinstance(name, torch.dtype) or name == "auto" else getattr(torch, str(name), None)
    if found != "auto" and not (isinstance(found, torch.dtype) and found.is_floating_point):
        stop(f"dtype={name!r}; valid: auto, bfloat16, float16, float32")
    return found


def load_config(pretrained: str, **source: Any) -> Any:
    """Return the configuration of a checkpoint that figlang_vlm runs.

    Of a model that also speaks (Qwen-Omni) it is that of its half that reads and writes.

    Raises:
        FigLangError: it cannot be loaded, or is of a model of another kind.
    """
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(pretrained, **source)
    except Exception as error:  # remote code may raise anything
        stop(models.cannot_load("the configuration of", pretrained, error))
    config = getattr(config, "thinker_config", config)
    if config.is_encoder_decoder or getattr(config.get_text_config(), "is_encoder_decoder", False):
        stop(f"{pretrained!r} ({config.model_type}) is an encoder-decoder model. figlang_vlm runs decoder-only models")
    auto_class(pretrained, config, **source)
    return config


def auto_class(pretrained: str, config: Any, *, trust_remote_code: bool = False, **source: Any) -> Any:
    """Return the class of transformers that loads the model.

    Raises:
        FigLangError: none does; the message names the model's kind.
    """
    import transformers

    from figlang_tasks.models import dual_encoder

    own = getattr(config, "auto_map", None) or {}
    for name in AUTO_CLASSES:
        if name in own and trust_remote_code:
            return getattr(transformers, name)
    given = f"{pretrained!r} ({', '.join(config.architectures or [config.model_type])})"
    found = models.generative_class(config)
    if found is None and any(name in own for name in AUTO_CLASSES):
        stop(f"{given} needs its own code. If you trust that code, add trust_remote_code=True")
    made_for = config.architectures or []
    writes = found is not None and (not made_for or found._model_mapping[type(config)].__name__ in made_for)
    if not writes and dual_encoder._model_class(config) is not None:
        stop(f"{given} scores images with texts and cannot generate text: use --model figlang_clip")
    if found is not None and (found is transformers.AutoModelForImageTextToText or hasattr(config, "vision_config")):
        return found
    if found is not None or type(config) in transformers.AutoModelForCausalLM._model_mapping:
        stop(f"{given} reads no images; figlang_vlm needs an image-text-to-text model. {models.TEXT_MODELS}")
    stop(f"{given} is not an image-text-to-text model of transformers {transformers.__version__}")


def load_processor(pretrained: str, chat_template: str | None = None, **source: Any) -> Any:
    """Return the processor, set up for batches of prompts (left padding, a chat template).

    Args:
        chat_template: file with the template to use in place of the checkpoint's.

    Raises:
        FigLangError: it cannot be loaded, or lacks a tokenizer, a chat template or a number that it needs.
    """
    from transformers import AutoProcessor

    try:
        processor = AutoProcessor.from_pretrained(pretrained, **source)
    except Exception as error:  # remote code may raise anything
        if missing := next((name for name in COUNTS if f"`{name}`" in str(error)), None):
            stop(_cannot_count(pretrained, missing))
        stop(models.cannot_load("the processor of", pretrained, error))
    tokenizer = getattr(processor, "tokenizer", None)
    if tokenizer is None:
        stop(f"{pretrained!r} has no processor for images and text; its checkpoint needs a processor_config.json")
    processor.chat_template = (
        _template_of(chat_template) or processor.chat_template or getattr(tokenizer, "chat_template", None)
    )
    if not processor.chat_template:
        stop(
            f"{pretrained!r} has no chat template. Use its instruction-tuned checkpoint, or give a template: "
            "chat_template=PATH"
        )
    if missing := next((name for name in COUNTS if getattr(processor, name, "not asked for") is None), None):
        stop(_cannot_count(pretrained, missing))
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return processor


def _cannot_count(pretrained: str, missing: str) -> str:
    return (
        f"the processor of {pretrained!r} lacks {missing}, which gives the number of tokens of an image. Use a newer "
        "revision of the checkpoint, or add the value to processor_config.json (or preprocessor_config.json) of a "
        f"local copy; in config.json it is {COUNTS[missing]}"
    )


def _template_of(path: str | None) -> str | None:
    if path is None:
        return None
    problem = f"chat_template={path}: no file with a Jinja template"
    try:
        text = Path(str(path)).expanduser().read_text(encoding="utf-8")
        if str(path).endswith(".json"):  # as older checkpoints keep theirs
            text = json.loads(text)["chat_template"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        stop(f"{problem} ({type(error).__name__}: {error})")
    if not isinstance(text, str) or not text.strip():
        stop(f"{problem}; it is empty")
    return text


def load_model(
    pretrained: str,
    config: Any,
    *,
    where: Any,
    dtype: Any,
    attn_implementation: str | None = None,
    load_in_4bit: bool = False,
    load_in_8bit: bool = False,
    peft: str | None = None,
    **source: Any,
) -> Any:
    """Return the model on its device, in evaluation mode; adapters are not merged into the weights.

    Args:
        config: of :func:`load_config`.
        where: ``device_map`` of transformers.
        dtype: of the weights; that of the computation where they are quantised.
        peft: folder or hub id of a LoRA-like adapter.
        source: ``revision`` and ``trust_remote_code``.

    Raises:
        FigLangError: it cannot be loaded, or weights are missing.
    """
    from transformers import BitsAndBytesConfig

    if load_in_4bit and load_in_8bit:
        stop("use either load_in_4bit or load_in_8bit")
    options = {"config": config, "dtype": dtype, "device_map": where, "output_loading_info": True, **source}
    if attn_implementation is not None:
        options["attn_implementation"] = attn_implementation
    loader = auto_class(pretrained, config, **source)
    try:
        if load_in_4bit:
            compute = torch.bfloat16 if dtype == "auto" else dtype
            options["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=compute)
        elif load_in_8bit:
            options["quantization_config"] = BitsAndBytesConfig(load_in_8bit=True)
        model, loaded = loader.from_pretrained(pretrained, **options)
    except Exception as error:  # remote code may raise anything
        stop(models.cannot_load("the model", pretrained, error))
    if lost := models.missing_weights(pretrained, model, loaded):
        stop(lost)
    if config.model_type == "phi4_multimodal" and not peft:
        logger.warning(
            f"{NAME}: Phi-4-multimodal needs the adapter in its folder vision-lora to read images. Give a local copy: "
            "peft=FOLDER/vision-lora"
        )
    if not hasattr(model, "generate"):
        stop(f"{type(model).__name__} of {pretrained!r} has no method generate, so it cannot answer")
    return (_with_adapter(model, peft) if peft else model).eval()


def _with_adapter(model: Any, peft: str) -> Any:
    """Return `model` with the adapter's layers in it.

    Raises:
        FigLangError: the adapter cannot be loaded, is of another kind, or does not fit: a weight has no place in the
            model, or a layer has no weights. Such a layer would answer as the model without the adapter.
    """
    try:
        from peft import PeftConfig, PeftModel

        config = PeftConfig.from_pretrained(peft)
        if config.is_prompt_learning:
            stop(
                f"the adapter {peft!r} adds virtual tokens to the prompt; only adapters that change weights (such as "
                "LoRA) work"
            )
        config.inference_mode = True
        adapted: Any = PeftModel(model, config)
        names = getattr(model, "_checkpoint_conversion_mapping", None)  # of transformers 4
        loaded = adapted.load_adapter(peft, "default", key_mapping=names)
    except FigLangError:
        raise
    except Exception as error:  # peft raises many kinds: a missing file, other shapes, another type of task
        stop(models.cannot_load("the adapter", peft, error))
    if loaded.missing_keys:
        problem = f"{len(loaded.missing_keys)} weights of its layers are not in its file, such as"
    elif loaded.unexpected_keys:
        problem = f"{len(loaded.unexpected_keys)} of its weights have no place in the model, such as"
    else:
        return adapted.get_base_model()  # the adapter's layers are inside it
    stop(
        f"the adapter {peft!r} does not fit the model: {problem} {[*loaded.missing_keys, *loaded.unexpected_keys][0]}. "
        "It was made for another model, or by a library version with other layer names. Save it again from the model "
        "that it was made for"
    )
