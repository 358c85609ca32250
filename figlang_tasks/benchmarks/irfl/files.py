"""Which files IRFL's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.irfl.archive import ARCHIVE
from figlang_tasks.benchmarks.irfl.random_tables import CONFIGURATIONS
from figlang_tasks.benchmarks.irfl.tables import file_name
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """The files that a request reads: its table, or the one it is drawn from, and the pictures."""
    table = request["table"]
    if table in CONFIGURATIONS:
        table = CONFIGURATIONS[table].base_table
    return (file_name(table), ARCHIVE)
