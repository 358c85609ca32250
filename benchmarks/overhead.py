"""What the plugin costs beside the harness: its start, building requests, judging answers, memory; all in one run.

    python benchmarks/overhead.py [--repeats 3] [--many 100000] [--only start] [--markdown FILE]

*Start*: what commands cost before work begins, each in a process of its own: the harness alone (what this package
declares is hidden from it), the harness with this package installed, and our ``lmms_eval``, in turns. The numbers are
seconds of processor time of the process and its children, the least of several rounds, so other processes matter
little. *Documents*: tasks on pictures of 5 megapixels (which all
documents share on disk). Loading checks each file once; how often a picture is decoded after that is counted, by
Pillow's own decoder. Each row is measured in a process of its own; the largest is compared with the smallest of its
task, per document. ``plain`` is a task of the harness alone, without code of ours but for the wording of the question.

docs/troubleshooting.md says what it means.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

AIM_START = 1.03  # of the CPU seconds of a run of the harness alone
AIM_GROWTH = 1.5  # of the time for each document, from the fewest documents to the most
FEW, MANY = 723, 100_000
SIZE = (2560, 1953)  # 5 megapixels
STEPS = ("loading", "building", "judging")
GOLD = "1. Yes\n2. flat\n3. The word has two meanings."


# --- start -----------------------------------------------------------------------------------------------------------

# Hides what an installed package declares, so that the harness finds no plugin of ours.
HIDDEN = """
import importlib.metadata
every = importlib.metadata.entry_points
def without_ours(**which):
    points = every(**which) if which else [point for group in every().groups for point in every(group=group)]
    return importlib.metadata.EntryPoints(point for point in points if not point.value.startswith("figlang_tasks."))
importlib.metadata.entry_points = without_ours
"""
HARNESS = "from lmms_eval.cli.dispatch import main\nmain()"
# The ways to start, as their scripts do it.
STOCK, PLUGIN, OURS, FIGLANG = "lmms-eval alone", "lmms-eval with this plugin", "lmms_eval", "figlang"
WAYS = {
    STOCK: HIDDEN + HARNESS,
    PLUGIN: HARNESS,
    OURS: "from figlang_tasks.cli.lmms_eval import main\nmain()",
    FIGLANG: "from figlang_tasks.cli.figlang import main\nmain()",
}
TASK = """
task: start
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_visual: !function start.doc_to_visual
doc_to_target: answer
generation_kwargs: {max_new_tokens: 16, do_sample: false}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
"""
ROW = {"question": "Is the sky blue?", "answer": "yes"}
RUN, OWN_RUN = "a run of one row", "a run of one row of figlang_mini"
STARTS: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "--help": ((STOCK, PLUGIN, OURS), ["--help"]),
    "tasks list": ((STOCK, PLUGIN, OURS), ["tasks", "list"]),
    RUN: ((STOCK, PLUGIN, OURS), ["--tasks", "start", "--include_path", "FOLDER", "--model", "dummy", "--limit", "1"]),
    OWN_RUN: ((PLUGIN, OURS), ["--tasks", "figlang_mini", "--model", "figlang_random", "--limit", "1"]),
    "figlang --help": ((FIGLANG,), ["--help"]),
    "figlang tasks": ((FIGLANG,), ["tasks"]),
    "figlang doctor --offline": ((FIGLANG,), ["doctor", "--offline"]),
}


def seconds_of(way: str, arguments: Sequence[str], folder: Path) -> float:
    """Seconds of processor time of a command and of the processes that it starts."""
    words = [word.replace("FOLDER", str(folder)) for word in arguments]
    environment = os.environ | {"HF_HOME": f"{folder}/hf", "HF_HUB_OFFLINE": "1", "FIGLANG_SCORER": "off"}
    environment |= {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": f"{folder}/cache"}
    with (folder / "log").open("w") as log:
        command = [sys.executable, "-c", WAYS[way], *words]
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
        _, status, used = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    said = (folder / "log").read_text()
    # The harness ends with 0 after an error; the doctor ends with 1 where something is missing.
    if code not in (0, 1 if "doctor" in words else 0) or "Traceback" in said:
        raise RuntimeError(f"{way} {' '.join(words)}: status {code}\n{said[-3000:]}")
    return used.ru_utime + used.ru_stime


def measure_starts(repeats: int) -> dict[str, dict[str, float]]:
    """Seconds of each command in each way that it is started, the least of several rounds over all of them."""
    found: dict[str, dict[str, float]] = {name: {} for name in STARTS}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
        (folder / "start.yaml").write_text(TASK.replace("FOLDER", temporary))
        (folder / "start.py").write_text("def doc_to_visual(doc):\n    return []\n")
        for turn in range(repeats + 1):  # the first fills caches of files and of data
            for name, (ways, arguments) in STARTS.items():
                for way in ways:
                    used = seconds_of(way, arguments, folder)
                    if turn:
                        found[name][way] = min(used, found[name].get(way, used))
    return found


def start_table(found: dict[str, dict[str, float]]) -> tuple[list[str], bool]:
    """The lines of the table, and whether the aim is met."""
    ways = (STOCK, PLUGIN, OURS)
    lines = [f"| CPU seconds | {' | '.join(ways)} |", "|---|---|---|---|"]
    for name, by_way in found.items():
        stock = by_way.get(STOCK)
        cells = [
            f"{by_way[way]:.2f}" + (f" ({by_way[way] / stock:.2f}x)" if stock and way != STOCK else "")
            if way in by_way
            else "-"
            for way in ways
        ]
        if FIGLANG in by_way:
            cells = ["-", "-", f"{by_way[FIGLANG]:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    run = found[RUN]
    worst = max(run[PLUGIN], run[OURS]) / run[STOCK]
    return [
        *lines,
        "",
        f"A run takes at most {worst:.2f}x of the harness alone (aim: {AIM_START:g}x).",
    ], worst <= AIM_START


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


def report(repeats: int, many: int, only_start: bool = False) -> tuple[str, bool]:
    """Measure, and return the tables as Markdown and whether the aims are met."""
    lines, met = start_table(measure_starts(repeats))
    lines = [f"{platform.machine()}, {os.cpu_count()} cores; the least of {repeats} rounds:", "", *lines, ""]
    if only_start:
        return "\n".join(lines), met
    lines += [
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
    met = met and decoded == 0 and max(growth.values()) < AIM_GROWTH
    return "\n".join(lines), met


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--repeats", type=int, default=3, help="rounds of starts, of which the least counts (%(default)s)"
    )
    parser.add_argument("--many", type=int, default=MANY, help="documents of the largest (%(default)s)")
    parser.add_argument("--only", choices=["start"], help="measure no documents")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    parser.add_argument("--measure", choices=SETTINGS, help=argparse.SUPPRESS)
    parser.add_argument("--documents", type=int, default=FEW, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        print(json.dumps(measure_documents(given.measure, given.documents)))
        return 0
    text, met = report(given.repeats, given.many, bool(given.only))
    print(text)
    if given.markdown:
        given.markdown.parent.mkdir(parents=True, exist_ok=True)
        given.markdown.write_text(text, encoding="utf-8")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
