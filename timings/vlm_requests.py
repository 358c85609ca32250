"""Measure how fast requests are answered: `figlang_vlm` beside lmms-eval's own model classes.

    python timings/vlm_requests.py --family llava|qwen2_5_vl|internvl [--size tiny|100m]
        [--batches 1 8 32] [--rows 32] [--tokens 32] [--beams 1] [--rounds 5] [--threads 1]

Backs docs/models.md. The rows have V-FLUTE's shape: JPEG pictures of 1 to 5 megapixels, and answers
of exactly `--tokens` tokens. Processors have their real sizes (`vlm_checkpoints.py`), weights are
random. A step of the tiny model costs its calls, whether for one row or eight, as on a fast GPU; a
step of the larger one costs its arithmetic.

The harness's class (`llava_hf`, `qwen2_5_vl`, `internvl_hf`) runs at the batch sizes that it takes.
All variants share one model in float32. They run in turns (A B C, A B C, ...), so that other load
on the machine slows all alike; a ratio is the median of those of the rounds.

*Idle* is the share of the time, from the first request to the last answer, in which the model does
not generate. `generate alone` is the model on batches that are ready: no class can be faster.
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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
from vlm_checkpoints import FAMILIES, LIMITS, SIZES, write_checkpoint

from figlang_tasks.core.text import markdown_table
from figlang_tasks.models.vlm import FigLangVLM

AIM = 2.0  # times as fast with batch 8 as the harness's class with batch 1
AIM_BATCH = 8
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


@dataclass(frozen=True)
class Variant:
    """A model class with a batch size.

    Attributes:
        class_name: as after ``--model``, or `ALONE`.
        batch: requests at a time.
        lm: the model class.
    """

    class_name: str
    batch: int
    lm: Any


@dataclass(frozen=True)
class Run:
    """One pass over the requests.

    Attributes:
        seconds: from the first request to the last answer.
        processor_seconds: of all threads.
        generating: seconds in the model's ``generate``.
        answers: in the order of the requests; empty of `ALONE`.
    """

    seconds: float
    processor_seconds: float
    generating: float
    answers: Sequence[str] = ()


ALONE = "generate alone"


class Stopwatch:
    """Adds up the seconds that a model spends in ``generate``."""

    def __init__(self, model: Any) -> None:
        self.seconds = 0.0
        self._generate = model.generate
        model.generate = self._timed_generate

    def _timed_generate(self, *args: Any, **options: Any) -> Any:
        started = time.perf_counter()
        output = self._generate(*args, **options)
        if output.is_cuda:
            torch.cuda.synchronize()
        self.seconds += time.perf_counter() - started
        return output


def make_variants(given: argparse.Namespace, checkpoint: Path) -> tuple[list[Variant], Stopwatch]:
    """The variants, and the stopwatch of the model that they share."""
    device: str = given.device
    name = HARNESS_NAMES[given.family]
    limits = LIMITS[given.size]
    options: dict[str, Any] = {"pretrained": str(checkpoint), "device": device}
    variants: list[Variant] = []
    for batch in given.batches:
        if given.family == "qwen2_5_vl":
            lm: Any = Qwen2_5_VL(
                **options,
                device_map=device,
                batch_size=batch,
                min_pixels=limits.min_pixels,
                max_pixels=limits.max_pixels,
            )
        elif batch > 1:  # the other two classes refuse it
            continue
        elif given.family == "internvl":
            lm = InternVLHf(**options, device_map=device, max_patches=limits.max_tiles)
        else:
            lm = LlavaHf(**options, device_map=device)
        variants.append(Variant(name, batch, lm))
    for batch in given.batches:
        lm = FigLangVLM(**options, dtype="float32", batch_size=batch)
        variants.append(Variant("figlang_vlm", batch, lm))

    # The harness's classes load in bfloat16, which CPUs are slow at.
    model = variants[-1].lm.model
    for variant in variants:
        if isinstance(variant.lm, FigLangVLM):
            variant.lm.model = model
        else:
            variant.lm._model = model
    alone = [Variant(ALONE, batch, variants[-1].lm) for batch in given.batches]
    return [*variants, *alone], Stopwatch(model)


def run(
    variant: Variant,
    stopwatch: Stopwatch,
    docs: Sequence[dict[str, Any]],
    settings: dict[str, Any],
) -> Run:
    """Answer all requests once."""
    requests = requests_of(variant.lm, docs, settings)
    if variant.class_name == ALONE:
        return run_alone(variant, stopwatch, requests)
    stopwatch.seconds = 0.0
    processor_start = time.process_time()
    start = time.perf_counter()
    answers = [answer.text for answer in variant.lm.generate_until(requests)]
    seconds = time.perf_counter() - start
    return Run(seconds, time.process_time() - processor_start, stopwatch.seconds, answers)


@torch.inference_mode()
def run_alone(variant: Variant, stopwatch: Stopwatch, requests: Sequence[Instance]) -> Run:
    """Generate the answers to all requests; only ``generate`` is timed."""
    lm: FigLangVLM = variant.lm
    settings = {name: requests[0].args[2][name] for name in ("max_new_tokens", "num_beams")}
    stopwatch.seconds = 0.0
    processor_seconds = 0.0
    for first in range(0, len(requests), variant.batch):
        conversations = []
        for index in range(first, min(first + variant.batch, len(requests))):
            conversations += lm.conversations_of(index, requests[index])
        inputs = lm.input_maker.make(conversations).inputs.to(lm.device)
        processor_start = time.process_time()
        lm.model.generate(**inputs, do_sample=False, pad_token_id=0, **settings)
        processor_seconds += time.process_time() - processor_start
    return Run(stopwatch.seconds, processor_seconds, stopwatch.seconds)


# --- the report ---


def median_ratio(baseline: Sequence[Run], candidate: Sequence[Run]) -> float:
    """How many times as fast a candidate is as a baseline: the median over the rounds."""
    ratios: list[float] = []
    for baseline_run, candidate_run in zip(baseline, candidate, strict=True):
        ratios.append(baseline_run.seconds / candidate_run.seconds)
    return statistics.median(ratios)


def table(variants: Sequence[Variant], runs: Sequence[Sequence[Run]], rows: int) -> str:
    """The table of all variants.

    Args:
        variants: the first is the harness's class with batch 1.
        runs: of each variant, one for each round.
        rows: requests of a run.
    """
    harness_name = variants[0].class_name
    harness_runs: dict[int, Sequence[Run]] = {}
    lines = [
        [
            "model class",
            "batch",
            "requests a second",
            f"{harness_name} at batch 1",
            f"{harness_name} at this batch",
            "processor seconds a request",
            "idle",
        ]
    ]
    for variant, variant_runs in zip(variants, runs, strict=True):
        if variant.class_name == harness_name:
            harness_runs[variant.batch] = variant_runs
        same_batch = "–"
        if variant.batch in harness_runs:
            same_batch = f"{median_ratio(harness_runs[variant.batch], variant_runs):.2f}x"
        seconds = statistics.median(run.seconds for run in variant_runs)
        processor_seconds = statistics.median(run.processor_seconds for run in variant_runs)
        idle = statistics.median(1 - run.generating / run.seconds for run in variant_runs)
        lines.append(
            [
                variant.class_name,
                str(variant.batch),
                f"{rows / seconds:.2f}",
                f"{median_ratio(runs[0], variant_runs):.2f}x",
                same_batch,
                f"{processor_seconds / rows:.3f}",
                f"{100 * idle:.0f} %",
            ]
        )
    return markdown_table(lines)


def answers_that_differ(variants: Sequence[Variant], runs: Sequence[Sequence[Run]]) -> str:
    """How many answers of each variant differ from those of the first one."""
    counts: Counter[str] = Counter()
    expected = runs[0][0].answers
    for variant, variant_runs in zip(variants, runs, strict=True):
        if variant.class_name == ALONE:
            continue
        answer_pairs = zip(expected, variant_runs[0].answers, strict=True)
        different = sum(first != second for first, second in answer_pairs)
        counts[f"{variant.class_name} batch {variant.batch}"] = different
    differences = ", ".join(f"{name} {count}" for name, count in counts.items())
    return (
        f"Answers that differ from those of the first line: {differences}."
        f" {len(set(expected))} of {len(expected)} answers are unique."
    )


def aims_met(variants: Sequence[Variant], runs: Sequence[Sequence[Run]]) -> bool:
    """Whether figlang_vlm is never slower than the harness's class, and reaches `AIM`."""
    harness_runs: dict[int, Sequence[Run]] = {}
    met = True
    for variant, variant_runs in zip(variants, runs, strict=True):
        if variant.class_name == variants[0].class_name:
            harness_runs[variant.batch] = variant_runs
        if variant.class_name == "figlang_vlm":
            same_batch_runs = harness_runs.get(variant.batch, runs[0])
            met = met and median_ratio(same_batch_runs, variant_runs) >= 1
            if variant.batch == AIM_BATCH:
                met = met and median_ratio(runs[0], variant_runs) >= AIM
    return met


