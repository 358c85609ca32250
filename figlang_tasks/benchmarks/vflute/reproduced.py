"""Recomputes what V-FLUTE's authors released and printed, for ``figlang reproduce``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.prompting import render
from figlang_tasks.core.row_files import released_table

# Table 3, column Test (arXiv 2405.01474)
_TEST_ROWS_BY_GROUP = {
    "vismet": "101",
    "irfl_metaphor_simile": "120",
    "irfl_idiom": "100",
    "muse": "106",
    "memecap": "196",
    "nycartoons": "100",
}


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield name, published number and our number: of equal prompts, and of each group's test rows.

    "Equal prompts" counts the released rows whose prompt is ours, letter by letter. Its published
    number is that of all released rows, since all should be equal.

    Args:
        folder: the folder with ``vflute_test.csv``, the released rows of the test split.
    """
    released_rows = released_table(folder / "vflute_test.csv")
    instructions = rows.instruction_numbers(source_of("V-FLUTE").splits, "test")
    equal_prompts = 0
    for released_row in released_rows:
        row_index = int(released_row["id"].rpartition("-")[2])  # muse-test-7
        equal_prompts += _is_prompt_equal(released_row, instructions[row_index])
    yield "prompts that are equal", "723", equal_prompts

    groups = [rows.report_group(row["source_dataset"], row["phenomenon"]) for row in released_rows]
    for group, published in _TEST_ROWS_BY_GROUP.items():
        yield f"rows of {group}", published, groups.count(group)


def _is_prompt_equal(released_row: Mapping[str, str], instruction: int) -> bool:
    """Whether our prompt for a row is the one that was released.

    Args:
        released_row: the row; its prompt still has ``REPLACE_CLAIM`` in place of the claim.
        instruction: the number of the instruction that the row is asked with, 1 to 21.
    """
    claim = released_row["claim"]
    prompt = render("vflute/question.jinja", instruction=instruction, claim=claim)
    return prompt == released_row["prompt"].replace("REPLACE_CLAIM", f'"{claim}"')
