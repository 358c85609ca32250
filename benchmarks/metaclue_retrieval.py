"""What MetaCLUE's retrieval costs `figlang_clip` as candidates grow: time by step, distinct texts, and peak memory.

    python benchmarks/metaclue_retrieval.py [--images N] [--repeats N] [--markdown FILE]

The real path, on generated annotations of the paper's size: 1,331 test images with five statements each, of 8 to 14
words, and a picture of its own for every image. The documents are drawn and built
(`figlang_tasks.benchmarks.metaclue`), the requests are built by the harness, and a tiny CLIP with random weights
answers them. Each setting runs in a process of its own, so that its peak memory is its own; the
settings take turns, and the best run of each counts. Seconds are those of the processor, with one thread, so that other
work on the machine does not count.

Random candidates all come from the same 6,655 statements, whether 50 or 1,000 of them stand beside an image, and a
statement is encoded once. So the cost is that of the distinct texts, and not of the pairs: what grows with K is the
drawing, the bookkeeping and the comparison of features. Hard negatives show the other side: 50 candidates each, but
most of them occur once. With a CLIP of real size the encoders take nearly all of the time, and the ratios of the
columns "encoding" are those of the whole.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

STATEMENTS = 5
SEED = 5
TOPICS = 38  # of the Pitt Ads
SETTINGS = ("random50", "random100", "random500", "random1000", "neg_prim", "neg_sec_rel")
AIM_SECONDS = 5.0  # for building documents and requests, K = 1000
AIM_RATIO = 1.3  # encoding for K = 1000 against K = 50


def write_data(folder: Path, images: int) -> None:
    """Write a MetaCLUE folder with made-up statements and small pictures."""
    draw, generator = random.Random(SEED), np.random.default_rng(SEED)

    def words(least: int, most: int) -> str:
        chosen = ["".join(draw.choices(string.ascii_lowercase, k=draw.randint(3, 8))) for _ in range(most)]
        return " ".join(chosen[: draw.randint(least, most)])

    home = folder / "MetaCLUE"
    home.mkdir(parents=True)
    with (home / "annotations.jsonl").open("w", encoding="utf-8") as file:
        for number in range(images):
            metaphors = [
                {"primary": words(2, 4), "relationship": words(1, 2), "secondary": words(2, 5), "best": place == 0}
                for place in range(STATEMENTS)
            ]
            image = f"{number % 10}/{number}.jpg"
            row = {"schema": 1, "image": image, "split": "test", "set": "metaphor", "topic": f"{number % TOPICS}"}
            file.write(json.dumps(row | {"metaphors": metaphors}) + "\n")
            (home / image).parent.mkdir(exist_ok=True)
            coarse = Image.fromarray(generator.integers(0, 256, (6, 8, 3), dtype=np.uint8))
            coarse.resize((256, 192)).save(home / image, "JPEG", quality=90)


def measure(setting: str, clip: Path) -> dict[str, float]:
    """Run one setting in this process; seconds by step, counts, and peak memory in MB."""
    from lmms_eval.tasks import get_task_dict
    from loguru import logger

    import figlang_tasks
    from figlang_tasks.models.dual_encoder import FigLangCLIP

    logger.remove()
    name = f"metaclue_retrieve_{setting}"
    manager = figlang_tasks.task_manager(include_defaults=False, model_name="figlang_clip")
    model = FigLangCLIP(pretrained=str(clip), device="cpu", batch_size=64)
    before = _peak()
    start = time.process_time()
    task = get_task_dict([name], manager, "simple")[name]
    task.build_all_requests(rank=0, world_size=1)
    built = time.process_time()
    model.task_dict = {name: task.dataset}
    encoding: list[float] = []
    network: Any = model._network
    for method in ("image_features", "text_features"):
        setattr(network, method, _timed(getattr(network, method), encoding))
    answers = model.generate_until(task.instances)
    answered = time.process_time()
    for instance, answer in zip(task.instances, answers, strict=True):
        task.config.process_results(task.dataset["test"][instance.doc_id], [answer])
    judged = time.process_time()
    texts = {text for doc in task.dataset["test"] for text in doc["candidates"]}
    return {
        "pairs": sum(len(doc["candidates"]) for doc in task.dataset["test"]),
        "texts": len(texts),
        "building": built - start,
        "encoding": sum(encoding),
        "rest": answered - built - sum(encoding),
        "judging": judged - answered,
        "memory": _peak() - before,
    }


def _timed(encode: Any, seconds: list[float]) -> Any:
    def run(items: Any) -> Any:
        start = time.process_time()
        found = encode(items)
        seconds.append(time.process_time() - start)
        return found

    return run


def _peak() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def report(images: int, repeats: int, settings: Sequence[str]) -> str:
    """Measure, and return the table as Markdown."""
    from dual_encoder import write_clip  # beside this file

    runs: dict[str, list[dict[str, float]]] = {setting: [] for setting in settings}
    with tempfile.TemporaryDirectory() as temporary:
        folder, clip = Path(temporary) / "data", Path(temporary) / "clip"
        clip.mkdir()
        write_data(folder, images)
        write_clip(clip, small=True)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "FIGLANG_DATA_DIR": str(folder)}
        for turn in range(repeats):
            for setting in settings:
                command = [sys.executable, __file__, "--measure", setting, "--clip", str(clip)]
                found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
                runs[setting].append(json.loads(found.stdout.splitlines()[-1]))
                print(f"turn {turn + 1}, {setting}: {runs[setting][-1]}", file=sys.stderr)
    steps = ("building", "encoding", "rest", "judging")
    best = {setting: min(found, key=lambda run: sum(run[step] for step in steps)) for setting, found in runs.items()}
    lines = []
    for setting, run in best.items():
        cells = [setting, f"{run['pairs']:,.0f}", f"{run['texts']:,.0f}", *(f"{run[step]:.2f}" for step in steps)]
        per_text = 1000 * run["encoding"] / (run["texts"] + images)
        lines.append("| " + " | ".join([*cells, f"{per_text:.2f}", f"{run['memory']:.0f}"]) + " |")
    few, many = best[settings[0]], best[max(settings, key=lambda name: best[name]["pairs"])]
    ratio = many["encoding"] / few["encoding"]
    verdicts = [
        f"Pairs grow {many['pairs'] / few['pairs']:.1f} times, distinct texts {many['texts'] / few['texts']:.2f} "
        f"times, encoding {ratio:.2f} times (aim: at most {AIM_RATIO}: {'met' if ratio <= AIM_RATIO else 'MISSED'}).",
        f"Documents and requests of the largest: {many['building']:.2f} s (aim: below {AIM_SECONDS:.0f} s: "
        f"{'met' if many['building'] < AIM_SECONDS else 'MISSED'}).",
    ]
    return "\n".join(
        [
            f"{platform.machine()}, {os.cpu_count()} cores. {images} images, {STATEMENTS} statements each, a tiny "
            f"CLIP; best of {repeats} runs in turns.",
            "",
            "| setting | pairs | distinct texts | building, s | encoding, s | rest of answering, s | judging, s "
            "| encoding, ms each | peak memory, MB |",
            "|---|---|---|---|---|---|---|---|---|",
            *lines,
            "",
            *verdicts,
            "",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=1331, help="test images (%(default)s)")
    parser.add_argument("--repeats", type=int, default=2, help="runs of each, of which the best counts (%(default)s)")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=SETTINGS, help="the first is compared with")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there too")
    parser.add_argument("--measure", choices=SETTINGS, help=argparse.SUPPRESS)
    parser.add_argument("--clip", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        print(json.dumps(measure(given.measure, given.clip)))
        return 0
    text = report(given.images, given.repeats, given.settings)
    print(text)
    if given.markdown:
        given.markdown.parent.mkdir(parents=True, exist_ok=True)
        given.markdown.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
