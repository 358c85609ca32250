"""The table of how the outputs of each task and run were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from figlang_tasks.report.sections.layout import Section, Table
from figlang_tasks.report.sections.task_results import TaskResults
from figlang_tasks.scoring import Record
from figlang_tasks.scoring.readings import UNREAD, count_readings

_INTRO = (
    "An output that could not be read counts as wrong (in NYK-MS as No). If few could be read,"
    " a low score says more about their form than about the model."
)


def parsing_section(results: Sequence[TaskResults]) -> Section | None:
    """The section on how outputs were read; None if no task has outputs to read.

    Its table says how many outputs of each task and run have each status, and which rules read
    them.
    """
    import pandas as pd

    counts_by_run: dict[tuple[str, str], Counter[str]] = {}  # by task and run
    rules_by_run: dict[tuple[str, str], str] = {}  # by task and run
    for task_results in results:
        for run, task_run in task_results.runs.items():
            counts = _count_statuses(task_run.records)
            if counts:
                counts_by_run[task_results.task, run] = counts
                rules_by_run[task_results.task, run] = _rules_text(task_run.records)
    if not counts_by_run:
        return None

    statuses = _status_order(counts_by_run.values())
    lines = []
    for (task, run), counts in counts_by_run.items():
        count_texts = [str(counts[status] or "") for status in statuses]  # "" for 0
        lines.append([task, run, *count_texts, rules_by_run[task, run]])
    status_heads = [status.replace("_", " ") for status in statuses]
    cells = pd.DataFrame(lines, columns=["task", "run", *status_heads, "rules"])
    table = Table("Outputs", cells, note="rules: how many outputs each rule read.")
    return Section(
        id="parsing-outcomes", title="How the outputs were read", intro=_INTRO, tables=(table,)
    )


def _count_statuses(records: Sequence[Record]) -> Counter[str]:
    """How many records have each status; outputs that nobody reads (captions) have none."""
    return Counter(str(record["status"]) for record in records if "status" in record)


def _status_order(all_counts: Iterable[Counter[str]]) -> list[str]:
    """The statuses that occur, as columns of the table: read first, then unread, others last."""
    occurring: set[str] = set()
    for counts in all_counts:
        occurring.update(counts)
    known = [status for status in ("read", "scores", *UNREAD) if status in occurring]
    return known + sorted(occurring.difference(known))


def _rules_text(records: Sequence[Record]) -> str:
    """How many answers each rule read: ``announced 12, alone 3``; "" without answers in words."""
    readings = count_readings(records)
    if readings is None:
        return ""
    # `read` holds how many answers each rule read, the most frequent rule first.
    return ", ".join(f"{rule} {count}" for rule, count in readings["read"].items())
