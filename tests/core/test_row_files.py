"""If this fails, a message names another line of a user's table than the faulty one."""

from __future__ import annotations

from pathlib import Path

from figlang_tasks.core import row_files


def test_a_row_of_several_lines_is_named_by_its_first(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('id,claim\n1,"A snail\nwears\na watch."\n2,Time flies.\n3\n', encoding="utf-8")
    locations = [location for location, _ in row_files.read_rows(path)]
    assert locations == [f"{path}, line {number}" for number in (2, 5, 6)]
