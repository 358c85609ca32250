"""``figlang tasks``: which benchmarks and tasks there are, and on what data.

Task files are read as the harnesses read them, but nothing that they name is imported: the list is there at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

import typer

from figlang_tasks.cli import say
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import asked_for, benchmarks, names, of_dataset
from figlang_tasks.core.errors import FigLangError
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
    asked: Mapping[str, str] = field(default_factory=dict)  # ``dataset``, and split, table, question ... of it
    rows: int | None = None  # as published


def tasks(
    pattern: Annotated[
        str | None,
        typer.Argument(
            metavar="[BENCHMARK|PATTERN]",
            help=f"List the tasks of this benchmark ({', '.join([*names(), MINI])}), or the tasks whose name matches: "
            "'irfl_*_grid'.",
            show_default=False,
        ),
    ] = None,
    path: Annotated[
        Harness | None,
        typer.Option("--path", help="Print only the folder with the task files for this harness.", show_default=False),
    ] = None,
) -> None:
    """List the benchmarks, or the tasks of one of them.

    \b
    figlang tasks irfl
    figlang tasks 'nykms_*_text'

    lmms-eval finds the tasks by itself. For lm-eval, which runs the text tasks, name their folder:

    \b
    lm_eval --include_path "$(figlang tasks --path lm_eval)" --tasks flute --model hf \\
      --model_args pretrained=ID --apply_chat_template
    """
    if path is not None:
        say(task_files.folder(path))
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
    asked = content["dataset_kwargs"] if harness == "lm_eval" else asked_for(content["dataset_name"])[1]
    return define(content["task"], asked=asked, rows=of_dataset(asked["dataset"]).rows(asked))


def asked_of(benchmark: str) -> list[Mapping[str, str]]:
    """What the tasks of a benchmark ask of its data."""
    return [each.asked for each in definitions().values() if each.benchmark == benchmark and each.asked]


def _words(asked: Mapping[str, str]) -> Iterator[str]:
    for key, value in asked.items():
        if key in ("prompt", "scorer"):
            yield f"{key} {value}"
        elif key != "dataset":
            yield key if value == "true" else value


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
        counts = sorted({each.rows for each in found if each.benchmark == name and each.rows is not None})
        rows = "-".join(f"{count:,}" for count in dict.fromkeys([*counts[:1], *counts[-1:]]))
        about, access, needs = "small data of our own, in five forms", "ships with the package", ["demo"]
        if name != MINI:
            own = benchmarks()[name]
            about, access = own.about, own.source.access
            needs = [f"scorer {own.scorer}"] * bool(own.scorer) + list(own.needs)
        yield line(name, about, rows, access, ", ".join(needs)).rstrip()
    yield "\nrows: of the smallest and of the largest task. needs: scorer of explanations, Java, extras of pip."
    yield "`figlang tasks irfl` lists the tasks of a benchmark, `figlang doctor` what this machine lacks."


def _listing(found: Sequence[Definition]) -> Iterator[str]:
    """A line for each task or group."""
    width = max(len(each.name) for each in found)
    yield f"{'':{width}}   rows  data"
    for each in found:
        rows = "-" if each.rows is None else f"{each.rows:,}"
        yield f"{each.name:{width}}  {rows:>5}  {', '.join(_words(each.asked)) or f'group of {len(each.members)}'}"
    cards = ", ".join(dict.fromkeys(f"docs/cards/{each.benchmark}.md" for each in found))
    yield f"\nrows: as published; - if not. Metrics and versions: {cards}."
