"""The declaration of a benchmark, by which alone the rest of the package knows it, and what task
files ask of it.

A benchmark is a package ``figlang_tasks/benchmarks/NAME`` with a module ``benchmark`` that holds
its `BENCHMARK`. The package finds it by its folder; no list of benchmarks exists.
"""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.hub import Source, cached, snapshot
from figlang_tasks.core.optional_modules import OPTIONAL_MODULES
from figlang_tasks.core.presentation import Parts
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

    from figlang_tasks.core.choice import Choice
    from figlang_tasks.core.record import Record
    from figlang_tasks.scoring.task import Task

PACKAGE = "figlang_tasks.benchmarks"


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark. What only some have is in modules of its folder:
    :mod:`figlang_tasks.core.optional_modules`.

    The module ``benchmark`` is imported for every list of benchmarks. So it imports nothing but
    this class, `Source` and the folders of `figlang_tasks.mini`.

    Attributes:
        name: of its package, its folders of prompts and of task files, and its card
            (``docs/cards/NAME.md``).
        version: of its tasks, ``N-X``; CONTRIBUTING.md says when it rises. All its datasets have
            the same.
        prompt_hash: of its prompts (:func:`figlang_tasks.core.prompting.prompt_hash`). A test fails
            when a prompt changes and this does not.
        summary: what it measures, in at most 39 characters: the line of ``figlang tasks``.
        citation: its paper in BibTeX; "" where there is none.
        sources: its datasets: the published one first, then others that it takes data from, and the
            shipped one.
        keys, optional_keys: of requests for its datasets (``dataset_name`` in task files).
        scorer: the paper's explanation scorer; None where no explanation is scored.
        needs: what must be installed beside the package, ``java`` or one of its extras, with what
            it is for.
    """

    name: str
    version: str
    prompt_hash: str
    summary: str
    citation: str = ""
    sources: tuple[Source, ...]
    keys: tuple[str, ...] = ("split",)
    optional_keys: tuple[str, ...] = ()
    scorer: str | None = None
    needs: Mapping[str, str] = field(hash=False, default_factory=dict)

    @property
    def source(self) -> Source:
        """The published dataset."""
        return self.sources[0]

    def metadata(self, source: Source) -> dict[str, Any]:
        """What results say of every task on a dataset, whatever the model: version, prompts,
        revision.
        """
        return {
            "version": self.version,
            "prompt_hash": self.prompt_hash,
            "data_revision": source.stated_revision,
        }

    @property
    def folder(self) -> Path:
        """The folder of its package, with its published figures (``published.json``), if it has
        any.
        """
        return Path(str(import_module(f"{PACKAGE}.{self.name}").__file__)).parent

    def module(self, name: str) -> ModuleType | None:
        """Its optional module of this name, imported now; None if it has none.

        Args:
            name: a key of `OPTIONAL_MODULES`.

        Raises:
            FigLangError: the module does not define what it must.
        """
        required = OPTIONAL_MODULES[name]
        path = f"{PACKAGE}.{self.name}.{name}"
        if find_spec(path) is None:
            return None
        module = import_module(path)
        missing = [needed for needed in required.defines if not hasattr(module, needed)]
        if missing:
            raise FigLangError(
                f"{module.__file__} must define {', '.join(missing)}: {required.used_by} needs it."
                " Define it there, or rename the file"
            )
        return module

    @property
    def parts(self) -> Parts:
        """How its parts, the scopes of its measures, are named and pooled: from its module
        ``parts``.
        """
        module = self.module("parts")
        if module is None:
            return Parts()
        parts: Parts = module.PARTS
        return parts

    def choice(self, record: Record) -> Choice | None:
        """The choice that the task behind a record offers, from its module ``choice``; None if its
        answers choose nothing, or without such a module.
        """
        module = self.module("choice")
        if module is None:
            return None
        choice: Choice | None = module.choice_of(record)
        return choice

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Its kinds of tasks, from its module ``tasks``, which is imported now."""
        tasks: tuple[Task, ...] = import_module(f"{PACKAGE}.{self.name}.tasks").TASKS
        return tasks

    def task(self, name: str) -> Task:
        """The kind of task of this name; a `DataError` if there is none."""
        for task in self.tasks:
            if task.name == name:
                return task
        raise DataError(
            f"{self.name} has no task {name!r}; it has"
            f" {', '.join(task.name for task in self.tasks)}"
        )

    def task_for(self, request: Request) -> Task:
        """The kind of task that a request is for; if it is for none, the first, whose loader says
        what is wrong.
        """
        for task in self.tasks:
            if task.is_for(request):
                return task
        return self.tasks[0]

    def documents(self, request: Request, check_images: bool = False) -> datasets.Dataset:
        """The documents for a request, each with the request; a `DataError` has the first faults of
        the data.
        """
        documents = self.task_for(request).documents(request, check_images)
        return documents.add_column("request", [str(request)] * len(documents))

    def rows(self, request: Request) -> int | None:
        """The published number of rows for this request; None if unknown."""
        counts = self.module("counts")
        if counts is not None:
            rows: int | None = counts.count(request)
            return rows
        return source_of(request.dataset).splits.get(request.get("split", ""))


