"""The evaluation of one task in one run, computed once, when all answers are there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from loguru import logger

from figlang_tasks.answers.thoughts import EXPLAINED
from figlang_tasks.core import status
from figlang_tasks.core.record import Record
from figlang_tasks.scoring import explanations
from figlang_tasks.scoring.estimates import OVERALL, Estimates
from figlang_tasks.scoring.evaluation import evaluate, guarded
from figlang_tasks.scoring.output_warnings import UNFINISHED, is_thought_alone, output_warnings
from figlang_tasks.scoring.readings import readings_metadata
from figlang_tasks.scoring.repeats import RepeatsSummary, evaluate_repeats
from figlang_tasks.scoring.task import Task


@dataclass(frozen=True)
class JudgedAnswer:
    """The record of an answer, with the output of the model, as the harness passes them on.

    Attributes:
        record: marked as `UNFINISHED` if the output is a thought alone.
        output: what the model said; None if there is nothing.
    """

    record: dict[str, Any]
    output: str | None

    def __post_init__(self) -> None:
        """Mark the record of an output that is a thought alone."""
        is_by_scores = self.record.get("status") == "scores"
        # The explanation that the task asks for was read in the thought: ``<reason>...</reason>``.
        is_explained_in_thought = self.record.get("rule") == EXPLAINED
        # Such an output needs no words after a thought.
        if is_by_scores or is_explained_in_thought:
            return
        if is_thought_alone(self.output):
            self.record[UNFINISHED.name] = True


@dataclass(frozen=True)
class TaskEvaluation:
    """The estimates of one task in one run, with what else follows from its records.

    Attributes:
        records, outputs: of each answer, in one order; explanation scores are added to the records.
        estimates: of every measure that has a value; NaN where its computation failed.
        explanation_scores: None of a task without explanations.
        repeats: the headline metric over several answers to each row (`evaluate_repeats`); None if
            each row has one.
    """

    records: Sequence[dict[str, Any]]
    outputs: Sequence[str | None]
    estimates: Estimates
    explanation_scores: explanations.Scored | None
    repeats: RepeatsSummary | None

    @classmethod
    def compute(
        cls,
        answers: Sequence[JudgedAnswer],
        task: Task,
        task_name: str,
        scorer_option: str | Literal[False] | None = None,
    ) -> TaskEvaluation:
        """Score the explanations of all answers, then evaluate them; a failed measure has NaN.

        The scores are written into the records, and warnings about the outputs are logged. A
        failure to score is logged too: measures that need scores then have no value.

        Args:
            answers: the answers of the whole run, several to a row with ``--repeats``.
            task: the kind of task.
            task_name: names the task in the log.
            scorer_option: the option `scorer` of the task file; False turns scores off, None takes
                the option that the records hold.
        """
        records = [answer.record for answer in answers]
        outputs = [answer.output for answer in answers]
        measures = task.measures
        status.tell("computing the metrics and their intervals ...")

        explanation_scores = None
        if task.scheme is not None:
            # This also writes the scores into the records, from which the measures take them.
            explanation_scores = explanations.score(records, task.scheme, scorer_option)
        _log_warnings(task, records, outputs, task_name)
        # In a run a measure that fails has NaN, and measures log what they leave out.
        estimates = evaluate(records, measures, in_run=True)

        def compute_repeats() -> RepeatsSummary | None:
            return evaluate_repeats(records, measures, estimates)

        repeats = guarded(
            "maj@K", compute_repeats, fallback=None, consequence="the results lack it"
        )
        return cls(records, outputs, estimates, explanation_scores, repeats)

    def value(self, metric: str) -> float:
        """The value of a metric over all rows; NaN where it has none."""
        estimate = self.estimates.get(metric, {}).get(OVERALL)
        return math.nan if estimate is None else float(estimate.value)

    def metadata(self) -> dict[str, Any]:
        """Scorer, data revision, BLEU settings and reading counts for results files, if known."""
        metadata: dict[str, Any] = {}
        if self.explanation_scores:
            scores = self.explanation_scores.scores
            metadata["explanation_scorer"] = scores.signature
            if scores.kernel:
                metadata["explanation_kernel"] = scores.kernel
        metadata.update(metadata_of_records(self.records))
        return metadata


def metadata_of_records(records: Sequence[Record]) -> dict[str, Any]:
    """Data revision, BLEU settings and reading counts for results files, if records tell them."""
    metadata: dict[str, Any] = {}
    # fields of records, and the names under which results files have them
    for field, name in (("revision", "data_revision"), ("bleu", "bleu")):
        contents = {str(record[field]) for record in records if field in record}
        if contents:
            metadata[name] = ", ".join(sorted(contents))
    metadata.update(readings_metadata(records))
    return metadata


def _log_warnings(
    task: Task, records: Sequence[Record], outputs: Sequence[str | None], task_name: str
) -> None:
    """Log the warnings about the outputs of a task, each after `task_name`."""

    def find_warnings() -> list[str]:
        return output_warnings(task.measures.by_name, records, outputs)

    warnings: list[str] = guarded(
        "the check of the outputs",
        find_warnings,
        fallback=[],
        consequence="warnings about unread outputs are missing",
    )
    for warning in warnings:
        logger.warning(f"figlang_tasks: {task_name}: {warning}")
