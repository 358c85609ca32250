"""Shared parts of the data checks (``figlang data check``, ``figlang data prefetch``).

A check uses the loaders of the tasks. It continues after an error, where a run would stop, and it downloads nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import Fetched as Fetched
from figlang_tasks.core.benchmark import Report as Report
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, DataError, Snapshot


class DataFaults(DataError):
    """Ends a run by the first of the data's faults; `faults` has all."""

    def __init__(self, message: str, faults: Sequence[str]) -> None:
        super().__init__(message)
        self.faults = faults


class Findings:
    """Collects counts, remarks and faults."""

    def __init__(self) -> None:
        self.counts: list[tuple[str, int | None, int | None]] = []
        self.remarks: list[str] = []
        self.faults: list[str] = []

    def note(self, faults: Iterable[str]) -> None:
        """Note each fault once: several tasks may find the same one."""
        self.faults += [each for each in dict.fromkeys(faults) if each not in self.faults]

    def count(self, name: str, here: int | None, published: int | None) -> None:
        self.counts.append((name, here, published))

    @contextmanager
    def fault(self) -> Iterator[None]:
        """Note the error that ends the block as a fault, or all faults that it stands for."""
        try:
            yield
        except DataFaults as error:
            self.note(error.faults)
        except DataError as error:
            self.note([str(error)])

    @contextmanager
    def refused(self, what: str) -> Iterator[None]:
        """Note the error that ends the block as a remark: some tasks cannot use the data.

        The loaders' warnings are not shown, because the counts say the same.
        """
        logger.disable("figlang_tasks")
        try:
            yield
        except DataError as error:
            self.remarks.append(f"{what}: {error}")
        finally:
            logger.enable("figlang_tasks")

    def report(self, title: str) -> Report:
        width = max((len(name) for name, _, _ in self.counts), default=0)
        lines = [title, "", f"{'':{width}}  {'here':>8}  published"]
        for name, here, published in self.counts:
            cells = ["-" if number is None else f"{number}" for number in (here, published)]
            lines.append(f"{name:{width}}  {cells[0]:>8}  {cells[1]}{_difference(here, published)}")
        return Report((*lines, "", *self.remarks, *self.verdict()), len(self.faults))

    def verdict(self) -> list[str]:
        """The last lines: every fault, and how many there are."""
        return [*self.faults, f"{len(self.faults)} fault(s)"] if self.faults else ["no faults"]


def _difference(here: int | None, published: int | None) -> str:
    if here is None or published is None or here == published:
        return "  (not here)" if here is None else ""
    return f"  ({abs(here - published)} {'missing' if here < published else 'more'})"


def end_with_the_first(faults: Sequence[str], benchmark: str) -> None:
    """End a run if its data has faults.

    Raises:
        DataError: there are faults; the message has the first one and the command that lists all.
    """
    if faults:
        more = f"{len(faults) - 1} more fault(s): `figlang data check {benchmark}` lists them."
        raise DataFaults(faults[0] if len(faults) == 1 else f"{faults[0].rstrip('.')}. {more}", faults)


@contextmanager
def reading(name: str, folder: Path | None) -> Iterator[None]:
    """Let the loaders read `folder`; in any case they look at the files again."""
    hub.look_again()
    if folder is None:
        yield
        return
    place = folder.expanduser().absolute()
    if place.name != name and (place / name).is_dir():
        place = place / name
    if not place.is_dir():
        raise DataError(f"{folder} is not a folder")
    if place.name != name:
        raise DataError(
            f"{folder}: the tasks read a folder with the name {name}: rename yours, or give the folder that contains it"
        )
    before = os.environ.get(DATA_DIR_VARIABLE)
    os.environ[DATA_DIR_VARIABLE] = str(place.parent)
    try:
        yield
    finally:
        if before is None:
            del os.environ[DATA_DIR_VARIABLE]
        else:
            os.environ[DATA_DIR_VARIABLE] = before


@contextmanager
def downloading_nothing() -> Iterator[None]:
    from huggingface_hub import constants
    from huggingface_hub.utils import logging

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    told = logging.get_verbosity()
    logging.set_verbosity_error()  # its warnings are of downloads: that no file was asked for, say
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
        logging.set_verbosity(told)


def on_this_machine(benchmark: str, source: hub.Source) -> Snapshot:
    """The files of a dataset on this machine, for a check.

    Raises:
        DataError: they are not on this machine; the message names ``figlang data prefetch BENCHMARK``.
    """
    try:
        return hub.snapshot(source, [])  # a part of a repository is enough: the check says what is missing
    except DataError as error:
        if isinstance(error.__cause__, FileNotFoundError):  # the hub's client: not in the cache
            raise DataError(
                f"{source.name} is neither in ${DATA_DIR_VARIABLE} nor in the hub's cache: run `figlang data prefetch "
                f"{benchmark}`, or give the folder that contains it"
            ) from error
        raise


def progress(rows: Iterable[Any], what: str) -> Iterable[Any]:
    """A progress bar on a terminal."""
    from tqdm.auto import tqdm

    return tqdm(rows, desc=what, unit="picture", disable=None, leave=False)
