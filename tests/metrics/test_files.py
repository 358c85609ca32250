"""A file that could not be written whole is lost or cut if this fails."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from figlang_tasks.metrics.files import write_whole


@pytest.fixture
def small_files() -> Iterator[None]:
    """Files of more than 1,000 bytes cannot be written."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def content_by_name(folder: Path) -> dict[str, bytes]:
    """The content of each file in a folder, hidden ones too."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_file_is_replaced_or_stays_as_it_was(tmp_path: Path, small_files: None) -> None:
    path = tmp_path / "new" / "scores.csv"
    write_whole(path, b"old")
    with pytest.raises(OSError, match=r"File too large: .*scores.csv'"):
        write_whole(path, b"new" * 1000)
    assert content_by_name(path.parent) == {path.name: b"old"}
    write_whole(path, b"new")
    assert content_by_name(path.parent) == {path.name: b"new"}


def test_a_failure_names_the_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "new" / "scores.csv"
    write_whole(path, b"old")
    for unwritable in (path.parent, path / "below.csv"):
        with pytest.raises(OSError, match=f"{unwritable.name}'"):
            write_whole(unwritable, b"new")
    assert content_by_name(path.parent) == {path.name: b"old"}


def test_a_failure_leaves_no_new_folder(tmp_path: Path, small_files: None) -> None:
    (tmp_path / "old").mkdir()
    for folder in (tmp_path / "new" / "inner", tmp_path / "old" / "inner"):
        with pytest.raises(OSError, match="File too large"):
            write_whole(folder / "scores.csv", b"new" * 1000)
    assert list(tmp_path.rglob("*")) == [tmp_path / "old"]
