"""Loads the model and the processor behind ``figlang_vlm``; whatever goes wrong ends in one message with a remedy."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
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


def load_processor(pretrained: str, **source: Any) -> Any:
    """Return the processor, set up for batches of prompts (left padding, a chat template).

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
    processor.chat_template = processor.chat_template or getattr(tokenizer, "chat_template", None)
    if not processor.chat_template:
        stop(
            f"{pretrained!r} has no chat template. Take its instruction-tuned checkpoint, "
            "or add a chat_template.jinja to a local copy of it"
        )
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return processor


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
    """Return `model` with the adapter's layers in it.

    Raises:
        SystemExit: the adapter cannot be loaded, is of another kind, or does not fit: a weight has no place in the
            model, or a layer has no weights. Such a layer would answer as the model without the adapter.
    """
    try:
        from peft import PeftConfig, PeftModel, load_peft_weights, set_peft_model_state_dict

        config = PeftConfig.from_pretrained(peft)
        if config.is_prompt_learning:
            stop(
                f"the adapter {peft!r} adds virtual tokens to the prompt; only adapters of weights (LoRA and kin) work"
            )
        key_mapping = None
        if config.peft_type == "LORA":
            key_mapping = _fit_names(model, config, load_peft_weights(peft, device="cpu"))
        with warnings.catch_warnings():
            # peft only warns of layers without weights, and the harness switches warnings off.
            warnings.filterwarnings("error", message=".*missing adapter keys")
            adapted = PeftModel.from_pretrained(model, peft, config=config, key_mapping=key_mapping)
        weights = load_peft_weights(peft, device="cpu", key_mapping=key_mapping)
        unused = set_peft_model_state_dict(adapted, weights).unexpected_keys
    except Exception as error:  # peft raises many kinds: a missing file, other shapes, another type of task
        if "missing adapter keys" not in str(error):
            stop(models.cannot_load("the adapter", peft, error))
        lost = re.findall("'([^']+)'", str(error))
        problem = f"{len(lost)} weights of its layers are not in its file"
    else:
        if not unused:
            return adapted.get_base_model()  # the adapter's layers are inside it
        lost = unused
        problem = f"{len(lost)} of its weights have no place in the model"
    stop(
        f"the adapter {peft!r} does not fit the model: {problem}, such as {lost[0]}. It was made for another model, or "
        "by a version that names layers otherwise; save it again beside the model that it was made for"
    )


def _fit_names(model: Any, config: Any, weights: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return peft's ``key_mapping`` of a LoRA whose layers have the names of an older transformers; None if none has.

    transformers 4.52 and 5 renamed layers (``model.layers`` of Qwen2-VL is ``model.language_model.layers`` now,
    ``vision_tower`` of LLaVA and kin ``model.vision_tower``). transformers maps the names of checkpoints by a list of
    its own; peft asks that list for some models and leaves their vision half out. `config` is changed to match: its
    patterns were written for the old names, so they become the layers that the file has weights of.
    """
    try:
        from transformers.conversion_mapping import get_model_conversion_mapping
        from transformers.core_model_loading import WeightRenaming, rename_source_key
    except ImportError:  # transformers 4, whose mapping peft applies itself
        return None
    from peft.utils.other import get_pattern_key

    renamings = [each for each in get_model_conversion_mapping(model) if isinstance(each, WeightRenaming)]
    layers = {name for name, _ in model.named_modules()}
    names, targets = {}, {}
    for key in weights:
        old = key.removeprefix("base_model.model.")
        new = old if _layer(old) in layers else rename_source_key(old, renamings, [])[0]
        if _layer(new) not in layers:
            new = old  # peft may know it
        names[old] = new
        if ".lora_" in key:
            targets[_layer(new)] = _layer(old)
    if all(old == new for old, new in names.items()):
        return None
    if layers.issuperset(targets):
        config.target_modules = set(targets)
        config.exclude_modules = config.layers_to_transform = config.layers_pattern = None
        for patterns in (config.rank_pattern, config.alpha_pattern):
            found = {new: get_pattern_key(patterns, old) for new, old in targets.items()}
            of_layers = {re.escape(new): patterns[key] for new, key in found.items() if key in patterns}
            patterns.clear()
            patterns.update(of_layers)
    renamed: Callable[[re.Match[str]], str] = lambda key: names[key[0]]  # noqa: E731
    return {"^.+$": renamed}


def _layer(key: str) -> str:
    """Return the name of the layer that a key of an adapter's file belongs to."""
    return key.partition(".lora_")[0] if ".lora_" in key else key.rpartition(".")[0]