@cache
def names() -> tuple[str, ...]:
    """The names of all benchmarks, without importing any."""
    return tuple(module.name for module in pkgutil.iter_modules(import_module(PACKAGE).__path__))


def names_with(module: str) -> tuple[str, ...]:
    """The names of the benchmarks that have an optional module, without importing any of them."""
    if module not in OPTIONAL_MODULES:
        raise ValueError(
            f"{module} is no optional module; there are: {', '.join(OPTIONAL_MODULES)}"
        )
    return tuple(name for name in names() if find_spec(f"{PACKAGE}.{name}.{module}") is not None)


@cache
def benchmarks() -> Mapping[str, Benchmark]:
    """All benchmarks by name, in the order of their names."""
    return {name: import_module(f"{PACKAGE}.{name}.benchmark").BENCHMARK for name in names()}


@cache
def sources() -> Mapping[str, Source]:
    """The datasets of all benchmarks by name."""
    return {
        source.name: source for benchmark in benchmarks().values() for source in benchmark.sources
    }


def source_of(dataset: str) -> Source:
    """The source of a dataset; a `DataError` if there is none of that name."""
    if dataset not in sources():
        raise DataError(f"unknown dataset {dataset!r}; known: {', '.join(sources())}")
    return sources()[dataset]


def of_dataset(name: str) -> Benchmark:
    """The benchmark that a dataset belongs to; a `DataError` if there is no such dataset."""
    known = source_of(name)
    return next(benchmark for benchmark in benchmarks().values() if known in benchmark.sources)


@cached(maxsize=16)
def folder_of(dataset: str) -> Path:
    """The folder of a dataset on this machine, below which all files lie that its rows may name."""
    return snapshot(source_of(dataset)).folder


# --- what a task file asks for ---


def parse_request(text: object, key: str = "dataset_name") -> tuple[Benchmark, Request]:
    """The benchmark and the request that a text names: ``dataset_name: FLUTE,part=train,prompt=v2``
    in a task file.

    The harness hands the text to ``process_docs`` as the ``config_name`` of its stub, which is
    ``default`` where a task file has none. It may hold none of ``<>:/\\|?*``.

    Args:
        key: what the text stands under, for messages.

    Raises:
        DataError: there is no such dataset, or its benchmark does not take these keys.
    """
    try:
        benchmark = of_dataset(str(text).partition(",")[0])
    except DataError as error:
        raise DataError(f"{key} is {text!r}: {error}") from error
    keys, optional_keys = benchmark.keys, benchmark.optional_keys
    try:
        given = Request.parse(str(text))
    except DataError:
        given = None
    if given is None or not set(keys) <= set(given) <= {*keys, *optional_keys}:
        needed = "".join(f",{key}=..." for key in keys)
        optional = "".join(f"[,{key}=...]" for key in optional_keys)
        raise DataError(f"{key} is {text!r}; it must be DATASET{needed}{optional}")
    # In one order, so that equal requests are written alike.
    in_order = tuple((key, given[key]) for key in (*keys, *optional_keys) if key in given)
    return benchmark, Request(given.dataset, in_order)


def process_docs(stub: datasets.Dataset) -> datasets.Dataset:
    """The documents that the task file names, as ``dataset_name: V-FLUTE,split=test``.

    The harness loads a stub with that name, because it cannot load gated or local data with clear
    errors.
    """
    try:
        benchmark, request = parse_request(stub.config_name)
        return benchmark.documents(request, check_images=True)
    except DataError as error:
        raise DataError(f"figlang_tasks: {error}") from error
    except ValueError as error:
        raise FigLangError(f"figlang_tasks: {error}") from error


def task_faults(config: Mapping[str, Any]) -> list[Exception]:
    """What is wrong with the options and the data of a task, before a model is loaded; each message
    once.

    `config`: the task's YAML as a dict, with ``model``, ``limit`` and ``offset`` of the run.
    """
    try:
        benchmark, request = parse_request(config.get("dataset_name"))
    except DataError as error:
        return [error]
    task = benchmark.task_for(request)

    def check_options() -> None:
        task.options.blocks(config)

    def check_data() -> None:
        documents = task.documents(request, True)
        row_range(len(documents), config)

    def check_the_rest() -> None:
        if task.preflight is not None:
            task.preflight(config, request)

    faults: dict[str, Exception] = {}
    for check in (check_options, check_data, check_the_rest):
        try:
            check()
        except (DataError, ValueError) as error:
            faults.setdefault(str(error), error)
    return list(faults.values())


def row_range(count: int, config: Mapping[str, Any]) -> range:
    """The places, of `count`, that a run asks; `config` is the YAML of a task with ``limit`` and
    ``offset``.

    Raises:
        ValueError: `offset` is negative, or skips all rows.
    """
    limit, offset = config.get("limit"), config.get("offset") or 0
    if not 0 <= offset < count:
        raise ValueError(
            f"--offset {offset}: must be the number of rows to skip at the start, of {count}"
        )
    if limit is None or limit == -1:
        return range(offset, count)
    return range(
        offset, min(count, offset + (math.ceil(count * limit) if limit < 1 else int(limit)))
    )
