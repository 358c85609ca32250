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
"""The runs of one task, by the name that the user gave; runs of one name are repeats."""


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
    """The runs of each task that at least two names share; of `chosen_tasks` alone if given.

    Runs of one task each, on the same data, share one task even if its name differs: it is called
    ``vflute / vflute_blind``.

    Raises:
        ComparisonError: no task is shared, or a chosen one is not.
    """
    runs_by_task = _runs_by_task(runs)
    shared_tasks: dict[str, RunsByName] = {}
    for task, runs_by_name in runs_by_task.items():
        if len(runs_by_name) > 1:
            shared_tasks[task] = runs_by_name
    if shared_tasks:
        unshared_tasks = sorted(runs_by_task.keys() - shared_tasks.keys())
        if unshared_tasks:
            logger.warning(
                f"figlang_tasks: in one run only, not compared: {listing(unshared_tasks)}"
            )
    elif _have_one_task_on_the_same_data(runs):
        task_names = dict.fromkeys(_only_task(run).task for run in runs)
        shared_tasks = {" / ".join(task_names): _only_tasks_by_name(runs)}
    else:
        raise ComparisonError(
            f"no two of the runs share a task ({listing(_descriptions(runs))}), nor are they of one"
            " task each on the same data"
        )

    if not chosen_tasks:
        return shared_tasks
    for task in chosen_tasks:
        if task not in shared_tasks:
            raise ComparisonError(
                f"no two of the runs share the task {task}; they share:"
                f" {', '.join(sorted(shared_tasks))}"
            )
    return {task: runs for task, runs in shared_tasks.items() if task in chosen_tasks}


def _runs_by_task(runs: Sequence[Run]) -> dict[str, dict[str, list[TaskRun]]]:
    """The runs of each task, by name."""
    runs_by_task: dict[str, dict[str, list[TaskRun]]] = {}
    for run in runs:
        for task, task_run in run.tasks.items():
            runs_by_task.setdefault(task, {}).setdefault(run.name, []).append(task_run)
    return runs_by_task


def _have_one_task_on_the_same_data(runs: Sequence[Run]) -> bool:
    data_of_runs = set()
    for run in runs:
        if len(run.tasks) != 1:
            return False
        data_of_runs.add(_only_task(run).data)
    return len(data_of_runs) == 1


def _only_task(run: Run) -> TaskRun:
    return next(iter(run.tasks.values()))


def _only_tasks_by_name(runs: Sequence[Run]) -> dict[str, list[TaskRun]]:
    """The one task of each run, by the name of the run."""
    runs_by_name: dict[str, list[TaskRun]] = {}
    for run in runs:
        runs_by_name.setdefault(run.name, []).append(_only_task(run))
    return runs_by_name


def _descriptions(runs: Sequence[Run]) -> list[str]:
    """The task, the data and the name of each run: ``vflute on V-FLUTE/test in a``."""
    descriptions = []
    for run in runs:
        for task_run in run.tasks.values():
            descriptions.append(f"{task_run.task} on {task_run.data} in {run.name}")
    return descriptions


# --- whether runs of a task are comparable ---


def check_comparable(task: str, runs_by_name: RunsByName, repeats: Mapping[str, int]) -> None:
    """Raise a `ComparisonError` unless the runs have one task version and the same rows and data.

    Other prompts, and repeats that look like copies, are warnings.

    Args:
        repeats: how many runs the user gave under each name; all of them must have the task.
    """
    labelled_runs: list[_LabelledRun] = []
    for name, runs in runs_by_name.items():
        if len(runs) < repeats[name]:
            raise ComparisonError(
                f"{task}: {len(runs)} of the {repeats[name]} repeats of {name} have it: evaluate it"
                " with all of them, or name other tasks (--task)"
            )
        _warn_of_copies(task, name, runs)
        for run in runs:
            label = name if len(runs) == 1 else f"{name} ({run.path})"
            labelled_runs.append(_LabelledRun(label, run))

    baseline, *candidates = labelled_runs
    for candidate in candidates:
        check_same_rows(task, *baseline, *candidate)
        if baseline.run.task == candidate.run.task:
            _check_same_version(task, baseline, candidate)
            _warn_of_other_prompts(task, baseline, candidate)


def _warn_of_copies(task: str, name: str, repeats: Sequence[TaskRun]) -> None:
    """Warn if two repeats have the same answers in all rows."""
    answers_of_repeats = set()
    for run in repeats:
        answers = [(sample["sample"]["id"], outputs(sample)) for sample in run.samples]
        answers_of_repeats.add(str(answers))
    if len(answers_of_repeats) < len(repeats):
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
    """
    if run.data != other_run.data:
        raise ComparisonError(
            f"{task}: {name} was evaluated on {run.data}, {other_name} on {other_run.data}:"
            " evaluate both on one version"
        )
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
    """The id of each row with its resampling unit, by which tests pair the rows of two runs."""
    return {(record["id"], unit_of(record)) for record in run.records}


def _check_same_version(task: str, baseline: _LabelledRun, candidate: _LabelledRun) -> None:
    """Raise a `ComparisonError` if the first numbers of the task versions ``N-X`` differ."""
    versions = [baseline.run.version, candidate.run.version]
    main_numbers = {version.partition("-")[0] for version in versions if version is not None}
    if len(main_numbers) > 1:
        raise ComparisonError(
            f"{task}: {baseline.label} is of task version {baseline.run.version},"
            f" {candidate.label} of {candidate.run.version}, whose scores are not comparable:"
            f" {SCORE_AGAIN}"
        )


def _warn_of_other_prompts(task: str, baseline: _LabelledRun, candidate: _LabelledRun) -> None:
    """Warn if the hashes of two runs' prompts differ; a run may have none."""
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
    scorers: set[str | None] = set()
    signatures: set[str] = set()
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
