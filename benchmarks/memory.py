"""Peak memory and time of `figlang report`, `figlang compare` and `figlang_tasks.table` on runs of many rows.

    python benchmarks/memory.py [--rows 10000 100000] [--task vflute nykms_metaphor] [--resamples 1000]

Two runs of a task are written as lmms-eval writes them: the judged rows of the mini benchmarks, over and over with
other ids, and one picture for every ten rows. V-FLUTE's have explanation scores. Compare reads both runs, the others
one. Each command is a process of its own, whose peak memory is what the system says of it. What a row costs is the
growth from the fewest rows to the most.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from figlang_tasks.benchmarks.nykms import rows as nykms_rows
from figlang_tasks.benchmarks.nykms import task as nykms
from figlang_tasks.benchmarks.vflute import rows as vflute_rows
from figlang_tasks.benchmarks.vflute import task as vflute
from figlang_tasks.core.text import table

DATE = "20260102_030405"
TABLE = "import sys, figlang_tasks; print(figlang_tasks.table(sys.argv[1]).to_csv())"
FIGLANG = "from figlang_tasks.cli.figlang import main; main()"


def judged(task: str) -> list[dict[str, Any]]:
    """A few rows of a task, judged: what the harness calls the results of a document, with its output."""
    os.environ["FIGLANG_SCORER"] = "off"
    if task == "vflute":
        docs = vflute_rows.load("figlang_mini", "test")
        says = [f"{doc['explanation']}\nLABEL: {doc['label']}" for doc in docs]
        judge = vflute.process_results
    else:
        docs = nykms_rows.load("figlang_mini_nykms", "metaphor", "image")
        says = ["1. Yes\n2. cage\n3. The job is a cage.", "1. No"] * len(docs)
        judge = nykms.process_results
    found = []
    for doc, said in zip(docs, says, strict=False):
        result = json.loads(json.dumps(judge(doc, [said]), default=str))
        found.append(
            result | {"said": said, "prompt": f"What does it mean? {doc.get('claim', doc.get('caption'))} " * 3}
        )
    return found


def lines(task: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """The lines of a samples file of a run; `seed` decides the outputs, not the rows."""
    rng = random.Random(seed)
    made = judged(task)
    for number in range(count):
        given = made[number % len(made)]
        sample = given["sample"] | {"id": f"row-{number}", "unit": f"picture-{number // 10}"}
        if task == "vflute":
            sample["data"] = sample["data"].replace("figlang_mini/", "V-FLUTE/")
            sample["predicted"] = sample["predicted_strict"] = rng.choice((0, 1, sample["gold"]))
            mean = rng.gauss(0.55, 0.1)
            scores = {"scorer": "vflute25", "bertscore": mean, "bleurt": mean, "mean": mean}
            sample["explanation_scores"] = scores
        else:
            sample["data"] = sample["data"].replace("figlang_mini_nykms/", "NYK-MS/")
        rest = {name: value for name, value in given.items() if name not in ("sample", "said", "prompt")}
        said = f"{given['said']} {number}"
        yield {
            "doc_id": number,
            "target": "",
            "input": given["prompt"],
            "resps": [[said]],
            "filtered_resps": [said],
            "doc_hash": f"{number:064x}",
            **rest,
            "sample": sample,
        }


def write_run(folder: Path, task: str, count: int, seed: int) -> Path:
    """Write a samples file and a results file; those of V-FLUTE with the mark of the scorer."""
    folder.mkdir(parents=True)
    with (folder / f"{DATE}_samples_{task}.jsonl").open("w", encoding="utf-8") as file:
        for line in lines(task, count, seed):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    results = {
        "results": {task: {}},
        "configs": {task: {"task": task, "metadata": {"version": "2-0", "explanation_scorer": "vflute25|made up"}}},
        "n-samples": {task: {"original": count, "effective": count}},
        "config": {"model": "figlang_random", "model_args": ""},
        "model_name": folder.name,
    }
    (folder / f"{DATE}_results.json").write_text(json.dumps(results), encoding="utf-8")
    return folder


def measure(command: Sequence[str], output: Path) -> tuple[float, float]:
    """Peak memory in MB and CPU seconds of a command, whose standard output is written to a file.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, *command], stdout=file, env={**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    unit = 1 if sys.platform == "darwin" else 1024
    return used.ru_maxrss * unit / 1e6, used.ru_utime + used.ru_stime


def commands(runs: Sequence[Path], folder: Path, resamples: int) -> dict[str, tuple[str, ...]]:
    both = [str(run) for run in runs]
    compare = (*both, "--format", "csv", "--resamples", str(resamples))
    return {
        "table": ("-c", TABLE, both[0]),
        "compare": ("-c", FIGLANG, "compare", *compare),
        "report": ("-c", FIGLANG, "report", both[0], "-o", str(folder / "report.html")),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--task", nargs="+", choices=("vflute", "nykms_metaphor"), default=["vflute", "nykms_metaphor"])
    parser.add_argument("--resamples", type=int, default=1000, help="of compare (%(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write runs and outputs there, to compare them")
    given = parser.parse_args(arguments)
    head = ["task", "command", *(f"{count:,} rows{unit}" for count in given.rows for unit in (", MB", ", CPU s"))]
    found = [[*head, "KB a row"]]
    with tempfile.TemporaryDirectory() as temporary:
        top = given.keep or Path(temporary)
        for task in given.task:
            cells: dict[str, list[tuple[float, float]]] = {}
            for count in given.rows:
                folder = top / f"{task}-{count}"
                runs = [folder / name for name in ("base", "tuned")]
                for seed, run in enumerate(runs):
                    if not run.exists():
                        write_run(run, task, count, seed)
                for name, command in commands(runs, folder, given.resamples).items():
                    cells.setdefault(name, []).append(measure(command, folder / f"{name}.txt"))
                    megabytes, seconds = cells[name][-1]
                    print(f"{task}, {count:,} rows, {name}: {megabytes:.0f} MB, {seconds:.0f} CPU s", file=sys.stderr)
            for name, measured in cells.items():
                grown = 1000 * (measured[-1][0] - measured[0][0]) / max(1, given.rows[-1] - given.rows[0])
                told = [f"{value:,.0f}" for each in measured for value in each]
                found.append([task, name, *told, f"{grown:.1f}"])
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
