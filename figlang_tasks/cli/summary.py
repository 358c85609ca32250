"""Short tables of our tasks' results: values in percent with their intervals, published ones beneath."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from figlang_tasks import scoring
from figlang_tasks.core.hub import OWN
from figlang_tasks.core.text import table
from figlang_tasks.results import measures, published, runs
from figlang_tasks.scoring import OVERALL, Estimate, Estimates
from figlang_tasks.scoring.explained import SCHEMES

_WIDE = 6  # columns; of wider groups each task has its main measure alone


class _Row(NamedTuple):
    """A line of a table: how it is called, its rows of the benchmark, and its estimates by measure."""

    label: str
    n: int | None
    cells: Mapping[str, Estimate]


class _Published(NamedTuple):
    """A line of published figures: how it is called, the figures by measure, and how they came about."""

    label: str
    figures: Mapping[str, published.Published]
    protocol: str


@dataclass(frozen=True)
class _Task:
    """A finished task: its estimates, and what was published for it and may stand beside them."""

    name: str
    estimates: Estimates
    scorer: str | None = None
    published: Sequence[str] = field(default=())  # full names of measures
    left_out: str = ""


def summary_table(results: Mapping[str, Any]) -> str:
    """Return a Markdown table for each group with tasks of ours, and for each benchmark of single ones; "" without any.

    A line is a task; where there is one task, a line is a scope. Published figures stand beneath, of groups the best
    one and that of people. Columns of diagnostic measures that say nothing (all answers were read), and columns and
    scopes of zeros, are left out; a line below the table names those of zeros. There too stand the signature of the
    explanation scorer, how the published figures came about, and why others are left out.

    Args:
        results: what ``simple_evaluate`` returns (or a results file): ``results["results"]``,
            ``results["configs"][task]["metadata"]["measures"]``.
    """
    tasks = {name: _task(results, name, estimates) for name, estimates in runs.reported(results).items()}
    parts = []
    for title, names in _groups(results, tasks).items():
        members = [tasks[name] for name in names]
        mean: _Task | None = None
        if len(members) == 1:
            title, rows, beneath = names[0], _by_scope(members[0].estimates), _published(members[0])
        else:
            rows, beneath = _of_group(title, members)
            mean = _mean(results, title, members)
            if mean is not None:
                members = [*members, mean]
                rows.append(_Row("mean, unweighted", _n(_overall(mean).values()), _overall(mean)))
                beneath += _published(mean)
        parts.append(_table(title, rows, beneath, best=len(members) > 1 and mean is None))
        parts += [scorer_line(each) for each in _unlike(task.scorer for task in members)]
        parts += [f"published, not measured here: {each}" for each in _unlike(line.protocol for line in beneath)]
        parts += _unlike(task.left_out for task in members)
    return "\n\n".join(parts)


def is_ours(results: Mapping[str, Any], name: str) -> bool:
    """Whether `name` in results is a task of ours, or a group of such tasks alone."""
    if members := results.get("group_subtasks", {}).get(name):
        return all(is_ours(results, each) for each in members)
    return runs.measured_metadata(results, name) is not None


def lacks_scores(results: Mapping[str, Any]) -> bool:
    """Whether explanations of a task of ours were to be scored, and have no scores."""
    without = {scheme.without_scorer for scheme in SCHEMES.values()}
    for name, config in results.get("configs", {}).items():
        metadata, options = runs.measured_metadata(results, name), config.get("lmms_eval_specific_kwargs") or {}
        if metadata and metadata.get("explanation_scorer") in without and options.get("scorer") not in ("off", False):
            return True
    return False


def scorer_line(signature: str) -> str:
    """The line that says what the explanation scores were computed with."""
    return f"explanation scorer: {signature}"


def estimates_table(title: str, estimates: Estimates) -> str:
    """Return a Markdown table: a line for each scope, a column for each measure that says something.

    Column ``n`` has the rows of the scope; a measure that was taken over fewer has its own number beside its value.

    Args:
        title: head of the first column.
        estimates: by measure and scope.
    """
    return _table(title, _by_scope(estimates))


# --- what stands in a table -------------------------------------------------------------------------------------------


def _task(results: Mapping[str, Any], name: str, estimates: Estimates) -> _Task:
    metadata = results["configs"][name]["metadata"]
    counts = [estimate.rows for _, _, estimate in scoring.flat(estimates) if estimate.rows is not None]
    scorer = metadata.get("explanation_scorer")
    own = metadata.get("data_revision") == OWN
    run = published.Measured(max(counts, default=0), runs.cut(results, [name]), scorer, own)
    measured = [scoring.full_name(measure, scope) for measure, scope, _ in scoring.flat(estimates)]
    return _Task(name, estimates, scorer, *published.comparable(name, measured, [run]))


def _mean(results: Mapping[str, Any], group: str, members: Sequence[_Task]) -> _Task | None:
    """A group as one task, where its own value, the unweighted mean of its tasks, is what a paper has; else None."""
    if not published.for_task(group):
        return None
    own = {name.partition(",")[0]: value for name, value in results["results"].get(group, {}).items()}
    means = runs.mean_of([task.estimates for task in members])
    estimates = {name: scopes for name, scopes in means.items() if isinstance(own.get(name), float)}
    rows = sum(_n(_overall(task).values()) or 0 for task in members)
    run = published.Measured(rows, runs.cut(results, [task.name for task in members]), members[0].scorer)
    return _Task(group, estimates, members[0].scorer, *published.comparable(group, list(estimates), [run]))


def _overall(task: _Task) -> dict[str, Estimate]:
    return {name: scopes[OVERALL] for name, scopes in task.estimates.items() if OVERALL in scopes}


def _groups(results: Mapping[str, Any], tasks: Mapping[str, _Task]) -> dict[str, list[str]]:
    """The tasks of each table, by its title: those of a group, and of the others those that read one dataset."""
    found: dict[str, list[str]] = {}
    subtasks = results.get("group_subtasks", {})
    grouped = {member for members in subtasks.values() for member in members}
    for name in dict.fromkeys([*subtasks, *tasks]):
        if members := [member for member in subtasks.get(name, ()) if member in tasks]:
            found[name] = members
        elif name in tasks and name not in grouped:
            dataset = str(results["configs"][name].get("dataset_name") or name).partition(",")[0]
            found.setdefault(dataset, []).append(name)
    return found


def _published(task: _Task) -> list[_Published]:
    """All figures that were published for a task, a line for each scope."""
    about = published.protocol(task.name, task.published)
    return [_Published(*line, about) for line in published.lines(task.name, task.published)]


def _of_group(title: str, tasks: Sequence[_Task]) -> tuple[list[_Row], list[_Published]]:
    """A line for each task, and the published figures that matter most."""
    shown = {task.name: list(task.estimates) for task in tasks}
    if len({measure for names in shown.values() for measure in names if not _is_aside(measure)}) > _WIDE:
        shown = {
            task.name: [measures.headline(task.estimates), *filter(_is_diagnostic, task.estimates)] for task in tasks
        }
    rows, beneath = [], []
    for task in tasks:
        label = task.name.removeprefix(f"{title}_")
        overall = {
            name: task.estimates[name][OVERALL] for name in shown[task.name] if OVERALL in task.estimates.get(name, {})
        }
        rows.append(_Row(label, _n(overall.values()), overall))
        for row in _best(task, shown[task.name]):
            beneath.append(
                _Published(f"{label}: {row.label}", row.values, published.protocol(task.name, list(row.values)))
            )
    return rows, beneath


def _best(task: _Task, names: Sequence[str]) -> list[published.PublishedRow]:
    """Of the published figures of a task in a group: the model that is best by its main measure, and people."""
    main = measures.headline(task.estimates)
    wanted = [name for name in names if name in task.published]
    rows = [row for row in published.rows(task.name, [main] if main in wanted else []) if row.values[main].value]
    people = [row for row in rows if row.setting.startswith("humans")]
    models = [row for row in rows if not row.setting.startswith(("humans", "chance"))]
    # Of equally good models the first: a leaderboard has them in its own order.
    best = sorted(models, key=lambda row: row.values[main].value or 0.0, reverse=True)[:1]
    return [row for row in published.rows(task.name, wanted) if row.label in {each.label for each in [*best, *people]}]


def _by_scope(estimates: Estimates) -> list[_Row]:
    rows = []
    for scope in dict.fromkeys([OVERALL, *(scope for _, scope, _ in scoring.flat(estimates))]):
        cells = {name: scopes[scope] for name, scopes in estimates.items() if scope in scopes}
        rows.append(_Row(scope, _n(cells.values()), cells))
    return rows


def _n(estimates: Iterable[Estimate]) -> int | None:
    return max((each.rows for each in estimates if each.rows is not None), default=None)


# --- the table --------------------------------------------------------------------------------------------------------


def _table(title: str, rows: Sequence[_Row], beneath: Sequence[_Published] = (), best: bool = False) -> str:
    """A table of estimates, of published figures beneath (all, or the `best`), and what is 0 and left out in a line."""
    is_group = rows[0].label != OVERALL
    names = list(dict.fromkeys(name for row in rows for name in row.cells))
    compared = {name for line in beneath for name in line.figures}
    columns = [name for name in names if not _is_aside(name) or _tells(name, rows) or name in compared]
    tasks = rows if is_group else rows[:1]  # each has a measure that stands for it, and a line
    kept = {next((name for name in row.cells if name in columns), "") for row in tasks} | compared
    zeros = [name for name in columns if not (name in kept or _may_be_zero(name)) and _is_zero(name, rows)]
    columns = [name for name in columns if name not in zeros]
    scopes = [row for row in rows if row not in tasks and row.cells.keys() & set(columns)]
    nothing = [row.label for row in scopes if all(_is_zero(name, [row]) for name in columns)]
    shown = [[title, "n", *map(measures.with_arrow, columns)]]
    for row in [*tasks, *(row for row in scopes if row.label not in nothing)]:
        cells = [measures.estimate_text(name, row.cells[name], row.n) if name in row.cells else "" for name in columns]
        shown.append([row.label, "" if row.n is None else str(row.n), *cells])
    if beneath:
        shown.append(["published, best:" if best else "published:", *[""] * (len(columns) + 1)])
        figures = published.cells([line.figures for line in beneath], columns)
        shown += [[line.label, "", *of] for line, of in zip(beneath, figures, strict=True)]
    parts = [table(shown)]
    if not is_group and measures.overlap(rows[0].n, [row.n for row in scopes]):
        parts.append("parts overlap: a row counts in each that it belongs to")
    if zeros:
        parts.append(f"0.0 in every line: {', '.join(zeros)}")
    if nothing:
        parts.append(f"0.0 in every column: {', '.join(nothing)}")
    return "\n\n".join(parts)


def _is_diagnostic(name: str) -> bool:
    found = measures.named(name)
    return found is not None and found[0].diagnostic


def _may_be_zero(name: str) -> bool:
    """Whether 0 says something: of the measure that stands for a task, and of a diagnostic one."""
    found = measures.named(name)
    return found is not None and (found[0].main or found[0].diagnostic)


def _is_aside(name: str) -> bool:
    """Whether a measure stands in the results for those who look for it: no headline, or diagnostic."""
    found = measures.named(name)
    return found is not None and (found[0].diagnostic or not found[0].headline)


def _tells(name: str, rows: Sequence[_Row]) -> bool:
    """Whether a measure that stands aside has something to say: it failed, or answers were not read, say."""
    found = measures.named(name)
    values = [row.cells[name].value for row in rows if name in row.cells]
    if any(map(math.isnan, values)):
        return True
    if found is None or not found[0].headline:
        return False
    good = found[0].text(1.0 if found[0].higher_is_better else 0.0)
    return any(found[0].text(value) != good for value in values)


def _is_zero(name: str, rows: Sequence[_Row]) -> bool:
    """Whether a column reads 0.0 in all of some lines; an empty cell does not count."""
    values = [row.cells[name].value for row in rows if name in row.cells]
    return all(not math.isnan(value) and float(measures.text(name, value)) == 0 for value in values)


def _unlike(texts: Iterable[str | None]) -> list[str]:
    return [each for each in dict.fromkeys(texts) if each]
