"""``figlang tasks``: which benchmarks and tasks there are, and on what data.

Task files are read as the harnesses read them, but nothing that they name is imported: the list is
there at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from figlang_tasks.cli import say
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import benchmarks, names, of_dataset, parse_request
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.lm_eval_options import request_of
from figlang_tasks.core.request import Request
from figlang_tasks.core.task_files import Harness
from figlang_tasks.core.text import did_you_mean

HARNESSES: tuple[Harness, ...] = get_args(Harness)
MINI = "figlang_mini"


@dataclass(frozen=True)
class Definition:
    """A task or a group of tasks, as its file defines it."""

    name: str
    benchmark: str  # name of its folder; `MINI` for tasks on our own data
    harnesses: tuple[Harness, ...]
    members: tuple[str, ...] = ()  # of a group: tasks and groups, in order
    request: Request | None = None  # of a task; a group has none
    rows: int | None = None  # as published


def tasks(
    pattern: Annotated[
        str | None,
        typer.Argument(
            metavar="[BENCHMARK|PATTERN]",
            help=(
                f"List the tasks of this benchmark ({', '.join([*names(), MINI])}), or the tasks"
                " whose name matches: "
                "'irfl_*_grid'."
            ),
            show_default=False,
        ),
    ] = None,
    path: Annotated[
        Harness | None,
        typer.Option(
            "--path",
            help="Print only the folder with the task files for this harness.",
            show_default=False,
        ),
    ] = None,
    metrics: Annotated[
        bool,
        typer.Option(
            "--metrics", help="Print what each metric of a benchmark means, and where it is from."
        ),
    ] = False,
) -> None:
    """List the benchmarks, or the tasks or the metrics of one of them.

    \b
    figlang tasks irfl
    figlang tasks 'nykms_*_text'
    figlang tasks irfl --metrics

    lmms-eval finds the tasks by itself. For lm-eval, which runs the text tasks, name their folder:

    \b
    lm_eval --include_path "$(figlang tasks --path lm_eval)" --tasks flute --model hf \\
      --model_args pretrained=ID --apply_chat_template
    """
    if path is not None:
        say(task_files.folder(path))
        return
    if metrics:
        say("\n".join(_metrics(pattern)))
        return
    every = list(definitions().values())
    found = [each for each in every if _matches(each, pattern)]
    if not found:
        meant = did_you_mean(str(pattern), [*names(), MINI, *(each.name for each in every)])
        raise FigLangError(f"no task matches {pattern!r}{meant}; `figlang tasks '*'` lists all")
    say("\n".join(_overview(found) if pattern is None else _listing(found)))


def definitions() -> dict[str, Definition]:
    """All tasks and groups by name: benchmark by benchmark, in the order of their files."""
    found: dict[str, Definition] = {}
    for harness in HARNESSES:
        for name, file in task_files.files(harness).items():
            definition = _definition(file, harness)
            if name in found:
                definition = replace(found[name], harnesses=(*found[name].harnesses, harness))
            found[name] = definition
    order = [*names(), MINI]
    return dict(sorted(found.items(), key=lambda item: (order.index(item[1].benchmark), item[0])))


# --- task files ---


def _definition(file: Path, harness: Harness) -> Definition:
    """What a task file defines."""
    content = task_files.read(file.resolve())
    below = file.relative_to(task_files.folder(harness)).parts[0]
    benchmark = MINI if below == "mini" else below
    define = partial(Definition, benchmark=benchmark, harnesses=(harness,))
    if "group" in content:
        return define(content["group"], members=tuple(content["task"]))
    request = _request(content, harness)
    return define(content["task"], request=request, rows=of_dataset(request.dataset).rows(request))


def _request(content: Mapping[str, Any], harness: Harness) -> Request:
    """What a task file asks of a dataset."""
    if harness == "lmms_eval":
        return parse_request(content["dataset_name"])[1]
    return request_of(content["dataset_kwargs"])


def requests_of(benchmark: str) -> list[Request]:
    """What the tasks of a benchmark ask of its data."""
    requests = []
    for definition in definitions().values():
        if definition.benchmark == benchmark and definition.request is not None:
            requests.append(definition.request)
    return requests


def _words(definition: Definition) -> str:
    """What a task asks of its dataset, or how many members a group has."""
    if definition.request is None:
        return f"group of {len(definition.members)}"
    words = []
    for key, value in definition.request.items():
        if key in ("prompt", "scorer"):
            words.append(f"{key} {value}")
        else:
            words.append(key if value == "true" else value)
    return ", ".join(words)


# --- the list ---


def _matches(each: Definition, pattern: str | None) -> bool:
    if pattern in (*names(), MINI):  # some are names of groups, too
        return each.benchmark == pattern
    return pattern is None or fnmatchcase(each.name, pattern)


def _overview(found: Sequence[Definition]) -> Iterator[str]:
    """A line for each benchmark."""
    line = "{:12}  {:39}  {:>11}  {:14}  {}".format
    yield line("benchmark", "what it measures", "rows", "access", "needs")
    for name in dict.fromkeys(each.benchmark for each in found):
        counts = sorted(
            {each.rows for each in found if each.benchmark == name and each.rows is not None}
        )
        rows = "-".join(f"{count:,}" for count in dict.fromkeys([*counts[:1], *counts[-1:]]))
        about, access, needs = (
            "small data of our own, in five forms",
            "ships with the package",
            ["demo"],
        )
        if name != MINI:
            own = benchmarks()[name]
            about, access = own.about, own.source.access
            needs = [f"scorer {own.scorer}"] * bool(own.scorer) + list(own.needs)
        yield line(name, about, rows, access, ", ".join(needs)).rstrip()
    yield (
        "\nrows: of the smallest and of the largest task. needs: scorer of explanations, Java,"
        " extras of pip."
    )
    yield (
        "`figlang tasks irfl` lists the tasks of a benchmark, `figlang doctor` what this machine"
        " lacks."
    )


def _metrics(benchmark: str | None) -> Iterator[str]:
    """The metrics of each kind of task of a benchmark, a line each: name, role, description and
    source.
    """
    if benchmark not in names():
        meant = (
            "" if benchmark is None else f", not {benchmark!r}{did_you_mean(benchmark, names())}"
        )
        raise FigLangError(
            f"figlang tasks --metrics takes a benchmark{meant}; give one of {', '.join(names())}"
        )
    from figlang_tasks.results.measures import headline_metric

    rows_by_kind: dict[str, list[list[str]]] = {}
    for task in benchmarks()[benchmark].tasks:
        measures = task.measures
        headline_name = headline_metric(measures.by_name, measures.by_name)
        kind = f"{task.name}: {task.description}"
        rows_by_kind[kind] = []
        for measure in measures.all:
            stands_for_task = measure.name == headline_name and not measure.is_diagnostic
            role = "headline" if stands_for_task else measure.role
            rows_by_kind[kind].append(
                [f"{measure.name} {measure.arrow}", role, measure.description, measure.source]
            )

    all_rows = list(chain.from_iterable(rows_by_kind.values()))
    widths = [max(map(len, column)) for column in zip(*all_rows, strict=True)]
    for kind, rows in rows_by_kind.items():
        yield kind
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            yield ("  " + "  ".join(cells)).rstrip()
    yield "\nheadline: it stands for its task where one number has to."
    yield "diagnostic: it says how a run went, not how good the model is."


def _listing(found: Sequence[Definition]) -> Iterator[str]:
    """A line for each task or group."""
    width = max(len(each.name) for each in found)
    yield f"{'':{width}}   rows  data"
    for each in found:
        rows = "-" if each.rows is None else f"{each.rows:,}"
        yield f"{each.name:{width}}  {rows:>5}  {_words(each)}"
    cards = ", ".join(dict.fromkeys(f"docs/cards/{each.benchmark}.md" for each in found))
    yield f"\nrows: as published; - if not. Metrics and versions: {cards}."
