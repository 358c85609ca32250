"""Finds out which files a folder of data lacks, and how many tasks cannot run without them.

Names of files alone are looked at. ``figlang data check`` reads what is in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from figlang_tasks.cli.tasks import definitions
from figlang_tasks.core.hub import Source
from figlang_tasks.core.needed_files import missing_files
from figlang_tasks.core.request import Request
from figlang_tasks.core.text import listing

_MOST_FILES = 4
"""How many missing files a message names."""


class MissingFiles(NamedTuple):
    """What a folder of data lacks.

    Attributes:
        files: the missing files, each as its name, or as patterns of names that would do.
        tasks_without: how many tasks read one of them.
        tasks: how many tasks read the data; 0 if rows of other data take something from it.
    """

    files: Sequence[str]
    tasks_without: int
    tasks: int

    @property
    def stop_all_tasks(self) -> bool:
        """Whether no task can run."""
        return bool(self.files) and self.tasks_without == self.tasks

    @property
    def text(self) -> str:
        """What is missing, as the end of a sentence: ``no a.csv there: 1 of 9 tasks cannot run``.

        It is "" if nothing is missing.
        """
        if not self.files:
            return ""
        text = f"no {listing(self.files, _MOST_FILES)} there"
        if self.tasks and self.stop_all_tasks:
            text += ": no task can run"
        elif self.tasks:
            text += f": {self.tasks_without} of {self.tasks} tasks cannot run"
        return text


def requests_by_dataset() -> Mapping[str, Sequence[Request]]:
    """What the tasks ask for, a request for each task, by the name of the dataset."""
    requests: dict[str, list[Request]] = {}
    for definition in definitions().values():
        if definition.request is not None:
            requests.setdefault(definition.request.dataset, []).append(definition.request)
    return requests


def find_missing_files(source: Source, folder: Path, requests: Sequence[Request]) -> MissingFiles:
    """Look which files of a dataset are missing; no file of a benchmark without a module ``files``.

    Args:
        source: the dataset.
        folder: where its files should be.
        requests: those of the tasks on this dataset; empty if it has no task of its own.
    """
    missing_by_request = missing_files(source, folder, requests or [Request.of(source.name)])
    files: dict[str, None] = {}  # each once, in the order of the requests
    for missing in missing_by_request.values():
        files.update(dict.fromkeys(missing))
    # Several tasks may have the same request.
    requests_without = [request for request in requests if missing_by_request[request]]
    return MissingFiles(list(files), len(requests_without), len(requests))
