"""What the plugin costs beside the harness: its start, building requests, judging answers, memory; all in one run.

    python benchmarks/overhead.py [--repeats 3] [--many 100000] [--markdown FILE]

*Start*: in one process the harness is imported, reads its own task files and lists its tasks, all without this plugin;
then the plugin is imported and registered, and reads its task files, as every start of the harness does it. The ratio
is that of processor times, so other processes matter little. *Documents*: tasks on pictures of 5 megapixels (which all
documents share on disk). Loading checks each file once; how often a picture is decoded after that is counted, by
Pillow's own decoder. Each row is measured in a process of its own; the largest is compared with the smallest of its
task, per document. ``plain`` is a task of the harness alone, without code of ours but for the wording of the question.

docs/overhead.md has a table, and what it means.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

AIM_START = 3.0  # percent of the harness's start
AIM_GROWTH = 1.5  # of the time for each document, from the fewest documents to the most
FEW, MANY = 723, 100_000
SIZE = (2560, 1953)  # 5 megapixels
STEPS = ("loading", "building", "judging")
GOLD = "1. Yes\n2. flat\n3. The word has two meanings."


# --- start -----------------------------------------------------------------------------------------------------------


def measure_start() -> dict[str, float]:
    """Seconds of processor time: the harness alone; import, registration and task files of this plugin after it."""
    import importlib.metadata

    every = importlib.metadata.entry_points

    def without_ours(**which: Any) -> Any:
        points: Any = every(**which) if which else [point for group in every().groups for point in every(group=group)]
        kept = (point for point in points if not point.value.startswith("figlang_tasks.harness.plugin"))
        return importlib.metadata.EntryPoints(kept)

    importlib.metadata.entry_points = without_ours
    import lmms_eval.__main__  # noqa: F401
    import lmms_eval.models  # noqa: F401
    from lmms_eval.tasks import TaskManager
    from loguru import logger

    logger.remove()
    names = TaskManager().all_tasks
    harness = time.process_time()
    known = set(sys.modules)
    early = sorted(name for name in (*known, *names) if name.startswith("figlang"))
    assert not early, f"the harness was to start without {early}"
    importlib.metadata.entry_points = every

    from figlang_tasks.harness import plugin

    imported = time.process_time()
    plugin.register()
    registered = time.process_time()
    index = plugin.task_manager(include_defaults=False).task_index
    read = time.process_time()
    return {
        "harness": harness,
        "import": imported - harness,
        "register": registered - imported,
        "task files": read - registered,
        "modules": len(set(sys.modules) - known),
        "tasks": len(index),
    }


# --- documents -------------------------------------------------------------------------------------------------------


def write_nykms(folder: Path, count: int, each: bool = False) -> None:
    """Write `count` rows of NYK-MS, all with one cartoon, or `each` with a file of its own (of the same content)."""
    (folder / "images").mkdir(parents=True)
    first = folder / "images" / "0.jpg"
    first.write_bytes(picture())
    with (folder / "nyk_m.jsonl").open("w") as file:
        for number in range(count):
            row: dict[str, Any] = {"id": f"NYK_1_{number}", "caption": f"It fell flat, {number}.", "MC": number % 2}
            if row["MC"]:
                row |= {"MW": "flat", "ME": "The word has two meanings."}
            if each and number:
                os.link(first, folder / "images" / f"{number}.jpg")
            file.write(json.dumps(row | {"image": f"images/{number * each}.jpg"}) + "\n")


def write_vflute(folder: Path, count: int) -> None:
    """Write the test split of V-FLUTE, each row with the bytes of the same picture."""
    import datasets

    (folder / "data").mkdir(parents=True)
    data = picture()
    labels = ("entailment", "contradiction")
    columns = {
        "image": [{"bytes": data, "path": f"{number}.jpg"} for number in range(count)],
        "claim": [f"My lawyer is a shark, {number}." for number in range(count)],
        "label": [labels[number % 2] for number in range(count)],
        "explanation": ["The picture shows a shark."] * count,
        "phenomenon": ["metaphor"] * count,
        "source_dataset": ["vismet"] * count,
    }
    texts = {name: datasets.Value("string") for name in columns if name != "image"}
    features = datasets.Features({"image": datasets.Image(), **texts})
    datasets.Dataset.from_dict(columns, features).to_parquet(folder / "data" / "test-00000-of-00001.parquet")


PLAIN_TASK = """
task: plain
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/NYK-MS/nyk_m.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: !function plain.doc_to_text
doc_to_visual: !function plain.doc_to_visual
doc_to_target: ME
process_results: !function plain.process_results
generation_kwargs: {max_new_tokens: 256, do_sample: false}
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
"""
PLAIN_FUNCTIONS = """
from figlang_tasks.benchmarks.nykms import task


