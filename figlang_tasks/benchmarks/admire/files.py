"""Which files AdMIRe's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.admire.counts import BOTH
from figlang_tasks.benchmarks.admire.rows import row_file_name
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads: those of rows, and pictures beside one of them.

    The archives may be unpacked anywhere below the folder, those of the two languages of subtask A
    below EN and PT.
    """
    patterns: list[str] = []
    table = request["table"]
    for part_table in BOTH.get(table, (table,)):
        prefix = part_table.split("_")[0]
        folder = "**" if prefix == "sequence" else f"**/{prefix.upper()}/**"
        patterns.append(f"{folder}/{row_file_name(part_table)}")
        if request["shown"] == "pictures":
            patterns.append(f"{folder}/*/*.png")
    return tuple(dict.fromkeys(patterns))
