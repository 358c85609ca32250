"""Short tables of our tasks' results: values in percent with their intervals, published ones
beneath.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks import scoring
from figlang_tasks.core.hub import OWN
from figlang_tasks.results import frame, measures, published, results_file, tables
from figlang_tasks.scoring import OVERALL, Estimates
from figlang_tasks.scoring.output_warnings import leaves_words, read_command, unread_warning

if TYPE_CHECKING:
    import pandas as pd

_WIDE = 6  # columns; wider groups have the main measures of their tasks alone


@dataclass(frozen=True)
class _Task:
    """A finished task: its estimates, and what was published for it and may stand beside them."""

    name: str
    estimates: Estimates
    conditions: published.RunConditions
    version: str  # of this package, which scored it
    published: Sequence[str]  # full names of measures
    left_out: str  # why other figures are left out
    unread: str  # what unread answers mean for the score; "" where nearly all were read

    @property
    def overall(self) -> list[str]:
        """The measures with a value of all rows."""
        return [name for name, scopes in self.estimates.items() if OVERALL in scopes]


def summary_table(results: Mapping[str, Any]) -> str:
    """A Markdown table for each group with tasks of ours, and for each benchmark of single ones; ""
    without any.

    A line is a task; where there is one task, a line is a scope, and published figures stand
    beneath.
    """
    reported = results_file.reported_estimates(results)
    tasks = {name: _task(results, name, estimates) for name, estimates in reported.items()}
    parts = []
    for title, names in _groups(results, tasks).items():
        members = [tasks[name] for name in names]
        alone = members[0] if len(members) == 1 else None
        parts += _of_task(alone) if alone else [_of_group(title, members)]
        parts += [
            f"explanation scorer: {each}"
            for each in _unlike(task.conditions.scorer for task in members)
        ]
        places = [_place(task) for task in members]
        if alone:
            about = published.protocol_text(alone.name, alone.published)
            parts += _unlike([about and f"published, not measured here: {about}", alone.left_out])
            places.append(_shared(results_file.model_name(results), alone))
        parts += _unlike(["\n".join(_unlike(places))])
        parts += [f"{task.name}: {task.unread}" for task in members if task.unread]
    return "\n\n".join(parts)


def is_ours(results: Mapping[str, Any], name: str) -> bool:
    """Whether `name` in results is a task of ours, or a group of such tasks alone."""
    if members := results.get("group_subtasks", {}).get(name):
        return all(is_ours(results, each) for each in members)
    return results_file.measured_metadata(results, name) is not None


def next_commands(results: Iterable[Mapping[str, Any]], folder: Path) -> str:
    """What to type after a run whose samples were saved in a folder; `results` are its results
    files.
    """
    report = f"next: figlang report {shlex.quote(str(folder))} -o report.html"
    for content in results:
        for name in content["results"]:
            readings = (results_file.measured_metadata(content, name) or {}).get("readings")
            if unread_warning(readings) and leaves_words(readings):
                return (
                    f"{report}\nto have a language model read what is left:"
                    f" {read_command(str(folder))}"
                )
    return report


# --- what stands in a table ---


def _task(results: Mapping[str, Any], name: str, estimates: Estimates) -> _Task:
    metadata = results["configs"][name]["metadata"]
    counts = [
        estimate.rows for _, _, estimate in scoring.flat(estimates) if estimate.rows is not None
    ]
    conditions = published.RunConditions(
        rows=max(counts, default=0),
        partial=results_file.partial_reason(results, name),
        scorer=metadata.get("explanation_scorer"),
        has_user_rows=metadata.get("data_revision") == OWN,
        data=str(metadata.get("data") or "").partition("@")[0],
    )
    version = str((metadata.get("versions") or {}).get("figlang-tasks", "of unknown version"))
    names = [scoring.full_name(measure, scope) for measure, scope, _ in scoring.flat(estimates)]
    figures, left_out = published.comparable_metrics(name, names, [conditions])
    return _Task(
        name,
        estimates,
        conditions,
        version,
        figures,
        left_out,
        unread_warning(metadata.get("readings")),
    )


def _place(task: _Task) -> str:
    """Where a run would stand among published models, by the main metric or the first that has
    some; "" without any.
    """
    main = [name for name in task.published if name == measures.headline_metric(task.overall)]
    for name in [*main, *task.published]:
        measure, scope = published.measure_and_scope(name)
        own, sign = task.estimates[measure.name][scope].value, -1 if measure.higher_is_better else 1
        rows = published.published_rows(task.name, [name])
        models = [
            (row.label, row.values[name]) for row in rows if row.kind not in published.WITHOUT_MODEL
        ]
        order = sorted(
            (sign * of.value, f"{label} ({of.text()})")
            for label, of in models
            if of.value is not None
        )
        if order and not math.isnan(own):
            above = [text for value, text in order if value < sign * own]
            told = [f"after {text}" for text in above[-1:]]
            told += [f"before {text}" for _, text in order[len(above) :][:1]]
            beside = f"{len(order)} published model{'s' * (len(order) > 1)}, {', '.join(told)}"
            return (
                f"{task.name}: place {len(above) + 1} by {measures.name_text(name)} beside {beside}"
            )
    return ""


def _shared(model: str, task: _Task) -> str:
    """One line that says what was measured; "" for a run that was cut short, or of an unknown
    model.
    """
    main, run = measures.headline_metric(task.overall), task.conditions
    if not (model and main) or measures.measure_of(main).is_diagnostic or run.partial:
        return ""
    value = measures.estimate_text(main, task.estimates[main][OVERALL], run.rows)
    rows = f"{run.rows} own rows" if run.has_user_rows else f"{run.rows} rows"
    # The name tells whether its models are others than the paper's
    signature = (run.scorer or "").split("|")
    scorer = [f"scorer {part}" for part in signature[:1] if part] + [
        part for part in signature if "dtype:" in part
    ]
    return ", ".join(
        [f"{model} on {task.name}: {main} {value}", rows, *scorer, f"figlang_tasks {task.version}"]
    )


def _groups(results: Mapping[str, Any], tasks: Mapping[str, _Task]) -> dict[str, list[str]]:
    """The tasks of each table, by its title: those of a group, and of the others those that read
    one dataset.
    """
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


def _of_task(task: _Task) -> list[str]:
    """A line for each scope, all rows first, then all figures that were published for it."""
    import pandas as pd

    lines = [
        (f"{label}: {measures.scope_text(scope)}" if scope != OVERALL else label, figures)
        for label, scope, figures in published.table_lines(task.name, task.published)
    ]
    wanted = (_telling(task.estimates) or list(task.estimates)) + [
        name for _, of in lines for name in of
    ]
    columns = [name for name in task.estimates if name in wanted]
    numbers = frame.estimates_frame([("", {task.name: task.estimates})])
    own = numbers[numbers["metric"].isin(columns)]
    whole = own["scope"] == OVERALL
    shown = tables.wide_table(pd.concat([own[whole], own[~whole]]), ["scope"], columns)
    if lines:
        rule = pd.DataFrame(
            [["published:", *[""] * (len(shown.columns) - 1)]], columns=shown.columns
        )
        shown = pd.concat([shown, rule, tables.published_table(lines, shown)])
    told = ["parts overlap: a row counts in each that it belongs to"] * measures.scopes_overlap(
        task.estimates
    )
    return [_markdown(task.name, shown), *told]


def _of_group(title: str, tasks: Sequence[_Task]) -> str:
    """A line for each task."""
    telling = {name for task in tasks for name in _telling(task.estimates)}
    columns = [
        name
        for name in dict.fromkeys(name for task in tasks for name in task.overall)
        if name in telling
    ]
    if sum(not measures.measure_of(name).is_diagnostic for name in columns) > _WIDE:
        main = {measures.headline_metric(task.overall) for task in tasks}
        columns = [
            name for name in columns if name in main or measures.measure_of(name).is_diagnostic
        ]
    numbers = frame.estimates_frame(
        [("", {task.name.removeprefix(f"{title}_"): task.estimates for task in tasks})]
    )
    own = numbers[(numbers["scope"] == OVERALL) & numbers["metric"].isin(columns)]
    return _markdown(title, tables.wide_table(own, ["task"], columns))


def _markdown(title: str, shown: pd.DataFrame) -> str:
    return tables.markdown(
        shown.rename(columns={shown.columns[0]: title}).rename(columns=measures.name_with_arrow)
    )


def _telling(estimates: Estimates) -> list[str]:
    """The measures that say something: of the diagnostic ones those that failed, or found a
    fault.
    """
    return [
        name
        for name, scopes in estimates.items()
        if _tells(name, [each.value for each in scopes.values()])
    ]


def _tells(name: str, values: Sequence[float]) -> bool:
    measure = measures.measure_of(name)
    if any(map(math.isnan, values)):
        return True
    good = measure.text(1.0 if measure.higher_is_better else 0.0)
    return measure.in_table and (
        not measure.is_diagnostic or any(measure.text(value) != good for value in values)
    )


def _unlike(texts: Iterable[str | None]) -> list[str]:
    return [each for each in dict.fromkeys(texts) if each]
