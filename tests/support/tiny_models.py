"""Tiny vision-language models and dual encoders with random weights, written as real checkpoints.

`families.yaml` describes the checkpoints of vision-language models, and `encoders.yaml` those of
encoders. All vision-language models share the words of the demo model's tokenizer; each has its own
special tokens, chat template, image processor and geometry. Their weights have a spread of 0.1, so
that answers depend on pictures and positions.
"""

from __future__ import annotations

import random
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import transformers
import yaml
from tokenizers import Tokenizer

from figlang_tasks.mini import DEMO_MODEL_DIR

hf: Any = transformers
IS_TRANSFORMERS_4 = hf.__version__.startswith("4.")


def _read(file: str) -> dict[str, dict[str, Any]]:
    """The descriptions of checkpoints in a YAML file, by name."""
    descriptions = yaml.safe_load(Path(__file__).with_name(file).read_text(encoding="utf-8"))
    del descriptions["sizes"]
    return descriptions


def _build(value: Any, description: dict[str, Any], tokenizer: Any) -> Any:
    """The object that a value in the description of a checkpoint stands for."""
    if isinstance(value, list):
        return [_build(item, description, tokenizer) for item in value]
    if value == "TOKENIZER":
        return tokenizer
    if value == "OTHER_TOKENIZER":
        return _make_tokenizer(description)
    if value == "@":
        return len(tokenizer)
    if value == "@32":
        return {"height": 32, "width": 32}
    if value == "@tokens":
        tokens = [*description["tokens"], "<image>"]
        return {token: tokenizer.convert_tokens_to_ids(token) for token in tokens}
    if isinstance(value, str) and value.startswith("@"):
        return tokenizer.convert_tokens_to_ids(value[1:])
    if isinstance(value, dict):
        return _build_mapping(value, description, tokenizer)
    return value


def _build_mapping(value: dict[str, Any], description: dict[str, Any], tokenizer: Any) -> Any:
    """The instance of a class that a mapping stands for, or the mapping with its values built."""
    left_out = {"class", "args", "set", "without", *value.get("without", [])}
    options: dict[str, Any] = {}
    for name, option in value.items():
        if name not in left_out:
            options[name] = _build(option, description, tokenizer)
    if IS_TRANSFORMERS_4 and "rope_parameters" in options:
        options["rope_scaling"] = options.pop("rope_parameters")
    if "class" not in value:
        return options
    arguments = _build(value.get("args", []), description, tokenizer)
    if IS_TRANSFORMERS_4 and value["class"] == "Qwen2VLImageProcessor":
        # It takes no bounds from these sizes.
        options["min_pixels"] = options["size"]["shortest_edge"]
        options["max_pixels"] = options["size"]["longest_edge"]
    instance = getattr(hf, value["class"])(*arguments, **options)
    for name, attribute in value.get("set", {}).items():
        setattr(instance, name, attribute)
    return instance


# --- vision-language models ---


@dataclass(frozen=True)
class Family:
    """What `figlang_vlm` does with an architecture; `families.yaml` says what each field means."""

    name: str
    ci: bool = False
    refused: Mapping[str, str] = field(default_factory=dict)
    one_at_a_time: bool = False
    moves: str = ""
    fast: bool = True
    mark: str = ""
    auto: str = "AutoModelForImageTextToText"
    needs: str = ""
    remark: str = ""
    broken_in: str = ""


_FAMILIES = _read("families.yaml")
FAMILIES: dict[str, Family] = {}
"""The families of `families.yaml`."""

for _key, _description in _FAMILIES.items():
    _names = [column.name for column in fields(Family) if column.name in _description]
    FAMILIES[_key] = Family(**{name: _description[name] for name in _names})


def _checkpoint(family: str) -> dict[str, Any]:
    """The description of the checkpoint of a family, with what it shares with another family."""
    description = _FAMILIES[family]
    if "like" in description:
        return _checkpoint(description["like"]) | description
    return description


