"""Loads the model and the processor behind ``figlang_vlm``; whatever goes wrong ends in one message
with a remedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import torch
import transformers
from accelerate import Accelerator
from loguru import logger
from transformers import BatchFeature

from figlang_tasks import models
from figlang_tasks.core import files
from figlang_tasks.core.errors import FigLangError

NAME = "figlang_vlm"
SEEING = ("AutoModelForImageTextToText", "AutoModelForMultimodalLM")
"""Classes of transformers whose models see pictures and answer in words; the second came with
transformers 5.
"""


class TextProcessor:
    """What `FigLangVLM` needs of a processor, from the tokenizer of a language model; messages have
    one text each.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.chat_template = tokenizer.chat_template

    def apply_chat_template(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> str:
        plain = [
            (
                {**message, "content": "".join(part.get("text", "") for part in message["content"])}
                if isinstance(message["content"], list)
                else message
            )
            for message in messages
        ]
        text: str = self.tokenizer.apply_chat_template(
            plain, chat_template=self.chat_template, **options
        )
        return text

    def __call__(self, text: Sequence[str], images: Any = None, **options: Any) -> BatchFeature:
        """The tensors of texts."""
        if images is not None:
            raise ValueError("the prompt has pictures, and this language model reads text alone")
        return BatchFeature(dict(self.tokenizer(text, return_token_type_ids=False, **options)))


def stop(problem: str) -> NoReturn:
    """End the run before it starts."""
    raise FigLangError(f"{NAME}: {problem}")


def placement(process: Accelerator, device: str | None, device_map: Any) -> Any:
    """The ``device_map`` to load with: as given, else the accelerator of the process, else the
    CPU.
    """
    device_map = device_map or None
    if process.num_processes > 1:
        if device_map not in (None, "cpu", "cuda"):
            stop(
                f"device_map={device_map!r} does not work with {process.num_processes} processes:"
                " use one of the two"
            )
        return {"": process.device}
    if device_map in (None, "cpu", "cuda") or str(device_map).startswith("cuda:"):
        return {"": torch.device(device_map or device or process.device)}
    return device_map


def dtype_for(name: Any, where: Any) -> Any:
    """The dtype to load with: `name`, else what the checkpoint says on a GPU and float32 on the
    CPU.
    """
    on_cpu = isinstance(where, dict) and {str(device) for device in where.values()} == {"cpu"}
    return name or ("float32" if on_cpu else "auto")


def source(revision: str | None, trust_remote_code: bool, gguf_file: str | None) -> dict[str, Any]:
    """What all ``from_pretrained`` get to find a checkpoint's files."""
    found: dict[str, Any] = {
        "revision": str(revision or "main"),
        "trust_remote_code": trust_remote_code,
    }
    return found | ({"gguf_file": gguf_file} if gguf_file else {})


def load_config(pretrained: str, **source: Any) -> Any:
    """The configuration of a checkpoint; of a model that also speaks (Qwen-Omni), of its half that
    writes.
    """
    with models.loading(NAME, "the configuration of", pretrained):
        config = transformers.AutoConfig.from_pretrained(pretrained, **source)
    config = getattr(config, "thinker_config", config)
    if config.is_encoder_decoder or getattr(config.get_text_config(), "is_encoder_decoder", False):
        stop(
            f"{pretrained!r} ({config.model_type}) is an encoder-decoder model. figlang_vlm runs"
            " decoder-only models"
        )
    auto_class(pretrained, config, **source)
    return config


def read_template(path: Path) -> str:
    """The text of a file with a chat template."""
    files.check_file(path)
    return path.read_text(encoding="utf-8")


def auto_class(
    pretrained: str,
    config: Any,
    *,
    trust_remote_code: bool = False,
    gguf_file: str | None = None,
    **source: Any,
) -> Any:
    """The class of transformers that loads the model."""
    if gguf_file:  # of which transformers reads language models alone
        return transformers.AutoModelForCausalLM
    classes = (*SEEING, "AutoModelForCausalLM", "AutoModel")
    own = [name for name in classes if name in (getattr(config, "auto_map", None) or {})]
    if own and trust_remote_code:
        return getattr(transformers, own[0])
    made_for = config.architectures or []
    given = f"{pretrained!r} ({', '.join(made_for or [config.model_type])})"
    known = (getattr(transformers, name, None) for name in SEEING)
    found = next(
        (each for each in known if each is not None and type(config) in each._model_mapping), None
    )
    if found is None and own:
        stop(f"{given} needs its own code. If you trust that code, add trust_remote_code=True")
    # Of BLIP, which also has a class that writes
    scores = any(name.endswith("Retrieval") for name in made_for)
    if not scores and (
        found is transformers.AutoModelForImageTextToText
        or (found and hasattr(config, "vision_config"))
    ):
        return found
    if found is None and any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in made_for):
        return transformers.AutoModelForCausalLM
    stop(
        f"{given} is not an image-text-to-text model of transformers {transformers.__version__}."
        " Models that score images with texts (CLIP, SigLIP, BLIP's matching head) run as --model"
        " figlang_clip"
    )


