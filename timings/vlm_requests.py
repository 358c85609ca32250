"""Measure how fast requests are answered: `figlang_vlm` in batches of 1 and 8, beside lmms-eval's
`llava_hf`.

    python timings/vlm_requests.py [--rows 16] [--tokens 256] [--beams 1] [--batch 8]
                                      [--repeats 3]

Backs docs/models.md: eight requests at a time are about three times as fast as one. The rows have
V-FLUTE's shape: JPEG pictures of 1 to 5 megapixels, and answers of exactly `--tokens` tokens. The
processor has its real size (336 x 336), the model is tiny, with random weights: a step of
generation costs its calls, whether for one row or eight, as on a fast GPU.

The variants run in turns (A B C, A B C, ...), so that other load on the machine slows all alike;
the best run of each counts. *Idle* is the share of the time, from the first request to the last
answer, in which the model does not generate: pictures of the next batch are prepared meanwhile.
"""

from __future__ import annotations

import argparse
import io
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from lmms_eval.api.instance import Instance
from lmms_eval.models.chat.llava_hf import LlavaHf
from loguru import logger
from PIL import Image

from figlang_tasks.core.text import markdown_table
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models.vlm import FigLangVLM

hf: Any = transformers
AIM = 3.0  # times as fast with batch 8 as with batch 1
MEGAPIXELS = (1.0, 1.6, 2.2, 3.0, 3.8, 5.0)
SIDE, PATCH = 336, 14
TEXT: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 1,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "max_position_embeddings": 8192,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
VISION: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": SIDE,
    "patch_size": PATCH,
    "projection_dim": 32,
}
TEMPLATE = (
    "{% for message in messages %}{{ message['role'].upper() }}: {% for part in message['content']"
    " %}{% if part['type'] == 'image' %}<image>\n{% else %}{{ part['text'] }}{% endif %}{% endfor"
    " %} {% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)


def picture(number: int) -> bytes:
    """Return a JPEG of 1 to 5 megapixels."""
    generator = np.random.default_rng(number)
    ratio = (4 / 3, 3 / 4, 1.0, 16 / 9)[number % 4]
    height = math.ceil((MEGAPIXELS[number % len(MEGAPIXELS)] * 1e6 / ratio) ** 0.5)
    coarse = Image.fromarray(generator.integers(0, 256, (24, 32, 3), dtype=np.uint8))
    data = io.BytesIO()
    coarse.resize((math.ceil(height * ratio), height)).save(data, "JPEG", quality=85)
    return data.getvalue()


def messages_of(doc: dict[str, Any]) -> list[dict[str, Any]]:
    image = Image.open(io.BytesIO(doc["picture"])).convert("RGB")
    return [
        {
            "role": "user",
            "content": [
                {"type": "image", "url": image},
                {"type": "text", "text": f"{doc['claim']} Why?"},
            ],
        }
    ]


def write_model(folder: Path) -> Path:
    """Write a tiny LLaVA with random weights and a processor of the real size, with the demo
    model's tokenizer.
    """
    tokenizer = hf.AutoTokenizer.from_pretrained(DEMO_MODEL_DIR)
    tokenizer.model_max_length = 8192
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**VISION),
        text_config=hf.LlamaConfig(vocab_size=len(tokenizer), **TEXT),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )
    torch.manual_seed(0)
    model = hf.LlavaForConditionalGeneration(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.1)
        model.get_output_embeddings().weight[2] = (
            0  # so that no answer ends early: other tokens have larger logits
        )
    model.save_pretrained(folder)
    images = hf.CLIPImageProcessor(
        size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
    )
    hf.LlavaProcessor(
        images,
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        image_token="<image>",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    return folder


@dataclass(frozen=True)
class Run:
    """One pass over the requests."""

    seconds: float
    generating: float
    answers: list[str]


def answered(lm: Any, docs: Sequence[dict[str, Any]], settings: dict[str, Any]) -> Run:
    """Answer the requests once."""
    lm.task_dict["rows"] = {"test": docs}
    asked = [
        Instance(
            request_type="generate_until",
            arguments=("", messages_of, dict(settings), number, "rows", "test"),
            idx=0,
            metadata={"task": "rows", "doc_id": number, "repeats": 1},
        )
        for number in range(len(docs))
    ]
    generating = [0.0]
    generate = lm.model.generate

    def watched(*args: Any, **options: Any) -> Any:
        started = time.perf_counter()
        try:
            return generate(*args, **options)
        finally:
            generating[0] += time.perf_counter() - started

    lm.model.generate = watched
    started = time.perf_counter()
    answers = [answer.text for answer in lm.generate_until(asked)]
    if lm.device.type == "cuda":
        torch.cuda.synchronize()
    taken = time.perf_counter() - started
    lm.model.generate = generate
    return Run(taken, generating[0], answers)


def measure(given: argparse.Namespace, folder: Path) -> tuple[str, bool]:
    """Return the report, and whether the aim is met."""
    docs = [
        {"picture": picture(row), "claim": f"My lawyer is a shark, {row}."}
        for row in range(given.rows)
    ]
    settings = {
        "num_beams": given.beams,
        "max_new_tokens": given.tokens,
        "until": [],
        "do_sample": False,
    }
    where = {
        "pretrained": str(write_model(folder / "model")),
        "device": given.device,
        "dtype": "float32",
    }
    one, many = "figlang_vlm, batch 1", f"figlang_vlm, batch {given.batch}"
    variants: dict[str, Any] = {
        "llava_hf, batch 1": LlavaHf(**where, device_map=given.device, batch_size=1),
        one: FigLangVLM(**where, batch_size=1),
        many: FigLangVLM(**where, batch_size=given.batch),
    }
    runs: dict[str, list[Run]] = {name: [] for name in variants}
    for lm in variants.values():
        answered(
            lm, docs[:2], settings | {"max_new_tokens": 2}
        )  # warm up: loading and first calls are not timed
    for _ in range(given.repeats):
        for name, lm in variants.items():
            runs[name].append(answered(lm, docs, settings))
            print(f"{name}: {runs[name][-1].seconds:.2f} s", file=sys.stderr)
    best = {name: min(done, key=lambda run: run.seconds) for name, done in runs.items()}
    rows = [["model class", "requests a second", "as fast", "idle"]]
    for name, run in best.items():
        ratio, idle = best[one].seconds / run.seconds, 1 - run.generating / run.seconds
        rows.append(
            [name, f"{given.rows / run.seconds:.2f}", f"{ratio:.2f}x", f"{100 * idle:.0f} %"]
        )
    differ = sum(
        len(set(texts)) > 1 for texts in zip(*(run.answers for run in best.values()), strict=True)
    )
    lines = [
        (
            f"{given.rows} requests, {given.tokens} tokens each, {given.beams} beam(s),"
            f" {given.device}, {torch.get_num_threads()} threads, torch {torch.__version__},"
            f" transformers {hf.__version__}"
        ),
        markdown_table(rows),
        (
            f"Aim: batch {given.batch} {AIM:g} times as fast as batch 1. {differ} answers are not"
            " those of all variants."
        ),
    ]
    return "\n\n".join(lines), best[one].seconds / best[many].seconds >= AIM


def main() -> int:
    """Return 1 if the aim is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, default=16, help="requests (%(default)s; V-FLUTE has 723)"
    )
    parser.add_argument("--tokens", type=int, default=256, help="of each answer (%(default)s)")
    parser.add_argument("--beams", type=int, default=1, help="V-FLUTE's paper has 3 (%(default)s)")
    parser.add_argument("--batch", type=int, default=8, help="the larger batch (%(default)s)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    logger.remove()
    with tempfile.TemporaryDirectory() as folder:
        text, met = measure(given, Path(folder))
    print(text)
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
