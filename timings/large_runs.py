"""Measure what `figlang compare` and `figlang report` cost on runs of many rows, and how it grows.

    python timings/large_runs.py [--rows 100000] [--folder FOLDER] [--per-picture 1 4] [--others]
                                 [--repeats 1]

Three runs are made by ``figlang score`` from labels with explanations for rows of a user's own in
V-FLUTE's form. Of four rows to a picture, which depend on each other, the tests resample a quarter
as many units as of one. ``--folder`` keeps the runs; the next call does not make them again.

Each command runs in a process of its own: processor time, and its largest memory. The ratios are
those of all rows to a tenth of them: 10 is linear growth, and less where a part of the cost does
not grow. ``--others`` adds commands that show runs; ``--repeats`` gives medians of several rounds.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import sys
import tempfile
from pathlib import Path

import numpy as np
from processes import FIGLANG, cost_of, median_cost
from user_rows import made_up_claims, right_label, row_id, write_rows

from figlang_tasks.core.text import markdown_table

RIGHT_SHARES = {"base": 0.70, "tuned": 0.72, "small": 0.60}
"""The share of right labels of each run, by its name."""
COMMANDS = {
    "compare, 2 runs": ["compare", "base", "tuned"],
    "compare, 3 runs": ["compare", "base", "tuned", "small"],
    "report, 2 runs": ["report", "base", "tuned", "-o", "report.html"],
}
OTHER_COMMANDS = {
    "compare --all, 2 runs": ["compare", "base", "tuned", "--all"],
    "show, 1 run": ["show", "base"],
    "table, 1 run": ["table", "base"],
    "runs, 3 runs": ["runs", "."],
    "leaderboard, 3 runs": ["leaderboard", ".", "-o", "site"],
}


# --- the runs ---


def make_runs(parent: Path, rows: int, rows_per_picture: int) -> Path:
    """Score labels for rows of a user's own, unless the runs are there; return their folder.

    Args:
        parent: where the folder is made.
        rows: how many; each has a label in each run.
        rows_per_picture: rows of one picture depend on each other.
    """
    folder = parent / f"{rows}_rows_{rows_per_picture}_per_picture"
    if not (folder / "data").exists():
        write_rows(folder / "data" / "V-FLUTE", made_up_claims(rows), rows_per_picture)
    for seed, (name, right_share) in enumerate(RIGHT_SHARES.items()):
        if not (folder / name).exists():
            write_labels(folder / f"{name}.csv", rows, right_share, seed)
            arguments = ["score", f"{name}.csv", "--task", "vflute", "--scorer", "off", "-o", name]
            cost_of(FIGLANG, arguments, folder)
    return folder


def write_labels(path: Path, rows: int, right_share: float, seed: int) -> None:
    """Write a label with an explanation for each row, of which about a share is right."""
    is_right = np.random.default_rng(seed).random(rows) < right_share
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "label", "explanation"])
        for number in range(rows):
            label = right_label(number)
            if not is_right[number]:
                label = right_label(number + 1)
            explanation = f"Whoever spills beans tells a secret, and so does {number}."
            writer.writerow([row_id(number), label, explanation])


# --- the costs ---


def table_of_costs(
    few_rows: Path, all_rows: Path, commands: dict[str, list[str]], repeats: int
) -> str:
    """Return a table of the cost of each command on few rows and on ten times as many.

    Args:
        few_rows, all_rows: folders with runs.
        commands: the arguments of figlang by what the table calls them.
        repeats: rounds, of which the medians are taken.
    """
    lines = [["", "CPU s", "ratio", "largest memory, MiB", "ratio"]]
    for title, arguments in commands.items():
        few = median_cost([cost_of(FIGLANG, arguments, few_rows) for _ in range(repeats)])
        cost = median_cost([cost_of(FIGLANG, arguments, all_rows) for _ in range(repeats)])
        print(f"{title}: {cost.seconds:.1f} CPU s", file=sys.stderr)  # each may take minutes
        lines.append(
            [
                title,
                f"{cost.seconds:.1f}",
                f"{cost.seconds / few.seconds:.1f}",
                f"{cost.largest_memory:.0f}",
                f"{cost.largest_memory / few.largest_memory:.1f}",
            ]
        )
    return markdown_table(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000, help="rows of a run (%(default)s)")
    parser.add_argument(
        "--per-picture", type=int, nargs="+", default=[1, 4], help="rows to a picture (%(default)s)"
    )
    parser.add_argument("--folder", type=Path, help="keeps the runs; default: a temporary folder")
    parser.add_argument("--others", action="store_true", help="measure other commands too")
    parser.add_argument("--repeats", type=int, default=1, help="rounds; medians (%(default)s)")
    options = parser.parse_args()
    commands = {**COMMANDS, **OTHER_COMMANDS} if options.others else COMMANDS
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as temporary_folder:
        folder: Path = (options.folder or Path(temporary_folder)).absolute()
        for rows_per_picture in options.per_picture:
            few_rows = make_runs(folder, options.rows // 10, rows_per_picture)
            all_rows = make_runs(folder, options.rows, rows_per_picture)
            title = f"{options.rows:,} rows, {rows_per_picture} to a picture"
            print(f"\n{title}\n\n{table_of_costs(few_rows, all_rows, commands, options.repeats)}")


if __name__ == "__main__":
    main()
