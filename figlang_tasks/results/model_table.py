"""A table of models by tasks: the main metric of each task, for many runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from figlang_tasks.core.text import listing
from figlang_tasks.results import measures, published, published_tables, tables
from figlang_tasks.results.frame import estimates_frame
from figlang_tasks.results.groups import best_runs
from figlang_tasks.results.provenance import option_text
from figlang_tasks.results.published import PublishedFigure
from figlang_tasks.results.standings import ComparableSet, Standing, comparable_sets
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import OVERALL, Estimate

RowKind: TypeAlias = Literal["model", "reference", "published"]
"""What a row of the table is: a model, a run without understanding, or a paper's figures."""

REFERENCE_CLASSES = ("figlang_random", "figlang_majority", "figlang_blind")
"""Model classes whose runs say what a value is worth: chance, and a model that sees nothing."""

_MARKS = "†‡§¶"
"""Marks of values that are not compared; the fifth reason has the first mark twice."""


class TaskColumn(NamedTuple):
    """A task of the table, and the metric that its values are of; "" if no run has a value."""

    task: str
    metric: str


@dataclass(frozen=True)
class Cell:
    """A value of the table.

    Attributes:
        metric: its metric.
        estimate: the value with its interval; of repeats the mean, without one. None if a run that
            is not compared has no value.
        deviation: the standard deviation over repeats; None for a run without repeats.
        is_best: whether it is the best of its task, or cannot be told apart from the best.
        reason: why the value is not compared: ``partial (limit 8)``; "" for one that is.
        mark: of the footnote that gives the reason; "" for none.
        figure: the published figure, in the row of a paper.
    """

    metric: str
    estimate: Estimate | None
    deviation: float | None = None
    is_best: bool = False
    reason: str = ""
    mark: str = ""
    figure: PublishedFigure | None = None

    @property
    def value_text(self) -> str:
        """The value as people read it: ``57.0``; ``-`` without one."""
        if self.figure is not None:
            return self.figure.text()
        if self.estimate is None:
            return "-"
        return measures.estimate_text(self.metric, Estimate(self.estimate.value))

    @property
    def spread_text(self) -> str:
        """What stands behind the value: ``[55.1, 58.9]`` or ``± 1.2``; "" for nothing."""
        if self.deviation is not None:
            return f"± {measures.value_text(self.metric, self.deviation)}"
        if self.figure is not None or self.estimate is None:
            return ""
        text = measures.estimate_text(self.metric, self.estimate)
        return text.removeprefix(self.value_text).strip()


