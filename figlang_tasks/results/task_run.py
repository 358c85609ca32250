"""Finished runs in memory: a `Run` has a `TaskRun` for each task."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from figlang_tasks import scoring
from figlang_tasks.core import notes
from figlang_tasks.core.benchmark import Benchmark, of_dataset
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.hub import USER_ROWS
from figlang_tasks.core.request import Request
from figlang_tasks.core.samples_files import samples_content
from figlang_tasks.core.text import listing
from figlang_tasks.core.whole_paths import new_folder
from figlang_tasks.results.contradictions import find_contradictions
from figlang_tasks.results.measures import MetricScope, statistics_by_metric_scope
from figlang_tasks.results.published import RunConditions
from figlang_tasks.results.results_file import Results
from figlang_tasks.scoring import Estimates, Measures, Record, Task
from figlang_tasks.scoring.explained import check_records
from figlang_tasks.scoring.output_warnings import OutputWarning, find_output_warnings
from figlang_tasks.scoring.read_by_model import with_read_by_model

if TYPE_CHECKING:
    import pandas as pd

    from figlang_tasks.metrics.significance import Statistic

Sample: TypeAlias = Mapping[str, Any]
"""A line of a samples file, with the record of our task under ``sample``."""

SCORE_AGAIN = "read its outputs again, without the model (figlang score SAMPLES_FILE --task TASK)"
"""What messages advise where the outputs in a samples file may still be good."""


@dataclass(frozen=True)
class TaskRun:
    """The saved results of one task of a run.

    Attributes:
        task: the name of its task file.
        path: of the samples file.
        saved_sha256: of the samples file; None of a run that was made in memory.
        kind: the declaration of the task that wrote the records.
        request: what the task file asked of its dataset.
        data: dataset, part and version of the rows.
        samples: the lines of the samples file.
        reported: the estimates in the results file; NaN where the computation failed. Empty without
            a results file, and for a run of lm-eval.
        config: the task's entry in the results file; empty without one.
        scorer: the name of the scorer of the explanations; None if they have no scores.
        signature: the signature of that scorer; None without a results file or scores.
        partial: why the task is partial (``limit 8``); None for a whole one, or without a results
            file.
        table: the task's row of the harness's own table: ``{"acc,none": 0.5, ...}``.
    """

    task: str
    path: Path
    saved_sha256: str | None
    kind: Task
    request: Request
    data: DataId
    samples: tuple[Sample, ...]
    reported: Estimates
    config: Mapping[str, Any]
    scorer: str | None
    signature: str | None
    partial: str | None = None
    table: Mapping[str, Any] = field(default_factory=dict)

    # --- what was saved ---

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the samples file: of a run in memory, of the file that it is saved as."""
        if self.saved_sha256 is not None:
            return self.saved_sha256
        return hashlib.sha256(samples_content(self.samples)).hexdigest()

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The id of each sample's row, in the order of the file."""
        return tuple(sample["sample"]["id"] for sample in self.samples)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The record of each sample, in the order of the file."""
        return tuple(sample["sample"] for sample in self.samples)

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark that the data belongs to."""
        return of_dataset(self.data.dataset)

    @cached_property
    def card_module(self) -> ModuleType | None:
        """The optional module ``card`` of the benchmark, which shows rows; None without one."""
        return self.benchmark.module("card")

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of the task in the results file; empty if it has none."""
        return self.config.get("metadata") or {}

    @property
    def version(self) -> str | None:
        """The version of the task, ``N-X``; None if no results file names it."""
        version = self.metadata.get("version")
        return None if version is None else str(version)

    @property
    def has_user_rows(self) -> bool:
        """Whether the rows are the user's own, in place of those of the release."""
        return any(record.get("revision") == USER_ROWS for record in self.records)

    @property
    def sampling(self) -> str | None:
        """The setting that makes answers random: ``temperature 0.7``; None without such a setting.

        If a temperature is set, it alone decides: 0 is not random.
        """
        settings = self.config.get("generation_kwargs") or {}
        temperature = settings.get("temperature")
        if temperature is not None:
            is_random = float(temperature) > 0
            return f"temperature {float(temperature):g}" if is_random else None
        if str(settings.get("do_sample")).lower() in ("true", "1"):
            return "do_sample"
        return None

    @cached_property
    def unanswered(self) -> int:
        """How many samples have no answer: the harness wrote the text of its error instead."""
        unanswered_samples = 0
        for sample in self.samples:
            if any(map(notes.is_no_answer, outputs(sample))):
                unanswered_samples += 1
        return unanswered_samples

    # --- explanations ---

    @property
    def has_explanations(self) -> bool:
        """Whether the task asks for explanations, and its rows have published ones."""
        if self.kind.scheme is None:
            return False
        # Records have this field only where the task asks for labels alone: it is then False.
        return any(record.get("asks_for_explanation") is not False for record in self.records)

    @property
    def metrics_of_explanations(self) -> tuple[str, ...]:
        """The metrics whose values depend on explanation scores; none for tasks without them."""
        if self.kind.scheme is None:
            return ()
        return self.kind.scheme.metrics

    def check_explanations(self) -> None:
        """Raise a `RunError` unless every record has what the scorer of explanations needs."""
        with self.reporting_damage():
            check_records(self.records)

    # --- what the records give ---

    @cached_property
    def measures(self) -> Measures:
        """The measures of the task.

        If a language model has read answers that our readers left, they include the headline
        measure of its readings.
        """
        return with_read_by_model(self.kind.measures, self.records)

    @cached_property
    def rows(self) -> int:
        """The number of benchmark rows in the samples, where several may belong to one row."""
        with self.reporting_damage():
            return self.measures.count_rows(self.records)

    @cached_property
    def statistics(self) -> dict[MetricScope, Statistic]:
        """The sufficient statistics of each metric in each scope; METEOR and FID have none."""
        with self.reporting_damage():
            return statistics_by_metric_scope(self.measures.all, self.records)

    @cached_property
    def estimates(self) -> Estimates:
        """The results file's estimates, unless it has none or the samples contradict them.

        Then those recomputed from the samples, which give no METEOR, FID or other metric that is no
        function of sums.
        """
        if self.reported and not self.contradictions:
            return self.reported_estimates
        with self.reporting_damage():
            return scoring.evaluate(self.records, self.measures.recomputable, stderr_resamples=0)

    @property
    def reported_estimates(self) -> Estimates:
        """The estimates of the results file for metrics of the task, in the order of tables."""
        return {
            name: self.reported[name] for name in self.measures.by_name if name in self.reported
        }

    @contextmanager
    def reporting_damage(self, subject: str = "a record") -> Iterator[None]:
        """Turn errors of reading damaged samples into a `RunError` that names file and subject.

        Args:
            subject: what is read, for the message.
        """
        try:
            yield
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise RunError(
                f"{self.path} has {subject} that is not as the task {self.task} writes it"
                f" ({type(error).__name__}: {error}): restore the file that the harness wrote, or"
                f" {SCORE_AGAIN}"
            ) from error

    # --- whether the numbers can be trusted ---

    @cached_property
    def contradictions(self) -> tuple[str, ...]:
        """The contradictions between results file and samples: ``acc 0.9 (its samples: 0.5)``."""
        return self.contradictions_with_intervals_of(self.measures.by_name)

    def contradictions_with_intervals_of(
        self, fully_compared_metrics: Collection[str]
    ) -> tuple[str, ...]:
        """All contradictions, but of intervals only those of some metrics; () if there are none.

        Args:
            fully_compared_metrics: names of the metrics whose standard errors and intervals are
                compared too, which takes time. The values of all metrics are compared in any case.
        """
        with self.reporting_damage():
            return tuple(find_contradictions(self, fully_compared_metrics))

    def check_consistent(self) -> None:
        """Raise a `RunError` unless the samples give what the results file says."""
        if self.contradictions:
            raise RunError(
                f"{self.path}: the results file says {listing(self.contradictions)}. Are these"
                " files of two runs, or was one changed? Restore what the harness wrote, or"
                f" {SCORE_AGAIN}"
            )

    def warnings(self, run_path: str) -> list[OutputWarning]:
        """Warnings about the outputs, to be read before the numbers.

        Args:
            run_path: stands for the run in the commands that warnings recommend.
        """
        # The first of several answers to a row; None if the harness saved none.
        first_outputs = [next(iter(outputs(sample)), None) for sample in self.samples]
        with self.reporting_damage():
            measures = self.measures.by_name
            return find_output_warnings(measures, self.records, first_outputs, run_path)

    @property
    def conditions(self) -> RunConditions:
        """The conditions that decide whether published figures are comparable with this run."""
        return RunConditions(
            rows=self.rows,
            partial=self.partial,
            scorer=self.signature or self.scorer,
            has_user_rows=self.has_user_rows,
            data=self.data.name,
        )


