"""The file of the FigLang 2022 shared task (CodaLab competition 5908), from ``flute_codalab``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from figlang_tasks.benchmarks.flute.counts import BLIND_ROWS
from figlang_tasks.benchmarks.flute.pairs import LABELS
from figlang_tasks.core.text import listing
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import Record
from figlang_tasks.submit import SubmissionError, check_answers, single_task

UPLOAD = "CodaLab, competition 5908 (FigLang 2022 shared task on understanding figurative language)"
_LABEL_NAMES = {number: label for label, number in LABELS.items()}
"""The name of each label by its number in records."""


class _Line(TypedDict):
    """A line of the submission; the label is None where the output has none."""

    codalab_id: int
    id: str
    premise: str
    hypothesis: str
    predicted_label: str | None
    model_explanation: str


def write_lines(run: Run, output: Path, fallback_label: str | None = None) -> tuple[TaskRun, int]:
    """Write the FigLang 2022 submission; return its task and the number of fallback labels.

    The file has JSON lines in the order of the blind file.

    An output without a label is an error unless there is a fallback label: after an empty label
    the organisers' script gives rows the explanation scores of other rows, and this package does
    not guess.

    Args:
        output: the path of the file.
        fallback_label: the label for outputs without one; None if there must be no such output.

    Returns:
        The task that was submitted, and how many lines have the fallback label.

    Raises:
        SubmissionError: the run cannot be submitted, or outputs have no label.
    """
    task = single_task(run, "flute_codalab", can_be_submitted=_is_blind_task)
    check_answers(task, BLIND_ROWS)
    with task.reporting_damage():
        lines = _submission_lines(task.records)
    unlabelled = [line for line in lines if line["predicted_label"] is None]
    if unlabelled and fallback_label is None:
        # These are the ids in the samples file.
        ids = [f"codalab-{line['codalab_id']}" for line in unlabelled]
        raise SubmissionError(
            f"{task.path}: {len(ids)} outputs have no label ({listing(ids)}):"
            " evaluate them again, or give them a label (--fallback)"
        )
    for line in unlabelled:  # they are lines of `lines`, which are written below
        line["predicted_label"] = fallback_label
    content = "".join(json.dumps(line) + "\n" for line in lines)
    write_whole(output, content.encode("ascii"))
    return task, len(unlabelled)


def _is_blind_task(task: TaskRun) -> bool:
    return task.data.name == "FLUTE/codalab"


def _submission_lines(records: Sequence[Record]) -> list[_Line]:
    """The lines of the submission in the order of the blind file, which `codalab_id` counts."""
    return sorted(map(_submission_line, records), key=lambda line: line["codalab_id"])


def _submission_line(record: Record) -> _Line:
    """The line of a record: the row's own texts, then the label and the explanation of the model.

    An output without a label gives None, and one without an explanation an empty text.
    """
    label = record["predicted"]
    return {
        "codalab_id": record["codalab_id"],
        "id": record["source_id"],
        "premise": record["premise"],
        "hypothesis": record["hypothesis"],
        "predicted_label": None if label is None else _LABEL_NAMES[label],
        "model_explanation": record["explanation"] or "",
    }
