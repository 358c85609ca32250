"""Measure how fast requests are answered: `figlang_vlm` beside lmms-eval's own model classes.

    python timings/vlm_requests.py [--family llava qwen2_5_vl internvl] [--size tiny|100m]
        [--batches 1 8 32] [--rows 32] [--tokens 32] [--beams 1] [--rounds 5] [--threads 1]

Backs docs/models.md. The rows have V-FLUTE's shape: JPEG pictures of 1 to 5 megapixels, and answers
of exactly `--tokens` tokens. Processors have their real sizes (`vlm_checkpoints.py`), weights are
random. A step of the tiny model costs its calls, whether for one row or eight, as on a fast GPU; a
step of the larger one costs its arithmetic.

The harness's class (`llava_hf`, `qwen2_5_vl`, `internvl_hf`) runs at the batch sizes that it takes.
Its variants share one model in float32, with the attention that transformers chooses, and ours
share another one. They run in turns (A B C, A B C, ...), so that other load
on the machine slows all alike; a ratio is the median of those of the rounds.

*Idle* is the share of the time, from the first request to the last answer, in which the model does
not generate. The processor's time does not depend on other load: that of the thread which runs the
model, the part of it in ``generate``, and that of all threads. No class is faster than ``generate``
alone, which is printed as a bound.
"""

from __future__ import annotations

import argparse
import functools
import io
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from lmms_eval.api.instance import Instance
from lmms_eval.models.chat.internvl_hf import InternVLHf
from lmms_eval.models.chat.llava_hf import LlavaHf
from lmms_eval.models.chat.qwen2_5_vl import Qwen2_5_VL
from loguru import logger
from PIL import Image
from vlm_checkpoints import FAMILIES, LIMITS, SIZES, PictureLimits, write_checkpoint
from vlm_comparison import (
    AIM,
    AIM_BATCH,
    OURS,
    Run,
    Variant,
    VariantRuns,
    bounds,
    differing_answers,
    meets_aims,
    table,
)

from figlang_tasks.models.vlm import FigLangVLM

MEGAPIXELS = (1.0, 1.6, 2.2, 3.0, 3.8, 5.0)
SHAPES = (4 / 3, 3 / 4, 1.0, 16 / 9)  # width to height
GRID = 28  # pixels; see `picture`
HARNESS_NAMES = {"llava": "llava_hf", "qwen2_5_vl": "qwen2_5_vl", "internvl": "internvl_hf"}


def picture(number: int) -> bytes:
    """A JPEG of 1 to 5 megapixels.

    Its sides are multiples of 28 pixels. lmms-eval's `qwen2_5_vl` resizes any other picture twice,
    and so shows the model other pixels than the processor alone does.
    """
    generator = np.random.default_rng(number)
    shape = SHAPES[number % len(SHAPES)]
    pixels = MEGAPIXELS[number % len(MEGAPIXELS)] * 1e6
    height = round((pixels / shape) ** 0.5 / GRID) * GRID
    width = round(height * shape / GRID) * GRID
    coarse = Image.fromarray(generator.integers(0, 256, (24, 32, 3), dtype=np.uint8))
    jpeg = io.BytesIO()
    coarse.resize((width, height)).save(jpeg, "JPEG", quality=85)
    return jpeg.getvalue()


