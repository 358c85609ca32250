"""How fast requests are answered: `figlang_vlm` in batches of 1 and 8 against lmms-eval's `llava_hf`; its idle time.

    python benchmarks/vlm_requests.py [--rows 16] [--tokens 256] [--beams 1] [--architecture llava|llava_next]
                                      [--task vflute|figlang_mini] [--threads 1] [--repeats 3] [--markdown FILE]

V-FLUTE has 723 rows and answers of up to 256 tokens. The rows here have its shape: JPEG pictures of 1 to 5 megapixels,
its prompts, and answers of exactly `--tokens` tokens. The processor has the real sizes (336 x 336; LLaVA-NeXT: up to
five of them a picture), the model is tiny, with random weights, so that decoding and processing of pictures weigh far
more than with a model of 7 billion parameters. What they cost does not depend on the model.

The variants run in turns (A B C, A B C, ...), so that what else the machine does hits all alike; the best run of each
counts. *Decoding* and *processing* are the seconds that any thread spends in them, during generation or not. *Idle* is
the share of the time, from the first request to the last answer, in which the model does not generate. Where other
processes want the same cores, *other work* says more: the CPU seconds that the thread which runs the model spends on
anything else, as a share of all of its CPU seconds. With a core for each thread the model is idle for about that share.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

AIM = 3.0  # batch 8 against batch 1
VFLUTE_ROWS = 723
PICTURES = 24  # different ones; rows share them
MEGAPIXELS = (1.0, 1.6, 2.2, 3.0, 3.8, 5.0)
SIDE, PATCH = 336, 14
GRID = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]  # of llava-v1.6
# Tiny in all sizes: a step of generation costs its calls, whether for one row or eight, as on a fast GPU. A CPU that
# computes more in a step gains less by batches.
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


# --- data and model --------------------------------------------------------------------------------------------------


def write_rows(folder: Path, rows: int) -> None:
    """Write the test split of V-FLUTE with made-up rows; those after the first `rows` have a picture of one pixel."""
    import datasets

    (folder / "data").mkdir(parents=True)
    labels = ("entailment", "contradiction")
    pictures = [picture(number) for number in range(min(rows, PICTURES))]
    pixel = picture(0, 1e-6)
    every = range(VFLUTE_ROWS)
    columns = {
        "image": [
            {"bytes": pictures[number % PICTURES] if number < rows else pixel, "path": f"{number}.jpg"}
            for number in every
        ],
        "claim": [f"My lawyer is a shark{', a very old one' * (number % 9)}, {number}." for number in every],
        "label": [labels[number % 2] for number in every],
        "explanation": ["The picture shows a shark."] * VFLUTE_ROWS,
        "phenomenon": ["metaphor"] * VFLUTE_ROWS,
        "source_dataset": ["vismet"] * VFLUTE_ROWS,
    }
    texts = {name: datasets.Value("string") for name in columns if name != "image"}
    features = datasets.Features({"image": datasets.Image(), **texts})
    datasets.Dataset.from_dict(columns, features).to_parquet(folder / "data" / "test-00000-of-00001.parquet")


def picture(number: int, megapixels: float | None = None) -> bytes:
    """A JPEG, of 1 to 5 megapixels unless told."""
    import numpy as np
    from PIL import Image

    generator = np.random.default_rng(number)
    ratio = (4 / 3, 3 / 4, 1.0, 16 / 9)[number % 4]
    height = math.ceil(((megapixels or MEGAPIXELS[number % len(MEGAPIXELS)]) * 1e6 / ratio) ** 0.5)
    size = (math.ceil(height * ratio), height)
    coarse = Image.fromarray(generator.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize(size)
    noise = generator.integers(-6, 7, (height, size[0], 1))
    data = io.BytesIO()
    Image.fromarray((np.asarray(coarse) + noise).clip(0, 255).astype(np.uint8)).save(data, "JPEG", quality=85)
    return data.getvalue()


def write_model(folder: Path, architecture: str) -> None:
    """Write a tiny model with random weights and a processor of the real sizes, with the demo model's tokenizer."""
    import torch
    import transformers
    from transformers import AutoTokenizer, CLIPVisionConfig, LlamaConfig

    from figlang_tasks.mini import DEMO_MODEL_DIR

    hf: Any = transformers
    tokenizer = AutoTokenizer.from_pretrained(DEMO_MODEL_DIR)
    tokenizer.model_max_length = 8192
    parts = {
        "vision_config": CLIPVisionConfig(**VISION),
        "text_config": LlamaConfig(vocab_size=len(tokenizer), **TEXT),
        "image_token_index": tokenizer.convert_tokens_to_ids("<image>"),
    }
    counts = {
        "patch_size": PATCH,
        "vision_feature_select_strategy": "default",
        "image_token": "<image>",
        "num_additional_image_tokens": 1,
        "chat_template": (
            "{% for message in messages %}{{ message['role'].upper() }}: {% for part in message['content'] %}"
            "{% if part['type'] == 'image' %}<image>\n{% else %}{{ part['text'] }}{% endif %}{% endfor %} {% endfor %}"
            "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
        ),
    }
    size = {"size": {"shortest_edge": SIDE}, "crop_size": {"height": SIDE, "width": SIDE}}
    torch.manual_seed(0)
    if architecture == "llava":
        model = hf.LlavaForConditionalGeneration(hf.LlavaConfig(**parts))
        processor = hf.LlavaProcessor(hf.CLIPImageProcessor(**size), tokenizer, **counts)
    else:
        model = hf.LlavaNextForConditionalGeneration(hf.LlavaNextConfig(**parts, image_grid_pinpoints=GRID))
        images = hf.LlavaNextImageProcessor(**size, image_grid_pinpoints=GRID)
        processor = hf.LlavaNextProcessor(images, tokenizer, **counts)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.1)
        model.get_output_embeddings().weight[2] = 0  # so that no answer ends early: other tokens have larger logits
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


