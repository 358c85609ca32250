"""``figlang compare``: differences between runs with paired tests, and the papers' rows beside them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from figlang_tasks.cli import say, say_json
from figlang_tasks.core.text import printable, table

if TYPE_CHECKING:
    from figlang_tasks.results.comparison import Difference
    from figlang_tasks.results.runs import Run, TaskRun
    from figlang_tasks.scoring import Measure

_ALPHA = 0.05
_SECONDS_BEFORE_A_BAR = 2
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN RUN...",
            help="Samples file, results file or folder of a run, each; NAME=PATH gives it a name.",
            show_default=False,
        ),
    ],
    task: Annotated[
        list[str] | None, typer.Option(help="Compare this task alone; may be given again.", show_default="all shared")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare by this metric alone, with its sources (f1@60) or for one (f1@60_muse); may be given again.",
            show_default="all",
        ),
    ] = None,
    overall: Annotated[bool, typer.Option("--overall", help="Leave out the sources.")] = False,
    paper: Annotated[bool, typer.Option("--paper", help="Put the papers' rows beside the runs.")] = False,
    scorer: Annotated[
        str | None, typer.Option(help="Explanation scores of this scorer, where there are several.", show_default=False)
    ] = None,
    all_tests: Annotated[
        bool, typer.Option("--all-tests", help="Show p of the paired bootstrap too, one-sided, as V-FLUTE reports it.")
    ] = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples, and random swaps.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of both.")] = 20240501,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Compare runs on the same rows: is one model better than another?

    For each pair, metric and source: the difference with its 95 % interval, p of approximate randomization (two-sided),
    and the same adjusted by Holm's method for all tests of the call; * where that is below .05. A source has few rows:
    ask for what you want to know (--metric, --overall), rather than for all.

    \b
    figlang compare results/model_a results/model_b
    figlang compare base=a_samples_vflute.jsonl tuned=b_samples_vflute.jsonl --metric f1@0 --metric f1@60 --paper
    figlang compare image=x_samples_vflute.jsonl no_image=x_samples_vflute_blind.jsonl --overall

    Exit status: 0 compared, 1 not comparable or not readable, 2 wrong usage.
    """
    from tqdm import tqdm

    from figlang_tasks.results.comparison import ComparisonError
    from figlang_tasks.results.comparison import compare as compare_runs
    from figlang_tasks.results.runs import RunError, read_all

    try:
        found = read_all(runs, scorer)
        with tqdm(
            total=1, desc="comparing", delay=_SECONDS_BEFORE_A_BAR, leave=False, disable=None, bar_format=_BAR
        ) as bar:
            differences = compare_runs(found, metric, task, overall, resamples, seed, progress=bar.update)
    except (RunError, ComparisonError) as error:
        _fail(str(error))
    if as_json:
        say_json(_content(found, differences, paper, resamples, seed))
    else:
        say(_text(found, differences, paper, all_tests, resamples, seed))


def _fail(message: str) -> NoReturn:
    say(f"figlang compare: {printable(message)}", err=True)
    raise typer.Exit(1)


def _content(
    runs: Sequence[Run], differences: Sequence[Difference], paper: bool, resamples: int, seed: int
) -> dict[str, Any]:
    from figlang_tasks.results import published
    from figlang_tasks.results.runs import limited

    by_name = {run.name: run for run in runs}
    content: dict[str, Any] = {
        "runs": [{"name": run.name, "path": str(run.path), "limited": limited(run)} for run in runs],
        "resamples": resamples,
        "seed": seed,
        "tests": _tests(differences),
        "differences": [asdict(each) for each in differences],
    }
    if paper:
        comparable = {}
        for task in _tasks(differences):
            own = [each for each in differences if each.task == task]
            comparable[task] = _comparable(task, _runs_of(own, by_name), _metrics_of(differences, task))
        content["published"] = {
            task: [
                {
                    "model": row.model,
                    "setting": row.setting,
                    "paper": row.paper,
                    "table": row.table,
                    "source": row.source,
                    "values": {name: figure.value for name, figure in row.values.items()},
                }
                for row in published.rows(task, shown)
            ]
            for task, (shown, _) in comparable.items()
        }
        content["published_left_out"] = {task: told for task, (_, told) in comparable.items() if told}
    return content


def _text(
    runs: Sequence[Run], differences: Sequence[Difference], paper: bool, all_tests: bool, resamples: int, seed: int
) -> str:
    from figlang_tasks.results.runs import caveats

    parts = [printable(caveat) for run in runs for caveat in caveats(run)]
    for task in _tasks(differences):
        own = [each for each in differences if each.task == task]
        parts.append(f"## {task}")
        parts.append(_values(task, runs, own, paper))
        for _, pair in itertools.groupby(own, key=lambda each: (each.first, each.second)):
            parts.append(_pair(list(pair), {run.name: run for run in runs}, all_tests))
    bootstrap = " p bootstrap: paired bootstrap, one-sided, as V-FLUTE reports it; it is too small." * all_tests
    parts.append(
        f"Shares in percent, with 95 % intervals. p: approximate randomization, two-sided, {resamples:,} random swaps, "
        f"seed {seed}. p Holm: adjusted for the {_tests(differences)} tests shown; * below {_ALPHA}.{bootstrap}"
    )
    return "\n\n".join(parts)


