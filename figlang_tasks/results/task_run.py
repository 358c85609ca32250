"""Finished runs in memory: `Run` and its `TaskRun`s, and what is computed from their records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from figlang_tasks import scoring
from figlang_tasks.core import notes
from figlang_tasks.core.benchmark import Benchmark, of_dataset
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.hub import OWN
from figlang_tasks.core.request import Request
from figlang_tasks.core.text import listing
from figlang_tasks.results.contradictions import SavedTask, find_contradictions
from figlang_tasks.results.published import RunConditions
from figlang_tasks.scoring import Estimates, Measures, Record, Task
from figlang_tasks.scoring.explained import check_records
from figlang_tasks.scoring.output_warnings import output_warnings
from figlang_tasks.scoring.read_by_model import with_read_by_model

if TYPE_CHECKING:
    from figlang_tasks.metrics.significance import Statistic

_Value = TypeVar("_Value")

SCORE_AGAIN = "evaluate again (figlang_replay scores saved outputs without the model)"
"""The remedy of messages about samples that are not as a task writes them."""


@dataclass(frozen=True)
class TaskRun:
    """The saved results of one task of a run.

    Attributes:
        task: the name of its task file.
        path: of the samples file.
        sha256: of the samples file.
        kind: the kind of task that wrote the records.
        request: what the task file asked of its dataset.
        samples: the lines of the samples file; each has its record under ``sample``.
        reported: the estimates in the results file; NaN where the computation failed. Empty without
            a results file, and of lm-eval.
        config: the task's entry in the results file; empty without one.
        scorer: the name of the scorer of the explanations; None if they have no scores.
        signature: the signature of that scorer.
        partial: why the task is partial (``limit 8``); None for a whole one, or without a results
            file.
        table: the task's row of the harness's own table.
    """

    task: str
    path: Path
    sha256: str
    kind: Task
    request: Request
    data: DataId
    samples: tuple[Mapping[str, Any], ...]
    reported: Estimates
    config: Mapping[str, Any]
    scorer: str | None
    signature: str | None
    partial: str | None = None
    table: Mapping[str, Any] = field(default_factory=dict)

    # --- what was saved ---

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The rows' ids in the order of the file."""
        return tuple(line["sample"]["id"] for line in self.samples)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The record of each line."""
        return tuple(line["sample"] for line in self.samples)

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark that the data belongs to."""
        return of_dataset(self.data.dataset)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata of the task in the results file; empty if it has none."""
        return self.config.get("metadata") or {}

    @property
    def version(self) -> str | None:
        """The task's version, ``N-X``; None where no results file tells it."""
        version = self.metadata.get("version")
        return None if version is None else str(version)

    @property
    def has_user_rows(self) -> bool:
        """Whether the user brought the rows, in place of the release's."""
        return any(record.get("revision") == OWN for record in self.records)

    @property
    def sampling(self) -> str | None:
        """The setting by which answers were drawn at random (``temperature 0.7``); None if the
        results name none.
        """
        settings = self.config.get("generation_kwargs") or {}
        temperature = settings.get("temperature")
        if temperature is not None:
            return f"temperature {float(temperature):g}" if float(temperature) > 0 else None
        is_sampling = str(settings.get("do_sample")).lower() in ("true", "1")
        return "do_sample" if is_sampling else None

    @property
    def has_explanations(self) -> bool:
        """Whether the task asks for explanations, and its rows have published ones."""
        if self.kind.scheme is None:
            return False
        return any(record.get("asks_for_explanation") is not False for record in self.records)

    @property
    def metrics_of_explanations(self) -> tuple[str, ...]:
        """The metrics whose values depend on explanation scores; none if no explanation is asked
        for.
        """
        return () if self.kind.scheme is None else self.kind.scheme.metrics

    def check_explanations(self) -> None:
        """Raise a `RunError` unless all records have what the scorer of explanations takes."""

        def check(measures: Measures, records: Sequence[Record]) -> None:
            check_records(records)

        self.compute_from_records(check)

    @cached_property
    def unanswered(self) -> int:
        """How many requests have no answer: the harness wrote its error text instead."""
        return sum(any(map(notes.is_no_answer, outputs(line))) for line in self.samples)

    # --- what is computed from the records ---

    @cached_property
    def measures(self) -> Measures:
        """The measures of the task; of one that a language model has read, with that of its
        readings.
        """
        return with_read_by_model(self.kind.measures, self.records)

    @cached_property
    def rows(self) -> int:
        """How many rows of the benchmark the lines are of."""

        def count_rows(measures: Measures, records: Sequence[Record]) -> int:
            return measures.count_rows(records)

        return self.compute_from_records(count_rows)

    @cached_property
    def estimates(self) -> Estimates:
        """The reported estimates of known measures; of the samples (without METEOR, FID) if they
        give others.
        """

        def evaluate_sums(measures: Measures, records: Sequence[Record]) -> Estimates:
            return scoring.evaluate(records, measures.recomputable, 0)

        if self.reported and not self.contradictions:
            return self.reported_estimates
        return self.compute_from_records(evaluate_sums)

    @property
    def reported_estimates(self) -> Estimates:
        """The reported estimates of known measures, in the order of tables."""
        return {
            name: self.reported[name] for name in self.measures.by_name if name in self.reported
        }

    @cached_property
    def statistics(self) -> dict[tuple[str, str], Statistic]:
        """The sufficient statistics of each measure in each scope; of METEOR, FID and the like
        there are none.
        """

        def compute_statistics(
            measures: Measures, records: Sequence[Record]
        ) -> dict[tuple[str, str], Statistic]:
            statistics = {}
            for measure in measures.all:
                for scope, statistic in measure.statistics_by_scope(records).items():
                    statistics[measure.name, scope] = statistic
            return statistics

        return self.compute_from_records(compute_statistics)

    @cached_property
    def contradictions(self) -> tuple[str, ...]:
        """What the results file says, and the samples do not: ``acc 0.900000 (its samples:
        0.500000)``.
        """
        return self.contradictions_of(self.measures.by_name)

    def contradictions_of(self, metrics: Collection[str]) -> tuple[str, ...]:
        """The same, with standard errors and intervals of these metrics alone: their resamples take
        time.
        """

        def find(measures: Measures, records: Sequence[Record]) -> list[str]:
            saved = SavedTask(
                measures,
                records,
                self.reported,
                self.table,
                self.config,
                str(self.data),
                self.scorer,
            )
            return find_contradictions(saved, metrics)

        return tuple(self.compute_from_records(find))

    def check_consistent(self) -> None:
        """Raise a `RunError` unless the samples give what the results file says."""
        if self.contradictions:
            raise RunError(
                f"{self.path}: the results file says {listing(self.contradictions)}. Are these"
                " files of two runs, or was one changed? Restore what the harness wrote, or"
                f" {SCORE_AGAIN}"
            )

    def warnings(self, run: str) -> list[str]:
        """Warnings about the outputs, to be read before the numbers; `run` as a command line takes
        it.
        """
        first_outputs = [next(iter(outputs(line)), None) for line in self.samples]

        def collect(measures: Measures, records: Sequence[Record]) -> list[str]:
            return output_warnings(measures.by_name, records, first_outputs, run)

        return self.compute_from_records(collect)

    @property
    def conditions(self) -> RunConditions:
        """What decides whether published results are comparable with this run."""
        scorer = self.signature or self.scorer
        return RunConditions(self.rows, self.partial, scorer, self.has_user_rows, self.data.name)

    def compute_from_records(
        self, compute: Callable[[Measures, Sequence[Record]], _Value]
    ) -> _Value:
        """The value of ``compute(measures, records)``; a damaged record is a `RunError`."""
        measures = self.measures
        with self.reporting_damage("a record"):
            return compute(measures, self.records)

    @contextmanager
    def reporting_damage(self, what: str) -> Iterator[None]:
        """Turn an error of reading a damaged record into one that names the file."""
        try:
            yield
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise RunError(
                f"{self.path} has {what} that is not as the task {self.task} writes it"
                f" ({type(error).__name__}: {error}): restore the file that the harness wrote, or"
                f" {SCORE_AGAIN}"
            ) from error