def doc_to_text(doc):
    return task.doc_to_text({**doc, "question": "metaphor", "modality": "image"})


def doc_to_visual(doc):
    return []


def process_results(doc, results):
    return {"acc": float(results[0].startswith("1. Yes") == bool(doc["MC"]))}
"""


def write_plain(folder: Path, count: int) -> None:
    """Write `count` rows of NYK-MS, and a task that asks the same of them with the harness's own means alone."""
    write_nykms(folder.parent / "NYK-MS", count)
    folder.mkdir()
    (folder / "plain.yaml").write_text(PLAIN_TASK.replace("FOLDER", str(folder.parent)))
    (folder / "plain.py").write_text(PLAIN_FUNCTIONS)


def picture() -> bytes:
    """A JPEG of 5 megapixels."""
    import io

    import numpy as np
    from PIL import Image

    coarse = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)
    data = io.BytesIO()
    Image.fromarray(coarse).resize(SIZE).save(data, "JPEG", quality=90)
    return data.getvalue()


SETTINGS: dict[str, tuple[str, str, Callable[[Path, int], None], str]] = {
    "vflute": ("vflute", "V-FLUTE", write_vflute, "The picture shows a shark.\nLABEL: entailment"),
    "nykms, a picture each": ("nykms_metaphor", "NYK-MS", partial(write_nykms, each=True), GOLD),
    "nykms, one picture": ("nykms_metaphor", "NYK-MS", write_nykms, GOLD),
    "plain": ("plain", "plain", write_plain, GOLD),
}


def measure_documents(setting: str, count: int) -> dict[str, float]:
    """Seconds of processor time for each step, pictures decoded in the last two, and memory in MB that each adds."""
    from PIL import ImageFile

    task_name, folder, write, answer = SETTINGS[setting]
    with tempfile.TemporaryDirectory() as temporary:
        write(Path(temporary) / folder, count)
        os.environ |= {"FIGLANG_DATA_DIR": temporary, "HF_HOME": f"{temporary}/hf", "HF_HUB_OFFLINE": "1"}
        os.environ["FIGLANG_SCORER"] = "off"

        from lmms_eval.tasks import TaskManager, get_task_dict
        from loguru import logger

        import figlang_tasks

        decoded = 0
        load = ImageFile.ImageFile.load

        def counting(image: Any, *args: Any, **kwargs: Any) -> Any:
            nonlocal decoded
            decoded += 1
            return load(image, *args, **kwargs)

        ImageFile.ImageFile.load = counting  # type: ignore[method-assign, assignment]
        logger.remove()
        makes = TaskManager if task_name == "plain" else figlang_tasks.task_manager
        own = {"include_path": f"{temporary}/plain"} if task_name == "plain" else {}
        manager = makes(include_defaults=False, model_name="figlang_random", **own)
        started, at_start = time.process_time(), peak()
        task = get_task_dict([task_name], manager, "simple")[task_name]
        loaded, at_loading, memory_loaded = time.process_time(), decoded, peak()
        task.build_all_requests(rank=0, world_size=1)
        built, at_building, memory_built = time.process_time(), decoded, peak()
        docs = task.dataset_no_image["test"]
        for instance in task.instances:
            task.process_results(docs[instance.doc_id], [answer])
        judged = time.process_time()
        assert len(task.instances) == count
        return {
            "loading": loaded - started,
            "building": built - loaded,
            "judging": judged - built,
            "decoded at loading": at_loading,
            "decoded at building": at_building - at_loading,
            "decoded at judging": decoded - at_building,
            "memory of loading": memory_loaded - at_start,
            "memory of building": memory_built - memory_loaded,
            "memory of judging": peak() - memory_built,
        }