def _tests(differences: Sequence[Difference]) -> int:
    return sum(each.p_randomization is not None for each in differences)


def _tasks(differences: Sequence[Difference]) -> list[str]:
    return list(dict.fromkeys(each.task for each in differences))


def _metrics_of(differences: Sequence[Difference], task: str) -> list[str]:
    return list(dict.fromkeys(each.name for each in differences if each.task == task))


def _runs_of(differences: Sequence[Difference], by_name: Mapping[str, Run]) -> list[Run]:
    return [by_name[name] for name in dict.fromkeys(name for each in differences for name in (each.first, each.second))]


def _values(task: str, runs: Sequence[Run], own: Sequence[Difference], paper: bool) -> str:
    """A table of the runs, and of what was published, by the metrics of the whole."""
    from figlang_tasks.results import published
    from figlang_tasks.scoring import OVERALL

    metrics = list(dict.fromkeys(each.name for each in own if each.scope == OVERALL)) or _metrics_of(own, task)
    by_name = {run.name: run for run in runs}
    compared = _runs_of(own, by_name)
    cells = {}
    for each in own:
        first, second = (_task_of(by_name[name], task) for name in (each.first, each.second))
        cells[each.first, each.name] = _cell(each, each.value_first, each.n_first, first)
        cells[each.second, each.name] = _cell(each, each.value_second, each.n_second, second)
    rows = [["", "n", *metrics]]
    for run in compared:
        own_cells = [cells.get((run.name, metric), "") for metric in metrics]
        rows.append([run.name, str(_task_of(run, task).rows), *own_cells])
    if not paper:
        return table(rows)
    comparable, left_out = _comparable(task, compared, metrics)
    for row in published.rows(task, comparable):
        shown = [row.values[metric].text() if metric in row.values else "" for metric in metrics]
        rows.append([f"{row.label} (published, {row.table})", "", *shown])
    told = [f"published: {published.protocol(task, comparable)}"] * bool(comparable) + [left_out] * bool(left_out)
    told = told or ["published: nothing is known to be published for this task"]
    return "\n\n".join([table(rows), *told])


def _comparable(task: str, runs: Sequence[Run], metrics: Sequence[str]) -> tuple[list[str], str]:
    """The metrics of which published figures may stand beside the runs, and why others may not."""
    from figlang_tasks.results import published
    from figlang_tasks.results.runs import measured

    return published.comparable(task, metrics, [measured(run, _task_of(run, task)) for run in runs])


def _task_of(run: Run, task: str) -> TaskRun:
    """Its run of the task; of a comparison across tasks the only one it has."""
    return run.tasks[task] if task in run.tasks else next(iter(run.tasks.values()))


def _measure(each: Difference, runs: Mapping[str, Run]) -> Measure:
    return _task_of(runs[each.first], each.task).measures.by_name[each.metric]


def _cell(each: Difference, value: float, n: int | None, run: TaskRun) -> str:
    """A value with its interval, as reported where it was, and its own number of rows."""
    from figlang_tasks.results.measures import estimate_text
    from figlang_tasks.scoring import Estimate

    reported = run.estimates.get(each.metric, {}).get(each.scope)
    if reported is None or not math.isclose(reported.value, value, abs_tol=1e-6):
        reported = Estimate(value)  # the results file is of another run, which a warning said
    return estimate_text(each.metric, reported._replace(value=value, rows=n), run.rows)


def _pair(own: Sequence[Difference], by_name: Mapping[str, Run], all_tests: bool) -> str:
    first, second = own[0].first, own[0].second
    rows = [["metric", "source", "n", first, second, "difference", "p", "p Holm", *["p bootstrap"] * all_tests]]
    for each in own:
        text = _measure(each, by_name).text
        counts = " / ".join(dict.fromkeys(str(count) for count in (each.n_first, each.n_second) if count is not None))
        shown = [text(each.value_first), text(each.value_second), _difference(each, text)]
        rows.append([each.metric, each.scope, counts, *shown, *_p_values(each, all_tests)])
    return f"{printable(second)} against {printable(first)}\n\n{table(rows)}"


def _difference(each: Difference, text: Callable[[float], str]) -> str:
    numbers = [each.difference, each.low, each.high]
    shown = [f"{'+' * (number > 0)}{text(number)}" for number in numbers if number is not None]
    return shown[0] if len(shown) == 1 else f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _p_values(each: Difference, all_tests: bool) -> list[str]:
    if each.p_randomization is None or each.p_holm is None or each.p_bootstrap is None:
        return ["no test", "", *[""] * all_tests]
    star = "*" if each.p_holm < _ALPHA else " "
    return [f"{each.p_randomization:.4f}", f"{each.p_holm:.4f}{star}", *[f"{each.p_bootstrap:.4f}"] * all_tests]
