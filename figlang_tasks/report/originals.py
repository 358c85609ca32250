"""The documents and pictures behind the rows of a run, from what is on this machine: nothing is
downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from PIL import Image

from figlang_tasks.core import images
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import downloading_nothing
from figlang_tasks.results.task_run import TaskRun


class Picture(NamedTuple):
    """A picture that can be read: `key` is the same wherever the same picture stands."""

    key: str
    read: Callable[[], Image.Image]


class Originals:
    """The documents of a task.

    Args:
        run: what a run left of it.

    Raises:
        DataError: they are not on this machine, or are not those that the run had.
    """

    def __init__(self, run: TaskRun) -> None:
        self._run = run
        with downloading_nothing():
            self._whole = run.benchmark.documents(run.request)
        found = DataId.parse(self._whole[0]["data"])
        if found.texts != run.data.texts:
            raise DataError(f"the run had {run.data}, and the data here is {found}: other texts")
        self._numbers = {row_id: number for number, row_id in enumerate(self._whole["id"])}

    def document(self, row_id: str) -> Mapping[str, Any] | None:
        """A document; None if there is none of that id."""
        number = self._numbers.get(row_id)
        return None if number is None else self._whole[number]

    def picture(self, name: str) -> Picture | None:
        """A picture by what names it in a card: the id of the row, or what its benchmark knows it
        by.
        """
        where = f"{self._run.task} {name}"
        module = self._run.benchmark.module("picture")
        if module is not None:
            read = partial(module.picture, self._run.data.dataset, name, where)
            return Picture(f"{self._run.benchmark.name} {name}", read)
        document = self.document(name)
        if document is None or "image" not in document:
            return None
        # A cartoon has several captions: its bytes tell that it is the same.
        cell = document["image"] or {}
        content = cell.get("bytes")
        key = hashlib.sha256(content).hexdigest() if content else f"file {cell.get('path')}"
        return Picture(
            key,
            lambda: images.decode(
                self._whole[self._numbers[name]]["image"], where, self._run.data.dataset
            ),
        )
