"""The released tables have the published counts, all digits of their ids, and the roles of their images."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from irfl_hub import copy_tables, metaphor_row, write_table

from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.core.errors import DataError

SHARED = ["data/irfl/idiom_detection_task.csv"]  # the others lie beside it


@pytest.fixture
def released(shared_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_tables(shared_file.parent, tmp_path / "IRFL")
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))


@pytest.mark.parametrize("shared_file", SHARED, indirect=True)
@pytest.mark.usefixtures("released")
def test_counts_of_the_released_detection_tables() -> None:
    idioms, metaphors, similes = (
        tables.detection("IRFL", f"{kind}-detection-task").rows for kind in ("idiom", "metaphor", "simile")
    )
    assert (len(idioms), len(metaphors), len(similes)) == (200, 333, 277)
    assert Counter(row.type for row in idioms) == {"figurative": 131, "figurative+literal": 69}
    assert set(Counter(len(row.definitions) for row in idioms)) == {1, 2, 3, 4}
    literal = Counter(list(row.roles.values()).count("literal") for row in idioms)
    assert literal == {1: 120, 2: 80}
    assert Counter(list(row.roles.values()).count("literal") for row in metaphors) == {3: 197, 2: 124, 1: 10, 0: 2}
    assert {tuple(sorted(row.roles.values())) for row in similes} == {("random", "source", "target")}
    assert len({row.phrase for row in metaphors}) == 35
    assert len({row.phrase for row in similes}) == 142
    assert not any(row.definitions for row in (*metaphors, *similes))


@pytest.mark.parametrize("shared_file", SHARED, indirect=True)
@pytest.mark.usefixtures("released")
def test_counts_of_the_released_retrieval_tables() -> None:
    found = {}
    for kind in ("metaphor", "simile"):
        rows = tables.retrieval("IRFL", f"{kind}-retrieval-task").rows
        assert {row.type for row in rows} == {"FvsPL"}
        sizes = [len(row.positives) for row in rows]
        negatives = sum(len(row.negatives) for row in rows)
        found[kind] = (len(rows), sum(sizes), negatives, min(sizes), max(sizes))
    assert found == {"metaphor": (34, 323, 729, 4, 15), "simile": (142, 1107, 3314, 1, 38)}


@pytest.mark.parametrize("shared_file", SHARED, indirect=True)
@pytest.mark.usefixtures("released")
def test_uuids_keep_all_their_digits() -> None:
    rows = tables.detection("IRFL", "idiom-detection-task").rows
    assert rows[0].answer == "63706241105000335873917995039219892466282882761200412752654159602345548098977"
    assert {len(each) for row in rows for each in row.uuids} <= set(range(72, 79))


def test_a_row_is_named_by_its_line_where_cells_before_it_have_line_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    rows = [metaphor_row(phrase="a\nb\nc"), metaphor_row(10, type="?")]
    write_table(tmp_path / "figlang_mini_irfl", "metaphor-detection-task", rows)
    with pytest.raises(DataError, match=r"csv, line 5: type is '\?'"):
        tables.detection("figlang_mini_irfl", "metaphor-detection-task")
