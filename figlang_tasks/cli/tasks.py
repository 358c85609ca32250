"""``figlang tasks``: which benchmarks and tasks there are, on what data and with which metrics.

Task files are read as the harnesses read them, but of what they name only the measures are imported: the list is there
at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from figlang_tasks import resource_dir
from figlang_tasks.cli import fail, say, say_json
from figlang_tasks.cli.options import AsJson
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import benchmarks, names, of_dataset
from figlang_tasks.core.documents import asked_for
from figlang_tasks.core.text import did_you_mean

Harness = Literal["lmms_eval", "lm_eval"]
HARNESSES: tuple[Harness, ...] = get_args(Harness)
MINI = "figlang_mini"


@dataclass(frozen=True)
class Definition:
    """A task or a group of tasks, as its file defines it.

    Attributes:
        name: what ``--tasks`` takes.
        kind: ``task`` or ``group``.
        benchmark: name of its folder; :data:`MINI` for tasks on our own data.
        card: the page that describes it, in the project's repository.
        members: of a group: tasks and groups, in order.
        dataset: a key of :func:`figlang_tasks.core.hub.sources`; None for a group.
        data: which part of it: split, table, question ...
        rows: published rows of that part; None where no number was published. A row of IRFL's retrieval is one request
            for each image, one with rotations is four.
        metrics: names, in the order of tables: ``f1@60``, then its values for a part of the rows, ``f1@60_muse``.
        headline_metrics: those that the harness's own table has.
    """

    name: str
    kind: str
    benchmark: str
    harnesses: tuple[Harness, ...]
    card: str
    members: tuple[str, ...] = ()
    dataset: str | None = None
    data: str = ""
    rows: int | None = None
    version: str | None = None
    metrics: tuple[str, ...] = ()
    headline_metrics: tuple[str, ...] = ()


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
    as_json: AsJson = False,
) -> None:
    """List the benchmarks, or the tasks of one of them. JSON has version, harnesses and metrics too.

    \b
    figlang tasks irfl
    figlang tasks 'nykms_*_text' --json

    lmms-eval finds the tasks by itself. For lm-eval, which runs the text tasks, name their folder:

    \b
    lm_eval --include_path "$(figlang tasks --path lm_eval)" --tasks flute --model hf \
      --model_args pretrained=ID --apply_chat_template
    """
    if path is not None:
        say(folder(path))
        return
    every = list(definitions().values())
    found = [each for each in every if _matches(each, pattern)]
    if not found:
        meant = did_you_mean(str(pattern), [*names(), MINI, *(each.name for each in every)])
        fail("tasks", f"no task matches {pattern!r}{meant}; `figlang tasks '*'` lists all")
    if as_json:
        say_json([asdict(each) for each in found])
    else:
        say("\n".join(_overview(found) if pattern is None else _listing(found)))


def folder(harness: Harness) -> Path:
    """The folder with the task files for a harness."""
    return resource_dir("task_yamls") / harness


def definitions() -> dict[str, Definition]:
    """All tasks and groups by name: benchmark by benchmark, in the order of their files."""
    found: dict[str, Definition] = {}
    for harness in HARNESSES:
        for file in sorted(folder(harness).rglob("*.yaml")):
            if each := _definition(file, harness):
                known = found.get(each.name)
                found[each.name] = replace(known, harnesses=(*known.harnesses, harness)) if known else each
    order = [*names(), MINI]
    return dict(sorted(found.items(), key=lambda item: (order.index(item[1].benchmark), item[0])))


# --- task files ------------------------------------------------------------------------------------------------------


def _definition(file: Path, harness: Harness) -> Definition | None:
    """What a task file defines; None for one that others include."""
    content = task_files.read(file.resolve())
    below = file.relative_to(folder(harness)).parts[0]
    benchmark = MINI if below == "mini" else below
    define = partial(Definition, benchmark=benchmark, harnesses=(harness,), card=f"docs/cards/{benchmark}.md")
    if isinstance(content.get("group"), str):
        return define(content["group"], "group", members=tuple(_members(content["task"])))
    if not isinstance(content.get("task"), str):
        return None
    asked = _asked(content, harness)
    metrics, headline = _metrics(content["metric_list"])
    return define(
        content["task"],
        "task",
        dataset=asked["dataset"],
        data=", ".join(_words(asked)),
        rows=of_dataset(asked["dataset"]).rows(asked),
        version=str(content["metadata"]["version"]),
        metrics=metrics,
        headline_metrics=headline,
    )


@cache
def _metrics(named: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All metrics of a task file's ``metric_list``, and those of the harness's table."""
    from figlang_tasks.scoring import OVERALL, Measures, full_name

    found = task_files.named(named)
    headline = tuple(row["metric"] for row in found)
    if not isinstance(found, Measures):  # of lm-eval
        return headline, headline
    names = [
        full_name(measure.name, scope)
        for measure in found.all
        for scope in (OVERALL, *(measure.scopes.names if measure.scopes else ()))
    ]
    return tuple(names), headline


def _members(entries: Any) -> Iterator[str]:
    for entry in [entries] if isinstance(entries, str) else entries:
        yield entry if isinstance(entry, str) else entry.get("task") or entry["group"]


def _asked(content: Mapping[str, Any], harness: Harness) -> Mapping[str, str]:
    """What a task says of its data: in ``dataset_name`` (lmms-eval), or in ``dataset_kwargs`` (lm-eval)."""
    return content["dataset_kwargs"] if harness == "lm_eval" else asked_for(content["dataset_name"])[1]


def asked_of(benchmark: str) -> list[Mapping[str, str]]:
    """What the task files of a benchmark ask of its data, each once."""
    found: list[Mapping[str, str]] = []
    for file in sorted((folder("lmms_eval") / benchmark).rglob("*.yaml")):
        content = task_files.read(file.resolve())
        if "task" in content and "dataset_name" in content and _asked(content, "lmms_eval") not in found:
            found.append(_asked(content, "lmms_eval"))
    return found


def _words(asked: Mapping[str, str]) -> Iterator[str]:
    for key, value in asked.items():
        if key in ("prompt", "scorer"):
            yield f"{key} {value}"
        elif key != "dataset":
            yield key if value == "true" else value


# --- the list --------------------------------------------------------------------------------------------------------


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
        about, access, needs = "the same tasks on small data of our own", "ships with the package", ["demo"]
        if name != MINI:
            own = benchmarks()[name]
            about, access = own.about, own.source.access
            needs = [f"scorer {own.scorer}"] * bool(own.scorer) + [
                "Java" if each == "java" else each for each in own.needs
            ]
        yield line(name, about, rows, access, ", ".join(needs)).rstrip()
    yield "\nrows: of the smallest and of the largest task. needs: scorer of explanations, Java, extras of pip."
    yield "`figlang tasks irfl` lists the tasks of a benchmark, `figlang doctor` what this machine lacks."


def _listing(found: Sequence[Definition]) -> Iterator[str]:
    """A line for each task or group."""
    width = max(len(each.name) for each in found)
    yield f"{'':{width}}   rows  data"
    for each in found:
        rows = "-" if each.rows is None else f"{each.rows:,}"
        yield f"{each.name:{width}}  {rows:>5}  {each.data or f'group of {len(each.members)}'}"
    yield "\nrows: as published; - if not. --json also has version, harnesses, metrics and the members of groups."
