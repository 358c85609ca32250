"""`Benchmark`, which is all that the package knows of a benchmark, and the requests of task files.

A benchmark is a package with a module ``benchmark`` that holds its `BENCHMARK`. Where such packages
are, `figlang_tasks.core.homes` says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from figlang_tasks.core.errors import DataError, FigLangError, ForeignCodeError
from figlang_tasks.core.homes import Home, home_of, names
from figlang_tasks.core.hub import Source, cached, snapshot
from figlang_tasks.core.optional_modules import OPTIONAL_MODULES
from figlang_tasks.core.presentation import Parts
from figlang_tasks.core.request import Request
from figlang_tasks.core.task_files import TaskConfig

if TYPE_CHECKING:
    import datasets

    from figlang_tasks.core.choice import Choice
    from figlang_tasks.core.record import Record
    from figlang_tasks.scoring.task import Task


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """The declaration of a benchmark.

    What only some benchmarks have is in optional modules of their folders
    (`figlang_tasks.core.optional_modules`).

    The module ``benchmark`` is imported for every list of benchmarks. So it imports nothing but
    this class, `Source` and the folders of `figlang_tasks.mini`.

    Attributes:
        name: by which users ask for it, and templates are rendered (``NAME/question.jinja``).
        version: the version of its tasks, ``N-X``; CONTRIBUTING.md says when it rises. All its
            datasets have the same.
        prompt_hash: the hash of its prompts (`figlang_tasks.core.prompting.prompt_hash`). A test
            fails when a prompt of ours changes and this does not. "" to compute it.
        summary: what it measures, in at most 39 characters: the line of ``figlang tasks``.
        citation: its paper in BibTeX; "" where there is none.
        sources: its datasets: the published one first, then others that it takes data from, then
            the small one that this package ships.
        keys: the parameters that each request for its datasets must have.
        optional_keys: the parameters that a request may also have.
        scorer: the paper's explanation scorer; None where no explanation is scored.
        needs: what must be installed beside the package (``java``, or one of its extras), with
            what it is for.
    """

    name: str
    version: str
    prompt_hash: str = ""
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

    def metadata(self, source: Source) -> dict[str, str]:
        """The metadata that results have for each task on a dataset, whatever the model."""
        digest = self.prompt_hash
        if not digest:
            from figlang_tasks.core.prompting import prompt_hash  # imports Jinja

            digest = prompt_hash(self.name)
        return {
            "version": self.version,
            "prompt_hash": digest,
            "data_revision": source.stated_revision,
        }

    @property
    def home(self) -> Home:
        """Where it lives: its package, prompts, task files and card."""
        return home_of(self.name)

    @property
    def folder(self) -> Path:
        """The folder of its package, which also holds its published figures, if there are any."""
        return self.home.folder

    def module(self, name: str) -> ModuleType | None:
        """Import an optional module of the benchmark; None if it has no module of this name.

        Args:
            name: a key of `OPTIONAL_MODULES`.

        Raises:
            FigLangError: the module does not define what it must.
        """
        declaration = OPTIONAL_MODULES[name]  # what such a module must define, and for whom
        path = f"{self.home.package}.{name}"
        if find_spec(path) is None:
            return None
        module = self._import(name)
        missing = [name for name in declaration.defines if not hasattr(module, name)]
        if missing:
            raise FigLangError(
                f"{module.__file__} must define {', '.join(missing)}: {declaration.used_by} needs"
                " it. Define it there, or rename the file"
            )
        return module

    @property
    def parts(self) -> Parts:
        """The names of its parts, from its module ``parts``; without that module there are none."""
        module = self.module("parts")
        if module is None:
            return Parts()
        parts: Parts = module.PARTS
        return parts

    def choice(self, record: Record) -> Choice | None:
        """The choice that the task of a record offers, from the module ``choice``.

        Returns:
            None if answers of the task choose nothing, or if the benchmark has no such module.
        """
        module = self.module("choice")
        if module is None:
            return None
        choice: Choice | None = module.choice_of(record)
        return choice

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Its kinds of tasks, from its module ``tasks``, which this imports."""
        tasks: tuple[Task, ...] | None = getattr(self.tasks_module, "TASKS", None)
        are_tasks = isinstance(tasks, tuple) and all(hasattr(task, "measures") for task in tasks)
        if not tasks or not are_tasks:
            raise ForeignCodeError(
                f"{self.tasks_module.__file__} must define TASKS = (Task(...), ...): define it"
            )
        return tasks

    @property
    def tasks_module(self) -> ModuleType:
        """Its module ``tasks``, which also has the functions that its task files name."""
        return self._import("tasks")

    def _import(self, name: str) -> ModuleType:
        """Import a module of the benchmark.

        Raises:
            ForeignCodeError: it is of another package, and cannot be imported.
        """
        path = f"{self.home.package}.{name}"
        if not self.home.distribution:
            return import_module(path)
        try:
            return import_module(path)
        except (Exception, SystemExit) as error:  # code of others may raise anything
            raise ForeignCodeError(
                f"benchmark {self.name}: {path} cannot be imported ({type(error).__name__}:"
                f" {error}): repair it, or uninstall {self.home.distribution}"
            ) from error

    def task(self, name: str) -> Task:
        """The kind of task of this name; a `DataError` if there is none."""
        for task in self.tasks:
            if task.name == name:
                return task
        task_names = ", ".join(task.name for task in self.tasks)
        raise DataError(f"{self.name} has no task {name!r}; it has {task_names}")

    def task_for(self, request: Request) -> Task:
        """The kind of task that a request is for; if it is for none, the first.

        The loader of the first task then raises an error that says what is wrong in the request.
        """
        for task in self.tasks:
            if task.is_for(request):
                return task
        return self.tasks[0]

    def documents(self, request: Request, check_images: bool = False) -> datasets.Dataset:
        """The documents for a request, each with the request in the column ``request``.

        Raises:
            DataError: the data has faults; the message has the first of them.
        """
        documents = self.task_for(request).documents(request, check_images)
        return documents.add_column("request", [str(request)] * len(documents))

    def rows(self, request: Request) -> int | None:
        """The published number of rows for a request; None if it is unknown."""
        counts = self.module("counts")
        if counts is not None:
            rows: int | None = counts.count(request)
            return rows
        return source_of(request.dataset).splits.get(request.get("split", ""))

    @property
    def releases(self) -> Mapping[int, str]:
        """The names of the releases by their number of rows; {} for data released once."""
        releases: Mapping[int, str] = getattr(self.module("counts"), "RELEASES", {})
        return releases


