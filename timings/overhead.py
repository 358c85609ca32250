"""Measure what the start of a run costs with the plugin, beside the harness alone; all in one run.

    python timings/overhead.py [--repeats 3]

Backs docs/troubleshooting.md ("What the plugin costs"). Three variants evaluate one row, each in
its own process, in turns: the harness alone (what this package declares is hidden from it), the
harness with this package installed, and our ``lmms_eval``. Seconds are processor time, so other
processes matter little.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from figlang_tasks.core.text import markdown_table

# Hides what an installed package declares, so that the harness finds no plugin of ours.
HIDDEN = """
import importlib.metadata
every = importlib.metadata.entry_points
def without_ours(**which):
    points = every(**which) if which else [point for group in every().groups for point in every(group=group)]
    return importlib.metadata.EntryPoints(point for point in points if not point.value.startswith("figlang_tasks."))
importlib.metadata.entry_points = without_ours
"""  # noqa: E501
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
    """Return the processor seconds of a run of one row, child processes included."""
    environment = os.environ | {
        "HF_HOME": f"{folder}/hf",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    arguments = [
        "--tasks",
        "start",
        "--include_path",
        str(folder),
        "--model",
        "dummy",
        "--limit",
        "1",
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", WAYS[way], *arguments]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    if (
        done.returncode or "Traceback" in done.stderr
    ):  # the harness exits with 0 even after an error
        raise RuntimeError(f"{way}: status {done.returncode}\n{done.stderr[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start_table(repeats: int) -> str:
    """Return a table of the least time in several rounds; a first round only fills caches."""
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
    rows = [
        [way, f"{seconds:.2f}", f"{seconds / best[STOCK]:.2f}x"] for way, seconds in best.items()
    ]
    return markdown_table([["a run of one row", "CPU s", "of the harness alone"], *rows])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="rounds, of which the least counts (%(default)s)"
    )
    print(start_table(parser.parse_args().repeats))


if __name__ == "__main__":
    main()
