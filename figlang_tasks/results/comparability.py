"""Checks that runs can be compared: they share tasks, rows, data, task versions and scorers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from loguru import logger

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing
from figlang_tasks.results.task_run import SCORE_AGAIN, Run, TaskRun, outputs
from figlang_tasks.scoring.records import unit_of

RunsByName: TypeAlias = Mapping[str, Sequence[TaskRun]]
"""The runs of one task, by their name (`Run.name`); runs of one name are repeats."""


class ComparisonError(FigLangError):
    """Runs cannot be compared; the message says why and what to do."""


class _LabelledRun(NamedTuple):
    """A run of a task, and how messages call it."""

    label: str
    run: TaskRun


# --- which tasks the runs share ---


def find_shared_tasks(
    runs: Sequence[Run], chosen_tasks: Sequence[str] | None
) -> dict[str, RunsByName]:
    """The runs to compare, by task, or under joined task names if no task is shared.

    A task is shared if runs of two or more names have it. If none is, but each run has a single
    task and all of these are on the same data, the runs are compared across tasks. The result then
    has one key, the names of the tasks: ``vflute / vflute_blind``.

    Args:
        chosen_tasks: keys of the result to keep; None or empty for all.

    Raises:
        ComparisonError: there is nothing to compare (no task is shared, and the runs cannot be
            compared across tasks), or a chosen key is not in the result.
    """
    shared_tasks = _shared_by_name(runs) or _shared_by_data(runs)
    if not shared_tasks:
        raise ComparisonError(
            f"These runs have no task in common. {listing(_descriptions(runs), separator='; ')}"
        )
    if not chosen_tasks:
        return shared_tasks

    for task in chosen_tasks:
        if task not in shared_tasks:
            raise ComparisonError(
                f"no two of the runs share the task {task}; they share:"
                f" {', '.join(sorted(shared_tasks))}"
            )
    return {task: shared_tasks[task] for task in shared_tasks if task in chosen_tasks}


def _shared_by_name(runs: Sequence[Run]) -> dict[str, RunsByName]:
    """The runs of each task that runs of two or more names have; {} if there is no such task.

    Warns of the other tasks.
    """
    shared_tasks: dict[str, RunsByName] = {}
    unshared_tasks: list[str] = []
    for task, runs_by_name in _runs_by_task(runs).items():
        if len(runs_by_name) > 1:
            shared_tasks[task] = runs_by_name
        else:
            unshared_tasks.append(task)
    if shared_tasks and unshared_tasks:
        logger.warning(
            f"figlang_tasks: in one run only, not compared: {listing(sorted(unshared_tasks))}"
        )
    return shared_tasks


def _shared_by_data(runs: Sequence[Run]) -> dict[str, RunsByName]:
    """All runs in one entry, ``vflute / vflute_blind``, if each has one task on the same data.

    The key joins the names of the tasks. {} if a run has several tasks, or other data.
    """
    only_tasks: list[TaskRun] = []
    runs_by_name: dict[str, list[TaskRun]] = {}
    for run in runs:
        if len(run.tasks) != 1:
            return {}
        (task_run,) = run.tasks.values()
        only_tasks.append(task_run)
        runs_by_name.setdefault(run.name, []).append(task_run)

    if len({task_run.data for task_run in only_tasks}) != 1:
        return {}
    task_names = dict.fromkeys(task_run.task for task_run in only_tasks)
    return {" / ".join(task_names): runs_by_name}


def _runs_by_task(runs: Sequence[Run]) -> dict[str, dict[str, list[TaskRun]]]:
    """The runs by task, and then by name of the run."""
    runs_by_task: dict[str, dict[str, list[TaskRun]]] = {}
    for run in runs:
        for task, task_run in run.tasks.items():
            runs_by_task.setdefault(task, {}).setdefault(run.name, []).append(task_run)
    return runs_by_task


def _descriptions(runs: Sequence[Run]) -> list[str]:
    """The tasks of each run, with their data: ``a: vflute on V-FLUTE/test, flute on FLUTE/test``.

    A run of one task can also be compared with one of another task on the same data.
    """
    descriptions = []
    for run in runs:
        tasks = [f"{task} on {task_run.data}" for task, task_run in run.tasks.items()]
        descriptions.append(f"{run.name}: {listing(tasks, most=3)}")
    return descriptions


# --- whether runs of a task are comparable ---


def check_comparable(
    task: str, runs_by_name: RunsByName, run_count_by_name: Mapping[str, int]
) -> None:
    """Raise a `ComparisonError` unless runs have the same rows of the same data, and versions.

    Runs of the same task as the first one must be of a comparable version of it. Two things are
    only warned of: such a run has other prompts, and repeats of one name look like copies.

    Args:
        task: begins each message.
        run_count_by_name: how many runs the user gave under each name; all must have the task.
    """
    labelled_runs: list[_LabelledRun] = []
    for name, runs in runs_by_name.items():
        if len(runs) < run_count_by_name[name]:
            raise ComparisonError(
                f"{task}: {len(runs)} of the {run_count_by_name[name]} repeats of {name} have it:"
                " evaluate it with all of them, or name other tasks (--task)"
            )
        _warn_of_copies(task, name, runs)
        for run in runs:
            label = name if len(runs) == 1 else f"{name} ({run.path})"
            labelled_runs.append(_LabelledRun(label, run))

    # Each run is checked against the first one alone.
    baseline, *candidates = labelled_runs
    for candidate in candidates:
        check_same_rows(task, baseline.label, baseline.run, candidate.label, candidate.run)
        # Runs that are compared across tasks have other prompts and versions by design.
        if baseline.run.task == candidate.run.task:
            check_same_version(task, baseline.label, baseline.run, candidate.label, candidate.run)
            _warn_of_other_prompts(task, baseline, candidate)


def _warn_of_copies(task: str, name: str, repeats: Sequence[TaskRun]) -> None:
    """Warn if two repeats have the same answers in all rows."""
    if len(repeats) == 1:
        return
    distinct_answers: set[str] = set()
    for run in repeats:
        answers = [outputs(sample) for sample in run.samples]
        distinct_answers.add(repr((run.ids, answers)))  # as a text, since a set takes no lists
    if len(distinct_answers) < len(repeats):
        logger.warning(
            f"figlang_tasks: {task}: repeats of {name} have equal answers in all rows: leave out"
            " copies (figlang score writes one), with which the interval is too narrow"
        )


def check_same_rows(
    task: str, name: str, run: TaskRun, other_name: str, other_run: TaskRun
) -> None:
    """Raise a `ComparisonError` unless two runs have the same rows of the same data.

    Args:
        task: begins the message.
        name, other_name: how the message calls the runs.
    """
    if run.data != other_run.data:
        raise ComparisonError(
            f"{task}: {name} was evaluated on {run.data}, {other_name} on {other_run.data}:"
            " evaluate both on one version"
        )
    # The tests pair two runs by unit (a group of rows that are resampled together), so one id under
    # two units counts as two rows.
    rows = _rows_with_units(run)
    other_rows = _rows_with_units(other_run)
    differences = []
    for owner, unshared_rows in ((name, rows - other_rows), (other_name, other_rows - rows)):
        if unshared_rows:
            ids = sorted(row_id for row_id, _ in unshared_rows)
            differences.append(f"only in {owner}: {len(unshared_rows)} ({listing(ids)})")
    if differences:
        raise ComparisonError(
            f"{task}: {name} and {other_name} were not evaluated on the same rows;"
            f" {'; '.join(differences)}. Evaluate both on the same rows (was one with --limit?)"
        )


def _rows_with_units(run: TaskRun) -> set[tuple[str, str]]:
    """The id and the resampling unit of each row."""
    return {(record["id"], unit_of(record)) for record in run.records}


def check_same_version(
    task: str, name: str, run: TaskRun, other_name: str, other_run: TaskRun
) -> None:
    """Raise a `ComparisonError` if the main numbers of two task versions differ: 1 and 2.

    The main number of the version ``2-1`` is 2. Of an unknown version nothing is checked.

    Args:
        task: begins the message.
        name, other_name: how the message calls the runs.
    """
    versions = [run.version, other_run.version]
    main_numbers = {version.partition("-")[0] for version in versions if version is not None}
    if len(main_numbers) > 1:
        raise ComparisonError(
            f"{task}: {name} is of task version {run.version}, {other_name} of"
            f" {other_run.version}, whose scores are not comparable:"
            f" {SCORE_AGAIN}"
        )


def _warn_of_other_prompts(task: str, baseline: _LabelledRun, candidate: _LabelledRun) -> None:
    """Warn if the hashes of two runs' prompts differ; not if one of them is unknown."""
    baseline_hash = baseline.run.metadata.get("prompt_hash")
    candidate_hash = candidate.run.metadata.get("prompt_hash")
    if baseline_hash is None or candidate_hash is None:
        return
    if baseline_hash != candidate_hash:
        logger.warning(
            f"figlang_tasks: {task}: {baseline.label} and {candidate.label} used different prompts"
        )


def check_same_scorer(task: str, runs_by_name: RunsByName) -> None:
    """Raise a `ComparisonError` unless one scorer scored the explanations of all runs.

    Args:
        task: begins the message.
    """
    # Names alone do not tell two versions of a scorer apart, and not every run has a signature. So
    # both have to be equal.
    scorers: set[str | None] = set()  # names; None for explanations without scores
    signatures: set[str] = set()  # the name of the scorer with all versions
    scorer_texts: list[str] = []
    for name, runs in runs_by_name.items():
        for run in runs:
            if not run.has_explanations:
                continue
            scorers.add(run.scorer)
            if run.signature is not None:  # A samples file without its results file has none.
                signatures.add(run.signature)
            scorer_texts.append(f"{name}: {run.signature or run.scorer or 'no scores'}")
    if len(scorers) <= 1 and len(signatures) <= 1:
        return
    raise ComparisonError(
        f"{task}: the explanations have different scorers ({'; '.join(scorer_texts)}). Score all"
        " with one scorer (figlang score --scorer), or compare labels alone (figlang compare"
        " --metric acc)"
    )
