"""If these fail, a message names another line of a user's table than the faulty one, or long files
take more memory than they must.
"""

from __future__ import annotations

from pathlib import Path

from figlang_tasks.core import row_files


def test_a_row_of_several_lines_is_named_by_its_first(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('id,claim\n1,"A snail\nwears\na watch."\n2,Time flies.\n3\n', encoding="utf-8")
    locations = [location for location, _ in row_files.read_rows(path)]
    assert locations == [f"{path}, line {number}" for number in (2, 5, 6)]


def test_empty_lines_of_a_table_are_no_rows_but_count(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text("id,claim\n\n\n1,Time flies.\n\n2\n", encoding="utf-8")
    locations = [location for location, _ in row_files.read_rows(path)]
    assert locations == [f"{path}, line {number}" for number in (4, 6)]


def test_a_table_with_an_empty_first_line_has_no_row_without_cells(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text("\n\nid,claim\n", encoding="utf-8")
    ((location, fault),) = row_files.read_rows(path)
    assert location == f"{path}, line 3"
    assert "does not have the 0 cells of the header" in fault


def test_a_byte_order_mark_within_json_lines_is_named() -> None:
    line = b'\xef\xbb\xbf{"id": 1}\n'
    assert [fault for _, fault in row_files.json_lines([line, line])] == [
        {"id": 1},
        "is not valid JSON (a byte order mark stands before it: remove the mark): each line must be"
        " an object",
    ]


def test_lines_share_the_texts_of_their_keys() -> None:
    lines = [b'{"record": {"gold": 1}}\n', b'{"record": {"gold": 0}}\n']
    (_, first), (_, second) = row_files.json_lines(lines)
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert next(iter(first)) is next(iter(second))
    assert next(iter(first["record"])) is next(iter(second["record"]))
