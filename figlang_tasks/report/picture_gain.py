"""What the picture adds to the text: a run against one whose model did not see the pictures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from figlang_tasks.core.text import printable
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.report.buckets import sort_rows
from figlang_tasks.report.correctness import Correctness
from figlang_tasks.report.difference import difference_text
from figlang_tasks.results import measures
from figlang_tasks.results.blind_runs import BLIND_CLASS, SeeingAndBlind, seeing_and_blind
from figlang_tasks.results.comparability import ComparisonError
from figlang_tasks.results.comparison import Difference, headline_difference
from figlang_tasks.results.task_run import Run, outputs
from figlang_tasks.scoring import Estimate


@dataclass(frozen=True)
class SolvedRows:
    """The rows that a run answers right, and those that it also answers right without pictures.

    Of repeats they are summed over all pairs of a seeing and a blind run.

    Attributes:
        seeing: rows that the seeing run answers right.
        both: those of them that the blind run answers right too.
        meaning: what a right answer is; "" if it is one that the metric of the gain counts.
    """

    seeing: int
    both: int
    meaning: str


@dataclass(frozen=True)
class PictureGain:
    """A seeing run minus a blind one, by the headline metric of their task over all rows.

    Attributes:
        task: its name; ``vflute / vflute_blind`` if the runs answered two tasks on the same data.
        metric: the headline metric.
        seeing, blind: the names of the runs; of one run that has both tasks, those of the tasks.
        seeing_value, blind_value: on the scale of the metric; the mean over repeats.
        gain: above 0 if the value is better with the picture, also where lower is better.
        low, high: its 95 % interval (paired bootstrap); None for a metric without a test.
        solved: None if nothing says whether an answer is right (BLEU, FID), or if none is.
        models: the names of the models if the runs are not of one, else empty.
        has_equal_outputs: whether both runs say the same of every row, as they do if a task that
            shows no picture is given to `BLIND_CLASS`.
    """

    task: str
    metric: str
    seeing: str
    blind: str
    seeing_value: float
    blind_value: float
    gain: float
    low: float | None
    high: float | None
    solved: SolvedRows | None
    models: tuple[str, ...]
    has_equal_outputs: bool

    @property
    def sentence(self) -> str:
        """The gain in one sentence, without a full stop."""
        if self.has_equal_outputs:
            return printable(
                f"{self.seeing} and {self.blind}, which sees no picture, say the same of every row"
                f" of {self.task}: the picture adds nothing, or the task shows none"
            )
        measure = measures.measure_of(self.metric)
        gain = difference_text(self.metric, Estimate(self.gain, self.low, self.high))
        direction = "" if measure.higher_is_better else " (+ is a fall, since lower is better)"
        clauses = [
            f"The picture adds {measures.name_text(self.metric)} {gain}{direction} on {self.task}:"
            f" {self.seeing} has {measure.text(self.seeing_value)}, {self.blind}, which does not"
            f" see it, {measure.text(self.blind_value)}"
        ]
        if self.solved is not None:
            clauses.append(self._solved_text(self.solved))
        if self.models:
            clauses.append(
                f"the runs name different models ({', '.join(self.models)}), so the gain may not be"
                " the picture's alone"
            )
        return printable("; ".join(clauses))

    def _solved_text(self, solved: SolvedRows) -> str:
        """How many of the rows that the seeing run solves the blind one solves too, as a clause."""
        rows = "row" if solved.seeing == 1 else "rows"
        text = (
            f"{self.blind} also gets {solved.both:,} of the {solved.seeing:,} {rows} right that"
            f" {self.seeing} gets right ({100 * solved.both / solved.seeing:.1f} %)"
        )
        return f"{text}; right is {solved.meaning}" if solved.meaning else text

    def json_content(self) -> dict[str, Any]:
        """The fields with the sentence, for ``--json``."""
        return {**asdict(self), "sentence": self.sentence}


def picture_gains(
    runs: Sequence[Run],
    tasks: Collection[str] | None = None,
    *,
    resamples: int = 10_000,
    seed: int = DEFAULT_SEED,
) -> list[PictureGain]:
    """The gain of each seeing run over the blind one that belongs to it (`seeing_and_blind`).

    Pairs that cannot be compared are left out: other rows, scorers or task versions.

    Args:
        runs: those of one name are repeats.
        tasks: the names of the tasks to compare, as a `Difference` has them; None for all.
        resamples, seed: of the bootstrap.
    """
    task_names: set[str] = set()
    for task in tasks or ():
        task_names.update(task.split(" / "))  # A comparison across tasks has the names of both.
    gains: list[PictureGain] = []
    for pair in seeing_and_blind(runs):
        if tasks is not None and pair.seeing.task not in task_names:
            continue
        try:
            difference = headline_difference(pair.task, pair.runs_by_name, resamples, seed)
        except ComparisonError:
            continue
        if difference is not None:
            gains.append(_gain(difference, pair))
    return gains


def _gain(difference: Difference, pair: SeeingAndBlind) -> PictureGain:
    """The gain of a pair, from the difference of the seeing run against the blind one."""
    gain, low, high = difference.difference, difference.low, difference.high
    if not measures.measure_of(difference.metric).higher_is_better:
        gain = -gain
        low, high = _negative(high), _negative(low)
    models: list[str] = []
    if not pair.is_of_one_model:
        models = [run.model or "unknown" for run in pair]
    may_lack_pictures = pair.blind.model_class == BLIND_CLASS
    return PictureGain(
        task=difference.task,
        metric=difference.metric,
        seeing=difference.candidate,
        blind=difference.baseline,
        seeing_value=difference.candidate_value,
        blind_value=difference.baseline_value,
        gain=gain,
        low=low,
        high=high,
        solved=_solved_rows(pair),
        models=tuple(models),
        has_equal_outputs=may_lack_pictures and _has_equal_outputs(pair),
    )


def _negative(limit: float | None) -> float | None:
    return None if limit is None else -limit


def _solved_rows(pair: SeeingAndBlind) -> SolvedRows | None:
    """The rows that the runs answer right, by the buckets of a report; None if there are none.

    Of several answers to a row the first one counts, as there.
    """
    rows_of_seeing = 0
    rows_of_both = 0
    for blind_run in pair.blind.repeats:
        for seeing_run in pair.seeing.repeats:
            counts = sort_rows(blind_run, seeing_run).counts
            rows_of_both += counts["both right"]
            rows_of_seeing += counts["both right"] + counts["fixed"]
    if not rows_of_seeing:
        return None
    correctness = Correctness.of_task(pair.seeing.repeats[0])
    meaning = "" if correctness.decides else correctness.meaning
    return SolvedRows(rows_of_seeing, rows_of_both, meaning)


def _has_equal_outputs(pair: SeeingAndBlind) -> bool:
    """Whether both runs, with all repeats, have the same outputs for every row."""
    distinct_outputs: set[str] = set()
    for task_run in (*pair.seeing.repeats, *pair.blind.repeats):
        outputs_by_row = [(sample["sample"]["id"], outputs(sample)) for sample in task_run.samples]
        distinct_outputs.add(repr(sorted(outputs_by_row)))  # as a text, since a set takes no lists
    return len(distinct_outputs) == 1
