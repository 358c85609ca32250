"""Loads the model and the processor behind ``figlang_vlm``.

Whatever goes wrong ends the run with one message and a remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypedDict

import torch
import transformers
from accelerate import Accelerator
from loguru import logger

from figlang_tasks.core import files
from figlang_tasks.core.errors import FigLangError

from .checkpoints import loading, require_weights
from .vlm_attention import attend_by_row
from .vlm_text_processor import TextProcessor

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, ProcessorMixin

NAME = "figlang_vlm"

SEEING = ("AutoModelForImageTextToText", "AutoModelForMultimodalLM")
"""Classes of transformers whose models see pictures and answer in words.

The second came with transformers 5.
"""

DeviceMap: TypeAlias = str | dict[str, Any]
"""``device_map`` of transformers; ``{"": device}`` puts the whole model on one device."""

# A call `f(**source)` would be refused by mypy if this were a TypedDict of optional keys.
Source: TypeAlias = dict[str, Any]
"""Arguments by which every ``from_pretrained`` finds the files of one checkpoint."""


def stop(problem: str) -> NoReturn:
    """End the run before it starts."""
    raise FigLangError(f"{NAME}: {problem}")


# --- where and how to load ---


def placement(process: Accelerator, device: str | None, device_map: DeviceMap | None) -> DeviceMap:
    """The ``device_map`` to load with, such as ``{"": device}`` or ``auto``.

    `device_map` comes before `device`, and `device` before the process's own device: its
    accelerator if there is one, else the CPU. Several processes always use their own devices.

    Args:
        process: the accelerator state of this process.
        device: what ``--device`` says; None if it is not given.
        device_map: what ``--model_args`` says; None or "" if it is not given.

    Raises:
        FigLangError: a `device_map` that spreads the model is given, and there are several
            processes.
    """
    if process.num_processes > 1:
        # "cpu" and "cuda" do no harm, and are not used.
        if device_map and device_map not in ("cpu", "cuda"):
            stop(
                f"device_map={device_map!r} does not work with {process.num_processes}"
                " processes: use one of the two"
            )
        return {"": process.device}
    if not device_map:
        return {"": torch.device(device or process.device)}
    if isinstance(device_map, dict):
        return device_map
    is_one_device = device_map in ("cpu", "cuda") or str(device_map).startswith("cuda:")
    if is_one_device:
        return {"": torch.device(device_map)}
    return device_map  # a strategy of transformers, such as "auto"


def dtype_for(dtype: str | torch.dtype | None, device_map: DeviceMap) -> str | torch.dtype:
    """The dtype to load with: the one that is given, else float32 on the CPU, else ``auto``.

    ``auto`` is the dtype that the checkpoint names.

    Args:
        dtype: what ``--model_args`` says; None or "" if it is not given.
        device_map: from `placement`.
    """
    if dtype:
        return dtype
    if isinstance(device_map, dict):  # else it is a strategy such as "auto"
        devices = {str(device) for device in device_map.values()}
        if devices == {"cpu"}:
            return "float32"
    return "auto"


def source(revision: str | None, trust_remote_code: bool, gguf_file: str | None) -> Source:
    """The arguments by which every ``from_pretrained`` finds the checkpoint's files.

    Without a revision it is ``main``; without a GGUF file there is no such argument.
    """
    arguments: Source = {
        "revision": str(revision or "main"),
        "trust_remote_code": trust_remote_code,
    }
    if gguf_file:
        arguments["gguf_file"] = gguf_file
    return arguments


# --- the configuration ---


def load_config(pretrained: str, **source: Any) -> PretrainedConfig:
    """Load a checkpoint's configuration, and refuse one that ``figlang_vlm`` cannot run.

    For a model that also speaks (Qwen-Omni), it is that of the half which writes.

    Args:
        pretrained: hub id or folder.
        source: from the function `source`.

    Raises:
        FigLangError: the configuration cannot be read, or is that of another kind of model.
    """
    with loading(NAME, "the configuration of", pretrained):
        config = transformers.AutoConfig.from_pretrained(pretrained, **source)
    config = getattr(config, "thinker_config", config)
    # The configuration of the text part is asked for last: some encoder-decoder models have two.
    is_encoder_decoder = config.is_encoder_decoder or getattr(
        config.get_text_config(), "is_encoder_decoder", False
    )
    if is_encoder_decoder:
        stop(
            f"{pretrained!r} ({config.model_type}) is an encoder-decoder model. figlang_vlm runs"
            " decoder-only models"
        )
    auto_class(pretrained, config, **source)  # refuses other kinds of models
    return config


def auto_class(
    pretrained: str,
    config: PretrainedConfig,
    *,
    trust_remote_code: bool = False,
    gguf_file: str | None = None,
    **source: Any,
) -> type:
    """The ``AutoModel...`` class of transformers that loads the model.

    The first that fits: for a GGUF file, the class of language models; for a checkpoint with code
    of its own that is trusted, the class that it names; for a model that sees, its class in
    `SEEING`; for a language model, the class of those.

    Raises:
        FigLangError: the model needs its own code, which is not trusted, or it does not answer in
            words.
    """
    if gguf_file:  # transformers (5.24) reads only language models from such files
        return transformers.AutoModelForCausalLM
    architectures = config.architectures or []
    checkpoint = f"{pretrained!r} ({', '.join(architectures or [config.model_type])})"

    # A checkpoint with code of its own names its classes in `auto_map`.
    auto_map = getattr(config, "auto_map", None) or {}
    class_names = (*SEEING, "AutoModelForCausalLM", "AutoModel")
    custom_classes = [name for name in class_names if name in auto_map]
    if custom_classes and trust_remote_code:
        return getattr(transformers, custom_classes[0])  # the first in the order of `class_names`

    seeing_class = _seeing_class(config)
    is_language_model = any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in architectures)
    if seeing_class is not None:
        if _sees_and_writes(seeing_class, config):
            return seeing_class
    elif custom_classes:
        stop(f"{checkpoint} needs its own code. If you trust that code, add trust_remote_code=True")
    elif is_language_model:
        return transformers.AutoModelForCausalLM
    stop(
        f"{checkpoint} is not an image-text-to-text model of transformers"
        f" {transformers.__version__}. Models that score images with texts (CLIP, SigLIP, BLIP's"
        " matching head) run as --model figlang_clip"
    )


def _seeing_class(config: PretrainedConfig) -> type | None:
    """The first class of `SEEING` that has a model for the configuration; None if none has."""
    for name in SEEING:
        seeing_class = getattr(transformers, name, None)  # None before transformers 5
        if seeing_class is not None and type(config) in seeing_class._model_mapping:
            return seeing_class
    return None


def _sees_and_writes(seeing_class: type, config: PretrainedConfig) -> bool:
    """Whether a model that a class of `SEEING` can load sees pictures and answers in words."""
    # transformers (5.24) lists BLIP's configuration among the models that write, whichever of its
    # classes a checkpoint was saved from: one that only scores is told apart by its architecture.
    if any(name.endswith("Retrieval") for name in config.architectures or []):
        return False
    # AutoModelForMultimodalLM also has models that hear and do not see.
    is_image_text = seeing_class is transformers.AutoModelForImageTextToText
    return is_image_text or hasattr(config, "vision_config")


def context_length_of(config: PretrainedConfig) -> int | None:
    """The number of tokens that prompt and answer of a model may have together.

    None if its configuration sets no limit.
    """
    text_config = config.get_text_config()
    if getattr(text_config, "alibi", False):  # Falcon: it looks at distances, not at positions
        return None
    positions = _positions_of(text_config)
    if positions is None:
        return None

    # Such as {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}. Some
    # families have such a set of parameters for each type of layer: {"full_attention": {...}}.
    rope = (
        getattr(text_config, "rope_parameters", None)  # transformers 5
        or getattr(text_config, "rope_scaling", None)  # transformers 4
        or {}
    )
    rope_of_layers = [parameters for parameters in rope.values() if isinstance(parameters, Mapping)]
    lengths = [positions]
    for parameters in (rope, *rope_of_layers):
        factor = parameters.get("factor")
        if isinstance(factor, int | float):
            # Families differ in whether their number of positions is that before or after the
            # stretching. The larger one is taken, so that no prompt is refused that fits.
            original = parameters.get("original_max_position_embeddings", positions)
            lengths.append(int(original * factor))
    return max(lengths)


def _positions_of(text_config: PretrainedConfig) -> int | None:
    """The number of positions of a language model; None if its configuration has none."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len"):
        positions = getattr(text_config, name, None)
        if isinstance(positions, int) and positions > 0:
            return positions
    return None