def messages_of(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """The chat messages of a row, with its picture decoded."""
    image = Image.open(io.BytesIO(doc["picture"])).convert("RGB")
    image_part = {"type": "image", "url": image}
    text_part = {"type": "text", "text": f"{doc['claim']} Why?"}
    return [{"role": "user", "content": [image_part, text_part]}]


def requests_of(lm: Any, docs: Sequence[dict[str, Any]], settings: dict[str, Any]) -> list:
    """The requests for all rows, as the harness makes them."""
    lm.task_dict["rows"] = {"test": docs}
    requests: list[Instance] = []
    for number in range(len(docs)):
        request = Instance(
            request_type="generate_until",
            arguments=("", messages_of, dict(settings), number, "rows", "test"),
            idx=0,
            metadata={"task": "rows", "doc_id": number, "repeats": 1},
        )
        requests.append(request)
    return requests


# --- what is measured ---


class Stopwatch:
    """Adds up the time that models spend in ``generate``: wall time, and its thread's own."""

    def __init__(self, models: Sequence[Any]) -> None:
        self.wall = 0.0
        self.thread = 0.0
        for model in models:
            model.generate = functools.partial(self._timed, model.generate)

    def reset(self) -> None:
        self.wall = 0.0
        self.thread = 0.0

    def _timed(self, generate: Callable[..., Any], *args: Any, **options: Any) -> Any:
        wall_start = time.perf_counter()
        thread_start = time.thread_time()
        output = generate(*args, **options)
        if output.is_cuda:
            torch.cuda.synchronize()
        self.thread += time.thread_time() - thread_start
        self.wall += time.perf_counter() - wall_start
        return output


def harness_class(
    family: str, limits: PictureLimits, batch: int, options: dict[str, Any]
) -> Any | None:
    """The harness's class for a family at a batch size; None if it refuses that size."""
    if family == "qwen2_5_vl":
        pixels = {"min_pixels": limits.min_pixels, "max_pixels": limits.max_pixels}
        return Qwen2_5_VL(**options, batch_size=batch, **pixels)
    if batch > 1:
        return None
    if family == "internvl":
        return InternVLHf(**options, max_patches=limits.max_tiles)
    return LlavaHf(**options)


def make_variants(
    family: str, arguments: argparse.Namespace, folder: Path
) -> tuple[list[Variant], Stopwatch]:
    """The variants, the harness's class first, and the stopwatch of their two models."""
    checkpoint = write_checkpoint(family, arguments.size, folder)
    options = {"pretrained": str(checkpoint), "device": arguments.device}
    harness_options = options | {"device_map": arguments.device}
    variants: list[Variant] = []
    for batch in arguments.batches:
        lm = harness_class(family, LIMITS[arguments.size], batch, harness_options)
        if lm is not None:
            variants.append(Variant(HARNESS_NAMES[family], batch, lm))
    for batch in arguments.batches:
        variants.append(
            Variant(OURS, batch, FigLangVLM(**options, dtype="float32", batch_size=batch))
        )

    # The harness's classes load in bfloat16, which CPUs are slow at.
    harness_lm = FigLangVLM(**options, dtype="float32", attn_implementation="sdpa")
    harness_model = harness_lm.model
    model = variants[-1].lm.model
    for variant in variants:
        if variant.class_name == OURS:
            variant.lm.model = model
        else:
            variant.lm._model = harness_model
    return variants, Stopwatch([harness_model, model])


def run(
    variant: Variant,
    stopwatch: Stopwatch,
    docs: Sequence[dict[str, Any]],
    settings: dict[str, Any],
) -> Run:
    """Answer all requests once."""
    requests = requests_of(variant.lm, docs, settings)
    stopwatch.reset()
    all_threads_start = time.process_time()
    thread_start = time.thread_time()
    wall_start = time.perf_counter()
    answers = [answer.text for answer in variant.lm.generate_until(requests)]
    return Run(
        wall=time.perf_counter() - wall_start,
        wall_generate=stopwatch.wall,
        all_threads=time.process_time() - all_threads_start,
        model_thread=time.thread_time() - thread_start,
        generate=stopwatch.thread,
        answers=answers,
    )


def measure(family: str, arguments: argparse.Namespace, folder: Path) -> list[VariantRuns]:
    """Run all variants of a family in turns."""
    docs: list[dict[str, Any]] = []
    for row in range(arguments.rows):
        docs.append({"picture": picture(row), "claim": f"My lawyer is a shark, {row}."})
    settings = {
        "num_beams": arguments.beams,
        "max_new_tokens": arguments.tokens,
        "until": [],
        "do_sample": False,
    }
    variants, stopwatch = make_variants(family, arguments, folder)
    for variant in variants:  # the first calls load code
        run(variant, stopwatch, docs[:1], settings | {"max_new_tokens": 2})
    runs: list[list[Run]] = [[] for _ in variants]
    for _ in range(arguments.rounds):
        for variant, variant_runs in zip(variants, runs, strict=True):
            variant_runs.append(run(variant, stopwatch, docs, settings))
            print(
                f"{family}, {variant.class_name} {variant.batch}: {variant_runs[-1].wall:.1f} s",
                file=sys.stderr,
            )
    return [VariantRuns(*pair) for pair in zip(variants, runs, strict=True)]


def report(family: str, arguments: argparse.Namespace, measured: Sequence[VariantRuns]) -> str:
    """The report of a family."""
    weights = sum(weight.numel() for weight in measured[0].variant.lm.model.parameters())
    heading = (
        f"{family}, {arguments.size} ({weights / 1e6:.1f}M weights): {arguments.rows} requests,"
        f" {arguments.tokens} tokens each, {arguments.beams} beam(s), {arguments.device},"
        f" {arguments.threads} thread(s) of torch, {arguments.rounds} round(s), torch"
        f" {torch.__version__}, transformers {transformers.__version__}"
    )
    state = "met" if meets_aims(measured) else "missed"
    aims = (
        f"Aims: nowhere slower than the harness's class, and {AIM:g} times as fast at batch"
        f" {AIM_BATCH} as its batch 1: {state}."
    )
    parts = [heading, table(measured, arguments.rows), bounds(measured)]
    return "\n\n".join([*parts, differing_answers(measured), aims])


def main() -> int:
    """Return 1 if an aim is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--family", choices=FAMILIES, nargs="+", default=list(FAMILIES))
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument(
        "--batches", type=int, nargs="+", default=[1, 8, 32], help="the first is 1 (%(default)s)"
    )
    parser.add_argument(
        "--rows", type=int, default=32, help="requests (%(default)s; V-FLUTE has 723)"
    )
    parser.add_argument("--tokens", type=int, default=32, help="of each answer (%(default)s)")
    parser.add_argument("--beams", type=int, default=1, help="V-FLUTE's paper has 3 (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1, help="of torch (%(default)s)")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    logger.remove()
    torch.set_num_threads(arguments.threads)
    has_met_aims = True
    for family in arguments.family:
        with tempfile.TemporaryDirectory() as folder:
            measured = measure(family, arguments, Path(folder))
        print(report(family, arguments, measured), flush=True)
        has_met_aims = has_met_aims and meets_aims(measured)
    return int(not has_met_aims)


if __name__ == "__main__":
    sys.exit(main())
