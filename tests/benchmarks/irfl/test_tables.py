"""The released tables have the published counts, all digits of their ids, and the roles of their images."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from irfl_hub import copy_tables, metaphor_row, uuid, write_table

from figlang_tasks.benchmarks.irfl import tables

SHARED = ["data/irfl/idiom_detection_task.csv"]  # the others lie beside it


@pytest.fixture
def released(shared_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_tables(shared_file.parent, tmp_path / "IRFL")
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a dataset without published counts, read from FIGLANG_DATA_DIR."""
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path / "figlang_mini_irfl"


def detection(name: str = "metaphor-detection-task") -> tuple[tables.Row, ...]:
    return tables.detection("figlang_mini_irfl", name).whole()


@pytest.mark.parametrize("shared_file", SHARED, indirect=True)
@pytest.mark.usefixtures("released")
def test_counts_of_the_released_detection_tables() -> None:
    idioms, metaphors, similes = (
        tables.detection("IRFL", f"{kind}-detection-task").whole() for kind in ("idiom", "metaphor", "simile")
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
        rows = tables.retrieval("IRFL", f"{kind}-retrieval-task").whole()
        assert {row.type for row in rows} == {"FvsPL"}
        sizes = [len(row.positives) for row in rows]
        negatives = sum(len(row.negatives) for row in rows)
        found[kind] = (len(rows), sum(sizes), negatives, min(sizes), max(sizes))
    assert found == {"metaphor": (34, 323, 729, 4, 15), "simile": (142, 1107, 3314, 1, 38)}


@pytest.mark.parametrize("shared_file", SHARED, indirect=True)
@pytest.mark.usefixtures("released")
def test_uuids_keep_all_their_digits() -> None:
    rows = tables.detection("IRFL", "idiom-detection-task").whole()
    assert rows[0].answer == "63706241105000335873917995039219892466282882761200412752654159602345548098977"
    assert {len(each) for row in rows for each in row.uuids} <= set(range(72, 79))


def test_similes_need_the_retrieval_table_to_tell_target_from_random(local: Path) -> None:
    row = metaphor_row(phrase="The boy is as pale as a ghost", figurative_type="simile")
    row["images_metadata"] = [
        {"uuid": uuid(number)} | ({"category": "literal", "sub_category": "source"} if number == 1 else {})
        for number in range(4)
    ]
    write_table(local, "simile-detection-task", [row])
    ranked: dict[str, object] = {
        "type": "FvsPL",
        "figurative_type": "simile",
        "images_metadata": [
            {"uuid": uuid(0), "category": "figurative"},
            {"uuid": uuid(1), "category": "literal", "sub_category": "source"},
            {"uuid": uuid(2), "category": "literal", "sub_category": "target"},
        ],
        "first_category": [uuid(0)],
        "second_category": [uuid(1), uuid(2)],
        "phrase": "The boy is as pale as a ghost",
    }
    write_table(local, "simile-retrieval-task", [ranked])
    (found,) = detection("simile-detection-task")
    assert found.roles == {uuid(1): "source", uuid(2): "target", uuid(3): "random"}
