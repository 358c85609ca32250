"""Measure how fast candidates are scored: with the prefix shared by all, and with one forward pass
per candidate.

    python timings/candidate_scoring.py [--architecture llava|mllama] [--device cpu|cuda]
                                           [--dtype float32|bfloat16] [--candidates 50] [--small]

Backs docs/models.md, "all candidates share one pass over pictures and prompt": 8 times as fast or
more on LLaVA. Random weights: a LLaVA with 576 image tokens as LLaVA-1.5 has, or a Llama 3.2 Vision
whose text looks at four tiles by cross-attention; 48 tokens of prompt, candidates of 6 to 18
tokens. Speed does not depend on the values. Both ways run in turns in one process, so that other
load on the machine slows both alike; the median of each counts. The first request also checks the
shared prefix against decoding token by token: a run pays that once, so it is left out and printed
separately.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
import transformers
from transformers import (
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    MllamaConfig,
    MllamaForConditionalGeneration,
)

from figlang_tasks.core.text import markdown_table
from figlang_tasks.models.vlm_scoring import Scorer

AIMS = {"llava": 8.0, "mllama": 5.0}
AIM_DIFFERENCE = 1e-4  # in float32
IMAGE_TOKEN = 3
PROMPT_TOKENS = 48
TILES = 4
SHORTEST, LONGEST = 6, 18
MANY = 1000
# width, feed-forward, layers and heads of the language model and of the vision tower; vocabulary;
# image size
SIZES: dict[str, tuple[tuple[int, int, int, int], tuple[int, int, int, int], int, int]] = {
    "small": ((64, 128, 2, 4), (32, 64, 2, 2), 500, 112),
    "cpu": ((384, 1024, 8, 6), (128, 384, 6, 4), 32_000, 336),
    "cuda": ((2048, 5632, 22, 16), (1024, 4096, 23, 16), 32_000, 336),
}


def build(
    name: str, size: str, device: str, dtype: torch.dtype
) -> tuple[Any, dict[str, torch.Tensor]]:
    """Return a model with random weights, and the inputs of one image and a prompt."""
    text, vision, vocabulary, image_size = SIZES[size]
    names = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
    of_vision, of_text = (
        dict[str, Any](zip(names, sizes, strict=True)) for sizes in (vision, text)
    )
    torch.manual_seed(0)
    words = torch.randint(10, vocabulary, (1, PROMPT_TOKENS))
    image_tokens = (image_size // 14) ** 2 if name == "llava" else 1
    ids = torch.cat([words[:, :8], torch.full((1, image_tokens), IMAGE_TOKEN), words[:, 8:]], dim=1)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    config: Any
    model: Any
    if name == "llava":
        config = LlavaConfig(
            vision_config=CLIPVisionConfig(**of_vision, image_size=image_size, patch_size=14),
            text_config=LlamaConfig(**of_text, vocab_size=vocabulary),
            image_token_index=IMAGE_TOKEN,
        )
        model = LlavaForConditionalGeneration(config)
        inputs["pixel_values"] = torch.randn(1, 3, image_size, image_size)
    else:
        layers = of_text["num_hidden_layers"]
        rope = {"rope_type": "default", "rope_theta": 10000.0}
        heads = of_vision.pop("num_attention_heads")
        config = MllamaConfig(
            vision_config={
                **of_vision,
                "attention_heads": heads,
                "num_global_layers": max(of_vision["num_hidden_layers"] // 4, 1),
                "image_size": image_size,
                "patch_size": 14,
                "vision_output_dim": 2 * of_vision["hidden_size"],
                "intermediate_layers_indices": [0],
            },
            text_config={
                **of_text,
                "num_key_value_heads": of_text["num_attention_heads"],
                "vocab_size": vocabulary,
                "pad_token_id": 0,
                "bos_token_id": 1,
                "eos_token_id": 2,
                "cross_attention_layers": list(range(1, layers, 5)),
                (
                    "rope_scaling"
                    if transformers.__version__.startswith("4.")
                    else "rope_parameters"
                ): rope,
            },
            image_token_index=IMAGE_TOKEN,
        )
        model = MllamaForConditionalGeneration(config)
        inputs |= {
            "pixel_values": torch.randn(1, 1, TILES, 3, image_size, image_size),
            "aspect_ratio_ids": torch.full((1, 1), 6),  # two tiles by two
            "aspect_ratio_mask": torch.ones(1, 1, TILES, dtype=torch.long),
            "cross_attention_mask": torch.ones(1, ids.shape[1], 1, TILES, dtype=torch.long),
        }
    inputs["pixel_values"] = inputs["pixel_values"].to(dtype)
    return model.to(device, dtype).eval(), {
        name: value.to(device) for name, value in inputs.items()
    }


def whole(model: Any, inputs: dict[str, torch.Tensor], ids: Sequence[int]) -> list[float]:
    """Return the log-probabilities of a candidate's tokens by one pass over image, prompt and
    candidate.
    """
    added = torch.tensor([list(ids)], device=model.device)
    longer = {"input_ids": torch.cat([inputs["input_ids"], added], dim=1)}
    longer["attention_mask"] = torch.ones_like(longer["input_ids"])
    if (mask := inputs.get("cross_attention_mask")) is not None:
        longer["cross_attention_mask"] = torch.cat(
            [mask, mask[:, -1:].expand(-1, len(ids), -1, -1)], dim=1
        )
    logits = model(**inputs | longer, use_cache=False, logits_to_keep=len(ids) + 1).logits[0, :-1]
    return logits.float().log_softmax(-1).gather(1, added[0, :, None])[:, 0].tolist()


def candidates(count: int, vocabulary: int) -> list[list[int]]:
    """Return token ids of made-up candidates."""
    generator = random.Random(1)
    return [
        [generator.randrange(10, vocabulary) for _ in range(generator.randint(SHORTEST, LONGEST))]
        for _ in range(count)
    ]


def timed(run: Callable[[], Any], device: str) -> tuple[float, Any]:
    """Return the seconds of `run`, its work on the device included, and what it returns."""
    if device == "cuda":
        torch.cuda.synchronize()
    started = time.perf_counter()
    result = run()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started, result


@torch.inference_mode()
def main() -> int:
    """Return 0 if both ways agree (float32) and, without ``--small``, the aim is met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--architecture", choices=sorted(AIMS), default="llava")
    parser.add_argument(
        "--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu"
    )
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--candidates", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--small", action="store_true", help="a tiny model: its ratio means nothing"
    )
    args = parser.parse_args()
    size, aim = "small" if args.small else args.device, AIMS[args.architecture]
    model, inputs = build(args.architecture, size, args.device, getattr(torch, args.dtype))
    scorer = Scorer(model, SimpleNamespace(pad_token_id=0))
    texts = candidates(args.candidates, SIZES[size][2])
    positions = inputs["input_ids"].shape[1]
    parameters = sum(weight.numel() for weight in model.parameters()) / 1e6
    lengths = [len(ids) for ids in texts]
    print(
        f"{args.architecture}, {args.device}, {args.dtype}, {torch.get_num_threads()} threads; "
        f"{parameters:.0f} M parameters; {positions} tokens of image and prompt; "
        f"{len(texts)} candidates of {statistics.fmean(lengths):.1f} tokens on average"
    )

    def shared() -> list[list[float]]:
        return scorer.log_probs(inputs, texts)

    def apart() -> list[list[float]]:
        return [whole(model, inputs, ids) for ids in texts]

    first, _ = timed(shared, args.device)
    whole(model, inputs, texts[0])
    seconds: dict[str, list[float]] = {"shared": [], "apart": []}
    found: dict[str, list[list[float]]] = {}
    for _ in range(args.repeats):
        for name, run in (("shared", shared), ("apart", apart)):
            taken, found[name] = timed(run, args.device)
            seconds[name].append(taken)
    many, _ = timed(lambda: scorer.log_probs(inputs, candidates(MANY, SIZES[size][2])), args.device)

    fast, slow = (statistics.median(seconds[name]) for name in ("shared", "apart"))
    sums = {name: [sum(values) for values in rows] for name, rows in found.items()}
    difference = max(abs(a - b) for a, b in zip(sums["shared"], sums["apart"], strict=True))
    rows = [
        ["", "s", "ms per candidate", "as fast"],
        [
            "one forward pass per candidate",
            f"{slow:.3f}",
            f"{1000 * slow / len(texts):.2f}",
            "1.0x",
        ],
        [
            "prefix shared by all",
            f"{fast:.3f}",
            f"{1000 * fast / len(texts):.2f}",
            f"{slow / fast:.1f}x",
        ],
        [f"prefix shared, {MANY} candidates", f"{many:.3f}", f"{1000 * many / MANY:.2f}", ""],
    ]
    print(f"\n{markdown_table(rows)}\n")
    print(f"Aim: {aim:g} times. The first request, with its check: {first:.3f} s.")
    print(f"Largest difference of a candidate's log-probability: {difference:.1e} nats.")
    if not scorer.uses_shared_prefix:
        print("the shared prefix was not trusted: every candidate was decoded token by token")
    agrees = scorer.uses_shared_prefix and (difference <= AIM_DIFFERENCE or args.dtype != "float32")
    return 0 if agrees and (args.small or slow / fast >= aim) else 1


if __name__ == "__main__":
    sys.exit(main())
