"""``figlang compare``: differences between runs with paired tests, and the papers' rows beside them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from figlang_tasks.cli import compare_latex, say, say_json
from figlang_tasks.core.text import csv_text, printable, table

if TYPE_CHECKING:
    from figlang_tasks.results.comparison import Difference
    from figlang_tasks.results.runs import Run, TaskRun
    from figlang_tasks.scoring import Measure

Format = Literal["md", "csv", "latex"]

_LISTED = 5
_SECONDS_BEFORE_A_BAR = 2
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN RUN...",
            help="Two runs or more: the samples file, results file or folder of each; NAME=PATH gives it a "
            'name. Runs of one name are repeats (other seeds): "NAME=runs/a_seed*".',
            show_default=False,
        ),
    ],
    task: Annotated[
        list[str] | None, typer.Option(help="Compare only this task; may be repeated.", show_default="all shared")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare only this metric, with all sources (f1@60) or for one (f1@60_muse); may be repeated.",
            show_default="all",
        ),
    ] = None,
    overall: Annotated[bool, typer.Option("--overall", help="Show only all rows together, not each source.")] = False,
    paper: Annotated[bool, typer.Option("--paper", help="Also show the papers' results.")] = False,
    all_tests: Annotated[
        bool,
        typer.Option("--all-tests", help="Also show p of the one-sided paired bootstrap, as V-FLUTE's paper does."),
    ] = False,
    resamples: Annotated[
        int, typer.Option(min=100, help="Number of bootstrap resamples and of random swaps.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of resamples and swaps.")] = 20240501,
    style: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="md: tables in Markdown. csv: all numbers of the differences, on the metric's own scale. latex: "
            "tables for a paper (booktabs).",
            show_default="md",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Compare runs on the same rows: is one model better than another?

    For each pair of runs, metric and source, the command prints the difference with its 95 % interval, p of the
    two-sided test of approximate randomization, and p after Holm's adjustment for all tests of the command. * marks
    adjusted p below .05. Each further test costs power, so choose what you want to know (--metric, --overall). The last
    lines say for each pair which run is better by the main metric of the task.

    Runs of one name are repeats that differ in the seed alone. The command compares their mean, and the test is over
    rows and seeds.

    \b
    figlang compare results/model_a results/model_b
    figlang compare base=a_samples_vflute.jsonl tuned=b_samples_vflute.jsonl --metric f1@0 --metric f1@60 --paper
    figlang compare image=x_samples_vflute.jsonl no_image=x_samples_vflute_blind.jsonl --overall
    figlang compare results/model_a results/model_b --overall --format latex > table.tex
    figlang compare "probe=runs/probe_seed*" "base=runs/base_seed*" --overall

    Exit status: 0 compared, 1 not comparable or not readable, 2 wrong usage.
    """
    if as_json and style is not None:
        raise typer.BadParameter("--json and --format are two formats: name one")
    if style == "csv" and paper:
        raise typer.BadParameter("--paper goes with --format md, --format latex and --json")
    from tqdm import tqdm

    from figlang_tasks.results.comparison import ComparisonError
    from figlang_tasks.results.comparison import compare as compare_runs
    from figlang_tasks.results.runs import RunError, read_all, with_folds
    from figlang_tasks.results.verdict import verdicts

    try:
        found = [with_folds(run, task or ()) for run in read_all(runs, repeats=True)]
        with tqdm(
            total=1, desc="comparing", delay=_SECONDS_BEFORE_A_BAR, leave=False, disable=None, bar_format=_BAR
        ) as bar:
            differences = compare_runs(found, metric, task, overall, resamples, seed, progress=bar.update)
    except RunError as error:
        _fail(str(error))
    except ComparisonError as error:
        if as_json:
            say_json({"error": str(error), "ids": error.ids})
        more = any(len(ids) > _LISTED for ids in error.ids.values()) and not as_json
        _fail(f"{error}" + " (--json lists all ids)" * more)
    if as_json:
        say_json(_content(found, differences, paper, resamples, seed))
    elif style == "csv":
        say("\n".join([*_caveats(found, differences), *verdicts(differences)]), err=True)
        say(_csv(differences), nl=False)
    elif style == "latex":
        say(_latex(found, differences, paper, resamples, seed))
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
    from figlang_tasks.results.verdict import count_tests, verdicts

    by_name = {run.name: run for run in runs}
    content: dict[str, Any] = {
        "runs": [{"name": run.name, "path": str(run.path), "limited": limited(run)} for run in runs],
        "resamples": resamples,
        "seed": seed,
        "tests": count_tests(differences),
        "differences": [asdict(each) for each in differences],
        "headlines": verdicts(differences),
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
    from figlang_tasks.results.verdict import ALPHA, verdicts

    by_name = {run.name: run for run in runs}
    parts = _caveats(runs, differences)
    for task in _tasks(differences):
        own = [each for each in differences if each.task == task]
        parts.append(f"## {task}")
        parts.append(_values(task, by_name, own, paper))
        parts += _scorers(task, _runs_of(own, by_name))
        for pair in _pairs(own):
            parts.append(_pair(pair, by_name, all_tests))
    more = _of_folds(runs, differences) + _of_repeats(differences) + _of_parts(differences)
    more += " p bootstrap: paired bootstrap, one-sided, as V-FLUTE reports it; it is too small." * all_tests
    parts.append(
        f"Shares in percent, with 95 % intervals. p: approximate randomization, two-sided, {resamples:,} random swaps, "
        f"seed {seed}. smallest: with these rows, less of a difference has p below {ALPHA} in fewer than four of five "
        f"samples. p Holm: adjusted for the {_counted(differences)} shown; * below {ALPHA}.{more}"
    )
    return "\n\n".join([*parts, "\n".join(verdicts(differences))])


def _of_folds(runs: Sequence[Run], differences: Sequence[Difference]) -> str:
    """Which tasks are means of folds, if any are."""
    folds = {name: len(of.folds) for run in runs for name, of in run.tasks.items() if of.folds}
    return "".join(f" {task}: unweighted mean of {folds[task]} folds." for task in _tasks(differences) if task in folds)


def _of_repeats(differences: Sequence[Difference]) -> str:
    """How runs with repeats were tested, if there are any."""
    if all(each.p_repeats is None for each in differences):
        return ""
    return " Runs with repeats: mean ± sd; t over rows and seeds, standard error by a hierarchical bootstrap."


def _of_parts(differences: Sequence[Difference]) -> str:
    """That sources overlap, where they do."""
    from figlang_tasks.results import measures
    from figlang_tasks.scoring import OVERALL

    counts: dict[tuple[str, ...], dict[str, int | None]] = {}
    for each in differences:
        counts.setdefault((each.task, each.metric, each.first, each.second), {})[each.scope] = each.n_first
    overlap = any(measures.overlap(of.pop(OVERALL, None), of.values()) for of in counts.values())
    return " Sources overlap: a row counts in each that it belongs to." * overlap


def _csv(differences: Sequence[Difference]) -> str:
    """A line for each difference: the fields of `Difference`, nothing where there is no number."""
    from figlang_tasks.results.comparison import Difference

    return csv_text([field.name for field in fields(Difference)], [list(asdict(each).values()) for each in differences])


def _latex(runs: Sequence[Run], differences: Sequence[Difference], paper: bool, resamples: int, seed: int) -> str:
    """A table of each task, and of the sources of each metric where they were compared."""
    from figlang_tasks.results.verdict import verdicts

    by_name = {run.name: run for run in runs}
    how = (
        f"95 % intervals. Best value bold. Superscripts: significantly better than that run (p < .05, approximate "
        f"randomization, two-sided, {resamples:,} swaps, seed {seed}; Holm's method for {_counted(differences)})."
        f"{_of_folds(runs, differences)}{_of_repeats(differences)}"
    )
    parts = ["\n".join(f"% {line}" for line in [r"\usepackage{booktabs}", *_caveats(runs, differences)])]
    for task in _tasks(differences):
        own = [each for each in differences if each.task == task]
        whole, compared = _metrics_of_whole(own), _runs_of(own, by_name)
        published, told = _published_rows(task, compared, whole) if paper else ([], [])
        counts = sorted({_task_of(run, task).rows for run in compared})
        title = f"{task}, n = {' / '.join(map(str, counts))}. {how}"
        parts.append(compare_latex.table(title, whole, _cells(task, by_name, own, whole), published))
        parts += [f"% {printable(line)}" for line in told]
        for metric in dict.fromkeys(each.metric for each in own):
            of = {each.name: each for each in own if each.metric == metric and each.name not in whole}
            if of:
                heads = [f"{each.scope} ({each.n_first})" for each in of.values()]
                title = f"{task}, {metric} by source (rows of each)."
                parts.append(compare_latex.table(title, heads, _cells(task, by_name, own, list(of), with_rows=False)))
    parts.append("\n".join(f"% {sentence}" for sentence in verdicts(differences)))
    return "\n\n".join(parts)


def _cells(
    task: str, by_name: Mapping[str, Run], own: Sequence[Difference], names: Sequence[str], with_rows: bool = True
) -> dict[str, list[compare_latex.Cell]]:
    """By run a cell for each of `names`; empty where the run has no value."""
    from figlang_tasks.results.verdict import better

    cells: dict[str, list[compare_latex.Cell]] = {run.name: [] for run in _runs_of(own, by_name)}
    for name in names:
        pairs = [each for each in own if each.name == name]
        values = {run: value for each in pairs for run, value in _values_of(each)}
        texts = _value_texts(task, by_name, pairs, with_rows)
        measure = _measure(pairs[0], by_name)
        shown = {run: measure.text(value) for run, value in values.items()}
        best = max(values.values()) if measure.higher_is_better else min(values.values())
        for run in cells:
            above = [each.first if each.second == run else each.second for each in pairs if better(each) == run]
            is_best = shown.get(run) == measure.text(best)
            cells[run].append(compare_latex.Cell(texts.get((run, name), ""), is_best, above))
    return cells


def _caveats(runs: Sequence[Run], differences: Sequence[Difference]) -> list[str]:
    from figlang_tasks.results.runs import caveats

    tasks, compared = _tasks(differences), {name for each in differences for name in (each.first, each.second)}
    found = [caveat for run in runs if run.name in compared for caveat in caveats(run, tasks)]
    return list(dict.fromkeys(map(printable, found)))


def _pairs(own: Sequence[Difference]) -> Iterator[list[Difference]]:
    """The differences of a task by pair of runs."""
    for _, pair in itertools.groupby(own, key=lambda each: (each.first, each.second)):
        yield list(pair)


def _counted(differences: Sequence[Difference]) -> str:
    from figlang_tasks.results.verdict import count_tests

    tests = count_tests(differences)
    return f"{tests} test{'s' * (tests != 1)}"


def _tasks(differences: Sequence[Difference]) -> list[str]:
    return list(dict.fromkeys(each.task for each in differences))


def _metrics_of(differences: Sequence[Difference], task: str) -> list[str]:
    return list(dict.fromkeys(each.name for each in differences if each.task == task))


def _runs_of(differences: Sequence[Difference], by_name: Mapping[str, Run]) -> list[Run]:
    return [by_name[name] for name in dict.fromkeys(name for each in differences for name in (each.first, each.second))]


def _metrics_of_whole(own: Sequence[Difference]) -> list[str]:
    """The names of the metrics of the whole; where none was compared, those of the sources."""
    from figlang_tasks.scoring import OVERALL

    whole = [each.name for each in own if each.scope == OVERALL] or [each.name for each in own]
    return list(dict.fromkeys(whole))


def _values(task: str, by_name: Mapping[str, Run], own: Sequence[Difference], paper: bool) -> str:
    """A table of the runs, and of what was published, by the metrics of the whole."""
    from figlang_tasks.results import measures

    metrics, compared = _metrics_of_whole(own), _runs_of(own, by_name)
    cells = _value_texts(task, by_name, own)
    rows = [["", "n", *map(measures.with_arrow, metrics)]]
    for run in compared:
        own_cells = [cells.get((run.name, metric), "") for metric in metrics]
        rows.append([_with_repeats(run.name, own), str(_task_of(run, task).rows), *own_cells])
    if not paper:
        return table(rows)
    published, told = _published_rows(task, compared, metrics)
    rows += [[label, "", *texts] for label, texts in published]
    return "\n\n".join([table(rows), *told])


def _scorers(task: str, runs: Sequence[Run]) -> list[str]:
    """What the explanation scores of the runs were computed with."""
    from figlang_tasks.cli.summary import scorer_line

    found = dict.fromkeys(_task_of(run, task).signature or _task_of(run, task).scorer for run in runs)
    return [scorer_line(each) for each in found if each]


def _with_repeats(name: str, own: Sequence[Difference]) -> str:
    """The name of a run, and how many repeats its values are the means of."""
    repeats = max(
        each.repeats_first if each.first == name else each.repeats_second
        for each in own
        if name in (each.first, each.second)
    )
    return name if repeats == 1 else f"{name} ({repeats} runs)"


def _values_of(each: Difference) -> tuple[tuple[str, float], tuple[str, float]]:
    return (each.first, each.value_first), (each.second, each.value_second)


def _value_texts(
    task: str, by_name: Mapping[str, Run], own: Sequence[Difference], with_rows: bool = True
) -> dict[tuple[str, str], str]:
    """Values with their intervals by run and name of the metric; with their rows where these are fewer than all."""
    cells = {}
    for each in own:
        first, second = (_task_of(by_name[name], task) for name in (each.first, each.second))
        n_first, n_second = (each.n_first, each.n_second) if with_rows else (None, None)
        cells[each.first, each.name] = _cell(each, each.value_first, each.sd_first, n_first, first)
        cells[each.second, each.name] = _cell(each, each.value_second, each.sd_second, n_second, second)
    return cells


def _published_rows(
    task: str, runs: Sequence[Run], metrics: Sequence[str]
) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """Rows of what was published, a text for each metric, and what is said of them."""
    from figlang_tasks.results import published

    comparable, left_out = _comparable(task, runs, metrics)
    found = published.rows(task, comparable)
    texts = published.cells([row.values for row in found], metrics)
    rows = [(f"{row.label} (published, {row.table})", shown) for row, shown in zip(found, texts, strict=True)]
    told = [f"published: {published.protocol(task, comparable)}"] * bool(comparable) + [left_out] * bool(left_out)
    return rows, told or ["published: we know of no published figures for this task and these metrics"]


def _comparable(task: str, runs: Sequence[Run], metrics: Sequence[str]) -> tuple[list[str], str]:
    """The metrics of which published figures may stand beside the runs, and why others may not."""
    from figlang_tasks.results import published
    from figlang_tasks.results.runs import measured

    return published.comparable(task, metrics, [measured(_task_of(run, task)) for run in runs])


def _task_of(run: Run, task: str) -> TaskRun:
    """Its run of the task; of a comparison across tasks the only one it has."""
    return run.tasks[task] if task in run.tasks else next(iter(run.tasks.values()))


def _measure(each: Difference, runs: Mapping[str, Run]) -> Measure:
    return _task_of(runs[each.first], each.task).measures.by_name[each.metric]


def _cell(each: Difference, value: float, sd: float | None, n: int | None, run: TaskRun) -> str:
    """A value with its interval, as reported where it was, and its own number of rows; the mean and sd of repeats."""
    from figlang_tasks.results.measures import estimate_text, text
    from figlang_tasks.scoring import Estimate

    if sd is not None:
        return f"{text(each.metric, value)} ± {text(each.metric, sd)}"
    reported = run.estimates.get(each.metric, {}).get(each.scope)
    if reported is None or not math.isclose(reported.value, value, abs_tol=1e-6):
        reported = Estimate(value)  # the results file is of another run, which a warning said
    return estimate_text(each.metric, reported._replace(value=value, rows=n), run.rows)


def _pair(own: Sequence[Difference], by_name: Mapping[str, Run], all_tests: bool) -> str:
    from figlang_tasks.results import measures
    from figlang_tasks.results.verdict import difference_text

    first, second = own[0].first, own[0].second
    rows = [["metric", "source", "n", first, second, "difference", "smallest", "p", "p Holm"]]
    rows[0] += ["p bootstrap"] * all_tests
    for each in own:
        text = _measure(each, by_name).text
        counts = " / ".join(dict.fromkeys(str(count) for count in (each.n_first, each.n_second) if count is not None))
        smallest = "" if each.smallest is None else text(each.smallest)
        shown = [text(each.value_first), text(each.value_second), difference_text(each), smallest]
        rows.append([measures.with_arrow(each.metric), each.scope, counts, *shown, *_p_values(each, all_tests)])
    return f"{printable(second)} against {printable(first)}\n\n{table(rows)}"


def _p_values(each: Difference, all_tests: bool) -> list[str]:
    from figlang_tasks.results.verdict import ALPHA, LEAST_P

    if each.p is None or each.p_holm is None or each.p_bootstrap is None:
        return ["no test", "", *[""] * all_tests]
    cells = ["<0.0001" if p < LEAST_P else f"{p:.4f}" for p in (each.p, each.p_holm, each.p_bootstrap)]
    cells[1] += "*" if each.p_holm < ALPHA else " "
    return cells if all_tests else cells[:2]
