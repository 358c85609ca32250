"""Tiny image-text-to-text models with random weights, written to folders as real checkpoints are.

`families.yaml` says what the checkpoint of each family is made of. All share the words of the demo
model's tokenizer; each has its own special tokens, chat template, image processor and geometry.
Weights have a spread of 0.1, so that answers depend on pictures and positions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
import yaml
from tokenizers import Tokenizer

from figlang_tasks.mini import DEMO_MODEL_DIR

hf: Any = transformers
OLD = hf.__version__.startswith("4.")
SPREAD = 0.1


def read(file: str) -> dict[str, dict[str, Any]]:
    """What checkpoints are made of, by name."""
    found = yaml.safe_load(Path(__file__).with_name(file).read_text(encoding="utf-8"))
    del found["sizes"]
    return found


DATA = read("families.yaml")


def _checkpoint(family: str) -> dict[str, Any]:
    """What the checkpoint of a family is made of."""
    own = DATA[family]
    return _checkpoint(own["like"]) | own if "like" in own else own


def tokenizer_of(data: dict[str, Any]) -> Any:
    # 4.x wants the class that a processor is used with
    kind = data.get("tokenizer") if OLD else None
    named = data.get("named", {})
    tokenizer = Tokenizer.from_file(str(DEMO_MODEL_DIR / "tokenizer.json"))
    tokenizer.add_special_tokens([*data.get("tokens", []), *named.values()])
    found = getattr(hf, kind or "PreTrainedTokenizerFast")(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        model_max_length=4096,
        model_input_names=["input_ids", "attention_mask"],
        extra_special_tokens=named,
    )
    for name, value in data.get("tokenizer_set", {}).items():
        setattr(found, name, value)
    return found


def made(value: Any, data: dict[str, Any], tokenizer: Any) -> Any:
    """What a value in the YAML files stands for."""
    if isinstance(value, list):
        return [made(each, data, tokenizer) for each in value]
    if value == "TOKENIZER":
        return tokenizer
    if value == "OTHER_TOKENIZER":
        return tokenizer_of(data)
    if value == "@":
        return len(tokenizer)
    if value == "@32":
        return {"height": 32, "width": 32}
    if value == "@tokens":
        return {
            token: tokenizer.convert_tokens_to_ids(token) for token in [*data["tokens"], "<image>"]
        }
    if isinstance(value, str) and value.startswith("@"):
        return tokenizer.convert_tokens_to_ids(value[1:])
    if not isinstance(value, dict):
        return value
    left_out = {"class", "args", "set", "without", *value.get("without", [])}
    options = {
        name: made(each, data, tokenizer) for name, each in value.items() if name not in left_out
    }
    if OLD and "rope_parameters" in options:
        options["rope_scaling"] = options.pop("rope_parameters")
    if "class" not in value:
        return options
    found = getattr(hf, value["class"])(*made(value.get("args", []), data, tokenizer), **options)
    for name, each in value.get("set", {}).items():
        setattr(found, name, each)
    return found


def _template(start: str, end: str, image: str, answer: str, bos: str = "") -> str:
    """A chat template: `start` with ROLE in it, the parts in their order, `end`; last `answer`."""
    begin = "{{ '" + start.replace("ROLE", "' ~ message['role'] ~ '") + "' }}"
    parts = (
        "{% for part in message['content'] %}{% if part['type'] == 'image' %}{{ '"
        + image
        + "' }}{% else %}{{ part['text'] }}{% endif %}{% endfor %}"
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


def _chatml(image: str) -> str:
    return _template("<|im_start|>ROLE\\n", "<|im_end|>\\n", image, "<|im_start|>assistant\\n")


QWEN = _chatml("<|vision_start|><|image_pad|><|vision_end|>")
# In the style of templates that checkpoints bring.
TEMPLATES = {
    # LLaVA 1.5: pictures first, then texts
    "llava_1_5": (
        "{% for message in messages %}{% if message['role'] != 'system' %}{{"
        " message['role'].upper() + ': ' }}{% endif %}{% for part in message['content'] |"
        " selectattr('type', 'equalto', 'image') %}{{ '<image>\\n' }}{% endfor %}{% for part in"
        " message['content'] | selectattr('type', 'equalto', 'text') %}{{ part['text'] + ' ' }}{%"
        " endfor %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"
    ),
    # Qwen3-VL-Thinking: the answer begins with a thought, always
    "thinking": QWEN.replace("assistant\\n", "assistant\\n<think>\\n"),
    # gpt-oss: the thought is a channel of its own
    "channel": QWEN.replace("assistant\\n", "assistant<|channel|>analysis<|message|>"),
    # Qwen3.5: the same, but for a switch
    "switch": QWEN.replace(
        "{{ '<|im_start|>assistant\\n' }}",
        "{{ '<|im_start|>assistant\\n' }}{% if enable_thinking is defined and enable_thinking is"
        " false %}{{ '<think>\\n\\n</think>\\n\\n' }}{% else %}{{ '<think>\\n' }}{% endif %}",
    ),
    # GLM-4.5V: the model opens the thought itself, unless an empty one stands there
    "hybrid": QWEN.replace(
        "{{ '<|im_start|>assistant\\n' }}",
        "{{ '<|im_start|>assistant\\n' }}{{ '<think></think>\\n' if enable_thinking is false else"
        " '' }}",
    ),
    # Mistral: no role system, and the system's text is lost
    "without_system": (
        "{{ bos_token }}{% for message in messages %}{% if message['role'] != 'system' %}{{"
        " '[INST]' }}{% for chunk in message['content'] %}{% if chunk['type'] == 'text' %}{{"
        " chunk['text'] | trim }}{% else %}{{ '[IMG]' }}{% endif %}{% endfor %}{{ '[/INST]' }}{%"
        " endif %}{% endfor %}"
    ),
    # GLM-4.1V: the content of system and assistant is written as it is
    "text_as_it_is": (
        "{% for message in messages %}{{ '<' ~ message.role ~ '>' }}{% if message.role == 'user'"
        " %}{% for part in message.content %}{{ '[IMG]' if part.type == 'image' else part.text }}{%"
        " endfor %}{% else %}{{ message.content }}{% endif %}{% endfor %}{{ '<assistant>' }}"
    ),
    # BLIP-2: none of its own; the paper's question and answer
    "blip_2": (
        "{% for message in messages %}{% for part in message['content'] if part['type'] == 'text'"
        " %}{{ 'Question: ' ~ part['text'] ~ ' ' }}{% endfor %}{% endfor %}{{ 'Answer:' }}"
    ),
}

# Pixtral: the same, joined to other texts
TEMPLATES["text_joined"] = TEMPLATES["text_as_it_is"].replace(
    "{{ message.content }}", "{{ '' + message.content }}"
)

TEMPLATES["front_chatml"] = (  # LLaVA-OneVision
    "{% for message in messages %}{{ '<|im_start|>' ~ message['role'] ~ ' ' }}{% for part in"
    " message['content'] if part['type'] == 'image' %}{{ '<image>\\n' }}{% endfor %}{% for part in"
    " message['content'] if part['type'] == 'text' %}{{ '\\n' ~ part['text'] }}{% endfor %}{{"
    " '<|im_end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%"
    " endif %}"
)
# Qwen3.5
TEMPLATES["thought_closed"] = QWEN.replace(
    "assistant\\n' }}", "assistant\\n<think>\\n\\n</think>\\n\\n' }}"
)


def build(family: str, matrix: bool = False) -> tuple[Any, Any]:
    """Return model and processor of a family; `matrix`: with the template that the matrix has, if
    it has another.
    """
    torch.manual_seed(7)
    data = _checkpoint(family)
    tokenizer = tokenizer_of(data)
    model = getattr(hf, data["model"])(made(data["config"], data, tokenizer))
    for name, weight in model.named_parameters():
        if "timm_model" in name:
            if (
                weight.ndim == 4 and family == "fast_vlm"
            ):  # else so small that pictures make no difference
                torch.nn.init.kaiming_normal_(weight.data)
        elif "norm" not in name.lower():
            torch.nn.init.normal_(weight.data, std=SPREAD)
    processor = made(data["processor"], data, tokenizer)
    template = (
        (matrix and DATA[family].get("matrix_template"))
        or data.get("template")
        or _chatml(data.get("chatml", ""))
    )
    template = (
        TEMPLATES.get(template, template) if isinstance(template, str) else _template(*template)
    )
    if not data.get("on_tokenizer"):
        processor.chat_template = template
    else:
        tokenizer.chat_template = template
    return model.eval(), processor


def write(family: str, folder: Path, matrix: bool = False) -> Path:
    """Write the checkpoint of a family below `folder` and return its folder."""
    model, processor = build(family, matrix)
    target = folder / family
    model.save_pretrained(target)
    processor.save_pretrained(target)
    return target


def write_language_model(folder: Path, template: str | None = None) -> Path:
    """Write a causal language model, which reads text alone, and return its folder."""
    tokenizer = tokenizer_of({"tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.chat_template = template
    torch.manual_seed(3)
    config = hf.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, initializer_range=0.4,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    hf.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
