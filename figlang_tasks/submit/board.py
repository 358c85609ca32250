"""The zip that a benchmark's leaderboard takes; the benchmark makes its files (`Submission`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.optional_modules import Submission
from figlang_tasks.core.text import listing
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import Record
from figlang_tasks.submit import SubmissionError, check_answers, unique_tasks, zip_files


def submission_of(benchmark: Benchmark) -> Submission:
    """What the leaderboard of a benchmark takes; call it only for a benchmark that has one."""
    module = benchmark.module("submission")
    assert module is not None, benchmark.name
    submission: Submission = module.SUBMISSION
    return submission


def write_zip(
    benchmark: Benchmark, runs: Sequence[Run], output: Path
) -> tuple[list[str], list[str]]:
    """Write the zip for a benchmark's leaderboard; return its file names and the tasks' names.

    A part is a table or split of the benchmark's data that is handed in (`Submission.parts`). The
    answers to a part are from one task.

    Args:
        runs: runs of one model.
        output: the path of the zip.

    Returns:
        The names of the files in the zip, and the names of the tasks that those files come from.

    Raises:
        SubmissionError: no valid zip can be made of these runs.
    """
    submission = submission_of(benchmark)
    tasks_by_part = _submitted_tasks(benchmark, submission, runs)
    records_by_part: dict[str, Sequence[Record]] = {}
    for part, task in tasks_by_part.items():
        check_answers(task)  # `submission.files` checks the number of rows
        records_by_part[part] = task.records
    try:
        contents = submission.files(records_by_part)
    except DataError as error:
        # Add the paths, which the benchmark does not know.
        paths = listing(task.path for task in tasks_by_part.values())
        raise SubmissionError(f"{paths}: {error}") from error
    write_whole(output, zip_files(contents))
    return list(contents), [task.task for task in tasks_by_part.values()]


def _submitted_tasks(
    benchmark: Benchmark, submission: Submission, runs: Sequence[Run]
) -> dict[str, TaskRun]:
    """The tasks that the leaderboard takes, at least one, by the part of the data.

    Raises:
        SubmissionError: no run has such a task, or two have one for the same part.
    """
    dataset = benchmark.source.name
    parts_and_tasks = []
    for run in runs:
        for task in run.tasks.values():
            if task.data.dataset == dataset and task.data.part in submission.parts:
                parts_and_tasks.append((task.data.part, task))
    if not parts_and_tasks:
        paths = listing(run.path for run in runs)
        parts = listing(submission.parts, most=6)
        raise SubmissionError(
            f"{paths}: no samples of a task on {dataset} ({parts}): give a run of it"
        )
    return unique_tasks(parts_and_tasks)