def load_processor(pretrained: str, chat_template: str | None = None, **source: Any) -> Any:
    """The processor, set up for batches of prompts: padding on the left, a chat template."""
    loader = transformers.AutoTokenizer if "gguf_file" in source else transformers.AutoProcessor
    with models.loading(NAME, "the processor of", pretrained):
        processor = loader.from_pretrained(pretrained, **source)
    if isinstance(processor, transformers.PreTrainedTokenizerBase):
        processor = TextProcessor(processor)
    tokenizer = getattr(processor, "tokenizer", None)
    if tokenizer is None:
        stop(
            f"{pretrained!r} has no processor for images and text; its checkpoint needs a"
            " processor_config.json"
        )
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
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return processor


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
    """The model on its device, in evaluation mode; adapters are not merged into the weights."""
    options = {
        "config": config,
        "dtype": dtype,
        "device_map": where,
        "output_loading_info": True,
        **source,
    }
    if attn_implementation is not None:
        options["attn_implementation"] = attn_implementation
    loader = auto_class(pretrained, config, **source)
    with models.loading(NAME, "the model", pretrained):
        if load_in_4bit or load_in_8bit:
            options["quantization_config"] = transformers.BitsAndBytesConfig(
                load_in_4bit=load_in_4bit,
                load_in_8bit=load_in_8bit,
                bnb_4bit_compute_dtype="bfloat16" if dtype == "auto" else dtype,
            )
        model, loaded = loader.from_pretrained(pretrained, **options)
    models.require_weights(NAME, pretrained, model, loaded)
    if config.model_type == "phi4_multimodal" and not peft:
        logger.warning(
            f"{NAME}: Phi-4-multimodal needs the adapter in its folder vision-lora to read images."
            " Give a local copy: peft=FOLDER/vision-lora"
        )
    return (_with_adapter(model, peft) if peft else model).eval()


def _with_adapter(model: Any, peft: str) -> Any:
    """`model` with the adapter's layers in it."""
    with models.loading(NAME, "the adapter", peft):
        from peft import PeftConfig, PeftModel

        config = PeftConfig.from_pretrained(peft)
        if config.is_prompt_learning:
            stop(
                f"the adapter {peft!r} adds virtual tokens to the prompt; only adapters that change"
                " weights (such as LoRA) work"
            )
        config.inference_mode = True
        adapted: Any = PeftModel(model, config)
        names = getattr(model, "_checkpoint_conversion_mapping", None)  # of transformers 4
        loaded = adapted.load_adapter(peft, "default", key_mapping=names)
    if lost := [*loaded.missing_keys, *loaded.unexpected_keys]:
        stop(
            f"the adapter {peft!r} does not fit the model: {len(lost)} weights are in its layers or"
            f" in its file alone, such as {lost[0]}. It was made for another model, or by a library"
            " version with other layer names. Save it again from the model that it was made for"
        )
    return adapted.get_base_model()  # the adapter's layers are inside it