def _make_tokenizer(description: dict[str, Any]) -> Any:
    """The tokenizer of the demo model with the special tokens of a checkpoint."""
    class_name = "PreTrainedTokenizerFast"
    if IS_TRANSFORMERS_4:  # it wants the class that a processor is used with
        class_name = description.get("tokenizer") or class_name
    named_tokens = description.get("named", {})
    fast_tokenizer = Tokenizer.from_file(str(DEMO_MODEL_DIR / "tokenizer.json"))
    fast_tokenizer.add_special_tokens([*description.get("tokens", []), *named_tokens.values()])
    tokenizer = getattr(hf, class_name)(
        tokenizer_object=fast_tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        model_max_length=4096,
        model_input_names=["input_ids", "attention_mask"],
        extra_special_tokens=named_tokens,
    )
    for name, value in description.get("tokenizer_set", {}).items():
        setattr(tokenizer, name, value)
    return tokenizer


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


def _draw_weights(model: Any, family: str) -> None:
    """Draw weights so large that answers depend on pictures."""
    for name, weight in model.named_parameters():
        if "timm_model" in name:
            # As they are made, these are so small that pictures make no difference.
            if weight.ndim == 4 and family == "fast_vlm":
                torch.nn.init.kaiming_normal_(weight.data)
        elif "norm" not in name.lower():
            torch.nn.init.normal_(weight.data, std=0.1)


def _chat_template(family: str, description: dict[str, Any], matrix: bool) -> str:
    """The chat template of a family; see `write_vlm` for `matrix`."""
    template = None
    if matrix:
        template = _FAMILIES[family].get("matrix_template")
    template = template or description.get("template")
    template = template or _chatml(description.get("chatml", ""))
    if isinstance(template, str):
        return TEMPLATES.get(template, template)
    return _template(*template)


def write_vlm(family: str, folder: Path, matrix: bool = False) -> Path:
    """Write the checkpoint of a family below a folder, and return its own folder.

    Args:
        family: the family, a key of `FAMILIES`.
        folder: the folder of checkpoints.
        matrix: whether it gets the chat template for the matrix of families, if it has one.
    """
    torch.manual_seed(7)
    description = _checkpoint(family)
    tokenizer = _make_tokenizer(description)
    config = _build(description["config"], description, tokenizer)
    model = getattr(hf, description["model"])(config)
    _draw_weights(model, family)
    processor = _build(description["processor"], description, tokenizer)
    with_template = tokenizer if description.get("on_tokenizer") else processor
    with_template.chat_template = _chat_template(family, description, matrix)

    checkpoint = folder / family
    model.eval().save_pretrained(checkpoint)
    processor.save_pretrained(checkpoint)
    return checkpoint


def write_language_model(folder: Path, template: str | None = None) -> Path:
    """Write a causal language model, which reads text alone, and return its folder."""
    tokenizer = _make_tokenizer({"tokens": ["<|im_start|>", "<|im_end|>"]})
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


# --- dual encoders, matching heads and towers ---

ENCODERS = _read("encoders.yaml")
"""Descriptions of dual encoders and matching heads, by kind."""

WORDS = (
    "love is as sweet honey time money a the of and in sea wave cat dog his her heart stone fire"
    " ice not like".split()
)
_LETTERS = [*string.ascii_lowercase, *string.digits, *string.punctuation]
_PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *_LETTERS,
    *(f"##{letter}" for letter in _LETTERS),
]
_LONGEST_TEXT = 40  # tokens
_SIZES = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}


def longest_text(kind: str) -> int:
    """The number of tokens that an encoder truncates a text to."""
    return ENCODERS[kind].get("cut", _LONGEST_TEXT)


def sentences(count: int) -> list[str]:
    """Different texts, each of 1 to 5 words."""
    generator = random.Random(3)
    texts: list[str] = []
    for number in range(count):
        further_words = generator.choices(WORDS, k=generator.randint(0, 4))
        texts.append(" ".join([WORDS[number], *further_words]))
    return texts


