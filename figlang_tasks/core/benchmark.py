"""The declaration of a benchmark, by which alone the rest of the package knows it, and what task files ask of it.

A benchmark is a package ``figlang_tasks/benchmarks/NAME`` with a module ``benchmark`` that holds its `BENCHMARK`. The
package finds it by its folder; no list of benchmarks exists.
"""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.hub import Snapshot, Source, kept, snapshot
from figlang_tasks.core.presentation import BarSection, Parts
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets
    from PIL import Image

    from figlang_tasks.core.card import Answer, Card
    from figlang_tasks.core.record import Document, Record
    from figlang_tasks.scoring.task import Task

PACKAGE = "figlang_tasks.benchmarks"


@dataclass(frozen=True)
class Submission:
    """What the leaderboard of a benchmark takes: a zip, which ``figlang submit NAME`` makes.

    Attributes:
        parts: of the data, those that are handed in.
        files: ``(records by part) -> content by name of file``. Raises `DataError` for what cannot be handed in.
        upload: where it is handed in.
    """

    parts: Collection[str]
    files: Callable[[Mapping[str, Sequence[Record]]], Mapping[str, bytes]]
    upload: str


@dataclass(frozen=True, kw_only=True)
class Sorting:
    """Pictures of text-to-image models that people sort into categories (``figlang judge export --task``).

    Attributes:
        task: its name.
        inputs: the kinds of prompts, in the order of the paper's table.
        categories: the cells of a sheet that mean each, in lower case.
        prompts: the module that writes the prompts.
        published: the paper's table: its ``source``, and ``rows`` with ``system``, ``input``, ``pictures`` and the
            share of each of the ``categories``, 0 to 1.
    """

    task: str
    inputs: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]
    prompts: str
    published: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """Which rows of a benchmark models may be fine-tuned on (:mod:`figlang_tasks.finetuning`).

    Attributes:
        splits: parameters of the request for ``train`` and ``validation``, in place of the task's own. Not needed where
            the tasks ask for a ``split``; where there is neither, the user names another folder of rows.
        texts: columns of documents that say what a row is about: a row that shares such a text, or the picture in
            ``image``, with a row of the evaluation is left out.
        right: whether the record of a reference answer says that the answer was read as it is meant.
    """

    splits: Mapping[str, Mapping[str, str]] = field(hash=False, default_factory=dict)
    texts: tuple[str, ...]
    right: Callable[[Record], bool] = lambda record: record["predicted"] == record["gold"]


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark. Everything it has is declared here.

    Attributes:
        name: of its package, its folders of prompts and of task files, and its card (``docs/cards/NAME.md``).
        version: of its tasks, ``N-X``; CONTRIBUTING.md says when it rises. All its datasets have the same.
        prompt_hash: of its prompts (:func:`figlang_tasks.core.prompting.prompt_hash`). A test fails when a prompt
            changes and this does not.
        about: what it measures, in at most 39 characters: the line of ``figlang tasks``.
        citation: its paper in BibTeX; "" where there is none.
        sources: its datasets: the published one first, then others that it takes data from, and the shipped one.
        keys, optional_keys: of requests for its datasets (``dataset_name`` in task files).
        count: ``(request) -> rows`` as published, or shipped; None where nobody knows. By default by the splits of the
            source.
        picture: ``(dataset, name, where) -> picture`` by the name that a card has for it; None where documents hold
            their picture in the column ``image``, or there is none.
        card: ``(data, records, document) -> card`` and `answer`: ``(records) -> answer`` of one card of the report
            (:mod:`figlang_tasks.core.card`); None for what any benchmark shows.
        parts: how its parts, the scopes of its measures, are named and pooled.
        charts: sections of the report that are its own.
        scorer: the paper's explanation scorer; None where no explanation is scored.
        agreement: what the paper says of people who judged explanations, for ``figlang judge agree``; None: nothing.
        sorting: pictures that people sort into categories; None: there are none.
        fetch: downloads what its rows take from other sources: for ``figlang data prefetch``, which else loads what
            the tasks ask for.
        check: ``() -> faults`` of what ``figlang data check`` looks at beside what the tasks ask for.
        trainer: ``(...) -> what was trained``: makes a folder for the model class ``figlang_probe``. It is the command
            ``figlang train NAME``, with options as typer reads them. Raises `FigLangError`.
        template: ``(folder) -> files``: writes example files in the format that users bring their data in.
        submission: what its leaderboard takes, as one zip; None where there is no such board.
        finetuning: which of its rows models may be fine-tuned on; None: none.
        needs: what must be installed beside the package, ``java`` or one of its extras, with what it is for.
    """

    name: str
    version: str
    prompt_hash: str
    about: str
    citation: str = ""
    sources: tuple[Source, ...]
    keys: tuple[str, ...] = ("split",)
    optional_keys: tuple[str, ...] = ()
    count: Callable[[Request], int | None] | None = None
    picture: Callable[[str, str, str], Image.Image] | None = None
    card: Callable[[DataId, Sequence[Record], Document], Card] | None = None
    answer: Callable[[Sequence[Record]], Answer] | None = None
    parts: Parts = Parts()
    charts: tuple[BarSection, ...] = ()
    scorer: str | None = None
    agreement: Mapping[str, Any] | None = None
    sorting: Sorting | None = None
    fetch: Callable[[], Snapshot] | None = None
    check: Callable[[], Iterable[DataError]] | None = None
    trainer: Callable[..., str] | None = None
    template: Callable[[Path], Sequence[Path]] | None = None
    submission: Submission | None = None
    finetuning: FineTuning | None = None
    needs: Mapping[str, str] = field(hash=False, default_factory=dict)

    @property
    def source(self) -> Source:
        """The published dataset."""
        return self.sources[0]

    def metadata(self, source: Source) -> dict[str, Any]:
        """What results say of every task on a dataset, whatever the model: version, prompts, revision."""
        return {
            "version": self.version,
            "prompt_hash": self.prompt_hash,
            "data_revision": source.stated_revision,
        }

    @property
    def folder(self) -> Path:
        """The folder of its package, with its published figures (``published.json``), if it has any."""
        return Path(str(import_module(f"{PACKAGE}.{self.name}").__file__)).parent

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
        raise DataError(f"{self.name} has no task {name!r}; it has {', '.join(task.name for task in self.tasks)}")

    def task_for(self, request: Request) -> Task:
        """The kind of task that a request is for; if it is for none, the first, whose loader says what is wrong."""
        for task in self.tasks:
            if task.is_for(request):
                return task
        return self.tasks[0]

    def documents(self, request: Request, check_images: bool = False) -> datasets.Dataset:
        """The documents for a request, each with the request; a `DataError` has the first faults of the data."""
        documents = self.task_for(request).documents(request, check_images)
        return documents.add_column("request", [str(request)] * len(documents))

    def rows(self, request: Request) -> int | None:
        """Number of rows for this request; None if unknown."""
        if self.count is not None:
            return self.count(request)
        return source_of(request.dataset).splits.get(request.get("split", ""))


def names() -> tuple[str, ...]:
    """The names of all benchmarks, without importing any."""
    return tuple(module.name for module in pkgutil.iter_modules(import_module(PACKAGE).__path__))


@cache
def benchmarks() -> Mapping[str, Benchmark]:
    """All benchmarks by name, in the order of their names."""
    return {name: import_module(f"{PACKAGE}.{name}.benchmark").BENCHMARK for name in names()}


@cache
def sources() -> Mapping[str, Source]:
    """The datasets of all benchmarks by name."""
    return {source.name: source for benchmark in benchmarks().values() for source in benchmark.sources}


def source_of(dataset: str) -> Source:
    """The source of a dataset; a `DataError` if there is none of that name."""
    if dataset not in sources():
        raise DataError(f"unknown dataset {dataset!r}; known: {', '.join(sources())}")
    return sources()[dataset]


def of_dataset(name: str) -> Benchmark:
    """The benchmark that a dataset belongs to; a `DataError` if there is no such dataset."""
    known = source_of(name)
    return next(benchmark for benchmark in benchmarks().values() if known in benchmark.sources)


@kept(maxsize=16)
def folder_of(dataset: str) -> Path:
    """The folder of a dataset on this machine, below which all files lie that its rows may name."""
    return snapshot(source_of(dataset)).folder


# --- what a task file asks for ---


def parse_request(text: object) -> tuple[Benchmark, Request]:
    """The benchmark and the request that a text names: ``dataset_name: FLUTE,part=train,prompt=v2`` in a task file.

    The harness hands the text to ``process_docs`` as the ``config_name`` of its stub, which is ``default`` where a task
    file has none. It may hold none of ``<>:/\\|?*``.

    Raises:
        DataError: there is no such dataset, or its benchmark does not take these keys.
    """
    try:
        benchmark = of_dataset(str(text).partition(",")[0])
    except DataError as error:
        raise DataError(f"dataset_name is {text!r}: {error}") from error
    keys, optional_keys = benchmark.keys, benchmark.optional_keys
    try:
        given = Request.parse(str(text))
    except DataError:
        given = None
    if given is None or not set(keys) <= set(given) <= {*keys, *optional_keys}:
        needed = "".join(f",{key}=..." for key in keys)
        optional = "".join(f"[,{key}=...]" for key in optional_keys)
        raise DataError(f"dataset_name is {text!r}; it must be DATASET{needed}{optional}")
    # In one order, so that equal requests are written alike.
    in_order = tuple((key, given[key]) for key in (*keys, *optional_keys) if key in given)
    return benchmark, Request(given.dataset, in_order)


def process_docs(stub: datasets.Dataset) -> datasets.Dataset:
    """The documents that the task file names, as ``dataset_name: V-FLUTE,split=test``.

    The harness loads a stub with that name, because it cannot load gated or local data with clear errors.
    """
    try:
        benchmark, request = parse_request(stub.config_name)
        return benchmark.documents(request, check_images=True)
    except DataError as error:
        raise DataError(f"figlang_tasks: {error}") from error
    except ValueError as error:
        raise FigLangError(f"figlang_tasks: {error}") from error


def task_faults(config: Mapping[str, Any]) -> list[Exception]:
    """What is wrong with the options and the data of a task, before a model is loaded; each message once.

    `config`: the task's YAML as a dict, with ``model``, ``limit`` and ``offset`` of the run.
    """
    try:
        benchmark, request = parse_request(config.get("dataset_name"))
    except DataError as error:
        return [error]
    task = benchmark.task_for(request)
    steps: list[Callable[[], object]] = [
        lambda: task.options.blocks(config),
        lambda: chosen(len(task.documents(request, True)), config),
        lambda: task.preflight and task.preflight(config, request),
    ]
    found: dict[str, Exception] = {}
    for step in steps:
        try:
            step()
        except (DataError, ValueError) as error:
            found.setdefault(str(error), error)
    return list(found.values())


def chosen(count: int, config: Mapping[str, Any]) -> range:
    """The places, of `count`, that a run asks; `config` is the YAML of a task with ``limit`` and ``offset``.

    Raises:
        ValueError: `offset` is negative, or skips all rows.
    """
    limit, offset = config.get("limit"), config.get("offset") or 0
    if not 0 <= offset < count:
        raise ValueError(f"--offset {offset}: must be the number of rows to skip at the start, of {count}")
    if limit is None or limit == -1:
        return range(offset, count)
    return range(offset, min(count, offset + (math.ceil(count * limit) if limit < 1 else int(limit))))
