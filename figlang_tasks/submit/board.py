"""The zip that a benchmark's leaderboard takes, of the files that the benchmark makes
(`Submission`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.optional_modules import Submission
from figlang_tasks.core.text import listing
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results.task_run import Run
from figlang_tasks.submit import SubmissionError, answered, each_once, zipped


def submission_of(benchmark: Benchmark) -> Submission:
    """What the leaderboard of a benchmark that has one takes."""
    module = benchmark.module("submission")
    assert module is not None, benchmark.name
    submission: Submission = module.SUBMISSION
    return submission


def write_zip(
    benchmark: Benchmark, found: Sequence[Run], output: Path
) -> tuple[list[str], list[str]]:
    """Write the zip; return the names of its files and of the tasks that they are of."""
    submission = submission_of(benchmark)
    tasks = each_once(
        (task.data.part, task)
        for run in found
        for task in run.tasks.values()
        if task.data.dataset == benchmark.source.name and task.data.part in submission.parts
    )
    if not tasks:
        wanted = f"a task on {benchmark.source.name} ({listing(submission.parts, 6)})"
        raise SubmissionError(
            f"{listing(run.path for run in found)}: no samples of {wanted}: give a run of it"
        )
    try:
        files = submission.files({part: answered(task).records for part, task in tasks.items()})
    except DataError as error:
        raise SubmissionError(
            f"{listing(task.path for task in tasks.values())}: {error}"
        ) from error
    write_whole(output, zipped(files))
    return list(files), [task.task for task in tasks.values()]