def measure(given: argparse.Namespace, folder: Path) -> tuple[str, bool]:
    """Return the report, and whether the aims are met."""
    docs: list[dict[str, Any]] = []
    for row in range(given.rows):
        docs.append({"picture": picture(row), "claim": f"My lawyer is a shark, {row}."})
    settings = {
        "num_beams": given.beams,
        "max_new_tokens": given.tokens,
        "until": [],
        "do_sample": False,
    }
    variants, stopwatch = make_variants(given, write_checkpoint(given.family, given.size, folder))

    # The first calls load code.
    for variant in variants:
        run(variant, stopwatch, docs[:1], settings | {"max_new_tokens": 2})
    runs: list[list[Run]] = [[] for _ in variants]
    for _ in range(given.rounds):
        for variant, variant_runs in zip(variants, runs, strict=True):
            latest = run(variant, stopwatch, docs, settings)
            variant_runs.append(latest)
            print(
                f"{variant.class_name} {variant.batch}: {latest.seconds:.2f} s,"
                f" processor {latest.processor_seconds:.2f} s",
                file=sys.stderr,
            )

    weights = sum(weight.numel() for weight in variants[0].lm.model.parameters())
    heading = (
        f"{given.family}, {given.size} ({weights / 1e6:.1f}M weights): {given.rows} requests,"
        f" {given.tokens} tokens each, {given.beams} beam(s), {given.device},"
        f" {torch.get_num_threads()} thread(s) for torch, {given.rounds} rounds, torch"
        f" {torch.__version__}, transformers {transformers.__version__}"
    )
    met = aims_met(variants, runs)
    aims = (
        f"Aims: at no batch slower than the harness's class; batch {AIM_BATCH} {AIM:g} times as"
        f" fast as its batch 1: {'met' if met else 'missed'}."
    )
    parts = [heading, table(variants, runs, given.rows), answers_that_differ(variants, runs), aims]
    return "\n\n".join(parts), met


def main() -> int:
    """Return 1 if an aim is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--family", choices=FAMILIES, default="llava")
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
    given = parser.parse_args()
    logger.remove()
    torch.set_num_threads(given.threads)
    with tempfile.TemporaryDirectory() as folder:
        text, met = measure(given, Path(folder))
    print(text)
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