def names_with(module: str) -> tuple[str, ...]:
    """The names of the benchmarks that have an optional module, without importing that module."""
    if module not in OPTIONAL_MODULES:
        raise ValueError(
            f"{module} is no optional module; there are: {', '.join(OPTIONAL_MODULES)}"
        )
    owners: list[str] = []
    for name in names():
        if find_spec(f"{home_of(name).package}.{module}") is not None:
            owners.append(name)
    return tuple(owners)


@cache
def benchmarks() -> Mapping[str, Benchmark]:
    """All benchmarks by name, in the order of `names`."""
    benchmark_by_name: dict[str, Benchmark] = {}
    for name in names():
        benchmark_by_name[name] = import_module(f"{home_of(name).package}.benchmark").BENCHMARK
    return benchmark_by_name


@cache
def sources() -> Mapping[str, Source]:
    """The datasets of all benchmarks by name."""
    sources_by_name: dict[str, Source] = {}
    for benchmark in benchmarks().values():
        for source in benchmark.sources:
            sources_by_name[source.name] = source
    return sources_by_name


def source_of(dataset: str) -> Source:
    """The dataset of this name; a `DataError` if there is none."""
    if dataset not in sources():
        raise DataError(f"unknown dataset {dataset!r}; known: {', '.join(sources())}")
    return sources()[dataset]


def of_dataset(name: str) -> Benchmark:
    """The benchmark that a dataset belongs to; a `DataError` if there is no such dataset."""
    source = source_of(name)
    return next(benchmark for benchmark in benchmarks().values() if source in benchmark.sources)


@cached(maxsize=16)
def folder_of(dataset: str) -> Path:
    """The local folder of a dataset; the files that its rows name must lie below it."""
    return snapshot(source_of(dataset)).folder


# --- the request of a task file ---


