"""What all tasks share: loading documents, and the checks before a model is loaded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.benchmark import Asked, Benchmark, of_dataset
from figlang_tasks.core.errors import DataError, FigLangError

if TYPE_CHECKING:
    import datasets


def process_docs(stub: datasets.Dataset) -> datasets.Dataset:
    """Return the documents that the task file names, as ``dataset_name: V-FLUTE,split=test``.

    The harness loads a stub with that name, because it cannot load gated or local data with clear errors.
    """
    try:
        benchmark, asked = asked_for(stub.config_name)
        return benchmark.load(asked, True)
    except DataError as error:
        raise DataError(f"figlang_tasks: {error}") from error
    except ValueError as error:
        raise FigLangError(f"figlang_tasks: {error}") from error


def faults(config: Mapping[str, Any]) -> list[Exception]:
    """What is wrong with the options and the data of a task, before a model is loaded; each message once.

    `config`: the task's YAML as a dict, with ``model``, ``limit`` and ``offset`` of the run.
    """
    try:
        benchmark, asked = asked_for(config.get("dataset_name"))
    except DataError as error:
        return [error]
    own = benchmark.preflight
    steps: list[Callable[[], object]] = [
        lambda: benchmark.options.blocks(config),
        lambda: chosen(len(benchmark.load(asked, True)), config),
        lambda: own and own(config, asked),
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
        ValueError: none is left.
    """
    limit, offset = config.get("limit"), config.get("offset") or 0
    if offset >= count:
        raise ValueError(f"--offset {offset} skips all {count} rows of this task")
    if limit is None or limit == -1:
        return range(offset, count)
    return range(offset, min(count, offset + (math.ceil(count * limit) if limit < 1 else int(limit))))


def asked_for(dataset_name: object) -> tuple[Benchmark, Asked]:
    """The benchmark that a task file names, and what it asks for: ``dataset_name: FLUTE,part=train,prompt=v2``.

    The harness hands it to ``process_docs`` as the ``config_name`` of its stub, which is ``default`` where a task file
    has none. It may hold none of ``<>:/\\|?*``.
    """
    dataset, *rest = str(dataset_name).split(",")
    asked = {"dataset": dataset} | dict(each.partition("=")[::2] for each in rest)
    try:
        benchmark = of_dataset(dataset)
    except DataError as error:
        raise DataError(f"dataset_name is {dataset_name!r}: {error}") from error
    keys, optional = benchmark.keys, benchmark.optional_keys
    known = set(keys) <= asked.keys() - {"dataset"} <= {*keys, *optional}
    if not known or len(asked) <= len(rest) or not all(asked.values()):
        form = ",".join(["DATASET", *(f"{key}=..." for key in keys)]) + "".join(f"[,{key}=...]" for key in optional)
        raise DataError(f"dataset_name is {dataset_name!r}; it must be {form}")
    return benchmark, asked
