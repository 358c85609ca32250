"""The file that the FigLang 2022 shared task takes (CodaLab competition 5908), from samples of
``flute_codalab``.
"""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path
from typing import Any

from figlang_tasks.benchmarks.flute.counts import BLIND_ROWS
from figlang_tasks.benchmarks.flute.rows import LABELS
from figlang_tasks.core.text import listing
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import Record
from figlang_tasks.submit import SubmissionError, answered, the_task

UPLOAD = "CodaLab, competition 5908 (FigLang 2022 shared task on understanding figurative language)"
_SPELLED = {number: label for label, number in LABELS.items()}


def write_lines(run: Run, output: Path, fallback: str | None = None) -> tuple[TaskRun, int]:
    """Write the submission; return the task, and how many labels are the `fallback`.

    It is JSON lines of codalab_id, id, premise, hypothesis, predicted_label, model_explanation.

    An output without a label is an error where there is no `fallback`: after an empty label the
    organisers' script gives rows the explanation scores of other rows, and this package does not
    guess.
    """
    task = the_task(run, "flute_codalab", lambda each: each.data.name == "FLUTE/codalab")
    lines = answered(task, BLIND_ROWS).compute_from_records(
        lambda _, records: sorted(map(_line, records), key=itemgetter("codalab_id"))
    )
    unlabelled = [
        f"codalab-{line['codalab_id']}" for line in lines if line["predicted_label"] is None
    ]
    if unlabelled and fallback is None:
        raise SubmissionError(
            f"{task.path}: {len(unlabelled)} outputs have no label ({listing(unlabelled)}):"
            " evaluate them again, or give them a label (--fallback)"
        )
    lines = [{**line, "predicted_label": line["predicted_label"] or fallback} for line in lines]
    write_whole(output, "".join(json.dumps(line) + "\n" for line in lines).encode("ascii"))
    return task, len(unlabelled)


def _line(row: Record) -> dict[str, Any]:
    """A row of the submission; its label is None where the output has none."""
    label = None if row["predicted"] is None else _SPELLED[row["predicted"]]
    return {
        "codalab_id": row["codalab_id"],
        "id": row["source_id"],
        "premise": row["premise"],
        "hypothesis": row["hypothesis"],
        "predicted_label": label,
        "model_explanation": row["explanation"] or "",
    }
