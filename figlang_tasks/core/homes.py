"""Where each benchmark lives: its package, prompts, task files and card.

Our benchmarks are the packages in ``figlang_tasks/benchmarks``. A benchmark of somebody else is an
installed package with an entry point of the group ``figlang_tasks.benchmarks``: the name of the
benchmark, and the import path of its package (docs/own_benchmark.md).
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from loguru import logger

from figlang_tasks import resource_dir
from figlang_tasks.core.errors import FigLangError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from figlang_tasks.core.benchmark import Benchmark

Harness = Literal["lmms_eval", "lm_eval"]

HARNESSES: tuple[Harness, ...] = ("lmms_eval", "lm_eval")
GROUP = "figlang_tasks.benchmarks"
"""The group of the entry points, which is also the name of the package with our benchmarks."""
MINI = "figlang_mini"
"""Stands for a benchmark in lists: the small data that ships with the package."""

VALID_NAME = re.compile("[a-z][a-z0-9_]*")
"""The form of the name of a benchmark."""


@dataclass(frozen=True)
class Home:
    """Where a benchmark lives.

    Attributes:
        name: of the benchmark.
        package: the import path of its package.
        folder: of its package.
        prompts: the folder with its templates.
        task_files: the folder with its task files for each harness.
        card: the path of its card, for messages; "" if it has none.
        distribution: the installed package that brings it; "" for our benchmarks.
    """

    name: str
    package: str
    folder: Path
    prompts: Path
    task_files: Mapping[Harness, Path]
    card: str
    distribution: str = ""


@cache
def our_names() -> tuple[str, ...]:
    """The names of our benchmarks, without importing any."""
    return tuple(module.name for module in pkgutil.iter_modules(import_module(GROUP).__path__))


def names() -> tuple[str, ...]:
    """The names of all benchmarks: ours, without importing any, then those of other packages."""
    return (*our_names(), *foreign_homes())


@cache
def home_of(name: str) -> Home:
    """Where a benchmark lives.

    Args:
        name: one of `names`.
    """
    if name not in our_names():
        return foreign_homes()[name]
    package = f"{GROUP}.{name}"
    task_files: dict[Harness, Path] = {}
    for harness in HARNESSES:
        task_files[harness] = resource_dir("task_yamls") / harness / name
    return Home(
        name=name,
        package=package,
        folder=_folder_of(package),
        prompts=resource_dir("prompts") / name,
        task_files=task_files,
        card=f"docs/cards/{name}.md",
    )


def _folder_of(package: str) -> Path:
    """The folder of a package; an `ImportError` if there is none."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"there is no package {package}")
    return Path(next(iter(spec.submodule_search_locations)))


@cache
def files_in(folder: Path) -> Mapping[str, Path]:
    """The task files in a folder and below, by the name of their task, in the order of paths.

    Files that others only include have names that begin with ``_``; they are left out. A process
    looks into a folder once, as it reads each file once (`figlang_tasks.core.task_files.read`).
    """
    return {path.stem: path for path in sorted(folder.rglob("[!_]*.yaml"))}


# --- benchmarks of other packages ---


@cache
def foreign_homes() -> Mapping[str, Home]:
    """The benchmarks of other installed packages, by name, in alphabetical order.

    This imports the module ``benchmark`` of each. One with a fault is left out, with a warning: it
    never stops work with other benchmarks.
    """
    from importlib.metadata import entry_points  # slow, and only needed here

    homes: dict[str, Home] = {}
    for entry_point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            homes[entry_point.name] = _checked_home(entry_point, homes.values())
        except FigLangError as error:
            logger.warning(f"figlang_tasks: {error}. Until then, the benchmark is left out")
    return homes


def _checked_home(entry_point: EntryPoint, others: Iterable[Home]) -> Home:
    """The home of a foreign benchmark, after a check that nothing of it is in the way.

    Args:
        entry_point: of its package.
        others: the homes of other foreign benchmarks.

    Raises:
        FigLangError: it has a fault; the message names the package and the remedy.
    """
    name = entry_point.name
    distribution = entry_point.dist.name if entry_point.dist is not None else entry_point.value
    try:
        if not VALID_NAME.fullmatch(name):
            raise FigLangError("give it a name of lower-case letters, digits and _")
        if is_reserved(name) or name in [home.name for home in others]:
            raise FigLangError("another benchmark has this name: choose another one")
        home = _foreign_home(name, entry_point.value, distribution)
        benchmark = _declared_benchmark(home)
        _check_datasets(benchmark, others)
        _check_task_files(home, benchmark, others)
    except FigLangError as error:
        raise FigLangError(
            f"benchmark {name} of the installed package {distribution}: {error}"
        ) from error
    except Exception as error:  # what others wrote may have any form
        raise FigLangError(
            f"benchmark {name} of the installed package {distribution}: it has a fault"
            f" ({type(error).__name__}: {error}): repair it, or uninstall {distribution}"
        ) from error
    return home


def is_reserved(name: str) -> bool:
    """Whether a benchmark of another package cannot have this name, because it has a meaning."""
    has_prompts = (resource_dir("prompts") / name).is_dir()
    return has_prompts or name in (*our_names(), MINI, "mini")


