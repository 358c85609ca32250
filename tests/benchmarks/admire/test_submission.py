"""A file for AdMIRe's boards has a wrong name, or says something else than the samples, if this
fails.
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
    return [
        {**common, "id": f"{n}", "unit": f"unit {n}", "predicted": predicted}
        for n in range(ROWS[table])
    ]


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
def test_the_file_of_a_table(table: str, name: str) -> None:
    ((written, content),) = files({table: records_of(table)}).items()
    head, first, *others = content.decode().splitlines()
    assert (written, len(others)) == (name, ROWS[table] - 1)
    if table.startswith("sequence"):
        assert (head, first) == (
            "compound\tsentence_type\texpected_item",
            "unit 0\tliteral\t12.png",
        )
    else:
        assert head == "compound\texpected_order"
        assert first == f"unit 0\t{NAMES}"
