"""The documents and pictures behind the rows of a run, from what is on this machine: nothing is downloaded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from figlang_tasks.core import images
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.hub import DataError
from figlang_tasks.results.runs import TaskRun

if TYPE_CHECKING:
    import datasets

PREFETCH = "`figlang data prefetch` gets the data"


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
        with _nothing_is_downloaded():
            self._whole = _load(run)
        found = DataId.parse(self._whole[0]["data"])
        if found.texts != run.data.texts:
            raise DataError(f"the run had {run.data}, and the data here is {found}: other texts")
        cell = "image" in self._whole.column_names and run.benchmark not in ("irfl", "metaclue")
        self._cells = self._whole.select_columns(["image"]) if cell else None
        self._texts = self._whole.remove_columns("image") if cell else self._whole
        self._numbers = {row_id: number for number, row_id in enumerate(self._texts["id"])}

    def document(self, row_id: str) -> Mapping[str, Any] | None:
        """A document without its picture; None if there is none of that id."""
        number = self._numbers.get(row_id)
        return None if number is None else self._texts[number]

    def picture(self, name: str) -> Picture | None:
        """A picture by what names it in a record: the id of the row, IRFL's uuid or MetaCLUE's path."""
        where = f"{self._run.task} {name}"
        if self._run.benchmark == "irfl":
            from figlang_tasks.benchmarks.irfl.pictures import pictures

            return Picture(f"irfl {name}", lambda: pictures(self._run.dataset).read(name, where))
        if self._run.benchmark == "metaclue":
            from figlang_tasks.benchmarks.metaclue.pictures import read

            return Picture(f"metaclue {name}", lambda: read(self._run.dataset, name, where))
        number = self._numbers.get(name)
        if self._cells is None or number is None:
            return None
        cells, cell = self._cells, self._cells[number]["image"] or {}
        # A cartoon has several captions: its bytes tell that it is the same.
        content = cell.get("bytes")
        key = hashlib.sha256(content).hexdigest() if content else f"file {cell.get('path')}"
        return Picture(key, lambda: images.decode(cells[number]["image"], where, self._run.dataset))


def _load(run: TaskRun) -> datasets.Dataset:
    """The documents as the task itself loads them."""
    dataset, part = run.data.dataset, run.data.part
    if run.benchmark == "vflute":
        from figlang_tasks.benchmarks.vflute import rows as vflute

        return vflute.load(dataset, part, check_images=False)
    if run.benchmark == "irfl":
        from figlang_tasks.benchmarks.irfl import rows as irfl

        return irfl.load(dataset, part, rotations="-rotation" in run.ids[0])
    if run.benchmark == "nykms":
        from figlang_tasks.benchmarks.nykms import rows as nykms

        first = run.lines[0]["sample"]
        return nykms.load(dataset, first["question"], first["modality"], check_images=False)
    if run.benchmark == "metaclue":
        from figlang_tasks.benchmarks.metaclue import rows as metaclue

        return metaclue.load(dataset, part)
    if run.benchmark == "flute":
        from figlang_tasks.benchmarks.flute import rows as flute

        return flute.load_blind() if part == "codalab" else flute.load(dataset, part)
    # A benchmark made after CONTRIBUTING.md.
    found: datasets.Dataset = import_module(f"figlang_tasks.benchmarks.{run.benchmark}.rows").load(dataset, part)
    return found


@contextmanager
def _nothing_is_downloaded() -> Iterator[None]:
    """Let the hub's library look into its cache alone: a report must not wait for gigabytes, or for a lost network."""
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
