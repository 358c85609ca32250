"""What ``figlang data check`` and ``figlang data prefetch`` do, from the declarations of benchmarks.

A check loads what the tasks ask for as a run does. It continues after an error, where a run would stop, and it
downloads nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import Asked, Benchmark
from figlang_tasks.core.errors import PartMissing
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, DataError, Snapshot, Source

if TYPE_CHECKING:
    import datasets


class DataFaults(DataError):
    """Ends a run by the first of the data's faults; `faults` has all."""

    def __init__(self, message: str, faults: Sequence[str]) -> None:
        super().__init__(message)
        self.faults = faults


class Report(NamedTuple):
    """What a check found: lines to print, with the faults; and what is wrong."""

    lines: tuple[str, ...]
    faults: tuple[str, ...]


class _Findings:
    """Collects the rows of each part of the data, remarks and faults."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, str, str]] = []
        self.remarks: list[str] = []
        self.faults: dict[str, None] = {}  # each once

    def fault(self, error: DataError) -> None:
        """Note an error, or each of the faults that it stands for."""
        self.faults |= dict.fromkeys(error.faults if isinstance(error, DataFaults) else [str(error)])

    def part(self, benchmark: Benchmark, asked: Asked, published: int | None) -> None:
        """Load a part as a run does, and note its rows beside the published number, or what is wrong."""
        name, here, beside = label(asked), "-", ""
        try:
            documents = benchmark.load(asked, True)
        except PartMissing as error:
            beside = "not here"
            self.remarks.append(f"{name}: {error}")
        except DataError as error:
            beside = "faulty"
            self.fault(error)
        else:
            here = f"{rows_of(documents)}"
            if hub.OWN in documents[:1].get("revision", ()):
                published, beside = None, "rows of your own: no published results are shown with them"
            elif published is not None and published != rows_of(documents):
                missing = published - rows_of(documents)
                beside = f"{abs(missing)} {'missing' if missing > 0 else 'more'}"
        shown = "-" if published is None else f"{published}"
        self.parts.append((name, here, f"{shown}  ({beside})" if beside else shown))

    def report(self, title: str) -> Report:
        """The lines to print; that no part is there is a fault."""
        faults, remarks = list(self.faults), self.remarks
        if len(remarks) == len(self.parts):
            faults, remarks = faults + remarks, []
        width = max((len(name) for name, *_ in self.parts), default=0)
        lines = [title, "", f"{'':{width}}  {'here':>8}  published"]
        lines += [f"{name:{width}}  {here:>8}  {published}" for name, here, published in self.parts]
        verdict = [*faults, f"{len(faults)} fault(s)"] if faults else ["no faults"]
        return Report((*lines, "", *remarks, *verdict), tuple(faults))


def parts(benchmark: Benchmark, source: Source, asked: Iterable[Asked]) -> list[Asked]:
    """The parts of a source that tasks ask for, each once, and its other splits; options of prompts are left out."""
    keys = ("dataset", *benchmark.keys)
    splits = source.splits if benchmark.keys == ("split",) else ()
    wanted = [*asked, *({"dataset": source.name, "split": split} for split in splits)]
    values = dict.fromkeys(tuple(each[key] for key in keys) for each in wanted if each["dataset"] == source.name)
    return [dict(zip(keys, each, strict=True)) for each in values]


def rows_of(documents: datasets.Dataset) -> int:
    """The number of rows that documents are of: some rows have several."""
    return len(set(documents["row"])) if "row" in documents.column_names else len(documents)


def label(asked: Asked) -> str:
    """A part of the data as commands name it: ``FLUTE, heldout``."""
    return ", ".join(asked.values())


def check(benchmark: Benchmark, asked: Iterable[Asked]) -> Report:
    """What is wrong with the published data of a benchmark on this machine; `asked` is what its tasks ask for.

    A part that is missing is a remark, as long as another part is there.
    """
    here, found = on_this_machine(benchmark), _Findings()
    for each in parts(benchmark, benchmark.source, asked):
        found.part(benchmark, each, benchmark.rows(each))
    if benchmark.check is not None:
        try:
            for error in benchmark.check():
                found.fault(error)
        except DataError as error:
            found.fault(error)
    return found.report(f"{here.folder} ({here.revision})")


def check_shipped(benchmarks: Mapping[str, Benchmark], asked: Sequence[Asked]) -> Report:
    """What is wrong with the data that the package ships; `asked` is what its tasks ask for."""
    found = _Findings()
    for benchmark in benchmarks.values():
        for source in (each for each in benchmark.sources if each.folder is not None):
            for part in parts(benchmark, source, asked):
                found.part(benchmark, part, None)
    return found.report("data of the package")


def end_with_the_first(faults: Sequence[str], benchmark: str) -> None:
    """End a run if its data has faults."""
    if faults:
        more = f"{len(faults) - 1} more fault(s): `figlang data check {benchmark}` lists them."
        raise DataFaults(faults[0] if len(faults) == 1 else f"{faults[0].rstrip('.')}. {more}", faults)


@contextmanager
def reading(name: str, folder: Path | None) -> Iterator[None]:
    """Make the loaders read `folder`, or the one in it, inside the block, and in any case look at the files again."""
    hub.look_again()
    if folder is None:
        yield
        return
    place = folder.expanduser().absolute()
    if place.name != name:
        place /= name
    if not place.is_dir():
        raise DataError(f"{folder}: the tasks read a folder with the name {name}: give it, or the folder above it")
    with mock.patch.dict(os.environ, {DATA_DIR_VARIABLE: str(place.parent)}):
        yield


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


def on_this_machine(benchmark: Benchmark) -> Snapshot:
    """The files of a benchmark on this machine."""
    source = benchmark.source
    try:
        return hub.snapshot(source, [])  # a part of a repository is enough: the check says what is missing
    except DataError as error:
        if isinstance(error.__cause__, FileNotFoundError):  # the hub's client: not in the cache
            raise DataError(
                f"{source.name} is neither in ${DATA_DIR_VARIABLE} nor in the hub's cache: run `figlang data prefetch "
                f"{benchmark.name}`, or give the folder that contains it"
            ) from error
        raise


def progress(rows: Iterable[Any], what: str) -> Iterable[Any]:
    """The rows, with a progress bar on a terminal."""
    from tqdm.auto import tqdm

    return tqdm(rows, desc=what, unit="picture", disable=None, leave=False)
