"""The file that the FigLang 2022 shared task takes (CodaLab competition 5908), from samples of ``flute_codalab``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figlang_tasks.benchmarks.flute.rows import BLIND_ROWS, LABELS, blind_data
from figlang_tasks.core.text import listing
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.scoring import Record
from figlang_tasks.submit import SubmissionError, answered, explanation_of, the_task

UPLOAD = "CodaLab, competition 5908 (FigLang 2022 shared task on understanding figurative language)"
_SPELLED = {number: label for label, number in LABELS.items()}


def write_lines(run: Run, output: Path, fallback: str | None = None) -> tuple[TaskRun, int]:
    """Write the submission; return the task, and how many labels are the `fallback`.

    It is JSON lines of codalab_id, id, premise, hypothesis, predicted_label, model_explanation.

    An output without a label is an error where there is no `fallback`: after an empty label the organisers' script
    gives rows the explanation scores of other rows, and this package does not guess.
    """
    task = the_task(run, "flute_codalab", lambda each: each.data.name == "FLUTE/codalab")
    lines = answered(task).computed(lambda _, records: [_line(row) for row in _complete(task.path, records)])
    unlabelled = [f"codalab-{line['codalab_id']}" for line in lines if line["predicted_label"] is None]
    if unlabelled and fallback is None:
        raise SubmissionError(
            f"{task.path}: {len(unlabelled)} outputs have no label ({listing(unlabelled)}): evaluate them again, or "
            "give them a label (--fallback)"
        )
    lines = [{**line, "predicted_label": line["predicted_label"] or fallback} for line in lines]
    write_whole(output, "".join(json.dumps(line) + "\n" for line in lines).encode("ascii"))
    return task, len(unlabelled)


def _line(row: Record) -> dict[str, Any]:
    """A row of the submission; its label is None where the output has none."""
    label = None if row["predicted"] is None else _SPELLED[row["predicted"]]
    return {**_asked(row), "predicted_label": label, "model_explanation": explanation_of(row)}


def _asked(row: Record) -> dict[str, Any]:
    """A row of the blind file."""
    return {
        "codalab_id": row["codalab_id"],
        "id": row["source_id"],
        "premise": row["premise"],
        "hypothesis": row["hypothesis"],
    }


def _complete(path: Path, rows: Sequence[Record]) -> list[Record]:
    """The rows in order, all there."""
    ordered = sorted(rows, key=lambda row: row["codalab_id"])
    found, wanted = [row["codalab_id"] for row in ordered], range(BLIND_ROWS)
    if missing := sorted(set(wanted) - set(found)):
        raise SubmissionError(
            f"{path}: {len(missing)} of {BLIND_ROWS} rows are missing (codalab_id {listing(missing)}): "
            f"evaluate flute_codalab again without --limit"
        )
    # The digest is over the blind file's rows, so that nothing else is needed to see whether one was changed.
    if found != [*wanted] or blind_data(list(map(_asked, ordered))) != rows[0]["data"]:
        raise SubmissionError(
            f"{path}: ids, premises and hypotheses differ from those of the blind file ({rows[0]['data']}): restore "
            "the file that the harness wrote"
        )
    return ordered