def write_encoder(kind: str, folder: Path, seed: int = 0) -> Path:
    """Write a checkpoint into a folder, and return the folder.

    The tokenizer is BERT's with the letters as its pieces: each word has as many tokens as letters.

    Args:
        kind: the kind of encoder, a key of `ENCODERS`.
        folder: the folder of the checkpoint.
        seed: decides the weights.
    """
    description = ENCODERS[kind]
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    (folder / "vocab.txt").write_text("\n".join(_PIECES))
    input_names = ["input_ids", "attention_mask", "token_type_ids"]
    tokenizer = hf.BertTokenizer.from_pretrained(
        folder,
        model_max_length=description.get("longest", _LONGEST_TEXT),
        model_input_names=input_names[: description.get("inputs", 3)],
    )
    # The processor comes first, because that of BLIP-2 adds <image> to the tokenizer.
    processor = _build(description["processor"], description, tokenizer)
    config = _build(description["config"], description, tokenizer)
    model = getattr(hf, description["model"])(config)
    with torch.no_grad():  # Weights as drawn give features that are nearly all alike.
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, description.get("spread", 0.3))
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@lru_cache(maxsize=16)  # more than there are kinds
def _loaded(folder: Path, kind: str) -> tuple[Any, Any]:
    model = getattr(hf, ENCODERS[kind]["model"]).from_pretrained(folder).eval()
    return model, hf.AutoProcessor.from_pretrained(folder)


def reference_score(folder: Path, kind: str, image: Any, text: str) -> float:
    """The score of one pair by the transformers model alone, as its documentation uses it."""
    model, processor = _loaded(folder, kind)
    padding: Any = kind == "aimv2"
    if kind in ("siglip", "siglip2", "align"):
        padding = "max_length"
    max_length = longest_text(kind)
    if kind == "blip-2":  # it takes the queries off before it truncates
        max_length += 3
    # In a batch without padding aimv2 reads texts in both directions, whatever it was trained for:
    # a shorter text pads.
    texts = [text, ""] if kind == "aimv2" else text
    inputs = processor(
        images=image,
        text=texts,
        return_tensors="pt",
        truncation=True,
        padding=padding,
        max_length=max_length,
    )
    with torch.inference_mode():
        if kind == "blip":
            logits = model(**inputs, use_itm_head=True).itm_score
            return logits.softmax(dim=-1)[0, 1].item()
        if kind == "blip-2":
            logits = model(**inputs, use_image_text_matching_head=True).logits_per_image
            return logits.softmax(dim=1)[0, 1].item()
        if kind == "vilt":
            return model(**inputs).logits[0, 0].sigmoid().item()
        embeddings = model(**inputs)
        text_embeds = embeddings.text_embeds[:1]
        return torch.nn.functional.cosine_similarity(embeddings.image_embeds, text_embeds).item()


def write_towers(folder: Path, words: list[str]) -> tuple[str, str]:
    """Write the folders ``bert``, which knows `words`, and ``vit``, of 32 pixels, and return their
    paths.
    """
    bert = folder / "bert"
    vit = folder / "vit"
    bert.mkdir(parents=True)
    torch.manual_seed(0)
    (bert / "vocab.txt").write_text("\n".join([*_PIECES[:5], *words]))
    hf.BertTokenizer.from_pretrained(bert, model_max_length=40).save_pretrained(bert)
    bert_config = hf.BertConfig(**_SIZES, vocab_size=5 + len(words), max_position_embeddings=40)
    hf.BertModel(bert_config).save_pretrained(bert)
    vit_config = hf.ViTConfig(**_SIZES, image_size=32, patch_size=16)
    hf.ViTModel(vit_config).save_pretrained(vit)
    hf.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(vit)
    return str(bert), str(vit)
