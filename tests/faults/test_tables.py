"""Tables with the faults of spreadsheets. Single cells, rows and files that are damaged: tests/*/test_rows.py ..."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas
import pytest
from irfl_hub import metaphor_row, uuid, write_table

from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.core import hub
from figlang_tasks.core.errors import DataError

NAME = "metaphor-detection-task"


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    return tmp_path / "figlang_mini_irfl"


def detection() -> tuple[tables.Row, ...]:
    return tables.detection("figlang_mini_irfl", NAME).rows


def test_a_row_is_named_by_its_number_where_cells_before_it_have_line_breaks(local: Path) -> None:
    write_table(local, NAME, [metaphor_row(phrase="a\nb\nc"), metaphor_row(10, type="?")])
    with pytest.raises(DataError, match=r"csv, line 5: type is '\?'"):
        detection()


def test_uuids_that_pandas_has_saved_as_numbers(local: Path) -> None:
    """A base table with plain uuids, read with guessed types and saved again."""
    row = {"phrase": "a", "category": "literal", "figurative_type": "metaphor", "definition": '["x"]', "uuid": uuid(1)}
    path = write_table(local, "metaphors-dataset", [row])
    assert tables.images("figlang_mini_irfl", "metaphors-dataset").rows[0].answer == uuid(1)
    hub.look_again()
    pandas.read_csv(path, dtype={"uuid": float}).to_csv(path, index=False)
    assert "e+7" in path.read_text(encoding="utf-8")
    with pytest.raises(DataError, match=r"metaphors_dataset.csv, line 2: uuid is '(1e\+76|9\.9+e\+75)'"):
        tables.images("figlang_mini_irfl", "metaphors-dataset")


def test_a_cell_too_many_is_told(local: Path) -> None:
    path = write_table(local, NAME, [metaphor_row(), metaphor_row(10)])
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow([*metaphor_row(20).values(), "more"])
    with pytest.raises(DataError, match="line 4 does not have the 6 cells of the header"):
        detection()
