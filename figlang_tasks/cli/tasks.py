"""``figlang tasks``: which benchmarks and tasks there are, and on what data.

Task files are read as the harnesses read them, but what they name is not imported. So the list
appears at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import typer

from figlang_tasks.cli import say
from figlang_tasks.cli.metric_list import benchmark_with_metrics, metrics_text
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import benchmarks, of_dataset, parse_request
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.homes import HARNESSES, MINI, Harness, home_of, names
from figlang_tasks.core.lm_eval_options import request_of
from figlang_tasks.core.request import Request
from figlang_tasks.core.text import did_you_mean

_COLUMNS = 100
"""How wide a list is at most."""

_WIDEST_NAME = 41
"""How wide the column of names is at most. A longer name moves the rest of its line."""


@dataclass(frozen=True)
class Definition:
    """A task or a group of tasks, as its file defines it.

    Attributes:
        name: of the task or group.
        benchmark: its name; `MINI` for tasks on the data that ships with the package.
        harnesses: those that have it.
        members: the tasks and groups of a group, in order; empty for a task.
        request: what a task asks of its dataset; None for a group.
        rows: how many rows the task has, as published; None if that was not published.
        asks: what a task asks, in a sentence or two; "" for a group.
    """

    name: str
    benchmark: str
    harnesses: tuple[Harness, ...]
    members: tuple[str, ...] = ()
    request: Request | None = None
    rows: int | None = None
    asks: str = ""


def tasks(
    pattern: Annotated[
        str | None,
        typer.Argument(
            metavar="[BENCHMARK|PATTERN]",
            help=(
                f"List the tasks of this benchmark ({', '.join([*names(), MINI])}), or the tasks"
                " whose name matches: 'irfl_*_grid'."
            ),
            show_default=False,
        ),
    ] = None,
    path: Annotated[
        Harness | None,
        typer.Option(
            "--path",
            help="Print only the folder with the task files for this harness, or of a benchmark.",
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
    """List the benchmarks, or what each task of one of them asks, or its metrics.

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
        say(_task_folder(pattern, path))
    elif metrics:
        say(metrics_text(benchmark_with_metrics(pattern)))
    elif pattern is None:
        say(_overview_text(list(definitions().values())))
    else:
        say(_task_list_text(_matching(pattern)))


# --- task files ---


def _task_folder(benchmark: str | None, harness: Harness) -> Path:
    """The folder with our task files for a harness, or with those of one benchmark.

    Raises:
        FigLangError: there is no such benchmark, or the harness has no task of it.
    """
    if benchmark is None:
        return task_files.folder(harness)
    if benchmark not in names():
        hint = did_you_mean(benchmark, names())
        raise FigLangError(
            f"figlang tasks --path takes a benchmark, not {benchmark!r}{hint}; give one of"
            f" {', '.join(names())}"
        )
    folder = home_of(benchmark).task_files[harness]
    if not folder.is_dir():
        raise FigLangError(f"{harness} has no task of {benchmark}")
    return folder


def definitions() -> dict[str, Definition]:
    """All tasks and groups by their name, in the order of benchmarks and names."""
    definition_by_name: dict[str, Definition] = {}
    for harness in HARNESSES:
        for name, file in task_files.files(harness).items():
            if name in definition_by_name:
                # A file for each harness defines the same task.
                first = definition_by_name[name]
                definition = replace(first, harnesses=(*first.harnesses, harness))
            else:
                definition = _read_definition(file, harness)
            definition_by_name[name] = definition

    benchmark_order = [*names(), MINI]

    def order(definition: Definition) -> tuple[int, str]:
        """Sort key: the place of the benchmark, then the name."""
        return benchmark_order.index(definition.benchmark), definition.name

    in_order = sorted(definition_by_name.values(), key=order)
    return {definition.name: definition for definition in in_order}


def _read_definition(file: Path, harness: Harness) -> Definition:
    """The task or group that a file defines.

    Args:
        file: one of `task_files.files`.
        harness: the harness that reads the file.
    """
    content = task_files.read(file.resolve())
    benchmark = task_files.benchmark_of(file, harness)
    if "group" in content:
        members = tuple(content["task"])  # A group has a list where a task has its name.
        return Definition(content["group"], benchmark, (harness,), members=members)
    request = _request(content, harness)
    rows = of_dataset(request.dataset).rows(request)
    return Definition(
        content["task"],
        benchmark,
        (harness,),
        request=request,
        rows=rows,
        asks=task_files.purpose(file.resolve()),
    )


def _request(content: Mapping[str, Any], harness: Harness) -> Request:
    """What a task file asks of its dataset; each harness has it under another key."""
    if harness == "lmms_eval":
        _, request = parse_request(content["dataset_name"])
        return request
    return request_of(content["dataset_kwargs"])


def requests_of(benchmark: str) -> list[Request]:
    """What the tasks of a benchmark ask of its data, a request for each task."""
    requests = []
    for definition in definitions().values():
        if definition.benchmark == benchmark and definition.request is not None:
            requests.append(definition.request)
    return requests


# --- benchmarks ---


