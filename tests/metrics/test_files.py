"""A file that could not be written whole is lost or cut if this fails."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from figlang_tasks.metrics.files import write_whole


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of more than 1,000 bytes can be written."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_file_is_replaced_or_as_it_was(tmp_path: Path, small_files: None) -> None:
    path = tmp_path / "new" / "scores.csv"
    write_whole(path, b"old")
    with pytest.raises(OSError, match="File too large: .*scores.csv'"):
        write_whole(path, b"new" * 1000)
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == {path.name: b"old"}
    write_whole(path, b"new")
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == {path.name: b"new"}
    for wrong in (path.parent, path / "below.csv"):
        with pytest.raises(OSError, match=f"{wrong.name}'"):
            write_whole(wrong, b"new")
    assert [each.name for each in path.parent.iterdir()] == [path.name]
