"""Sorts the rows of two runs by what the second run changes: fixed, broken, or neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from figlang_tasks.report.cards import first_answer_by_row
from figlang_tasks.report.correctness import Correctness
from figlang_tasks.results.task_run import Run, TaskRun

Bucket: TypeAlias = Literal["fixed", "broken", "both wrong", "both right"]
"""What becomes of a row from the baseline, the first run, to the candidate, the second.

- fixed: the baseline is wrong, the candidate is right.
- broken: the baseline is right, the candidate is wrong.
- both wrong, both right: nothing changes.
"""

BUCKETS: tuple[Bucket, ...] = get_args(Bucket)


class TaskBuckets(NamedTuple):
    """The buckets of the rows of a task.

    Attributes:
        task: its name.
        right: what a right answer is (`Correctness.meaning`).
        by_row: the bucket of each row by the id of its card. Rows that only one run has, and rows
            that are neither right nor wrong, are left out.
    """

    task: str
    right: str
    by_row: Mapping[str, Bucket]

    @property
    def counts(self) -> dict[Bucket, int]:
        """The number of rows in each bucket."""
        rows_by_bucket = Counter(self.by_row.values())
        return {bucket: rows_by_bucket[bucket] for bucket in BUCKETS}


def sort_into_buckets(runs: Sequence[Run]) -> list[TaskBuckets]:
    """The buckets of each task that two runs share; [] for more or fewer runs.

    A task is left out if nothing decides its answers, or if its rows have other texts in the two
    runs. Of several answers to a row the first one counts.
    """
    if len(runs) != 2:
        return []
    baseline, candidate = runs
    buckets: list[TaskBuckets] = []
    for name, baseline_task in baseline.tasks.items():
        candidate_task = candidate.tasks.get(name)
        if candidate_task is None or not _have_same_rows(baseline_task, candidate_task):
            continue
        task_buckets = sort_rows(baseline_task, candidate_task)
        if task_buckets.by_row:
            buckets.append(task_buckets)
    return buckets


def _have_same_rows(baseline: TaskRun, candidate: TaskRun) -> bool:
    """Whether rows of one id are the same row in both runs."""
    same_kind = baseline.kind.name == candidate.kind.name
    return same_kind and baseline.data.texts == candidate.data.texts


def sort_rows(baseline: TaskRun, candidate: TaskRun) -> TaskBuckets:
    """The buckets of the rows of one task, or of two tasks of one kind on the same data."""
    correctness = Correctness.of_task(baseline)
    candidate_answers = first_answer_by_row(candidate)
    bucket_by_row: dict[str, Bucket] = {}
    has_undecided = False
    for row, baseline_answer in first_answer_by_row(baseline).items():
        candidate_answer = candidate_answers.get(row)
        if candidate_answer is None:
            continue
        was_right = correctness.is_right(baseline, baseline_answer)
        is_right = correctness.is_right(candidate, candidate_answer)
        if was_right is None or is_right is None:
            has_undecided = True
        else:
            bucket_by_row[row] = _bucket(was_right, is_right)
    # Of boxes or free words, unread answers alone are wrong, and no answer is right.
    if has_undecided and set(bucket_by_row.values()) == {"both wrong"}:
        bucket_by_row = {}
    return TaskBuckets(baseline.task, correctness.meaning, bucket_by_row)


def _bucket(was_right: bool, is_right: bool) -> Bucket:
    """The bucket of a row that the baseline (`was_right`) and the candidate answer."""
    if was_right == is_right:
        return "both right" if is_right else "both wrong"
    return "fixed" if is_right else "broken"