def _overview_text(all_definitions: Sequence[Definition]) -> str:
    """A table with a line for each benchmark, and what its columns mean."""
    head = _overview_line(
        name="benchmark", content="what it measures", rows="rows", access="access", needs="needs"
    )
    lines = [head]
    definitions_by_benchmark: dict[str, list[Definition]] = {}
    for definition in all_definitions:
        definitions_by_benchmark.setdefault(definition.benchmark, []).append(definition)
    for name, task_definitions in definitions_by_benchmark.items():
        lines.append(_benchmark_line(name, _range_of_rows(task_definitions)))
    lines.append(
        "\nrows: of the smallest and of the largest task. needs: scorer of explanations, Java,"
        " extras of pip."
    )
    lines.append(
        "`figlang tasks irfl` lists the tasks of a benchmark, `figlang doctor` what this machine"
        " lacks."
    )
    return "\n".join(lines)


def _benchmark_line(name: str, rows: str) -> str:
    """The line of a benchmark in the overview.

    Args:
        name: of the benchmark, or `MINI`.
        rows: of its tasks: ``300-2,750``; "" if unknown.
    """
    if name == MINI:
        return _overview_line(
            name=name,
            content="small data of our own, in five forms",
            rows=rows,
            access="ships with the package",
            needs="demo",  # the extra of pip with the weights of the scorer for these data
        )
    benchmark = benchmarks()[name]
    needs = list(benchmark.needs)
    if benchmark.scorer:
        needs.insert(0, f"scorer {benchmark.scorer}")
    return _overview_line(
        name=name,
        content=benchmark.summary,
        rows=rows,
        access=benchmark.source.access,
        needs=", ".join(needs),
    )


def _overview_line(*, name: str, content: str, rows: str, access: str, needs: str) -> str:
    """A line of the overview: the cells, each as wide as its column."""
    return f"{name:12}  {content:39}  {rows:>11}  {access:14}  {needs}".rstrip()


def _range_of_rows(task_definitions: Sequence[Definition]) -> str:
    """The rows of the smallest and of the largest task, ``300-2,750``; "" if none is known."""
    counts = [definition.rows for definition in task_definitions if definition.rows is not None]
    if not counts:
        return ""
    smallest = min(counts)
    largest = max(counts)
    if smallest == largest:
        return f"{smallest:,}"
    return f"{smallest:,}-{largest:,}"


# --- tasks ---


def _matching(pattern: str) -> list[Definition]:
    """The tasks and groups of a benchmark, or those whose name matches a pattern.

    Args:
        pattern: the name of a benchmark, or a pattern of a shell: ``irfl_*_grid``.

    Raises:
        FigLangError: there are none.
    """
    all_definitions = list(definitions().values())
    # A benchmark may share its name with a group: then the benchmark is meant.
    if pattern in (*names(), MINI):
        return [definition for definition in all_definitions if definition.benchmark == pattern]
    matching = [
        definition for definition in all_definitions if fnmatchcase(definition.name, pattern)
    ]
    if not matching:
        task_names = [definition.name for definition in all_definitions]
        hint = did_you_mean(pattern, [*names(), MINI, *task_names])
        raise FigLangError(f"no task matches {pattern!r}{hint}; `figlang tasks '*'` lists all")
    return matching


def _task_list_text(task_definitions: Sequence[Definition]) -> str:
    """A table with a line for each task or group, and where to read more."""
    widest = max(len(definition.name) for definition in task_definitions)
    width = min(widest, _WIDEST_NAME)
    lines = [f"{'':{width}}   rows  asks"]
    for definition in task_definitions:
        rows = "-" if definition.rows is None else f"{definition.rows:,}"
        start = f"{definition.name:{width}}  {rows:>5}  "
        text = definition.asks
        if definition.members:
            text = _members_text(definition, room=_COLUMNS - len(start))
        lines.append(f"{start}{text}".rstrip())
    benchmark_names = dict.fromkeys(definition.benchmark for definition in task_definitions)
    cards = [_card(name) for name in benchmark_names]
    lines.append("\nrows: as published; - if not.")
    if any(cards):
        lines[-1] += f" Data, metrics and versions: {', '.join(filter(None, cards))}."
    return "\n".join(lines)


def _card(benchmark: str) -> str:
    """The path of the card of a benchmark, or of `MINI`; "" if it has none."""
    return f"docs/cards/{MINI}.md" if benchmark == MINI else home_of(benchmark).card


def _members_text(group: Definition, room: int) -> str:
    """What a group holds: ``group of 4: idiom, metaphor, ...``, with as many members as fit.

    Args:
        group: a group.
        room: how many columns there are.
    """
    names = _without_common_words(group.members)
    text = f"group of {len(names)}: {', '.join(names)}"
    while len(text) > room and len(names) > 1:
        names.pop()
        text = f"group of {len(group.members)}: {', '.join(names)}, ..."
    return text


def _without_common_words(names: Sequence[str]) -> list[str]:
    """Names without the words that all begin with: ``idiom, simile`` of ``irfl_detect_idiom``, ...

    They stay as they are if nothing would be left of one.
    """
    words_of_names = [name.split("_") for name in names]
    common_count = 0
    for words in zip(*words_of_names, strict=False):  # as far as the shortest name goes
        if len(set(words)) > 1:
            break
        common_count += 1
    short_names = ["_".join(words[common_count:]) for words in words_of_names]
    return short_names if all(short_names) else list(names)
