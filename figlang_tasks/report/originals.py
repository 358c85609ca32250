"""The documents and pictures behind the rows of a run, if they are on this machine.

Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from figlang_tasks.core import images
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import downloading_nothing
from figlang_tasks.results.task_run import TaskRun

if TYPE_CHECKING:
    import datasets


class Picture(NamedTuple):
    """A picture that can be read.

    Attributes:
        key: the same for the same picture, whatever row it stands in.
        read: decodes it; raises `DataError` if it is damaged.
    """

    key: str
    read: Callable[[], Image.Image]


def find_originals(task: TaskRun) -> tuple[Originals | None, str]:
    """The documents and pictures of a task, and ""; None and a warning if they are not at hand.

    The warning has no full stop.
    """
    try:
        return Originals(task), ""
    except DataError as error:
        remedy = "`figlang data prefetch` gets the data"
        dataset = task.data.dataset
        return None, f"pictures and texts of {dataset} are not shown: {error}. {remedy}"


class Originals:
    """The documents and pictures of a task's benchmark, as they are on this machine.

    Args:
        task: the task of a run, which says what was asked of the dataset.

    Raises:
        DataError: the data is not on this machine, or has other texts than the run had.
    """

    def __init__(self, task: TaskRun) -> None:
        self._task = task
        self._picture_module = task.benchmark.module("picture")
        with downloading_nothing():
            self._documents = task.benchmark.documents(task.request)
        data = DataId.parse(self._documents[0]["data"])  # the same in all documents
        # `texts` is the identity without the commit: another commit may have the same texts.
        if data.texts != task.data.texts:
            raise DataError(f"the run had {task.data}, and the data here is {data}: other texts")
        # A slice is a list. To iterate over the column itself is a hundred times slower.
        ids = self._documents["id"][:]
        self._position_by_id = {row_id: position for position, row_id in enumerate(ids)}
        # The column of the pictures alone: a whole row takes several times longer to read.
        self._cells: datasets.Dataset | None = None
        if "image" in self._documents.column_names:
            self._cells = self._documents.select_columns(["image"])

    def document(self, row_id: str) -> Mapping[str, Any] | None:
        """The document with this id; None if there is none."""
        position = self._position_by_id.get(row_id)
        return None if position is None else self._documents[position]

    def picture(self, name: str) -> Picture | None:
        """Find the picture that a card names; None if there is none.

        Args:
            name: what the benchmark's module ``picture`` finds it by; the id of its row if the
                benchmark has no such module.
        """
        dataset = self._task.data.dataset
        where = f"{self._task.task} {name}"  # for messages
        module = self._picture_module
        if module is not None:

            def read_by_name() -> Image.Image:
                """Decode the picture; its archive is not downloaded for it."""
                with downloading_nothing():
                    image: Image.Image = module.picture(dataset, name, where)
                return image

            return Picture(f"{self._task.benchmark.name} {name}", read_by_name)

        cells = self._cells
        position = self._position_by_id.get(name)
        if cells is None or position is None:
            return None
        # Rows that share a picture (a cartoon has several captions) must give it the same key. The
        # dataset holds its bytes, or else the path of a file, and the key is made of these.
        cell = cells[position]["image"] or {}
        content = cell.get("bytes")
        if not content:
            return Picture(f"file {cell.get('path')}", partial(images.decode, cell, where, dataset))

        def read() -> Image.Image:
            """Decode the picture; bytes are read from the dataset again, so that none are kept."""
            return images.decode(cells[position]["image"], where, dataset)

        return Picture(hashlib.sha256(content).hexdigest(), read)
