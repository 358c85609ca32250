"""Loads the model and the processor behind ``figlang_vlm``; whatever goes wrong ends in one message with a remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from figlang_tasks import models

if TYPE_CHECKING:
    from accelerate import Accelerator

NAME = "figlang_vlm"


def stop(problem: str) -> NoReturn:
    """End the run before it starts. Not an Exception: the harness prints those and exits with status 0."""
    raise SystemExit(f"{NAME}: {problem}")


def accelerator() -> Accelerator:
    """Return this process's accelerate state; the process group is the harness's."""
    from accelerate import Accelerator

    return Accelerator()


def placement(process: Accelerator, device: str | None, device_map: Any) -> Any:
    """Return the ``device_map`` for ``from_pretrained``.

    Without `device` and `device_map` the accelerator of the process, else the CPU. Under accelerate data parallel each
    rank has its own device.

    Raises:
        SystemExit: a `device_map` that spreads the model, under data parallel.
    """
    device_map = device_map or None
    if process.num_processes > 1:
        if device_map not in (None, "cpu", "cuda"):
            stop(f"device_map={device_map!r} with {process.num_processes} processes; leave one of the two out")
        return {"": process.device}
    if device_map in (None, "cpu", "cuda") or str(device_map).startswith("cuda:"):
        return {"": torch.device(device_map or device or process.device)}
    return device_map


def dtype_for(name: Any, where: Any) -> Any:
    """Return the dtype to load with: `name`, else what the checkpoint says on a GPU and float32 on the CPU.

    Raises:
        SystemExit: `name` is not a floating point type of torch.
    """
    if name is None:
        on_cpu = isinstance(where, dict) and {str(device) for device in where.values()} == {"cpu"}
        return torch.float32 if on_cpu else "auto"
    found = name if isinstance(name, torch.dtype) or name == "auto" else getattr(torch, str(name), None)
    if found != "auto" and not (isinstance(found, torch.dtype) and found.is_floating_point):
        stop(f"dtype={name!r}; valid: auto, bfloat16, float16, float32")
    return found


def load_processor(pretrained: str, chat_template: str | None = None, **source: Any) -> Any:
    """Return the processor, set up for batches of prompts (left padding, a chat template).

    Args:
        chat_template: file with the template to use in place of the checkpoint's.

    Raises:
        SystemExit: it cannot be loaded, or has no tokenizer or chat template.
    """
    from transformers import AutoConfig, AutoProcessor

    try:
        # One file first: where no hub can be reached, each of the processor's six would be tried for half a minute.
        AutoConfig.from_pretrained(pretrained, **source)
        processor = AutoProcessor.from_pretrained(pretrained, **source)
    except Exception as error:  # remote code may raise anything
        stop(models.cannot_load("configuration and processor of", pretrained, error))
    tokenizer = getattr(processor, "tokenizer", None)
    if tokenizer is None:
        stop(f"{pretrained!r} has no processor for images and text; its checkpoint needs a processor_config.json")
    processor.chat_template = (
        _template_of(chat_template) or processor.chat_template or getattr(tokenizer, "chat_template", None)
    )
    if not processor.chat_template:
        stop(
            f"{pretrained!r} has no chat template. Take its instruction-tuned checkpoint, "
            "or give a template for it: chat_template=PATH"
        )
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return processor


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
    *,
    where: Any,
    dtype: Any,
    attn_implementation: str | None = None,
    load_in_4bit: bool = False,
    load_in_8bit: bool = False,
    peft: str | None = None,
    **source: Any,
) -> Any:
    """Return the model on its device, in evaluation mode; adapters stay beside the weights, not merged into them.

    Args:
        where: ``device_map`` of transformers.
        dtype: of the weights; that of the computation where they are quantised.
        peft: folder or hub id of a LoRA-like adapter.
        source: ``revision`` and ``trust_remote_code``.

    Raises:
        SystemExit: it cannot be loaded.
    """
    from transformers import AutoModelForImageTextToText, BitsAndBytesConfig

    if load_in_4bit and load_in_8bit:
        stop("load_in_4bit and load_in_8bit exclude each other")
    options = {"dtype": dtype, "device_map": where, **source}
    if attn_implementation is not None:
        options["attn_implementation"] = attn_implementation
    try:
        if load_in_4bit:
            compute = torch.bfloat16 if dtype == "auto" else dtype
            options["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=compute)
        elif load_in_8bit:
            options["quantization_config"] = BitsAndBytesConfig(load_in_8bit=True)
        model = AutoModelForImageTextToText.from_pretrained(pretrained, **options)
    except Exception as error:  # remote code may raise anything
        stop(models.cannot_load("the model", pretrained, error))
    if model.config.is_encoder_decoder:
        stop(f"{pretrained!r} is an encoder-decoder model; figlang_vlm runs models that go on from their prompt")
    return (_with_adapter(model, peft) if peft else model).eval()


def _with_adapter(model: Any, peft: str) -> Any:
    try:
        from peft import PeftModel

        adapted = PeftModel.from_pretrained(model, peft)
    except Exception as error:  # peft raises many kinds: a missing file, other shapes, another type of task
        stop(models.cannot_load("the adapter", peft, error))
    if adapted.active_peft_config.is_prompt_learning:
        stop(f"the adapter {peft!r} adds virtual tokens to the prompt; only adapters of weights (LoRA and kin) work")
    return adapted.get_base_model()  # the adapter's layers are inside it
