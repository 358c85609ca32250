"""The evaluation of one task in one run: what its records give, computed once, when all answers are
there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from loguru import logger

from figlang_tasks.answers.thoughts import EXPLAINED
from figlang_tasks.core import status
from figlang_tasks.scoring import explanations
from figlang_tasks.scoring.estimates import OVERALL, Estimates
from figlang_tasks.scoring.evaluation import STDERR_RESAMPLES, evaluate, evaluate_repeats, guarded
from figlang_tasks.scoring.output_warnings import UNFINISHED, is_thought_alone, output_warnings
from figlang_tasks.scoring.readings import count_readings
from figlang_tasks.scoring.task import Task


@dataclass(frozen=True)
class JudgedAnswer:
    """The record of an answer on its way through the harness to the evaluation, with what the model
    said.
    """

    record: dict[str, Any]
    output: str | None

    def __post_init__(self) -> None:
        is_read_elsewhere = (
            self.record.get("status") == "scores" or self.record.get("rule") == EXPLAINED
        )
        if not is_read_elsewhere and is_thought_alone(self.output):
            self.record[UNFINISHED.name] = True


@dataclass(frozen=True)
class TaskEvaluation:
    """What comes of all records of a task.

    Attributes:
        records, outputs: of each answer, in one order; explanation scores are added to the records.
        estimates: of every measure that has a value; NaN where its computation failed.
        explanation_scores: None of a task without explanations.
        repeats: the headline metric of rows that were asked several times (`evaluate_repeats`),
            else None.
    """

    records: Sequence[dict[str, Any]]
    outputs: Sequence[str | None]
    estimates: Estimates
    explanation_scores: explanations.Scored | None
    repeats: Mapping[str, Any] | None

    @classmethod
    def compute(
        cls,
        items: Sequence[JudgedAnswer],
        task: Task,
        name: str,
        scorer: str | Literal[False] | None = None,
    ) -> TaskEvaluation:
        """Evaluate all answers to a task.

        Args:
            task: the kind of task.
            name: of its task file, in messages.
            scorer: the task's option.
        """
        measures = task.measures
        records = [item.record for item in items]
        outputs = [item.output for item in items]
        status.tell("computing the metrics and their intervals ...")
        scored = (
            explanations.score(records, task.scheme, scorer) if task.scheme is not None else None
        )
        warnings: list[str] = guarded(
            "parse_rate", lambda: output_warnings(measures.by_name, records, outputs), []
        )
        for warning in warnings:
            logger.warning(f"figlang_tasks: {name}: {warning}")
        estimates = evaluate(records, measures, STDERR_RESAMPLES, in_run=True)
        repeats = guarded("maj@K", lambda: evaluate_repeats(records, measures, estimates), None)
        return cls(records, outputs, estimates, scored, repeats)

    def value(self, metric: str) -> float:
        """The value of a metric over all rows; NaN where it has none."""
        estimate = self.estimates.get(metric, {}).get(OVERALL)
        return math.nan if estimate is None else float(estimate.value)

    def metadata(self) -> dict[str, Any]:
        """What only the records tell: scorer, kernel, revision of the data, settings of BLEU, how
        answers were read.
        """
        metadata: dict[str, Any] = {}
        if self.explanation_scores:
            scores = self.explanation_scores.scores
            metadata["explanation_scorer"] = scores.signature
            if scores.kernel:
                metadata["explanation_kernel"] = scores.kernel
        for field, name in (("revision", "data_revision"), ("bleu", "bleu")):
            texts = {str(record[field]) for record in self.records if field in record}
            if texts:
                metadata[name] = ", ".join(sorted(texts))
        readings = count_readings(self.records)
        if readings:
            metadata["readings"] = readings
        return metadata
