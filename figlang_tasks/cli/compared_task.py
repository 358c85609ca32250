"""One task of a comparison: the table of its runs, and the tables of their differences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from figlang_tasks.core.text import printable
from figlang_tasks.report.difference import differences_table
from figlang_tasks.results import frame, measures, published, published_tables, tables
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.groups import best_runs
from figlang_tasks.results.paired_statistics import answers_per_row
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, full_name

if TYPE_CHECKING:
    import pandas as pd


class ComparedRun(NamedTuple):
    """A run with its results of one task."""

    run: Run
    task_run: TaskRun


@dataclass(frozen=True)
class ComparedTask:
    """A task that runs were compared on.

    Attributes:
        name: of the task; across tasks the names of both.
        runs: those that were compared; runs that share a name are repeats.
        differences: of all pairs of runs on this task, pair by pair.
        has_main_metric_alone: whether only the main metric was tested. The table of the runs then
            has all metrics of the harness's table, else those that were tested.
    """

    name: str
    runs: Sequence[ComparedRun]
    differences: Sequence[Difference]
    has_main_metric_alone: bool

    def table_of_runs(self, shows_papers: bool) -> pd.DataFrame:
        """A table of texts: a row for each name of a run, and a column for each metric.

        The best value of a metric, with all that cannot be told apart from it, is ``**57.0**``.

        Args:
            shows_papers: whether the rows of the paper stand below.
        """
        import pandas as pd

        table = tables.wide_table(self._estimates, ["run"], self._metrics)
        run_names = list(table["run"])
        for metric in self._metrics:
            table[metric] = self._column(metric, run_names, cells=list(table[metric]))
        table["run"] = [self._label(name) for name in run_names]
        if shows_papers:
            published_rows = []
            comparable = self._comparable_metrics
            for row in published_tables.published_rows(
                self.name, comparable.names, comparable.release
            ):
                label = f"{row.label} (published, {row.table})"
                published_rows.append((label, row.values))
            table = pd.concat([table, tables.published_table(published_rows, table)])
        heads = {metric: measures.name_with_arrow(metric) for metric in self._metrics}
        return table.rename(columns={"run": "", **heads})

    def notes(self, shows_papers: bool) -> list[str]:
        """Sentences for below the table of runs: the papers' protocol, and the scorers.

        Args:
            shows_papers: whether the table has rows of the paper.
        """
        notes = []
        if shows_papers:
            comparable = self._comparable_metrics
            protocol = published_tables.protocol_text(
                self.name, comparable.names, comparable.release
            )
            if protocol:
                notes.append(f"published: {protocol}")
            if comparable.left_out:
                notes.append(comparable.left_out)
            if not notes:
                notes.append(self._nothing_published_note())
        scorers = [run.task_run.signature or run.task_run.scorer for run in self.runs]
        for scorer in dict.fromkeys(scorers):
            if scorer:
                notes.append(f"explanation scorer: {scorer}")
        return notes

    def tables_of_pairs(self) -> list[tuple[str, pd.DataFrame]]:
        """For each pair of runs a title, ``tuned against base``, and a table of differences."""
        differences_by_pair: dict[tuple[str, str], list[Difference]] = {}
        for difference in self.differences:
            pair = (difference.baseline, difference.candidate)
            differences_by_pair.setdefault(pair, []).append(difference)
        titled_tables = []
        for (baseline, candidate), differences in differences_by_pair.items():
            title = f"{printable(candidate)} against {printable(baseline)}"
            titled_tables.append((title, differences_table(differences)))
        return titled_tables

    def has_overlapping_scopes(self) -> bool:
        """Whether scopes were compared in which a row counts several times."""
        if all(difference.scope == OVERALL for difference in self.differences):
            return False
        return any(measures.scopes_overlap(compared.task_run.estimates) for compared in self.runs)

    @cached_property
    def _estimates(self) -> pd.DataFrame:
        """`estimates_frame` of all runs; ``metric`` has the full name: ``f1@60_muse``.

        Full names tell scopes apart, so each run has one estimate of a ``metric``.
        """
        estimates_of_runs = []
        for run, task_run in self.runs:
            estimates_of_runs.append((run.name, {self.name: task_run.estimates}))
        estimates = frame.estimates_frame(estimates_of_runs)
        full_names = []
        for metric, scope in zip(estimates["metric"], estimates["scope"], strict=True):
            full_names.append(full_name(metric, scope))
        estimates["metric"] = full_names
        return estimates

    @cached_property
    def _metrics(self) -> list[str]:
        """The full names of the metrics that the table of runs has columns for.

        A metric without a value has no column, such as f1@53 without explanation scores.
        """
        if self.has_main_metric_alone:
            metrics = _metrics_of_table(self.runs[0].task_run)
        else:
            metrics = _tested_metrics(self.differences)
        metrics_with_value = set(self._estimates["metric"])
        # Each pair of runs has a difference of the same metric, so metrics may come again.
        return [metric for metric in dict.fromkeys(metrics) if metric in metrics_with_value]

    @cached_property
    def _comparable_metrics(self) -> published.ComparableMetrics:
        """The metrics of the table whose published figures are comparable with all of the runs."""
        conditions = [compared.task_run.conditions for compared in self.runs]
        return published.comparable_metrics(self.name, self._metrics, conditions)

    def _nothing_published_note(self) -> str:
        """That no metric of the table was published, and in which scopes some of them were."""
        note = f"published: nothing for {', '.join(self._metrics)} of {self.name}"
        measure_names = {measures.measure_of(metric).name for metric in self._metrics}
        scoped_metrics: list[str] = []
        for figure in published.figures_of_task(self.name):
            if measures.measure_of(figure.metric).name in measure_names:
                scoped_metrics.append(figure.metric)
        conditions = [compared.task_run.conditions for compared in self.runs]
        comparable = published.comparable_metrics(self.name, scoped_metrics, conditions)
        if comparable.left_out:
            return comparable.left_out
        options = " ".join(f"--metric {metric}" for metric in comparable.names)
        return f"{note}, but there are figures for {options}" if options else note

    @cached_property
    def _repeats(self) -> Counter[str]:
        """How many of the runs have each name."""
        return Counter(compared.run.name for compared in self.runs)

    def _column(self, metric: str, run_names: Sequence[str], cells: Sequence[str]) -> list[str]:
        """The column of a metric, with a cell for each run.

        Mean ± sd replace the value of repeated runs. What `best_runs` names is bold: ``**57.0**``.

        Args:
            metric: its full name, with the scope.
            run_names: each once; they are the rows of the column.
            cells: a text for each run: the value with its interval; "" without one.
        """
        # A row for each run, since the name of the metric has its scope. Repeats share a name.
        has_metric = self._estimates["metric"] == metric
        values_by_run = self._estimates[has_metric].groupby("run")["value"]
        means = values_by_run.mean()
        deviations = values_by_run.std()
        bold_runs = best_runs(metric, means.dropna().to_dict(), self._differences_by(metric))
        final_cells = []
        for name, cell in zip(run_names, cells, strict=True):
            text = cell
            if self._repeats[name] > 1 and cell:
                mean = measures.value_text(metric, means[name])
                deviation = measures.value_text(metric, deviations[name])
                text = f"{mean} ± {deviation}"
            if name in bold_runs:
                # Only the value is bold, not the interval or the deviation after it.
                text = re.sub(r"^\S+", r"**\g<0>**", text)
            final_cells.append(text)
        return final_cells

    def _differences_by(self, metric: str) -> list[Difference]:
        """The differences of all pairs of runs by a metric, given by its full name."""
        return [difference for difference in self.differences if difference.name == metric]

    def _label(self, name: str) -> str:
        """A run's name with the number of its repeats or answers, ``base (3 runs)``, if above 1."""
        task_runs = [compared.task_run for compared in self.runs if compared.run.name == name]
        if len(task_runs) > 1:
            return f"{name} ({len(task_runs)} runs)"
        answers = answers_per_row(self.name, name, task_runs[0])
        return f"{name} ({answers} answers to a row)" if answers > 1 else name


def _metrics_of_table(task_run: TaskRun) -> list[str]:
    """The metrics of a task in the harness's table, without diagnostic ones."""
    metrics = []
    for measure in task_run.measures.all:
        if measure.in_table and not measure.is_diagnostic:
            metrics.append(measure.name)
    return metrics


def _tested_metrics(differences: Sequence[Difference]) -> list[str]:
    """The full names of the metrics that were tested over all rows, else of those for scopes."""
    overall_differences = [difference for difference in differences if difference.scope == OVERALL]
    return [difference.name for difference in overall_differences or differences]
