"""Requests with pictures: `figlang_vlm` beside lmms-eval's `qwen2_5_vl`.

The model has the size of Qwen2.5-VL-3B and random weights, and both classes share it. Pictures are
those of `timings/vlm_requests.py`, of 1 to 5 megapixels.
"""

from __future__ import annotations

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
from timings.gpu.flops import count_flops
from timings.gpu.measurement import Measurement
from timings.vlm_checkpoints import LIMITS, write_checkpoint
from timings.vlm_comparison import Run, Variant
from timings.vlm_requests import Stopwatch, picture, run

SECTION = "requests"
FAMILY = "qwen2_5_vl"
OURS, HARNESS = "figlang_vlm", "qwen2_5_vl"


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes:
        size: of the model, a key of `vlm_checkpoints.SIZES`.
        requests: of a run, by the number that is answered at a time; the most important first.
        tokens: of each answer.
    """

    size: str
    requests: dict[int, int]
    tokens: int


FULL = Plan("3b", requests={8: 16, 32: 32, 1: 2}, tokens=64)
SMALL = Plan("tiny", requests={2: 3, 1: 1}, tokens=4)


class Classes:
    """`figlang_vlm` and the harness's class with one model, and requests for them.

    Args:
        plan: how much is measured.
        device: where the model is.
    """

    def __init__(self, plan: Plan, device: str) -> None:
        limits = LIMITS[plan.size]
        with tempfile.TemporaryDirectory() as folder:
            _write_checkpoint(plan.size, device, Path(folder))
            options: dict[str, Any] = {
                "pretrained": folder,
                "device": device,
                "min_pixels": limits.min_pixels,
                "max_pixels": limits.max_pixels,
            }
            self._ours = FigLangVLM(dtype="bfloat16", **options)
            self._harness = Qwen2_5_VL(device_map=device, **options)
        self._harness._model = self._ours.model
        self._stopwatch = Stopwatch(self._ours.model)
        self._docs: list[dict[str, Any]] = []
        for row in range(max(plan.requests.values())):
            self._docs.append({"picture": picture(row), "claim": f"My lawyer is a shark, {row}."})

    def answer(self, class_name: str, batch: int, requests: int, tokens: int) -> Run:
        """Answer some requests by one of the classes, each with as many tokens."""
        lm: Any = self._ours if class_name == OURS else self._harness
        if class_name == OURS:
            lm._batch_runner = BatchRunner(batch, "request")
        else:
            lm.batch_size_per_gpu = batch
        settings = {"max_new_tokens": tokens, "num_beams": 1, "do_sample": False, "until": []}
        variant = Variant(class_name, batch, lm)
        return run(variant, self._stopwatch, self._docs[:requests], settings)


def measure(device: str, small: bool) -> Iterator[Measurement]:
    """Yield the speed of both classes at each batch, in tokens a second, by one run of each."""
    logger.remove()
    plan = SMALL if small else FULL
    classes = Classes(plan, device)

    # Of a prompt with its picture and the first token, then of one more token. The first batch
    # stands for all: pictures are alike in size, once the processor has made them smaller.
    batch = next(iter(plan.requests))
    flops: list[float] = []
    for tokens in (1, 2):
        answer = partial(classes.answer, OURS, batch, batch, tokens)
        flops.append(count_flops(answer) / batch)
    flops_per_request = flops[0] + (plan.tokens - 1) * (flops[1] - flops[0])

    for batch, requests in plan.requests.items():
        classes.answer(OURS, batch, min(batch, requests), 2)  # the first call loads kernels
        runs: dict[str, Run] = {}
        for class_name in (HARNESS, OURS):
            runs[class_name] = classes.answer(class_name, batch, requests, plan.tokens)
        differing = sum(
            ours != harness
            for ours, harness in zip(runs[OURS].answers, runs[HARNESS].answers, strict=True)
        )
        for class_name, one_run in runs.items():
            idle = 1 - one_run.wall_generate / one_run.wall
            remark = f"{requests} requests, {plan.tokens} tokens each; idle {100 * idle:.0f} %"
            if class_name == OURS:
                remark += f"; {differing} answers differ"
            yield Measurement(
                SECTION,
                f"{class_name}, batch {batch}",
                requests * plan.tokens / one_run.wall,
                "tokens/s",
                baseline=f"{HARNESS}, batch {batch}" if class_name == OURS else "",
                tflops=requests * flops_per_request / one_run.wall / 1e12,
                remark=remark,
            )


def _write_checkpoint(size: str, device: str, folder: Path) -> None:
    """Write the model with its processor; the weights are drawn on the device, in bfloat16."""
    default_dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            write_checkpoint(FAMILY, size, folder)
    finally:
        torch.set_default_dtype(default_dtype)
