"""Requests with pictures: `figlang_vlm` beside lmms-eval's `qwen2_5_vl`.

The model has the size of Qwen2.5-VL-3B and random weights, which both classes share. Pictures are
those of `timings/vlm_requests.py`, of 1 to 5 megapixels.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from lmms_eval.models.chat.qwen2_5_vl import Qwen2_5_VL
from loguru import logger

from figlang_tasks.models.ahead import BatchRunner
from figlang_tasks.models.vlm import FigLangVLM
from timings.gpu.measurement import Measurement, count_flops, weights_parent
from timings.vlm_checkpoints import LIMITS, write_checkpoint
from timings.vlm_requests import ALONE, Run, Stopwatch, Variant, picture, run

SECTION = "requests"
FAMILY = "qwen2_5_vl"
OURS, HARNESS = "figlang_vlm", "qwen2_5_vl"


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes:
        size: of the model, a key of `vlm_checkpoints.SIZES`.
        batches: requests at a time, the most important batch first.
        requests: of a run, by batch.
        tokens: of each answer.
        rounds: runs of each variant, whose median counts.
    """

    size: str
    batches: tuple[int, ...]
    requests: dict[int, int]
    tokens: int
    rounds: int


FULL = Plan("3b", batches=(8, 32, 1), requests={8: 16, 32: 32, 1: 3}, tokens=64, rounds=3)
SMALL = Plan("tiny", batches=(2, 1), requests={2: 3, 1: 1}, tokens=4, rounds=2)


def measure(device: str, small: bool) -> Iterator[Measurement]:
    """Yield the speed of both classes at each batch, in tokens a second, after each round."""
    logger.remove()
    plan = SMALL if small else FULL
    with tempfile.TemporaryDirectory(dir=weights_parent()) as name:
        checkpoint = _write_checkpoint(plan.size, device, Path(name))
        limits = LIMITS[plan.size]
        pixels = {"min_pixels": limits.min_pixels, "max_pixels": limits.max_pixels}
        ours = FigLangVLM(pretrained=str(checkpoint), device=device, dtype="bfloat16", **pixels)
        harness = Qwen2_5_VL(
            pretrained=str(checkpoint), device=device, device_map=device, **pixels
        )
    model = ours.model
    harness._model = model
    stopwatch = Stopwatch(model)
    docs: list[dict[str, Any]] = []
    for row in range(max(plan.requests.values())):
        docs.append({"picture": picture(row), "claim": f"My lawyer is a shark, {row}."})

    def answer(variant: Variant, tokens: int) -> Run:
        """Answer the requests of a variant's batch once."""
        settings = {"max_new_tokens": tokens, "num_beams": 1, "do_sample": False, "until": []}
        _set_batch(variant)
        return run(variant, stopwatch, docs[: plan.requests[variant.batch]], settings)

    # The first call loads kernels.
    answer(Variant(OURS, plan.batches[-1], ours), 2)
    first = Variant(OURS, plan.batches[0], ours)
    prompt_flops = count_flops(partial(answer, first, 1)) / plan.requests[first.batch]
    flops_per_request = prompt_flops + plan.tokens * _flops_per_token(model)

    variants: list[Variant] = []
    for batch in plan.batches:
        variants += [Variant(OURS, batch, ours), Variant(HARNESS, batch, harness)]
        variants.append(Variant(ALONE, batch, ours))
    runs: dict[tuple[str, int], list[Run]] = {}
    for _ in range(plan.rounds):
        for variant in variants:
            variant_runs = runs.setdefault((variant.class_name, variant.batch), [])
            variant_runs.append(answer(variant, plan.tokens))
            yield _measurement(variant, variant_runs, plan, flops_per_request)


def _write_checkpoint(size: str, device: str, folder: Path) -> Path:
    """Write the model; its weights are drawn on the device, in bfloat16."""
    default_dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            return write_checkpoint(FAMILY, size, folder)
    finally:
        torch.set_default_dtype(default_dtype)


def _set_batch(variant: Variant) -> None:
    """Let a model class answer as many requests at a time as the variant says."""
    if variant.class_name == HARNESS:
        variant.lm.batch_size_per_gpu = variant.batch
    else:
        variant.lm._batch_runner = BatchRunner(variant.batch, "request")


def _flops_per_token(model: Any) -> int:
    """Floating point operations of a token of an answer: two for each weight of the text model."""
    weights = sum(weight.numel() for weight in model.language_model.parameters())
    embeddings = model.get_input_embeddings().weight.numel()
    head = model.get_output_embeddings().weight.numel()
    return 2 * (weights - embeddings + head)


def _measurement(
    variant: Variant, runs: list[Run], plan: Plan, flops_per_request: float
) -> Measurement:
    """The row of a variant, with the median of the runs that are done."""
    seconds = statistics.median(one_run.seconds for one_run in runs)
    requests = plan.requests[variant.batch]
    idle = 1 - statistics.median(one_run.generating / one_run.seconds for one_run in runs)
    remark = f"{requests} requests, {plan.tokens} tokens each; idle {100 * idle:.0f} %"
    return Measurement(
        SECTION,
        f"{variant.class_name}, batch {variant.batch}",
        requests * plan.tokens / seconds,
        "tokens/s",
        baseline="" if variant.class_name == HARNESS else f"{HARNESS}, batch {variant.batch}",
        tflops=requests * flops_per_request / seconds / 1e12,
        remark=f"{remark}; median of {len(runs)}",
    )
