"""The files for AdMIRe's boards: if this fails, one has a wrong name, or says something else than
the samples.
"""

from __future__ import annotations

from typing import Any

import pytest

from figlang_tasks.benchmarks.admire.counts import ROWS
from figlang_tasks.benchmarks.admire.submission import files

NAMES = ["5.png", "12.png", "3.png", "41.png", "07.png"]


def records_of(table: str) -> list[dict[str, Any]]:
    """A record for each row of a table, with the fields that a submission reads."""
    common = {"status": "read", "predicted_sense": "literal"}
    predicted = "12.png" if table.startswith("sequence") else NAMES
    records: list[dict[str, Any]] = []
    for number in range(ROWS[table]):
        identity = {"id": str(number), "unit": f"unit {number}"}
        records.append({**common, **identity, "predicted": predicted})
    return records


@pytest.mark.parametrize(
    ("table", "name"),  # as the boards name the files of their languages and of the extended tables
    [
        ("en_test", "submission_EN.tsv"),
        ("en_extended", "submission_XE.tsv"),
        ("pt_test", "submission_PT.tsv"),
        ("pt_extended", "submission_XP.tsv"),
        ("sequence_test", "submission_EN.tsv"),
        ("sequence_extended", "submission_XE.tsv"),
    ],
)
def test_the_file_of_a_table_has_the_name_that_its_board_expects(table: str, name: str) -> None:
    assert list(files({table: records_of(table)})) == [name]


@pytest.mark.parametrize(
    ("table", "header", "first_line"),
    [
        ("en_test", "compound\texpected_order", f"unit 0\t{NAMES}"),
        ("en_extended", "compound\texpected_order", f"unit 0\t{NAMES}"),
        ("pt_test", "compound\texpected_order", f"unit 0\t{NAMES}"),
        ("pt_extended", "compound\texpected_order", f"unit 0\t{NAMES}"),
        ("sequence_test", "compound\tsentence_type\texpected_item", "unit 0\tliteral\t12.png"),
        ("sequence_extended", "compound\tsentence_type\texpected_item", "unit 0\tliteral\t12.png"),
    ],
)
def test_the_file_of_a_table_has_a_line_for_each_record(
    table: str, header: str, first_line: str
) -> None:
    (content,) = files({table: records_of(table)}).values()
    lines = content.decode().splitlines()
    assert lines[0] == header
    assert lines[1] == first_line
    assert len(lines) == 1 + ROWS[table]