@dataclass(frozen=True)
class Row:
    """A row of the table: its label, and its cells by task."""

    label: str
    kind: RowKind
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class ModelTable:
    """The main metric of each task, for each run.

    Attributes:
        runs: those that share a name are repeats.
        tasks: the names of the tasks, in order.
        shows_papers: whether published figures that are comparable have rows too.
    """

    runs: Sequence[Run]
    tasks: Sequence[str]
    shows_papers: bool = False

    @cached_property
    def columns(self) -> list[TaskColumn]:
        """The tasks with their metrics."""
        columns = []
        for task in self.tasks:
            metrics = [compared.metric for compared in self._sets_by_task[task]]
            columns.append(TaskColumn(task, next(filter(None, metrics), "")))
        return columns

    @cached_property
    def rows(self) -> list[Row]:
        """The rows: models, then reference runs, then published figures."""
        kinds: dict[str, RowKind] = {}
        for run in self.runs:
            kinds.setdefault(run.name, _kind_of(run))
        rows = []
        for name, kind in kinds.items():
            rows.append(Row(self._label(name), kind, self._cells_of_run(name)))
        rows.sort(key=lambda row: row.kind == "reference")  # in a stable order
        return [*rows, *self._published_rows]

    @cached_property
    def footnotes(self) -> list[str]:
        """A sentence for each mark, and others that a reader needs; without full stops."""
        notes = []
        for reason, mark in self._marks_by_reason.items():
            notes.append(f"{mark} not compared with the other runs of the task: {reason}")
        tasks_by_reason: dict[str, list[str]] = {}
        for column in self.columns:
            reason_of_all = self._sets_by_task[column.task][0].partial
            if reason_of_all:
                tasks_by_reason.setdefault(reason_of_all, []).append(column.task)
        for reason, tasks in tasks_by_reason.items():
            notes.append(f"partial ({reason}): {listing(tasks)}")
        for scorer, tasks in self._tasks_by_scorer.items():
            notes.append(f"explanation scorer {scorer}: {listing(tasks)}")
        notes += self._notes_on_repeats
        if self.shows_papers:
            notes += self._notes_on_papers
        return notes

    # --- sets of comparable runs ---

    @cached_property
    def _sets_by_task(self) -> dict[str, list[ComparableSet]]:
        """The sets of comparable runs of each task; those of the first one are compared."""
        return {task: comparable_sets(task, self.runs) for task in self.tasks}

    @cached_property
    def _marks_by_reason(self) -> dict[str, str]:
        """The mark of each reason why some runs of a task are not compared."""
        marks: dict[str, str] = {}
        for first, *others in self._sets_by_task.values():
            for other in others:
                reason = _why_apart(other, first)
                position = len(marks)
                mark = _MARKS[position % len(_MARKS)] * (1 + position // len(_MARKS))
                marks.setdefault(reason, mark)
        return marks

    @cached_property
    def _tasks_by_scorer(self) -> dict[str, list[str]]:
        """The tasks by the name of the scorer of their explanations."""
        tasks_by_scorer: dict[str, list[str]] = {}
        for task, (first, *_) in self._sets_by_task.items():
            if first.scorer:
                name = first.scorer.partition("|")[0]
                tasks_by_scorer.setdefault(name, []).append(task)
        return tasks_by_scorer

    # --- rows of runs ---

    @cached_property
    def _best_runs_by_task(self) -> dict[str, set[str]]:
        """The names of the models whose value of a task is in bold."""
        models = {run.name for run in self.runs if _kind_of(run) == "model"}
        best_by_task = {}
        for task, metric in self.columns:
            first = self._sets_by_task[task][0]
            values = {}
            for standing in first.standings:
                if standing.name in models and standing.value is not None:
                    values[standing.name] = standing.value
            best_by_task[task] = best_runs(metric, values, first.differences)
        return best_by_task

    def _cells_of_run(self, name: str) -> dict[str, Cell]:
        """The cells of a run, or of its repeats, by task."""
        cells = {}
        for column in self.columns:
            first = self._sets_by_task[column.task][0]
            placed = self._placed_standing(column.task, name)
            if placed is not None:
                compared, standing = placed
                reason = "" if compared is first else _why_apart(compared, first)
                cells[column.task] = self._cell(column, standing, reason)
        return cells

    def _placed_standing(self, task: str, name: str) -> tuple[ComparableSet, Standing] | None:
        """The set and the standing by which a run is shown; None for a run without the task.

        Repeats in several sets are shown by those of the first one.
        """
        for compared in self._sets_by_task[task]:
            for standing in compared.standings:
                if standing.name == name:
                    return compared, standing
        return None

    @property
    def _notes_on_repeats(self) -> list[str]:
        """A sentence for each cell that is of some of the repeats only."""
        notes = []
        for name, count in Counter(run.name for run in self.runs).items():
            for task in self.tasks:
                placed = self._placed_standing(task, name)
                if placed is not None and len(placed[1].task_runs) < count:
                    shown_runs = len(placed[1].task_runs)
                    notes.append(
                        f"{name} on {task}: only {shown_runs} of the {count} runs, the others lack"
                        " the task or are not comparable with these"
                    )
        return notes

    def _cell(self, column: TaskColumn, standing: Standing, reason: str) -> Cell:
        """The cell of a run in a column.

        Args:
            reason: why the run is not compared; "" for one that is.
        """
        task, metric = column
        mark = self._marks_by_reason.get(reason, "")
        estimates_of_repeats = []
        for task_run in standing.task_runs:
            estimates_of_repeats.append((standing.name, {task: task_run.estimates}))
        frame = estimates_frame(estimates_of_repeats)
        frame = frame[(frame["metric"] == metric) & (frame["scope"] == OVERALL)]
        if frame.empty:
            return Cell(metric, None, reason=reason, mark=mark)
        is_best = not reason and standing.name in self._best_runs_by_task[task]
        if len(standing.task_runs) > 1:
            mean = Estimate(float(frame["value"].mean()))
            return Cell(metric, mean, float(frame["value"].std()), is_best, reason, mark)
        (line,) = frame.to_dict("records")
        return Cell(metric, tables.estimate_of_line(line), None, is_best, reason, mark)

    def _label(self, name: str) -> str:
        """The name of a run, with the number of its repeats: ``base (3 runs)``."""
        count = sum(run.name == name for run in self.runs)
        return f"{name} ({count} runs)" if count > 1 else name

    # --- rows of papers ---

    @cached_property
    def _comparable_metrics(self) -> dict[str, published.ComparableMetrics]:
        """Whether the published figures of each task are comparable with the compared runs."""
        comparable = {}
        for task, metric in self.columns:
            conditions = []
            for standing in self._sets_by_task[task][0].standings:
                conditions += [task_run.conditions for task_run in standing.task_runs]
            comparable[task] = published.comparable_metrics(task, [metric], conditions)
        return comparable

    @cached_property
    def _published_rows(self) -> list[Row]:
        """A row for each model of a paper, with the tasks that it has comparable figures of."""
        if not self.shows_papers:
            return []
        cells_by_label: dict[str, dict[str, Cell]] = {}
        for task, metric in self.columns:
            comparable = self._comparable_metrics[task]
            rows = published_tables.published_rows(task, comparable.names, comparable.release)
            for row in rows:
                figure = row.values[metric]
                cell = Cell(metric, Estimate(_value_of(figure)), figure=figure)
                cells_by_label.setdefault(f"{row.label} ({row.paper})", {})[task] = cell
        return [Row(label, "published", cells) for label, cells in cells_by_label.items()]

    @property
    def _notes_on_papers(self) -> list[str]:
        """Why tasks have no published figures, a sentence for each reason."""
        tasks_by_reason: dict[str, list[str]] = {}
        for task, comparable in self._comparable_metrics.items():
            if comparable.left_out:
                tasks_by_reason.setdefault(comparable.left_out, []).append(task)
            elif not comparable.names:
                reason = "nothing was published that is comparable"
                tasks_by_reason.setdefault(reason, []).append(task)
        return [f"{listing(tasks)}: {reason}" for reason, tasks in tasks_by_reason.items()]


def _kind_of(run: Run) -> RowKind:
    """Whether a run is one of a model, or a reference that says what a value is worth."""
    return "reference" if option_text(run, "model") in REFERENCE_CLASSES else "model"


def _why_apart(compared: ComparableSet, other: ComparableSet) -> str:
    """Why two sets of runs cannot be compared, in one text."""
    return "; ".join(compared.reasons_apart_from(other))


def _value_of(figure: PublishedFigure) -> float:
    """The value of a published figure; NaN where only a range was published."""
    return float("nan") if figure.value is None else figure.value