# --- the processor ---


def read_template(path: Path) -> str:
    """The text of a file with a chat template."""
    files.check_file(path)
    return path.read_text(encoding="utf-8")


def load_processor(
    pretrained: str, chat_template: str | None = None, **source: Any
) -> ProcessorMixin:
    """The processor of a checkpoint, set up for batches: padding on the left, a padding token.

    It has a chat template: the given one, else the checkpoint's; a checkpoint without is refused.
    For a language model it is a `TextProcessor`.

    Args:
        pretrained: hub id or folder.
        chat_template: a file with a chat template in place of the checkpoint's.
        source: from the function `source`.
    """
    loader = transformers.AutoProcessor
    if "gguf_file" in source:
        loader = transformers.AutoTokenizer
    with loading(NAME, "the processor of", pretrained):
        processor = loader.from_pretrained(pretrained, **source)
    if isinstance(processor, transformers.PreTrainedTokenizerBase):  # that of a language model
        processor = TextProcessor(processor)
    tokenizer = getattr(processor, "tokenizer", None)
    if tokenizer is None:
        stop(
            f"{pretrained!r} has no processor for images and text; its checkpoint needs a"
            " processor_config.json"
        )

    # Some checkpoints have the chat template in the tokenizer's configuration.
    processor.chat_template = processor.chat_template or getattr(tokenizer, "chat_template", None)
    if chat_template is not None:
        try:
            processor.chat_template = read_template(Path(str(chat_template)).expanduser())
        except (OSError, ValueError) as error:
            stop(f"chat_template={chat_template}: no file with a Jinja template ({error})")
    if not processor.chat_template:
        stop(
            f"{pretrained!r} has no chat template. Use its instruction-tuned checkpoint, or give a"
            " template: chat_template=PATH"
        )
    tokenizer.padding_side = "left"  # an answer begins right behind its prompt
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return processor