def memory(measured: dict[str, float]) -> float:
    """MB that all steps have added."""
    return sum(measured[f"memory of {step}"] for step in STEPS)


def peak() -> float:
    """The most memory that this process has had, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


# --- report ----------------------------------------------------------------------------------------------------------


def child(*arguments: str) -> dict[str, float]:
    """Run this script in a process of its own, and return what it measured."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def report(repeats: int, many: int) -> tuple[str, bool]:
    """Measure, and return the tables as Markdown and whether the aims are met."""
    starts = [child("--measure", "start") for _ in range(repeats)]
    ours = ("import", "register", "task files")
    shares = [100 * sum(start[name] for name in ours) / start["harness"] for start in starts]
    share = statistics.median(shares)
    middle = starts[shares.index(sorted(shares)[len(shares) // 2])]
    lines = [
        f"{platform.machine()}, {os.cpu_count()} cores; {repeats} starts, the middle one:",
        "",
        "| the harness, s | import, s | registration, s | our task files, s | added, % | modules | tasks |",
        "|---|---|---|---|---|---|---|",
        f"| {middle['harness']:.2f} | "
        + " | ".join(f"{middle[name]:.3f}" for name in ours)
        + f" | {share:.1f} | {middle['modules']:.0f} | {middle['tasks']:.0f} |",
        "",
        f"Added to the start of the harness: {share:.1f} % (aim: below {AIM_START:g} %; of each start: "
        f"{', '.join(f'{each:.1f}' for each in shares)}).",
        "",
        "| task | documents | loading, ms each | building, ms each | judging, ms each | decoded: loading | building "
        "| judging | memory, KB each: loading | building | judging |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    found = {}
    texts, pictures, plain = "nykms, one picture", "nykms, a picture each", "plain"
    sizes = {"vflute": (FEW,), pictures: (FEW, 4 * FEW), texts: (FEW, many), plain: (FEW, many)}
    for task, count in ((task, count) for task, counts in sizes.items() for count in counts):
        measured = found[task, count] = child("--measure", task, "--documents", str(count))
        cells = [f"{1000 * measured[step] / count:.2f}" for step in STEPS]
        cells += [f"{measured[f'decoded at {step}']:.0f}" for step in STEPS]
        cells += [f"{1000 * measured[f'memory of {step}'] / count:.1f}" for step in STEPS]
        lines.append(f"| {task} | {count:,} | {' | '.join(cells)} |")
    few, most = found[texts, FEW], found[texts, many]
    growth = {step: (most[step] / many) / max(few[step] / FEW, 1e-6) for step in STEPS}
    decoded = sum(each[f"decoded at {step}"] for each in found.values() for step in ("building", "judging"))
    lines += [
        "",
        f"Time for each document, from {FEW} to {many:,}: "
        + ", ".join(f"{step} {value:.2f} times" for step, value in growth.items())
        + f" (aim: below {AIM_GROWTH:g}). Pictures decoded by building and judging: {decoded:.0f} (aim: 0).",
        "",
        f"Memory for each of {many:,} documents: {1000 * memory(most) / many:.1f} KB, of which the harness takes "
        f"{1000 * memory(found[plain, many]) / many:.1f} KB for the same texts in a task of its own (`plain`). "
        f"{4 * FEW:,} pictures take {memory(found[pictures, 4 * FEW]):.0f} MB, {FEW} take "
        f"{memory(found[pictures, FEW]):.0f} MB.",
        "",
    ]
    met = share < AIM_START and decoded == 0 and max(growth.values()) < AIM_GROWTH
    return "\n".join(lines), met


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="starts, of which the median counts (%(default)s)")
    parser.add_argument("--many", type=int, default=MANY, help="documents of the largest (%(default)s)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    parser.add_argument("--measure", choices=["start", *SETTINGS], help=argparse.SUPPRESS)
    parser.add_argument("--documents", type=int, default=FEW, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        started = given.measure == "start"
        print(json.dumps(measure_start() if started else measure_documents(given.measure, given.documents)))
        return 0
    text, met = report(given.repeats, given.many)
    print(text)
    if given.markdown:
        given.markdown.parent.mkdir(parents=True, exist_ok=True)
        given.markdown.write_text(text, encoding="utf-8")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
