"""Reads the Parquet files of a dataset."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.errors import DataError, remedy_of_writing
from figlang_tasks.core.files import MOST_BYTES_OF_TABLES, check_file
from figlang_tasks.core.hub import USE_THE_RELEASE

if TYPE_CHECKING:
    import datasets


def split_files(name: str, split: str, folder: Path) -> list[Path]:
    """The Parquet files of a split, in order; none where there is none."""
    files = sorted(folder.glob(f"**/{split}-*.parquet"))
    parts = {
        int(found[1]) for path in files if (found := re.search(r"-of-(\d+)\.parquet$", path.name))
    }
    if parts and max(parts) > len(files):
        raise DataError(
            f"{name}: {len(files)} of {max(parts)} files of split {split!r} are in {folder}: the"
            " others are missing. Connect to the hub (HF_HUB_OFFLINE unset) and run again, or copy"
            " all files."
        )
    return files


def read_parquet(files: Sequence[Path], columns: Sequence[str], where: str) -> datasets.Dataset:
    """These columns of the table in some Parquet files; `where` names them in errors.

    Pictures may be in the column `image` alone, which is not decoded as long as
    :func:`images.undecoded` opens it.
    """
    import datasets

    try:
        for path in files:
            check_file(path, MOST_BYTES_OF_TABLES)
        rows = datasets.load_dataset(
            "parquet",
            data_files=[str(path) for path in files],
            split="train",
            verification_mode="no_checks",
        )
        # Else a text that is not UTF-8 is found by whoever reads that row
        rows.data.validate(full=True)
    except (datasets.exceptions.DatasetGenerationError, OSError, ValueError) as error:
        cause = error.__cause__ or error
        if _is_of_the_cache(cause, files):
            remedy = remedy_of_writing(cause)
            raise DataError(
                f"{where} cannot be read into the cache of datasets,"
                f" {datasets.config.HF_DATASETS_CACHE} ({cause}): "
                + (f"{remedy}, or " if remedy else "")
                + "set HF_DATASETS_CACHE to another folder"
            ) from error
        raise DataError(
            f"{where} cannot be read ({type(cause).__name__}: {cause}). Delete the damaged file and"
            " load it again."
        ) from error
    if missing := [column for column in columns if column not in rows.column_names]:
        raise DataError(
            f"{where} lacks column(s) {', '.join(missing)} (it has:"
            f" {', '.join(rows.column_names)}). {USE_THE_RELEASE}"
        )
    for column in columns:
        if column != "image" and not _is_plain(rows.features[column]):
            raise DataError(
                f"{where}: the column {column} holds {rows.features[column]}, not texts or numbers."
                f" {USE_THE_RELEASE}"
            )
    return rows.select_columns([*columns])


def _is_plain(feature: Any) -> bool:
    """Whether a column of a table holds texts, numbers, or lists and structures of these.

    A file says of its columns what they hold, and `datasets` opens pictures, sounds and more when
    it reads a row.
    """
    import datasets

    if isinstance(feature, datasets.List | datasets.LargeList):
        return _is_plain(feature.feature)
    if isinstance(feature, dict):
        return all(map(_is_plain, feature.values()))
    return isinstance(feature, datasets.Value | datasets.ClassLabel)


_NO_FOLDER = (errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP)


def _is_of_the_cache(error: BaseException, files: Sequence[Path]) -> bool:
    """Whether an error of loading files is one of writing the cache, which they are read into."""
    named = getattr(error, "filename", None)
    if not isinstance(error, OSError) or (named is not None and Path(named) in files):
        return False
    return bool(remedy_of_writing(error)) or error.errno in _NO_FOLDER