@dataclass(frozen=True)
class Run:
    """The saved results of one evaluation of one model.

    Attributes:
        name: as the user gave it, else the model's.
        path: as the user gave it.
        tasks: the tasks of ours by name.
        results: the content of the results file, the last of several; empty if there is none.
        given_name: the name that the user gave; runs that share one are repeats.
        missing: a sentence for each results file with values of tasks that have no samples.
    """

    name: str
    path: Path
    tasks: Mapping[str, TaskRun]
    results: Results
    given_name: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def partial(self) -> str | None:
        """Why the run is partial: ``limit 8``; None for a whole run.

        ``limit 8 in vflute`` if other tasks are whole, or partial for another reason.
        """
        tasks_by_reason: dict[str, list[str]] = {}
        for task in self.tasks.values():
            if task.partial:
                tasks_by_reason.setdefault(task.partial, []).append(task.task)
        reasons = []
        for reason, tasks in tasks_by_reason.items():
            if len(tasks) < len(self.tasks):
                reason += f" in {listing(tasks)}"
            reasons.append(reason)
        return ", ".join(reasons) or None

    @property
    def estimates(self) -> dict[str, Estimates]:
        """The estimates of each task by its name: by metric, then by scope."""
        return {name: task.estimates for name, task in self.tasks.items()}

    def table(self) -> pd.DataFrame:
        """A DataFrame of all numbers of the run (`figlang_tasks.table`)."""
        from figlang_tasks.results.frame import table

        return table(self)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the run into a new folder, in the form of the harness; return the folder.

        All commands take it: ``figlang compare``, ``report``, ``submit``, ``judge``.

        Raises:
            FigLangError: the folder is not empty.
        """
        from figlang_tasks.results.writing import save_run

        path = Path(folder)
        with new_folder(path) as partial_folder:
            save_run(self, partial_folder)
        return path


def outputs(sample: Sample) -> list[str]:
    """All outputs of the model for a sample, from the nested lists that lm-eval writes."""
    texts: list[str] = []
    _add_texts(sample.get("filtered_resps"), texts)
    return texts


def _add_texts(response: object, texts: list[str]) -> None:
    """Add the texts in a response, which may be a list of lists, to a list."""
    if isinstance(response, list):
        for member in response:
            _add_texts(member, texts)
    elif response is not None:
        texts.append(str(response))
