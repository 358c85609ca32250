"""Scores a saved run again: its answers by the readers of today, then its explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.results.explanation_scores import (
    ScorerChoice,
    has_scores_of,
    score_explanations,
    scorer_for,
)
from figlang_tasks.results.judged_again import judge_again
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.results.writing import ChangedTask
from figlang_tasks.scoring import evaluate
from figlang_tasks.scoring.explanations import signature_without_scores
from figlang_tasks.scoring.readings import readings_metadata
from figlang_tasks.scoring.repeats import evaluate_repeats

if TYPE_CHECKING:
    from figlang_tasks.metrics.explanation import Scorer


class HasTheseScores(Exception):
    """A run stays as it is, because it has the scores that were asked for; says which they are."""


class ScoredAgain(NamedTuple):
    """The tasks of a run that have new records or values.

    Attributes:
        tasks: by name; tasks that stay as they are are left out.
        remarks: what a user has to know, a sentence each, with the name of the task.
    """

    tasks: Mapping[str, ChangedTask]
    remarks: list[str]


def score_again(run: Run, scorer_choice: ScorerChoice) -> ScoredAgain:
    """Judge the answers of a run again, and score its explanations; the run stays as it is.

    Raises:
        RunError: the files of a task contradict each other, or a row cannot be scored.
        WeightsError: the weights of a scorer that the user named are not available.
        HasTheseScores: nothing would change, because all scores are there.
        FigLangError: nothing would change for another reason.
    """
    judged_tasks: dict[str, TaskRun] = {}
    changed_names: set[str] = set()
    remarks: list[str] = []
    for name, saved_task in run.tasks.items():
        saved_task.check_consistent()
        judged = judge_again(saved_task)
        judged_tasks[name] = judged.task
        if judged.not_judged:
            remarks.append(f"{name}: {judged.not_judged}")
        if judged.changed_readings:
            changed_names.add(name)
            remarks.append(
                f"{name}: {judged.changed_readings:,} of {len(saved_task.samples):,} answers are"
                " read differently than when the run was saved"
            )

    # All scorers are made first: one that is not available costs no scoring by another.
    scorers = {}
    finished: dict[str, str] = {}  # by task that has its scores, their signature
    scorers_by_name: dict[str, Scorer] = {}  # one for all tasks that take it
    for name, task in judged_tasks.items():
        if not task.has_explanations:
            continue
        task.check_explanations()
        scorer, reason = scorer_for(task, scorer_choice, scorers_by_name)
        if scorer is not None and has_scores_of(task, scorer):
            finished[name] = scorer.signature
        elif scorer is not None:
            scorers[name] = scorer
        else:
            remarks.append(f"{name}: {reason}")
    remarks += [f"{name} has these scores: {signature}" for name, signature in finished.items()]
    if not scorers and not changed_names:
        raise _nothing_changes(run, remarks, has_scores=bool(finished))

    changed_tasks: dict[str, ChangedTask] = {}
    for name, task in judged_tasks.items():
        if name in scorers:
            scored_task, metadata = score_explanations(task, scorers[name])
            changed_tasks[name] = _evaluated(scored_task, metadata)
        elif name in changed_names:
            changed_tasks[name] = _evaluated(task, _metadata_of_scores(run.tasks[name], task))
    return ScoredAgain(changed_tasks, remarks)


def _nothing_changes(run: Run, remarks: Sequence[str], has_scores: bool) -> Exception:
    """The error that a run stays as it is.

    Args:
        remarks: why its tasks stay as they are.
        has_scores: whether a task has the scores that were asked for.
    """
    if has_scores:
        return HasTheseScores(f"{run.path} stays as it is: {'; '.join(remarks)}")
    reasons = "; ".join(remarks) or "it has no explanations to score"
    return FigLangError(
        f"{run.path} stays as it is: its answers are read as when it was saved, and {reasons}"
    )


def _evaluated(task: TaskRun, metadata: Mapping[str, Any]) -> ChangedTask:
    """A task with new records, and all its values."""
    estimates = evaluate(task.records, task.measures)
    lost_metrics = [
        measure.name for measure in task.measures.in_table if measure.name not in estimates
    ]
    new_metadata = {
        **metadata,
        **readings_metadata(task.records),
        "version": task.benchmark.version,
        "repeats": evaluate_repeats(task.records, task.kind.measures, estimates),
    }
    return ChangedTask(
        replace(task, reported=estimates), estimates, new_metadata, lost_metrics=lost_metrics
    )


def _metadata_of_scores(saved_task: TaskRun, task: TaskRun) -> Mapping[str, Any]:
    """What results say of the scorer of a task whose explanations get no new scores.

    Nothing new, unless the saved scores are of texts that are read differently today.
    """
    has_lost_scores = saved_task.scorer is not None and task.scorer is None
    if not has_lost_scores or task.kind.scheme is None:
        return {}
    return {
        "explanation_scorer": signature_without_scores(task.kind.scheme),
        "explanation_kernel": None,
    }
