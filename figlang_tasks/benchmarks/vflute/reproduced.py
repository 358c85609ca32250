"""The prompts of the released test rows, and their number by source, Table 3 (``figlang
reproduce``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.prompting import render
from figlang_tasks.core.row_files import released_table


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Name of each number, the number as it was printed, and ours."""
    released = released_table(folder / "vflute_test.csv")
    numbers = rows.instruction_numbers(source_of("V-FLUTE").splits, "test")
    prompts = (
        render(
            "vflute/question.jinja",
            instruction=numbers[int(row["id"].rpartition("-")[2])],
            claim=row["claim"],
        )
        == row["prompt"].replace("REPLACE_CLAIM", f'"{row["claim"]}"')
        for row in released
    )
    yield "prompts that are equal", "723", sum(prompts)
    groups = [rows.report_group(row["source_dataset"], row["phenomenon"]) for row in released]
    for group, published in zip(rows.REPORT_GROUPS, (101, 120, 100, 106, 196, 100), strict=True):
        yield f"rows of {group}", str(published), groups.count(group)