def parse_request(text: object, key: str = "dataset_name") -> tuple[Benchmark, Request]:
    """Read a request such as ``FLUTE,part=train,prompt=v2``; return its benchmark and the request.

    The parameters of the returned request are in the order of the benchmark's keys, so that equal
    requests are written alike.

    The request is the ``dataset_name`` of a task file. The harness hands it to `process_docs` as
    the ``config_name`` of its stub, which is ``default`` for a task file without one, and may hold
    none of ``<>:/\\|?*``.

    Args:
        text: the request; not always a text, because it may be what a user's file holds.
        key: the key under which the file has it, for messages.

    Raises:
        DataError: there is no such dataset, or its benchmark does not take these parameters.
    """
    try:
        benchmark = of_dataset(str(text).partition(",")[0])
    except DataError as error:
        raise DataError(f"{key} is {text!r}: {error}") from error
    return benchmark, request_for(benchmark, text, key)


def request_for(benchmark: Benchmark, text: object, key: str) -> Request:
    """Read a request for a dataset of a benchmark, as `parse_request` does.

    Raises:
        DataError: the dataset is not one of the benchmark, or it does not take these parameters.
    """
    dataset_names = [source.name for source in benchmark.sources]
    if str(text).partition(",")[0] not in dataset_names:
        raise DataError(
            f"{key} is {text!r}; its dataset must be one of {benchmark.name}:"
            f" {', '.join(dataset_names)}"
        )
    keys = benchmark.keys
    optional_keys = benchmark.optional_keys
    request: Request | None
    try:
        request = Request.parse(str(text))
    except DataError:
        request = None
    # It must have all keys, may have the optional ones, and no other.
    if request is None or not set(keys) <= set(request) <= {*keys, *optional_keys}:
        required_form = "".join(f",{key}=..." for key in keys)
        optional_form = "".join(f"[,{key}=...]" for key in optional_keys)
        raise DataError(f"{key} is {text!r}; it must be DATASET{required_form}{optional_form}")
    in_order = {key: request[key] for key in (*keys, *optional_keys) if key in request}
    return Request.of(request.dataset, **in_order)


def process_docs(stub: datasets.Dataset) -> datasets.Dataset:
    """The documents of a task: ``process_docs`` of every task file.

    The harness cannot load gated or local data with clear errors. So task files let it load a
    stub, whose ``config_name`` is the request, and this function loads the documents.

    Raises:
        FigLangError: the request or the data is wrong.
    """
    try:
        benchmark, request = parse_request(stub.config_name)
        return benchmark.documents(request, check_images=True)
    except DataError as error:
        raise DataError(f"figlang_tasks: {error}") from error
    except ValueError as error:
        raise FigLangError(f"figlang_tasks: {error}") from error


# --- checks before a model is loaded ---


def task_faults(config: TaskConfig) -> list[Exception]:
    """The faults in the options and the data of a task, each message once; empty if there are none.

    Args:
        config: the task file, with ``model``, ``limit`` and ``offset`` of the run.
    """
    try:
        benchmark, request = parse_request(config.get("dataset_name"))
    except DataError as error:
        return [error]
    task = benchmark.task_for(request)
    faults_by_message: dict[str, Exception] = {}
    for check in (_check_options, _check_data, _check_preflight):
        try:
            check(task, config, request)
        except (DataError, ValueError) as error:
            faults_by_message.setdefault(str(error), error)
    return list(faults_by_message.values())


def _check_options(task: Task, config: TaskConfig, request: Request) -> None:
    task.options.blocks(config)


def _check_data(task: Task, config: TaskConfig, request: Request) -> None:
    documents = task.documents(request, True)  # with its pictures
    row_range(len(documents), config)


def _check_preflight(task: Task, config: TaskConfig, request: Request) -> None:
    if task.preflight is not None:
        task.preflight(config, request)


def row_range(count: int, config: TaskConfig) -> range:
    """The indices of the rows, among `count`, that a run evaluates.

    Args:
        count: the number of rows of the task.
        config: the task file, with ``limit`` and ``offset`` of the run. A limit below 1 is a share
            of the rows; None and -1 mean all of them.

    Raises:
        ValueError: ``offset`` is negative, or skips all rows.
    """
    limit = config.get("limit")
    offset = config.get("offset") or 0
    if not 0 <= offset < count:
        raise ValueError(
            f"--offset {offset}: must be the number of rows to skip at the start, of {count}"
        )
    if limit is None or limit == -1:
        return range(offset, count)
    rows = math.ceil(count * limit) if limit < 1 else int(limit)
    return range(offset, min(count, offset + rows))
