"""Measure what whole runs of ``lmms_eval`` cost beside the model: check, decode, prompt, digest,
judge, measure, save.

    python timings/all_but_the_model.py [vflute] [irfl] [nycc] [ciibench] [--repeats 1]
                                        [--ciibench-data FOLDER] [--profile]

Backs docs/troubleshooting.md ("What the plugin costs"). Data is drawn in the layout of each
benchmark: as many rows as the release has, and pictures of its formats and, as far as they are
known, its sizes. No two files are equal. Each run is a process of its own. Its processor time and
its largest memory stand in the table without those of a run on a single row with a tiny picture in
the same round, which is the start of the harness.

The model is ``figlang_random``, which answers at once and looks at no picture. In the run called
*decoding* it decodes the pictures of each row before it answers, as `figlang_vlm` does before its
processor. With ``--use_cache`` the files of all pictures are read once more, for the keys of the
answers. No model scores explanations.

``--ciibench-data`` is a folder with CII-Bench's ``test.json``, ``dev.json``, and ``images.json``,
which has format, mode and size of each picture. Without it, sizes of a similar distribution are
drawn. ``--profile`` tells the processor time of each stage in place of the table.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import drawn_data
from processes import Cost, cost_of, median_cost
from stages import HEADING
from user_rows import VFLUTE_ROWS

from figlang_tasks.core.text import markdown_table

LMMS_EVAL = "from figlang_tasks.cli.lmms_eval import main\nmain()"
DECODING = """
from figlang_tasks.models.baselines import Random
answer = Random._answer
def decode_and_answer(self, request):
    _, _, doc_to_visual, doc_id, name, split = request.args
    for picture in doc_to_visual(self.task_dict[name][split][doc_id]):
        picture.load()
    return answer(self, request)
Random._answer = decode_and_answer
"""
"""Lets the model decode the pictures of each row before it answers."""
PROFILE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from stages import StageTimes
times = StageTimes()
times.install()
try:
    from figlang_tasks.cli.lmms_eval import main
    main()
finally:
    times.tell()
"""
RANDOM = ("--model", "figlang_random", "--log_samples", "--output_path", "results")


class Workload(NamedTuple):
    """The tasks of a run, as ``--tasks`` names them, how many rows they have, and their data."""

    tasks: str
    rows: int
    write: Callable[[Path, Path | None], None]


START = Workload("vflute", 1, drawn_data.write_single_row)
IRFL_MATCH = "irfl_match,irfl_match_idiom_phrase_only"
WORKLOADS = {
    "vflute": Workload("vflute", VFLUTE_ROWS, drawn_data.write_vflute),
    "irfl": Workload(IRFL_MATCH, 200 + 200 + 333 + 277 + 277, drawn_data.write_irfl),
    "nycc": Workload("nycc_rank", sum(drawn_data.NYCC_ROWS["ranking"]), drawn_data.write_nycc),
    "ciibench": Workload(
        "ciibench", sum(drawn_data.CIIBENCH_ROWS.values()), drawn_data.write_ciibench
    ),
}
"""The benchmarks, by the names that the command takes."""

CACHE = ("--use_cache", "answers")
RUNS: Mapping[str, tuple[str, Sequence[str]]] = {
    "first run": ("", ()),
    "decoding": (DECODING, ()),
    "`--use_cache`": ("", CACHE),
    "`--use_cache`, again": ("", CACHE),
}
"""What is put before the command, and its further options, by the name of the run."""


def measure(workload: Workload, source: Path | None, start_folder: Path) -> dict[str, Cost]:
    """The cost beyond the start of each run of `RUNS`, one after the other on the same data.

    The first one writes the tables into the cache of ``datasets``.

    Args:
        workload: the tasks and their data.
        source: the folder with the sizes of CII-Bench's pictures; None draws sizes.
        start_folder: has a single row (`START`).
    """
    costs: dict[str, Cost] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = prepare(workload, Path(temporary), source)
        for name, (code_before, options) in RUNS.items():
            costs[name] = run_cost(folder, workload, code_before + LMMS_EVAL, options)
    start = run_cost(start_folder, START, LMMS_EVAL)
    for name, cost in costs.items():
        memory = cost.largest_memory - start.largest_memory
        costs[name] = Cost(cost.seconds - start.seconds, memory)
    return costs


def prepare(workload: Workload, folder: Path, source: Path | None) -> Path:
    """Write the data into a folder, and return the folder."""
    # In a process of its own: Linux counts the memory of this one as that of those it starts.
    writer = multiprocessing.get_context("spawn").Process(
        target=workload.write, args=(folder / "data", source)
    )
    writer.start()
    writer.join()
    if writer.exitcode:
        raise RuntimeError(f"status {writer.exitcode}: the data could not be written")
    return folder


def run_cost(folder: Path, workload: Workload, code: str, options: Sequence[str] = ()) -> Cost:
    """The cost of a run that keeps all its caches in the folder of its data."""
    os.environ["HF_HOME"] = str(folder / "hf")
    os.environ["FIGLANG_SCORER"] = "off"
    return cost_of(code, ["--tasks", workload.tasks, *RANDOM, *options], folder)


def table(names: Sequence[str], repeats: int, source: Path | None) -> str:
    """The medians of several rounds of all runs, each without the start in its round."""
    lines = [["", "rows", "run", "CPU s beyond the start", "MiB beyond the start"]]
    with tempfile.TemporaryDirectory() as temporary:
        start_folder = prepare(START, Path(temporary), None)
        run_cost(start_folder, START, LMMS_EVAL)  # fills its caches
        for name in names:
            workload = WORKLOADS[name]
            rounds: list[dict[str, Cost]] = []
            for _ in range(repeats):
                rounds.append(measure(workload, source, start_folder))
            for run in RUNS:
                cost = median_cost([costs[run] for costs in rounds])
                numbers = [f"{cost.seconds:.1f}", f"{cost.largest_memory:.0f}"]
                lines.append([name, str(workload.rows), run, *numbers])
    return markdown_table(lines)


def profile(name: str, source: Path | None) -> str:
    """The processor time of each stage, in each run of `RUNS`."""
    workload = WORKLOADS[name]
    texts: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = prepare(workload, Path(temporary), source)
        for run, (code_before, options) in RUNS.items():
            run_cost(folder, workload, code_before + PROFILE, options)
            log = (folder / "log.txt").read_text(encoding="utf-8")
            texts.append(f"{name}, {run}:\n{log[log.index(HEADING) :]}")
    return "\n".join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(WORKLOADS)} (all)")
    parser.add_argument("--repeats", type=int, default=1, help="rounds; medians (%(default)s)")
    parser.add_argument("--ciibench-data", type=Path, help="with images.json")
    parser.add_argument("--profile", action="store_true", help="processor time by stage")
    options = parser.parse_args()
    names = options.names or list(WORKLOADS)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    if options.profile:
        for name in names:
            print(profile(name, options.ciibench_data))
    else:
        print(table(names, options.repeats, options.ciibench_data))


if __name__ == "__main__":
    main()
