"""Tables: all numbers of a dataset's tasks, by part, beside what papers published; how outputs were
read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from figlang_tasks.core.text import listing
from figlang_tasks.report.sections.layout import Section, Table
from figlang_tasks.report.sections.results import Result, Results
from figlang_tasks.results import frame, measures, tables
from figlang_tasks.results import published as papers
from figlang_tasks.scoring import OVERALL, Record, full_name
from figlang_tasks.scoring.readings import UNREAD, count_readings

if TYPE_CHECKING:
    import pandas as pd


def numbers(prefix: str, results: Results) -> Section | None:
    """A table for the tasks of a dataset that report the same metrics, with a line for each run and
    part.
    """
    groups: dict[frozenset[str], list[str]] = {}
    for task, of_task in results.items():
        if heads := frozenset(head for result in of_task for head in result.heads):
            groups.setdefault(heads, []).append(task)
    found = [_table({task: results[task] for task in tasks}) for tasks in groups.values()]
    if not found:
        return None
    kind = next(iter(results.values()))[0].of.benchmark.parts.kind
    intro = (
        f"Shares are in percent, with 95 % intervals, which are wide where a {kind} has few rows."
    )
    return Section(f"{prefix}-numbers", "All metrics", intro, tuple(found))


def parsing(results: Results) -> Section | None:
    """How the outputs of each task and run were read: how many have each status, and which rules
    read them.
    """
    import pandas as pd

    read_results = []
    status_counts: Counter[str] = Counter()
    for of_task in results.values():
        for result in of_task:
            if counts := Counter(
                str(record["status"]) for record in result.of.records if "status" in record
            ):
                read_results.append((result, counts))
                status_counts += counts
    if not read_results:
        return None

    known = [status for status in ("read", "scores", *UNREAD) if status in status_counts]
    statuses = [*known, *sorted(set(status_counts).difference(known))]
    rows = []
    for result, counts in read_results:
        cells = [str(counts[status] or "") for status in statuses]
        rows.append([result.of.task, result.run, *cells, _rules(result.of.records)])
    heads = [status.replace("_", " ") for status in statuses]
    shown = pd.DataFrame(rows, columns=["task", "run", *heads, "rules"])
    intro = (
        "An output that could not be read counts as wrong (in NYK-MS as No). If few could be read,"
        " a low score says more about their form than about the model."
    )
    note = "rules: how many outputs each rule read."
    return Section(
        "parsing-outcomes", "How the outputs were read", intro, (Table("Outputs", shown, note),)
    )


def _rules(records: Sequence[Record]) -> str:
    """The rules that read answers in words, each with the number of answers: ``announced 12, alone
    3``.
    """
    readings = count_readings(records)
    if readings is None:
        return ""
    return ", ".join(f"{rule} {count}" for rule, count in readings["read"].items())


def _table(results: Results) -> Table:
    first = next(iter(results.values()))[0]
    columns = list(
        dict.fromkeys(
            head for of_task in results.values() for result in of_task for head in result.heads
        )
    )
    every = [result for of_task in results.values() for result in of_task]
    found = frame.estimates_frame(
        (result.run, {result.of.task: result.of.estimates}) for result in every
    )
    places = {scope: place for place, scope in enumerate(dict.fromkeys([OVERALL, *found["scope"]]))}
    tasks = {task: place for place, task in enumerate(results)}
    order = found.assign(task_place=found["task"].map(tasks), place=found["scope"].map(places))
    order = order[order["metric"].isin(columns)].sort_values(["task_place", "place"], kind="stable")
    shown = tables.wide_table(order, ["run", "task", "scope"], columns)
    notes = [
        *_notes(results),
        *(part.note for scope, part in first.of.benchmark.parts.of.items() if scope in places),
    ]
    for task, of_task in results.items():
        shown, told = _with_published(shown, task, of_task, columns, places)
        notes += told
    constant = [name for name, values in (("task", tasks), ("scope", places)) if len(values) == 1]
    shown = (
        shown.drop(columns=constant)
        .rename(columns=measures.name_with_arrow)
        .rename(columns={"scope": first.of.benchmark.parts.kind})
    )
    declared = first.of.measures.by_name
    tooltips = {measures.name_with_arrow(name): declared[name].meaning for name in columns}
    return Table(listing(results), shown, " ".join(filter(None, notes)), tooltips)


def _with_published(
    shown: pd.DataFrame,
    task: str,
    results: Sequence[Result],
    columns: Sequence[str],
    scopes: Collection[str],
) -> tuple[pd.DataFrame, list[str]]:
    """The table with what was published for a task below, and notes: where it is from, or why it is
    left out.
    """
    import pandas as pd

    names = [full_name(column, scope) for scope in scopes for column in columns]
    metrics, why_not = papers.comparable_metrics(
        task, names, [result.of.conditions for result in results]
    )
    notes = [f"{task}: {why_not}."] if why_not else []
    if not (lines := papers.table_lines(task, metrics)):
        return shown, notes
    below = tables.published_table(
        [(f"{label} (published)", figures) for label, _, figures in lines], shown
    )
    below = below.assign(task=task, scope=[measures.scope_text(scope) for _, scope, _ in lines])
    return pd.concat([shown, below]), [
        f"Published, not measured here: {papers.protocol_text(task, metrics)}.",
        *notes,
    ]


def _notes(results: Results) -> Iterator[str]:
    """The scorers of explanations, and what is a mean of its parts."""
    every = [result for of_task in results.values() for result in of_task]
    signatures = {result.run: result.of.signature for result in every if result.of.signature}
    if len(set(signatures.values())) == 1:
        yield f"Explanation scorer: {next(iter(signatures.values()))}."
    elif signatures:
        yield (
            "Explanation scorers: "
            + "; ".join(f"{run}: {each}" for run, each in signatures.items())
            + "."
        )
    for task, of_task in results.items():
        if any(measure.averaged for measure in of_task[0].of.measures.all):
            yield f"{task}: of all rows the unweighted mean of the parts."
