"""Files for leaderboards, registries and model cards, made of finished runs."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing, printable, whole_characters
from figlang_tasks.results.contradictions import is_possible
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure, full_name


class SubmissionError(FigLangError):
    """No valid submission can be made; the message names file and rows, and what to do."""


def brief(text: object) -> str:
    """Foreign text for a message: one line without control characters, at most 80 characters."""
    return printable(text, limit=80)


def answered(task: TaskRun, count: int | None = None) -> TaskRun:
    """`task` after checking that its answers can be handed in, of all `count` rows where that is
    known.
    """
    if setting := task.sampling:
        raise SubmissionError(
            f"{task.path}: answers were sampled ({setting}), so another run gives other answers."
            " Evaluate again with the task's own settings, or --gen_kwargs"
            " do_sample=False,temperature=0"
        )
    if without := task.unanswered:
        raise SubmissionError(
            f"{task.path}: {without} of {len(task.samples)} rows got no answer (requests failed, or"
            " --max_tokens was spent): evaluate again; with --use_cache FOLDER only these are"
            " asked again"
        )
    if (answers := len(task.samples)) != len(set(task.ids)):
        raise SubmissionError(
            f"{task.path}: {answers} answers to {len(set(task.ids))} rows: evaluate without"
            " --repeats"
        )
    if task.partial:
        raise SubmissionError(
            f"{task.path}: the run was cut short ({task.partial}): evaluate again without it"
        )
    if count not in (None, task.rows):  # no results file tells of samples that were cut
        raise SubmissionError(
            f"{task.path}: {task.rows} of the {count} rows of {task.data.part}: evaluate all rows"
        )
    task.check_consistent()
    return task


def all_rows(run: Run) -> Run:
    """`run` after checking that it has all rows."""
    for task in run.tasks.values():
        answered(
            task,
            None if task.has_user_rows else source_of(task.data.dataset).splits.get(task.data.part),
        )
        if not task.config:
            raise SubmissionError(
                f"{task.path}: no metrics: the results file of the run is not next to it"
            )
    return run


def values(task: TaskRun, scopes: bool = False) -> Iterator[tuple[str, Measure, Estimate]]:
    """Each number of a task with its name (``f1@0_muse``), in the order of tables; parts only with
    `scopes`.
    """
    shown = (OVERALL, *task.benchmark.parts.in_short)
    for measure in task.measures.all:
        for scope, estimate in task.estimates.get(measure.name, {}).items():
            if math.isfinite(estimate.value) and (scopes or scope in shown):
                name, (low, high) = full_name(measure.name, scope), measure.bounds
                if not is_possible(measure, estimate):
                    raise SubmissionError(
                        f"{task.path}: {name} is {estimate.value:g} ({estimate.low} to"
                        f" {estimate.high}), must be {low:g} to {high:g} and in its interval:"
                        " restore what the harness wrote, or evaluate again"
                    )
                yield name, measure, estimate


def the_task(run: Run, what: str, fits: Callable[[TaskRun], bool]) -> TaskRun:
    """The one task of `run` that can be submitted."""
    found = {task: each for task, each in run.tasks.items() if fits(each)}
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise SubmissionError(
            f"{run.path} holds {len(found)} runs of {what}: give the samples file of one of"
            f" {listing(found)}"
        )
    others = listing(sorted({each.data.name for each in run.tasks.values()}))
    raise SubmissionError(
        f"{run.path} has samples of {others}, not of {what}: give a run of that task"
    )


def tasks_of(found: Sequence[Run]) -> dict[str, TaskRun]:
    """The tasks of the runs of one model by name."""
    return each_once((name, task) for run in found for name, task in run.tasks.items())


def each_once(named: Iterable[tuple[str, TaskRun]]) -> dict[str, TaskRun]:
    """Tasks by what they are named here; two of one name are an error."""
    tasks: dict[str, TaskRun] = {}
    for name, task in named:
        if (other := tasks.setdefault(name, task)) is not task:
            raise SubmissionError(
                f"{name} is in {other.path} and in {task.path}: give one of the two"
            )
    return tasks


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of files; the same files give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def released(task: TaskRun) -> tuple[str | None, str | None]:
    """Dataset on the hub that the rows of a task are from, and its commit; None for what has
    none.
    """
    source = source_of(task.data.dataset)
    # Rows of a dataset that is read at one commit alone do not say where they came from.
    revision = task.data.revision or task.records[0].get("revision") or source.revision or ""
    repository = None if task.has_user_rows else source.repository
    return repository, revision if re.fullmatch("[0-9a-f]{40}", revision) else None


def plain(text: str) -> str:
    """A text that every reader of UTF-8 takes: half surrogate pairs and NUL become U+FFFD."""
    return whole_characters(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))
