"""How the outputs were read."""

from __future__ import annotations

from figlang_tasks.report.sections.layout import Section, Table
from figlang_tasks.report.sections.results import Results


def parsing(results: Results) -> Section | None:
    """How many outputs were read in which way, by task and run."""
    import pandas as pd

    read = [
        (result.run, task, str(record["status"]).replace("_", " "))
        for task, of_task in results.items()
        for result in of_task
        for record in result.of.records
        if "status" in record
    ]
    if not read:
        return None
    frame = pd.DataFrame(read, columns=["model", "task", "status"])
    counts = pd.crosstab([frame["task"], frame["model"]], frame["status"])
    shown = counts.astype(str).where(counts.ne(0), "").reset_index().rename_axis(columns=None)
    intro = (
        "What is neither a label nor a choice counts as wrong; a low score with few answers "
        "read says more about the format than about the model."
    )
    return Section("parsing-outcomes", "How the outputs were read", intro, (Table("Outputs", shown),))
