"""Finds out which files of a dataset a folder lacks, by the names of files alone.

``figlang data check`` reads what is in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from figlang_tasks.core.benchmark import of_dataset
from figlang_tasks.core.hub import Source
from figlang_tasks.core.parquet_files import count_of_parts
from figlang_tasks.core.request import Request


def missing_files(
    source: Source, folder: Path, requests: Iterable[Request]
) -> dict[Request, list[str]]:
    """The files that each request reads and a folder lacks, as names or as ``NAME or PATTERN``.

    No file is missing of a benchmark without a module ``files``.

    Args:
        source: the dataset of the requests.
        folder: where its files should be.
        requests: for rows of the dataset.
    """
    files_module = of_dataset(source.name).module("files")
    missing_by_request: dict[Request, list[str]] = {}
    has_file: dict[str, bool] = {}  # by pattern, as many requests need the same files
    for request in requests:
        patterns = files_module.needed_files(request) if files_module is not None else ()
        missing: list[str] = []
        for pattern in patterns:
            if pattern not in has_file:
                has_file[pattern] = _has_match(folder, pattern)
            if not has_file[pattern]:
                missing.append(pattern.replace("|", " or "))
        missing_by_request[request] = missing
    return missing_by_request


def _has_match(folder: Path, patterns: str) -> bool:
    """Whether a folder has a file that matches one of some patterns, and all files of a split.

    Args:
        folder: the folder.
        patterns: separated by ``|``: ``test.csv|**/test-*.parquet``.
    """
    for pattern in patterns.split("|"):
        # A file in the hub's cache is a link, whose file may be gone.
        files = [path for path in folder.glob(pattern) if path.is_file()]
        if files and len(files) >= count_of_parts(files):
            return True
    return False
