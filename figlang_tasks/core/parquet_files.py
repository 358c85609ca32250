"""Reads the Parquet files of a dataset, and checks what they hold before a row is opened."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from figlang_tasks.core.errors import DataError, remedy_of_writing
from figlang_tasks.core.files import MOST_BYTES_OF_TABLES, check_file
from figlang_tasks.core.hub import USE_THE_RELEASE

if TYPE_CHECKING:
    import datasets


def split_pattern(split: str) -> str:
    """The pattern of the Parquet files of a split below the folder of a dataset."""
    return f"**/{split}-*.parquet"


def split_files(name: str, split: str, folder: Path) -> list[Path]:
    """The Parquet files of a split, in order; empty if the folder has none.

    Args:
        name: the name of the dataset, for messages.
        split: ``train``, say; its files are called ``train-00000-of-00002.parquet`` and so on.
        folder: the folder of the dataset.

    Raises:
        DataError: some of the files are missing.
    """
    files = sorted(folder.glob(split_pattern(split)))
    expected_count = count_of_parts(files)
    if expected_count > len(files):
        raise DataError(
            f"{name}: {len(files)} of {expected_count} files of split {split!r} are in {folder}:"
            " the others are missing. Connect to the hub (HF_HUB_OFFLINE unset) and run again, or"
            " copy all files."
        )
    return files


def count_of_parts(files: Sequence[Path]) -> int:
    """How many files a split has, as the names of some of them say; 0 if no name says it."""
    count = 0
    for path in files:
        match = re.search(r"-of-(\d+)\.parquet$", path.name)
        if match is not None:
            count = max(count, int(match[1]))
    return count


def read_parquet(files: Sequence[Path], columns: Sequence[str], location: str) -> datasets.Dataset:
    """The rows of Parquet files, with these columns alone.

    Only the column ``image`` may hold pictures. They are not decoded as long as
    `figlang_tasks.core.images.undecoded` opens the column.

    Args:
        files: the files of one split.
        columns: the names of columns that the files must have.
        location: the files in messages, ``V-FLUTE: split 'test'``.

    Raises:
        DataError: a file cannot be read, lacks a column, or holds something else in it than texts
            and numbers.
    """
    rows = _load(files, location)
    missing = [column for column in columns if column not in rows.column_names]
    if missing:
        raise DataError(
            f"{location} lacks column(s) {', '.join(missing)} (it has:"
            f" {', '.join(rows.column_names)}). {USE_THE_RELEASE}"
        )
    for column in columns:
        if column != "image" and not _is_plain(rows.features[column]):
            raise DataError(
                f"{location}: the column {column} holds {rows.features[column]}, not texts or"
                f" numbers. {USE_THE_RELEASE}"
            )
    return rows.select_columns([*columns])


def _load(files: Sequence[Path], location: str) -> datasets.Dataset:
    """All rows and columns of Parquet files, which `datasets` reads into its cache.

    Raises:
        DataError: a file cannot be read, or the cache cannot be written.
    """
    import datasets

    try:
        for path in files:
            check_file(path, MOST_BYTES_OF_TABLES)
        rows = datasets.load_dataset(
            "parquet",
            data_files=[str(path) for path in files],
            split="train",  # the name that `datasets` gives to files without splits
            verification_mode="no_checks",
        )
        # Without this, a text that is not UTF-8 is an error only when its row is read.
        rows.data.validate(full=True)
    except (datasets.exceptions.DatasetGenerationError, OSError, ValueError) as error:
        cause = error.__cause__ or error  # `datasets` wraps errors in a DatasetGenerationError
        if _is_of_writing_the_cache(cause, files):
            remedy = "set HF_DATASETS_CACHE to another folder"
            writing_remedy = remedy_of_writing(cause)
            if writing_remedy:
                remedy = f"{writing_remedy}, or {remedy}"
            raise DataError(
                f"{location} cannot be read into the cache of datasets,"
                f" {datasets.config.HF_DATASETS_CACHE} ({cause}): {remedy}"
            ) from error
        raise DataError(
            f"{location} cannot be read ({type(cause).__name__}: {cause}). Delete the damaged file"
            " and load it again."
        ) from error
    return rows


def _is_plain(feature: object) -> bool:
    """Whether a column holds texts, numbers, or lists and structures of these.

    A file itself declares what its columns hold, and `datasets` opens pictures, sounds and more
    when it reads a row.

    Args:
        feature: the type of the column in `datasets`.
    """
    import datasets

    if isinstance(feature, datasets.List | datasets.LargeList):
        return _is_plain(feature.feature)
    if isinstance(feature, dict):
        return all(map(_is_plain, feature.values()))
    return isinstance(feature, datasets.Value | datasets.ClassLabel)


# A folder of the cache cannot be made: a file stands in its place, its name is too long, or links
# form a circle.
_NO_FOLDER_ERRORS = (errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP)


def _is_of_writing_the_cache(error: BaseException, files: Sequence[Path]) -> bool:
    """Whether an error of loading files is one of writing the cache, not of reading the files.

    Args:
        error: the error, or its cause where `datasets` has wrapped it.
        files: those that were loaded.
    """
    if not isinstance(error, OSError):
        return False
    failed_path = getattr(error, "filename", None)
    if failed_path is not None and Path(failed_path) in files:
        return False
    # An error that names none of the files is judged by its kind: there is no room, no right to
    # write, or a folder cannot be made.
    has_no_room_or_right = remedy_of_writing(error) != ""
    return has_no_room_or_right or error.errno in _NO_FOLDER_ERRORS