def requests(task: str, rows: int) -> tuple[list[Any], Any]:
    """Return requests of a task as the harness makes them for chat models, and its documents."""
    from lmms_eval.tasks import get_task_dict

    import figlang_tasks

    manager = figlang_tasks.task_manager(include_defaults=False, model_name="figlang_vlm")
    found = get_task_dict([task], manager, "chat")[task]
    found.build_all_requests(limit=rows, rank=0, world_size=1)
    return found.instances, found.dataset


# --- what is measured ------------------------------------------------------------------------------------------------


@dataclass
class Clock:
    """Seconds of each step over all threads, and the CPU seconds that the main thread spent in it."""

    seconds: dict[str, float] = field(default_factory=dict)
    cpu_of_main: dict[str, float] = field(default_factory=dict)

    def measured(self, step: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def measuring(*args: Any, **options: Any) -> Any:
            started, cpu = time.perf_counter(), time.thread_time()
            try:
                return run(*args, **options)
            finally:
                self.seconds[step] = self.seconds.get(step, 0) + time.perf_counter() - started
                if threading.current_thread() is threading.main_thread():
                    self.cpu_of_main[step] = self.cpu_of_main.get(step, 0) + time.thread_time() - cpu

        return measuring


@dataclass(frozen=True)
class Run:
    """One pass over the requests: wall seconds, CPU seconds of all threads and of the main one, steps, answers."""

    wall: float
    cpu: float
    cpu_of_main: float
    clock: Clock
    answers: list[str]

    @property
    def idle(self) -> float:
        return 1 - self.clock.seconds["generation"] / self.wall

    @property
    def other_work(self) -> float:
        return 1 - self.clock.cpu_of_main["generation"] / self.cpu_of_main


@contextmanager
def watched(model: Any, processor_class: Any, clock: Clock) -> Iterator[None]:
    """Measure the processor, and `generate` of a model (and of what wraps it)."""
    generate, process = model.generate, processor_class.__call__
    model.generate = clock.measured("generation", generate)
    processor_class.__call__ = clock.measured("processing", process)
    try:
        yield
    finally:
        model.generate, processor_class.__call__ = generate, process


def answered(lm: Any, instances: Sequence[Any], settings: dict[str, Any]) -> Run:
    """Answer the requests once."""
    from lmms_eval.api.instance import Instance

    clock = Clock()
    asked = []
    for one in instances:
        context, messages, given, *others = one.args
        arguments = (context, clock.measured("decoding", messages), {**given, **settings}, *others)
        metadata = {"task": one.task_name, "doc_id": one.doc_id, "repeats": 1}
        asked.append(Instance(request_type="generate_until", arguments=arguments, idx=0, metadata=metadata))
    processor = getattr(lm, "processor", None) or lm._image_processor
    with watched(lm.model, type(processor), clock):
        started, cpu, of_main = time.perf_counter(), time.process_time(), time.thread_time()
        answers = lm.generate_until(asked)
        if lm.device.type == "cuda":
            import torch

            torch.cuda.synchronize()
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        of_main = time.thread_time() - of_main
    return Run(wall, cpu, of_main, clock, [answer.text for answer in answers])


# --- report ----------------------------------------------------------------------------------------------------------


def table(best: dict[str, Run], rows: int) -> list[str]:
    """Return the rows of a Markdown table; seconds are for each request."""
    lines = [
        "| model class | requests a second | CPU, s | decoding, s | processing, s | generation, s | idle "
        "| other work |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, run in best.items():
        steps = " | ".join(f"{run.clock.seconds[step] / rows:.3f}" for step in ("decoding", "processing", "generation"))
        shares = f"{100 * run.idle:.0f} % | {100 * run.other_work:.1f} %"
        lines.append(f"| {name} | {rows / run.wall:.2f} | {run.cpu / rows:.3f} | {steps} | {shares} |")
    return lines


def measure(given: argparse.Namespace, folder: Path) -> tuple[str, bool]:
    """Return the report, and whether the aim is met."""
    os.environ |= {"HF_HOME": f"{folder}/hf", "HF_HUB_OFFLINE": "1", "FIGLANG_SCORER": "off"}
    if given.task == "vflute":
        os.environ["FIGLANG_DATA_DIR"] = str(folder)
        write_rows(folder / "V-FLUTE", given.rows)

    import torch
    import transformers
    from lmms_eval.models.chat.llava_hf import LlavaHf
    from loguru import logger

    from figlang_tasks.models.vlm import FigLangVLM

    logger.remove()
    torch.set_num_threads(given.threads)
    write_model(folder / "model", given.architecture)
    instances, documents = requests(given.task, given.rows)
    rows = len(instances)
    settings = {"num_beams": given.beams, "max_new_tokens": given.tokens}
    where = {"pretrained": str(folder / "model"), "device": given.device, "dtype": given.dtype}
    variants: dict[str, Any] = {
        "`llava_hf`, batch 1": LlavaHf(**where, device_map=given.device, batch_size=1),
        "`figlang_vlm`, batch 1": FigLangVLM(**where, batch_size=1),
        f"`figlang_vlm`, batch {given.batch}": FigLangVLM(**where, batch_size=given.batch),
    }
    runs: dict[str, list[Run]] = {name: [] for name in variants}
    for lm in variants.values():
        lm.task_dict[given.task] = documents
        answered(lm, instances[:2], settings | {"max_new_tokens": 2})  # what is paid once
    for _ in range(given.repeats):
        for name, lm in variants.items():
            runs[name].append(answered(lm, instances, settings))
            print(f"{name}: {rows / runs[name][-1].wall:.2f} requests a second", file=sys.stderr)
    best = {name: min(done, key=lambda run: run.wall) for name, done in runs.items()}
    _, one, many = best.values()
    answers = zip(*(run.answers for done in runs.values() for run in done), strict=True)
    differ = sum(len(set(answer)) > 1 for answer in answers)
    lines = [
        f"{given.architecture}, {given.task}, {rows} requests, {given.tokens} tokens each, {given.beams} beam(s); "
        f"{given.device}, {given.dtype}, {platform.machine()}, {os.cpu_count()} cores, {given.threads} thread(s) of "
        f"torch, transformers {transformers.__version__}:",
        "",
        *table(best, rows),
        "",
        f"Batch {given.batch} against batch 1: {one.wall / many.wall:.2f} times (aim: {AIM:g}); by CPU seconds "
        f"{one.cpu / many.cpu:.2f} times. {differ} answers are not those of all variants.",
        "",
    ]
    return "\n".join(lines), one.wall / many.wall >= AIM


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if the aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=16, help="requests (%(default)s; V-FLUTE has 723)")
    parser.add_argument("--tokens", type=int, default=256, help="of each answer (%(default)s)")
    parser.add_argument("--beams", type=int, default=1, help="V-FLUTE's paper has 3 (%(default)s)")
    parser.add_argument("--batch", type=int, default=8, help="the larger batch (%(default)s)")
    parser.add_argument("--architecture", choices=["llava", "llava_next"], default="llava")
    parser.add_argument("--task", choices=["vflute", "figlang_mini"], default="vflute")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--threads", type=int, default=1, help="of torch (%(default)s)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there too")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        text, met = measure(given, Path(folder))
    print(text)
    if given.markdown:
        given.markdown.parent.mkdir(parents=True, exist_ok=True)
        given.markdown.write_text(text, encoding="utf-8")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
