"""Decides which rows of a task a run answers right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from figlang_tasks.core.card import OPEN, RIGHT
from figlang_tasks.report import cards
from figlang_tasks.report.cards import Sample
from figlang_tasks.results.measures import headline_metric
from figlang_tasks.results.task_run import TaskRun
from figlang_tasks.scoring import Measure
from figlang_tasks.scoring.interval_methods import WILSON


@dataclass(frozen=True)
class Correctness:
    """What makes an answer to a row of a task right.

    Attributes:
        headline: the headline measure of the task.
        decides: whether that measure counts 0 or 1 of each row, as an accuracy does. If not (macro
            F1, precision of a ranking), the outcome on the card of the row decides.
        has_label: whether an answer is a label with an explanation.
    """

    headline: Measure
    decides: bool
    has_label: bool

    @classmethod
    def of_task(cls, task: TaskRun) -> Correctness:
        """What makes an answer right in the task of a run."""
        measures = task.kind.measures.by_name
        headline = measures[headline_metric(measures, measures)]
        # Only the number of a share is always 0 or 1, and only a share has Wilson's interval.
        is_share = headline.value_of_record is not None and headline.interval is WILSON
        # Where no gold answer is published, all measures are diagnostic.
        # A measure of which less is better counts mistakes.
        decides = is_share and not headline.is_diagnostic and headline.higher_is_better
        return cls(headline, decides, has_label=_has_label(task))

    @property
    def meaning(self) -> str:
        """What a right answer is, as the end of a sentence: ``an answer that acc counts``."""
        if self.decides:
            return f"an answer that {self.headline.name} counts"
        if self.has_label:
            return "the right label, whatever the score of its explanation"
        name = self.headline.name
        return f"an answer that its card marks as right ({name} does not judge single rows)"

    def is_right(self, task: TaskRun, samples: Sequence[Sample]) -> bool | None:
        """Whether an answer is right; None where nothing decides it.

        Args:
            task: the task of the run.
            samples: those of the answer: one for each image where images are ranked, else one.
        """
        if not self.decides:
            outcome = cards.outcome_of(task, samples)
            return None if outcome == OPEN else outcome == RIGHT
        record = samples[0]["sample"]
        with task.reporting_damage(f"a row, {record['id']},"):
            number = self.headline.number_of(record)
        return None if number is None else number == 1


def _has_label(task: TaskRun) -> bool:
    """Whether an answer to a task is a label with an explanation."""
    scheme = task.kind.scheme
    return scheme is not None and scheme.asks_label
