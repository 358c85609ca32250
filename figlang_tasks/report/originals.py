"""The documents and pictures behind the rows of a run, if they are on this machine.

Nothing is downloaded.
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
    """A picture that can be read.

    Attributes:
        key: the same for the same picture, whatever row it stands in.
        read: decodes it; raises `DataError` if it is damaged.
    """

    key: str
    read: Callable[[], Image.Image]


class Originals:
    """The documents of a task.

    Args:
        task: the task of a run.

    Raises:
        DataError: they are not on this machine, or have other texts than those of the run.
    """

    def __init__(self, task: TaskRun) -> None:
        self._task = task
        with downloading_nothing():
            self._documents = task.benchmark.documents(task.request)
        data = DataId.parse(self._documents[0]["data"])
        if data.texts != task.data.texts:
            raise DataError(f"the run had {task.data}, and the data here is {data}: other texts")
        self._position = {row_id: number for number, row_id in enumerate(self._documents["id"])}

    def document(self, row_id: str) -> Mapping[str, Any] | None:
        """The document with an id; None if there is none."""
        position = self._position.get(row_id)
        return None if position is None else self._documents[position]

    def picture(self, name: str) -> Picture | None:
        """Find the picture that a card names; None if there is none.

        The name is the id of the row, or by what the benchmark's module ``picture`` finds it.
        """
        dataset = self._task.data.dataset
        where = f"{self._task.task} {name}"  # for messages
        module = self._task.benchmark.module("picture")
        if module is not None:
            key = f"{self._task.benchmark.name} {name}"
            return Picture(key, partial(module.picture, dataset, name, where))

        document = self.document(name)
        if document is None or "image" not in document:
            return None
        # Several rows may share a picture (a cartoon has several captions): its bytes tell.
        cell = document["image"] or {}
        content = cell.get("bytes")
        key = hashlib.sha256(content).hexdigest() if content else f"file {cell.get('path')}"

        def read() -> Image.Image:
            """Decode the picture, read once more so that the album holds no bytes."""
            image = self._documents[self._position[name]]["image"]
            return images.decode(image, where, dataset)

        return Picture(key, read)
