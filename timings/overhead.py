"""Measure what the start of a run costs with the plugin, beside the harness alone; all in one run.

    python timings/overhead.py --imports  # up to where the harness begins to evaluate

    python timings/overhead.py [--repeats 3]

Backs docs/troubleshooting.md ("What the plugin costs"). Three variants evaluate one row, each in
its own process, in turns: the harness alone (what this package declares is hidden from it), the
harness with this package installed, and our ``lmms_eval``. With ``--imports`` nothing is evaluated:
the harness is imported, or our command is run up to where it hands over to the harness. Seconds are
processor time, so other processes matter little.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
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
IMPORT = "import lmms_eval.__main__"
IMPORTS = {
    "import lmms_eval.__main__, alone": HIDDEN + IMPORT,
    "import lmms_eval.__main__, with this plugin": IMPORT,
    "lmms_eval, up to the evaluation": (
        "import lmms_eval.cli.dispatch as dispatch\ndispatch.main = lambda: None\n" + WAYS[OURS]
    ),
}
"""What ``--imports`` runs, by its name in the table; the first is the measure of the others."""
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


def seconds_of(code: str, folder: Path) -> float:
    """The processor seconds of code that may run one row, child processes included."""
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
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    if (
        done.returncode or "Traceback" in done.stderr
    ):  # the harness exits with 0 even after an error
        raise RuntimeError(f"{code}: status {done.returncode}\n{done.stderr[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start_table(code_by_name: Mapping[str, str], repeats: int) -> str:
    """A table of the least time in several rounds; a first round only fills caches.

    Args:
        code_by_name: what is run, by its name in the table; the others are compared with the first.
        repeats: how many rounds count.
    """
    seconds_by_name: dict[str, list[float]] = {name: [] for name in code_by_name}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
        (folder / "start.yaml").write_text(TASK.replace("FOLDER", temporary))
        (folder / "start.py").write_text("def doc_to_visual(doc):\n    return []\n")
        for _ in range(repeats + 1):
            for name, code in code_by_name.items():
                seconds_by_name[name].append(seconds_of(code, folder))
    first = min(next(iter(seconds_by_name.values()))[1:])
    rows = []
    for name, seconds in seconds_by_name.items():
        least = min(seconds[1:])
        rows.append([name, f"{least:.2f}", f"{least - first:+.2f}", f"{least / first:.2f}x"])
    return markdown_table([["", "CPU s", "more than the first", "of the first"], *rows])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="rounds, of which the least counts (%(default)s)"
    )
    parser.add_argument("--imports", action="store_true", help="evaluate nothing")
    options = parser.parse_args()
    print(start_table(IMPORTS if options.imports else WAYS, options.repeats))


if __name__ == "__main__":
    main()
