"""A full disk is named with a remedy, and of several writers of one folder one writes it."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import commands
import datasets
import pytest
from flute_rows import write_vflute_repo
from published_runs import rows

from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.parquet_files import read_parquet
from figlang_tasks.core.whole_paths import new_file, new_folder


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """As on a full disk, no file grows beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    write_vflute_repo(tmp_path / "V-FLUTE", {"test": rows()[:20]}, image_size=8)
    (file,) = (tmp_path / "V-FLUTE").rglob("*.parquet")
    return file


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new cache of datasets."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return tmp_path / "cache"


def refusal(file: Path) -> str:
    """The message with which the file is refused."""
    with pytest.raises(DataError) as raised:
        read_parquet([file], ["claim"], "the split test")
    return str(raised.value)


def test_a_full_cache_of_datasets_is_no_damaged_file(parquet: Path, cache: Path) -> None:
    with no_file_larger_than(1_000):
        message = refusal(parquet)
    assert message.startswith(
        f"the split test cannot be read into the cache of datasets, {cache} ([Errno 27] File too"
    )
    assert message.endswith(": make room there, or set HF_DATASETS_CACHE to another folder")
    assert len(read_parquet([parquet], ["claim"], "the split test")) == 20, "once there is room"


def test_a_cache_of_datasets_that_is_no_folder(parquet: Path, cache: Path) -> None:
    cache.write_text("a file")
    message = refusal(parquet)
    assert str(cache) in message
    assert message.endswith("set HF_DATASETS_CACHE to another folder")


def test_a_damaged_file_is_still_named_as_damaged(parquet: Path, cache: Path) -> None:
    parquet.write_bytes(parquet.read_bytes()[:500])
    assert "Delete the damaged file and load it again" in refusal(parquet)


def test_a_template_on_a_full_disk(tmp_path: Path) -> None:
    with no_file_larger_than(100):
        message = commands.refused("data", "template", "vflute", "--output", tmp_path / "mine")
    folder = tmp_path / "mine" / "V-FLUTE"
    assert message == f"figlang: {folder}: File too large: make room there, or name another place"
    assert list(tmp_path.iterdir()) == []


# --- several writers ---


def test_one_of_two_writers_wins(tmp_path: Path) -> None:
    """A lock of its own, so that one that was killed stops nobody."""
    folder = tmp_path / "scored"
    with new_folder(folder) as partial_folder:
        (partial_folder / "first").touch()
        for _ in range(2):
            with (
                pytest.raises(FigLangError, match="scored: another process is writing it"),
                new_folder(folder),
            ):
                pass
        assert names_in(partial_folder) == ["first"], "what it writes stays"
    assert names_in(tmp_path) == ["scored"]
    assert names_in(folder) == ["first"]
    with pytest.raises(FigLangError, match="scored exists already"), new_folder(folder):
        pass


def names_in(folder: Path) -> list[str]:
    """The names of files and folders in a folder."""
    return [path.name for path in folder.iterdir()]


def test_what_a_kill_has_left_is_replaced(tmp_path: Path) -> None:
    partial = tmp_path / ".scored.partial"
    (partial / "below").mkdir(parents=True)
    (partial / "below" / "old").touch()
    (partial / "results.json").write_text("half")
    with new_folder(tmp_path / "scored") as partial_folder:
        (partial_folder / "new").touch()
    assert names_in(tmp_path / "scored") == ["new"]


def test_a_folder_that_another_program_has_written_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / "scored"
    with (
        pytest.raises(FigLangError, match="scored exists already and is not overwritten"),
        new_folder(folder),
    ):
        folder.mkdir()
        (folder / "mine").touch()
    assert names_in(tmp_path) == ["scored"]


LONG_NAME = "n" * 250  # The name of a temporary file beside it is too long.


@pytest.mark.parametrize("write", [new_file, new_folder])
def test_an_error_of_writing_names_what_was_to_be_written(
    write: Callable[[Path], AbstractContextManager[object]], tmp_path: Path
) -> None:
    target = tmp_path / "new" / LONG_NAME
    with pytest.raises(OSError, match="File name too long") as raised, write(target):
        pass
    assert raised.value.filename == str(target)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError), write(tmp_path / "new" / "name"):
        raise ValueError
    assert list(tmp_path.iterdir()) == []
