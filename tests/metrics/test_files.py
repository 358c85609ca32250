"""A file is whole, or as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from figlang_tasks.metrics.files import write_whole


def refuse(path: Path) -> None:
    assert path.read_bytes() == b"new", "it is written when it is looked at"
    raise ValueError("not as it should be")


def test_a_file_is_replaced_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    write_whole(path, b"old")
    with pytest.raises(ValueError, match="not as it should be"):
        write_whole(path, b"new", refuse)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {path.name: b"old"}
    write_whole(path, b"new")
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {path.name: b"new"}
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_whole(tmp_path / "folder", b"new")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", path.name]
