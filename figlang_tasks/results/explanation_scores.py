"""Adds explanation scores to the records of a saved task."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from figlang_tasks.core.hub import downloading_nothing
from figlang_tasks.results.task_run import TaskRun
from figlang_tasks.scoring import explained, explanations

if TYPE_CHECKING:
    from figlang_tasks.metrics.explanation import Scorer


class ScoredTask(NamedTuple):
    """A task whose explanations have scores.

    Attributes:
        task: with the scores in its records, and the signature of the scorer.
        metadata: what results say of the scorer.
    """

    task: TaskRun
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class ScorerChoice:
    """The scorer of explanations that a user chose, and how it computes.

    Attributes:
        name: of the scorer; None takes the paper's, if its weights are on this machine; ``off``
            takes none.
        device: where it computes: ``auto``, ``cpu``, ``cuda:1``.
        dtype: the format of its numbers.
    """

    name: str | None = None
    device: str = "auto"
    dtype: Literal["fp32", "fast"] = "fp32"


def score_explanations(task: TaskRun, scorer: Scorer) -> ScoredTask:
    """Score the explanations of a task; the task itself stays as it is.

    Args:
        task: one that has explanations.
        scorer: the scorer of explanations.
    """
    scheme = task.kind.scheme
    assert scheme is not None, "such a task has no explanations"
    records = [dict(record) for record in task.records]
    # The dicts in this list are those in `records`, so both get the scores.
    records_to_score = [record for record in records if scheme.needs_score(record)]
    text_pairs = [explained.text_pair(record) for record in records_to_score]
    scores = explanations.score_pairs(text_pairs, scorer)
    for record, text_pair in zip(records_to_score, text_pairs, strict=True):
        record["explanation_scores"] = {"scorer": scorer.name, **scores.details[text_pair]}

    samples = []
    for sample, record in zip(task.samples, records, strict=True):
        samples.append({**sample, "sample": record})  # The record of a sample is under this key.
    scored_task = replace(
        task, samples=tuple(samples), scorer=scorer.name, signature=scores.signature
    )
    metadata = {"explanation_scorer": scores.signature, "explanation_kernel": scores.kernel}
    return ScoredTask(scored_task, metadata)


def has_scores_of(task: TaskRun, scorer: Scorer) -> bool:
    """Whether the explanations of a task have the scores of a scorer: all, by its signature.

    It has not if the task has another version today, or if no results file has the signature.
    """
    scheme = task.kind.scheme
    if scheme is None or task.version != task.benchmark.version:
        return False
    if task.signature != scorer.signature:
        return False
    records_to_score = filter(scheme.needs_score, task.records)
    return all("explanation_scores" in record for record in records_to_score)


def scorer_for(
    task: TaskRun, choice: ScorerChoice, scorers_by_name: dict[str, Scorer] | None = None
) -> tuple[Scorer | None, str]:
    """The scorer of a task's explanations, and why there is none: "" if there is one.

    A scorer that the user names is downloaded if need be. That of the task is taken if its
    weights are on this machine.

    Args:
        task: one that has explanations.
        choice: that of the user.
        scorers_by_name: those that were made already, which are not made again; a new one is added.

    Raises:
        WeightsError: the weights of a scorer that the user named are not available.
        ValueError: there is no such scorer.
    """
    from figlang_tasks.metrics.explanation import WeightsError, get_scorer

    if choice.name == explanations.OFF:
        return None, "explanations have no scores (--scorer off)"
    name = choice.name or _default_scorer(task)
    if scorers_by_name is None:
        scorers_by_name = {}
    if name in scorers_by_name:
        return scorers_by_name[name], ""
    may_download = nullcontext() if choice.name else downloading_nothing()
    try:
        with may_download:
            scorer = get_scorer(name, device=choice.device, dtype=choice.dtype)
    except WeightsError:
        if choice.name:
            raise
        return None, (
            f"explanations have no scores, because the weights of {name} are not here: add scores"
            f" with --scorer {name}, which downloads the weights (figlang doctor says how large"
            " they are)"
        )
    scorers_by_name[name] = scorer
    return scorer, ""


def _default_scorer(task: TaskRun) -> str:
    """The scorer that the task file or the request names, else that of the paper."""
    options = task.config.get("lmms_eval_specific_kwargs") or {}
    requested = task.records[0].get("scorer") if task.records else None
    return options.get("scorer") or requested or explanations.default_scorer(task.data.dataset)
