"""``figlang tasks``: which benchmarks and tasks there are, on what data and with which metrics.

Task files are read as the harnesses read them, but of what they name only the measures are imported: the list is there
at once.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from figlang_tasks import resource_dir
from figlang_tasks.cli import say, say_json
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import Benchmark, benchmarks, names, of_dataset
from figlang_tasks.harness.versions import unknown_harness

Harness = Literal["lmms_eval", "lm_eval"]
HARNESSES: tuple[Harness, ...] = get_args(Harness)
MINI = "figlang_mini"
WIDTH = 100
_ABOUT_MINI = ("the same tasks on small data of our own", "ships with the package", "demo")


@dataclass(frozen=True)
class Definition:
    """A task or a group of tasks.

    Attributes:
        name: what ``--tasks`` takes.
        kind: ``task`` or ``group``.
        benchmark: name of its folder, one of the benchmarks for the published ones; or :data:`MINI`.
        harnesses: which run it.
        card: the page that describes it, in the project's repository; an installed package holds no pages.
        members: of a group: tasks and groups, in order.
        dataset: a key of :func:`figlang_tasks.core.hub.sources`; None for a group.
        data: which part of it: split, table, question ...; "" for a group.
        rows: published rows of that part, those of the package's own data counted; None where no number was
            published. A row of IRFL's retrieval is one request for each image, one with rotations is four.
        version: task version; None for a group.
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
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also show version, harness and metrics of each task.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON list, with all metrics of each task.")
    ] = False,
) -> None:
    """List the benchmarks, or the tasks of one of them.

    \b
    figlang tasks
    figlang tasks irfl
    figlang tasks irfl -v
    figlang tasks 'nykms_*_text'
    figlang tasks --json | jq -r '.[] | select(.kind == "task") | .name'

    lmms-eval finds the tasks by itself. For lm-eval, which runs the text tasks, name their folder:

    \b
    lm_eval --include_path "$(figlang tasks --path lm_eval)" --tasks flute --model hf --model_args pretrained=ID \
      --apply_chat_template

    Exit status: 0, 1 if no task matches, 2 wrong usage.
    """
    if path is not None:
        if pattern is not None or as_json or verbose:
            raise typer.BadParameter("--path goes with nothing else")
        if message := unknown_harness(path.replace("_", "-")):
            say(f"figlang tasks: {message}", err=True)
        say(folder(path))
        return
    every = list(definitions().values())
    found = [each for each in every if _matches(each, pattern)]
    if not found:
        from figlang_tasks.core.text import did_you_mean

        meant = did_you_mean(str(pattern), [*names(), MINI, *(each.name for each in every)])
        say(
            f"figlang tasks: no task matches {pattern!r}{meant}; benchmarks: {', '.join([*names(), MINI])}; names "
            f"may hold * and ?; `figlang tasks -v` lists all",
            err=True,
        )
        raise typer.Exit(1)
    if as_json:
        say_json([asdict(each) for each in found])
    elif pattern is None and not verbose:
        say(_overview(found))
    else:
        say(_listing(found, verbose))


def folder(harness: Harness) -> Path:
    """The folder with the task files for a harness."""
    return resource_dir("task_yamls") / harness


def definitions() -> dict[str, Definition]:
    """All tasks and groups by name: benchmark by benchmark, in the order of their files."""
    found: dict[str, Definition] = {}
    for harness in HARNESSES:
        for file in sorted(folder(harness).rglob("*.yaml")):
            each = _definition(file, harness)
            if each is not None and each.name in found:
                known = found[each.name]
                found[each.name] = replace(known, harnesses=(*known.harnesses, harness))
            elif each is not None:
                found[each.name] = each
    order = dict.fromkeys([*names(), MINI])
    places = {benchmark: place for place, benchmark in enumerate(order)}
    return dict(sorted(found.items(), key=lambda item: (places[item[1].benchmark], item[0])))


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


def _asked(content: Mapping[str, Any], harness: Harness) -> dict[str, str]:
    """What a task says of its data: in ``dataset_name`` (lmms-eval), or in ``dataset_kwargs`` (lm-eval)."""
    from figlang_tasks.core import hub

    return content["dataset_kwargs"] if harness == "lm_eval" else hub.read_name(content["dataset_name"])


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


def _overview(found: Sequence[Definition]) -> str:
    """A line for each benchmark."""
    lines = [_overview_line(("benchmark", "what it measures", "rows", "access", "needs"))]
    for name in dict.fromkeys(each.benchmark for each in found):
        counts = sorted({each.rows for each in found if each.benchmark == name and each.rows is not None})
        rows = "-".join(f"{count:,}" for count in dict.fromkeys([*counts[:1], *counts[-1:]]))
        about, access, needs = _ABOUT_MINI if name == MINI else _about(benchmarks()[name])
        lines.append(_overview_line((name, about, rows, access, needs)))
    lines += ["", "rows: of the smallest and of the largest task. needs: scorer of explanations, Java, extras of pip."]
    lines += ["`figlang tasks irfl` lists the tasks of a benchmark, `figlang doctor` what this machine lacks."]
    return "\n".join(lines)


def _overview_line(cells: tuple[str, str, str, str, str]) -> str:
    name, about, rows, access, needs = cells
    return f"{name:12}  {about:39}  {rows:>11}  {access:14}  {needs}".rstrip()


def _about(benchmark: Benchmark) -> tuple[str, str, str]:
    needs = [f"scorer {benchmark.scorer}"] if benchmark.scorer else []
    needs += ["Java" if need == "java" else need for need in benchmark.needs]
    return benchmark.about, benchmark.source.access, ", ".join(needs)


def _listing(found: Sequence[Definition], verbose: bool) -> str:
    """A line for each task or group; `verbose`: beneath it its version, harnesses, and metrics or members."""
    width = max(len(each.name) for each in found)
    lines = [f"{'':{width}}   rows  data"]
    for each in found:
        rows = "-" if each.rows is None else f"{each.rows:,}"
        lines.append(f"{each.name:{width}}  {rows:>5}  {each.data or f'group of {len(each.members)}'}")
        if verbose:
            parts = [each.version, ", ".join(each.harnesses), ", ".join(each.headline_metrics or each.members)]
            text = "; ".join(part for part in parts if part)
            lines += [f"    {line}" for line in textwrap.wrap(text, WIDTH - 4, break_on_hyphens=False)]
    lines += ["", "rows: as published; - if not. -v also shows version, harness, metrics and the members of groups."]
    return "\n".join(lines)