@dataclass(frozen=True)
class Run:
    """The saved results of one evaluation of one model.

    Attributes:
        name: as the user gave it, else the model's.
        path: as the user gave it.
        results: the content of the results file, the last of several; empty if there is none.
        given_name: the name that the user gave; runs that share one are repeats.
        missing: a sentence for each results file with values of tasks that have no samples.
    """

    name: str
    path: Path
    tasks: Mapping[str, TaskRun]
    results: Mapping[str, Any]
    given_name: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def partial(self) -> str | None:
        """Why the run is partial (``limit 8``), with the tasks if others are whole; None for a
        whole run.
        """
        tasks_by_reason: dict[str, list[str]] = {}
        for task in self.tasks.values():
            if task.partial:
                tasks_by_reason.setdefault(task.partial, []).append(task.task)
        sentences = []
        for reason, tasks in tasks_by_reason.items():
            sentences.append(
                reason if len(tasks) == len(self.tasks) else f"{reason} in {listing(tasks)}"
            )
        return ", ".join(sentences) or None


def outputs(line: Mapping[str, Any]) -> list[str]:
    """All answers to a row, flattened from the nested lists of lm-eval."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, list):
            for member in value:
                yield from texts(member)
        elif value is not None:
            yield str(value)

    return list(texts(line.get("filtered_resps")))