def _foreign_home(name: str, package: str, distribution: str) -> Home:
    """The home of a benchmark of another package, which holds all of its files.

    Raises:
        FigLangError: there is no such package.
    """
    try:
        folder = _folder_of(package)
    except (Exception, SystemExit) as error:  # a package above it may raise anything
        raise FigLangError(
            f"its package {package} cannot be found ({error}): correct the entry point, or"
            f" uninstall {distribution}"
        ) from error
    card = folder / "card.md"
    return Home(
        name=name,
        package=package,
        folder=folder,
        prompts=folder / "prompts",
        task_files={harness: folder / "task_yamls" / harness for harness in HARNESSES},
        card=str(card) if card.is_file() else "",
        distribution=distribution,
    )


def _declared_benchmark(home: Home) -> Benchmark:
    """The `BENCHMARK` of a foreign package, from its module ``benchmark``.

    Raises:
        FigLangError: the module cannot be imported, or declares no benchmark of this name; or the
            package has no module ``tasks``.
    """
    from figlang_tasks.core.benchmark import Benchmark

    path = f"{home.package}.benchmark"
    try:
        benchmark = import_module(path).BENCHMARK
        has_tasks = find_spec(f"{home.package}.tasks") is not None
    except (Exception, SystemExit) as error:  # code of others may raise anything
        raise FigLangError(
            f"{path} cannot be imported ({type(error).__name__}: {error}): repair it, or uninstall"
            f" {home.distribution}"
        ) from error
    if not isinstance(benchmark, Benchmark) or benchmark.name != home.name:
        raise FigLangError(
            f"{path} must define BENCHMARK = Benchmark(name={home.name!r}, ...): correct it, or"
            " the entry point"
        )
    if not has_tasks:
        raise FigLangError(f"{home.folder} has no tasks.py: add it")
    if not benchmark.sources:
        raise FigLangError(f"{path}: BENCHMARK has no sources: name its dataset")
    _check_types(benchmark, path)
    return benchmark


def _check_types(benchmark: Benchmark, path: str) -> None:
    """Raise a `FigLangError` if a field, which lists of benchmarks print, has a wrong type.

    Args:
        path: the import path of the module that declares the benchmark.
    """
    from figlang_tasks.core.hub import Source

    for field_name in ("version", "prompt_hash", "summary", "citation"):
        value = getattr(benchmark, field_name)
        if not isinstance(value, str):
            raise FigLangError(f"{path}: {field_name} is {value!r}: write it in quotes")
    for source in benchmark.sources:
        if not isinstance(source, Source):
            raise FigLangError(f"{path}: sources has {source!r}: write Source(name=..., ...)")
        if not isinstance(source.splits, Mapping):
            raise FigLangError(
                f'{path}: splits is {source.splits!r}: write {{"test": 20}}, the number of rows'
            )
        if not isinstance(source.folder, Path | None):
            raise FigLangError(
                f"{path}: folder is {source.folder!r}: write Path(__file__).parent / ..."
            )


def _check_datasets(benchmark: Benchmark, others: Iterable[Home]) -> None:
    """Raise a `FigLangError` if another benchmark has a dataset of the same name."""
    other_packages = [f"{GROUP}.{name}" for name in our_names()]
    other_packages += [home.package for home in others]
    for package in other_packages:
        other = import_module(f"{package}.benchmark").BENCHMARK
        shared = {source.name for source in benchmark.sources}
        shared &= {source.name for source in other.sources}
        if shared:
            raise FigLangError(
                f"its dataset {min(shared)} has the name of one of {other.name}: rename it"
            )


def _check_task_files(home: Home, benchmark: Benchmark, others: Iterable[Home]) -> None:
    """Check the task files of a foreign benchmark, without importing what they name.

    Raises:
        FigLangError: there are none, one is faulty, or another benchmark has a task of that name.
    """
    from figlang_tasks.core.benchmark import request_for
    from figlang_tasks.core.lm_eval_options import request_of
    from figlang_tasks.core.task_files import read

    if not any(files_in(folder) for folder in home.task_files.values()):
        raise FigLangError(f"{home.folder} has no task file: add task_yamls/lmms_eval/NAME.yaml")
    for harness, folder in home.task_files.items():
        other_folders = [resource_dir("task_yamls") / harness]
        other_folders += [other.task_files[harness] for other in others]
        for other_folder in other_folders:
            shared_names = files_in(folder).keys() & files_in(other_folder)
            if shared_names:
                raise FigLangError(
                    f"its task {min(shared_names)} has the name of one in {other_folder}: rename it"
                )
        for name, path in files_in(folder).items():
            content = read(path.resolve())
            if "group" in content:
                continue
            if content.get("task") != name:
                raise FigLangError(f"{path} must have `task: {name}`, the name of the file")
            if harness == "lmms_eval":
                request_for(benchmark, content.get("dataset_name"), f"{path}: dataset_name")
            else:
                text = str(request_of(content.get("dataset_kwargs") or {"dataset": ""}))
                request_for(benchmark, text, f"{path}: dataset_kwargs")
