"""Tasks that a message names as the remedy, from our task files of the same benchmarks."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Sequence

from figlang_tasks.core import hub, task_files
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.core.blocks import (
    DEFAULT,
    SETTINGS,
    options_by_block,
    options_for_words,
)
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.task_files import TaskConfig
from figlang_tasks.harness.task_index import tasks_dir


def tasks_with_exemplars(tasks: Iterable[TaskConfig]) -> list[str]:
    """The names of our tasks of the same benchmarks that have examples in their prompts.

    Args:
        tasks: whose benchmarks are searched for files with the option ``num_shots``.
    """
    names: list[str] = []
    for config in _of_same_benchmarks(tasks):
        if any(options.get("num_shots") for options in options_by_block(config)):
            names.append(config["task"])
    return names


def tasks_in_words(tasks: Sequence[TaskConfig]) -> list[str]:
    """The names of our tasks on the same data that a model without scores can answer.

    Args:
        tasks: those that need scores; the data is what their ``dataset_name`` says.
    """
    dataset_names = {config.get("dataset_name") for config in tasks}
    names: list[str] = []
    for config in _of_same_benchmarks(tasks):
        # Settings for models in general; a task that needs scores has settings for these alone.
        takes_words = DEFAULT in (config.get(SETTINGS) or {})
        if takes_words and config["dataset_name"] in dataset_names:
            names.append(config["task"])
    return names


def tasks_without_pictures(tasks: Iterable[TaskConfig]) -> list[str]:
    """The names of our tasks of the same benchmarks that show no pictures.

    Tasks whose data is not on this machine are left out: nothing is downloaded for a message.

    Args:
        tasks: whose benchmarks are searched.
    """
    names: list[str] = []
    with hub.downloading_nothing():
        for config in _of_same_benchmarks(tasks):
            # In a task file that was read without imports, a function is its name.
            doc_to_visual = pkgutil.resolve_name(config["doc_to_visual"])
            try:
                has_pictures = shows_pictures({**config, "doc_to_visual": doc_to_visual})
            except DataError:
                continue
            if not has_pictures:
                names.append(config["task"])
    return names


def shows_pictures(config: TaskConfig) -> bool:
    """Whether the first document of a task has a picture in its prompt."""
    benchmark, request = parse_request(config["dataset_name"])
    document = benchmark.documents(request)[0]
    return bool(config["doc_to_visual"](document, options_for_words(config)))


def _of_same_benchmarks(tasks: Iterable[TaskConfig]) -> Iterator[TaskConfig]:
    """The content of all our task files of the benchmarks that some tasks belong to.

    Files of groups are left out. Nothing is imported: where a task file names a function, the
    content holds the name.
    """
    benchmarks = {benchmark_of(config) for config in tasks}
    for path in sorted(tasks_dir().rglob("*.yaml")):
        config = task_files.read(path.resolve())
        is_task = "task" in config and "group" not in config
        if is_task and benchmark_of(config) in benchmarks:
            yield config


def benchmark_of(config: TaskConfig) -> str | None:
    """The name of the benchmark that a task file names; None if it names none."""
    try:
        benchmark, _ = parse_request(config.get("dataset_name"))
    except DataError:
        return None
    return benchmark.name
