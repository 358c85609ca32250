"""What the plugin costs beside the harness: its start, and each document; all in one run.

    python benchmarks/overhead.py [--repeats 3]

Backs docs/troubleshooting.md ("What the plugin costs"). *Start*: a run of one row in a process of its own: the harness
alone (what this package declares is hidden from it), the harness with this package installed, and our ``lmms_eval``, in
turns. *Documents*: 723 questions about pictures of 5 megapixels, each task in a process of its own; ``plain`` is a task
of the harness alone with the same texts. Seconds are processor time, so other processes matter little.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figlang_tasks.core.text import table

DOCUMENTS = 723
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
STOCK, PLUGIN, OURS = "lmms-eval alone", "lmms-eval with this plugin", "lmms_eval"
WAYS = {
    STOCK: HIDDEN + HARNESS,
    PLUGIN: HARNESS,
    OURS: "from figlang_tasks.cli.lmms_eval import main\nmain()",
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


def seconds_of(way: str, folder: Path) -> float:
    """Seconds of processor time of a run of one row, and of the processes that it starts."""
    environment = os.environ | {"HF_HOME": f"{folder}/hf", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    arguments = ["--tasks", "start", "--include_path", str(folder), "--model", "dummy", "--limit", "1"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", WAYS[way], *arguments]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    if done.returncode or "Traceback" in done.stderr:  # the harness ends with 0 after an error
        raise RuntimeError(f"{way}: status {done.returncode}\n{done.stderr[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start_table(repeats: int) -> str:
    """The least of several rounds; the first fills caches and does not count."""
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
        (folder / "start.yaml").write_text(TASK.replace("FOLDER", temporary))
        (folder / "start.py").write_text("def doc_to_visual(doc):\n    return []\n")
        for _ in range(repeats + 1):
            for way, seconds in found.items():
                seconds.append(seconds_of(way, folder))
    best = {way: min(seconds[1:]) for way, seconds in found.items()}
    rows = [[way, f"{seconds:.2f}", f"{seconds / best[STOCK]:.2f}x"] for way, seconds in best.items()]
    return table([["a run of one row", "CPU s", "of the harness alone"], *rows])


# --- documents -------------------------------------------------------------------------------------------------------


def write_nykms(folder: Path) -> None:
    """Write rows of NYK-MS, each with a file of its own (of the same content)."""
    (folder / "images").mkdir(parents=True)
    first = folder / "images" / "0.jpg"
    first.write_bytes(picture())
    with (folder / "nyk_m.jsonl").open("w") as file:
        for number in range(DOCUMENTS):
            row: dict[str, Any] = {"id": f"NYK_1_{number}", "caption": f"It fell flat, {number}.", "MC": number % 2}
            if row["MC"]:
                row |= {"MW": "flat", "ME": "The word has two meanings."}
            if number:
                os.link(first, folder / "images" / f"{number}.jpg")
            file.write(json.dumps(row | {"image": f"images/{number}.jpg"}) + "\n")


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


def write_plain(folder: Path) -> None:
    """Write the same rows, and a task that asks the same of them with the harness's own means alone."""
    write_nykms(folder.parent / "NYK-MS")
    folder.mkdir()
    (folder / "plain.yaml").write_text(PLAIN_TASK.replace("FOLDER", str(folder.parent)))
    (folder / "plain.py").write_text(PLAIN_FUNCTIONS)


def picture() -> bytes:
    """A JPEG of 5 megapixels."""
    import numpy as np
    from PIL import Image

    coarse = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)
    data = io.BytesIO()
    Image.fromarray(coarse).resize(SIZE).save(data, "JPEG", quality=90)
    return data.getvalue()


TASKS = {"nykms_metaphor": ("NYK-MS", write_nykms), "plain": ("plain", write_plain)}


def measure_documents(name: str) -> dict[str, float]:
    """Seconds of processor time for each step, and MB that all of them add."""
    folder, write = TASKS[name]
    with tempfile.TemporaryDirectory() as temporary:
        write(Path(temporary) / folder)
        os.environ |= {"FIGLANG_DATA_DIR": temporary, "HF_HOME": f"{temporary}/hf", "HF_HUB_OFFLINE": "1"}
        from lmms_eval.tasks import TaskManager, get_task_dict
        from loguru import logger

        import figlang_tasks

        logger.remove()
        makes = TaskManager if name == "plain" else figlang_tasks.task_manager
        own = {"include_path": f"{temporary}/plain"} if name == "plain" else {}
        manager = makes(include_defaults=False, model_name="figlang_random", **own)
        memory, times = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, [time.process_time()]
        task = get_task_dict([name], manager, "simple")[name]
        times.append(time.process_time())
        task.build_all_requests(rank=0, world_size=1)
        times.append(time.process_time())
        docs = task.dataset_no_image["test"]
        for instance in task.instances:
            task.process_results(docs[instance.doc_id], [GOLD])
        times.append(time.process_time())
        assert len(task.instances) == DOCUMENTS
        found = {step: end - start for step, start, end in zip(STEPS, times, times[1:], strict=False)}
        added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        return found | {"memory": added * (1 if sys.platform == "darwin" else 1024) / 1e6}


def documents_table() -> str:
    rows = [["task", *(f"{step}, ms each" for step in STEPS), "memory, KB each"]]
    for name in TASKS:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
        command = [sys.executable, __file__, "--measure", name]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        rows.append([name, *(f"{1000 * found[step] / DOCUMENTS:.2f}" for step in STEPS)])
        rows[-1].append(f"{1000 * found['memory'] / DOCUMENTS:.1f}")
    return table(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--repeats", type=int, default=3, help="rounds of starts, of which the least counts (%(default)s)"
    )
    parser.add_argument("--measure", choices=TASKS, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        print(json.dumps(measure_documents(given.measure)))
        return
    print(start_table(given.repeats))
    print()
    print(documents_table())


if __name__ == "__main__":
    main()
