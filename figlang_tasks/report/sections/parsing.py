"""How the outputs were read."""

from __future__ import annotations

from collections import Counter

from figlang_tasks.report.sections.layout import Cell, Section, Table
from figlang_tasks.report.sections.results import Results, dataset_name


def parsing(results: Results) -> Section | None:
    """How many outputs were read in which way, by benchmark."""
    tables = []
    datasets = dict.fromkeys(of[0].of.dataset for of in results.values())
    for dataset in datasets:
        counts: list[tuple[str, str, Counter[str], int, int]] = []
        for task, of_task in results.items():
            for result in of_task if of_task[0].of.dataset == dataset else ():
                records = result.of.records
                statuses = Counter(str(record["status"]) for record in records if "status" in record)
                unexplained = sum("explanation" in r and not (r["explanation"] or "").strip() for r in records)
                if statuses:
                    counts.append((result.run, task, statuses, len(records), unexplained))
        columns = list(dict.fromkeys(status for _, _, statuses, _, _ in counts for status in sorted(statuses)))
        asked = any(of[0].of.explained for of in results.values() if of[0].of.dataset == dataset)
        rows = [
            (
                Cell(task),
                Cell(run),
                Cell(str(total), numeric=True),
                *(_count(statuses[status], total) for status in columns),
                *([_count(unexplained, total)] if asked else []),
            )
            for run, task, statuses, total, unexplained in counts
        ]
        heads = [Cell(each.replace("_", " "), numeric=True) for each in ("rows", *columns)]
        if asked:
            heads.append(Cell("no explanation", "the output holds no explanation", numeric=True))
        if rows:
            tables.append(Table(dataset_name(dataset), (Cell("task"), Cell("model"), *heads), tuple(rows)))
    if not tables:
        return None
    intro = (
        "What is neither a label nor a choice counts as wrong; a low score with few answers "
        "read says more about the format than about the model."
    )
    return Section("parsing-outcomes", "How the outputs were read", intro, tuple(tables))


def _count(count: int, total: int) -> Cell:
    return Cell(str(count), f"{100 * count / total:.1f} %", numeric=True) if count else Cell("")