# --- the model ---


class _ModelOptions(TypedDict, total=False):
    """Keyword arguments of ``from_pretrained`` of a model."""

    config: PretrainedConfig
    dtype: str | torch.dtype
    device_map: DeviceMap
    output_loading_info: bool
    attn_implementation: str
    quantization_config: transformers.BitsAndBytesConfig


def load_model(
    pretrained: str,
    config: PretrainedConfig,
    *,
    placement: DeviceMap,
    dtype: str | torch.dtype,
    attn_implementation: str | None = None,
    load_in_4bit: bool = False,
    load_in_8bit: bool = False,
    peft: str | None = None,
    **source: Any,
) -> PreTrainedModel:
    """The model on its device, in evaluation mode; an adapter is not merged into the weights.

    The arguments are those of `FigLangVLM`, but `config` is from `load_config`, `placement` and
    `dtype` from `placement` and `dtype_for`, and `source` from the function `source`.
    """
    options: _ModelOptions = {
        "config": config,
        "dtype": dtype,
        "device_map": placement,
        "output_loading_info": True,
    }
    if attn_implementation is not None:
        options["attn_implementation"] = attn_implementation
    loader: Any = auto_class(pretrained, config, **source)
    with loading(NAME, "the model", pretrained):
        if load_in_4bit or load_in_8bit:
            options["quantization_config"] = transformers.BitsAndBytesConfig(
                load_in_4bit=load_in_4bit,
                load_in_8bit=load_in_8bit,
                bnb_4bit_compute_dtype="bfloat16" if dtype == "auto" else dtype,
            )
        model, loading_info = loader.from_pretrained(pretrained, **options, **source)
    require_weights(NAME, pretrained, model, loading_info)
    if config.model_type == "phi4_multimodal" and not peft:
        logger.warning(
            f"{NAME}: Phi-4-multimodal needs the adapter in its folder vision-lora to read images."
            " Give a local copy: peft=FOLDER/vision-lora"
        )
    if peft:
        model = _with_adapter(model, peft)
    if attn_implementation is None:
        attend_by_row(model)
    return model.eval()


def _with_adapter(model: PreTrainedModel, peft: str) -> PreTrainedModel:
    """The model with the layers of an adapter inside it.

    Raises:
        FigLangError: the adapter changes the prompt, or does not fit the model in every layer.
    """
    with loading(NAME, "the adapter", peft):
        from peft import PeftConfig, PeftModel

        config = PeftConfig.from_pretrained(peft)
        if config.is_prompt_learning:
            stop(
                f"the adapter {peft!r} adds virtual tokens to the prompt; only adapters that change"
                " weights (such as LoRA) work"
            )
        config.inference_mode = True
        adapted = PeftModel(model, config)
        # With transformers 4, the names of layers in a file are not those in memory.
        key_mapping = getattr(model, "_checkpoint_conversion_mapping", None)
        # Not PeftModel.from_pretrained: it only warns of missing keys, and lmms-eval 0.7.3 silences
        # all warnings.
        loaded_keys = adapted.load_adapter(peft, "default", key_mapping=key_mapping)
    unmatched = [*loaded_keys.missing_keys, *loaded_keys.unexpected_keys]
    if unmatched:
        stop(
            f"the adapter {peft!r} does not fit the model: {len(unmatched)} weights are in its"
            f" layers or in its file alone, such as {unmatched[0]}. It was made for another model,"
            " or by a library version with other layer names. Save it again from the model that it"
            " was made for"
        )
    return adapted.get_base_model()  # the adapter's layers are inside it
