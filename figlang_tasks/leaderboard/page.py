"""The page of a leaderboard: one HTML file that loads nothing and works without its script.

Jinja escapes every text in it. A Content-Security-Policy allows its script and style sheet alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from figlang_tasks.core.html_pages import (
    content_security_policy,
    page_environment,
    shared_style,
)
from figlang_tasks.leaderboard.board import Leaderboard, RunFacts
from figlang_tasks.leaderboard.task_board import (
    PublishedResult,
    RankedRun,
    TaskBoard,
    UnrankedRun,
)
from figlang_tasks.results import measures

_FOLDER = Path(__file__).resolve().parent


class Bar(NamedTuple):
    """A value with its interval, in percent of the width of a drawing; no limits: the value."""

    low: float
    high: float
    value: float


class Axis(NamedTuple):
    """The least and the largest value that the bars of a task can show."""

    start: float
    end: float

    def position(self, value: float) -> float:
        """Where a value lies, 0 to 100."""
        return round(100 * (value - self.start) / (self.end - self.start), 2)


@dataclass(frozen=True)
class Line:
    """A row of the table of a task; "" and None for what is unknown, or not shown.

    Attributes:
        name: of the model.
        facts: about the run; None for a published result.
        rank, letters: as in `RankedRun`; None and "" without a place in the ranking.
        value, value_text: the value, as a number to sort by and as people read it.
        bar: the value and its interval as a drawing.
        rows: how many rows of the benchmark were evaluated.
        scorer: the signature of the scorer.
        source: the paper and its table.
        kind: of a published result: ``zero-shot``.
        reasons: why a run is not compared.
    """

    name: str
    facts: RunFacts | None
    rank: int | None
    letters: str
    value: float | None
    value_text: str
    bar: Bar | None
    rows: int | None
    scorer: str | None
    source: str = ""
    kind: str = ""
    reasons: Sequence[str] = ()

    @property
    def scorer_name(self) -> str:
        """The name of the scorer, without what its signature adds."""
        return scorer_name(self.scorer)


@dataclass(frozen=True)
class TaskTable:
    """The table of a task."""

    board: TaskBoard
    metric_text: str
    axis_text: str
    lines: Sequence[Line]
    not_compared: Sequence[Line]


class OverviewCell(NamedTuple):
    """What a run reached on a task: ``57.0`` and its letters; empty where it is not ranked."""

    value: float | None
    text: str
    letters: str


@dataclass(frozen=True)
class OverviewLine:
    """A row of the overview: a run, with a cell for each task."""

    facts: RunFacts
    scorer_names: Sequence[str]
    cells: Sequence[OverviewCell]


def render(board: Leaderboard) -> bytes:
    """The page of a leaderboard, in UTF-8."""
    style = shared_style() + (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    facts_by_run = {facts.run: facts for facts in board.runs}
    tables = [_task_table(task, facts_by_run) for task in board.tasks]
    tables_by_dataset: dict[str, list[TaskTable]] = {}
    for table in tables:
        tables_by_dataset.setdefault(table.board.dataset, []).append(table)
    html = (
        _environment()
        .get_template("page.jinja")
        .render(
            board=board,
            policy=content_security_policy(style, script),
            style=Markup(style),  # Markup is not escaped: both are files of this package
            script=Markup(script),
            tables=tables,
            tables_by_dataset=tables_by_dataset,
            overview=_overview(board),
            scorer_names=sorted(_scorer_names(tables)),
        )
    )
    return html.encode("utf-8", "replace")  # half a surrogate pair has no bytes in UTF-8


def scorer_name(signature: str | None) -> str:
    """The name of a scorer, without what its signature adds; "" without a scorer."""
    return (signature or "").partition("|")[0]


def parameters_text(parameters: int | None) -> str:
    """A number of parameters as people write it: ``135M``, ``7.1B``; ``unknown`` for None."""
    if parameters is None:
        return "unknown"
    for unit, size in (("B", 10**9), ("M", 10**6)):
        if parameters >= size:
            return f"{parameters / size:.3g}{unit}"
    return f"{parameters:,}"


# --- the overview ---


def _overview(board: Leaderboard) -> list[OverviewLine]:
    """A row for each run that is ranked on any task."""
    lines = []
    for facts in board.runs:
        cells = []
        scorer_names: dict[str, None] = {}  # a set that keeps its order
        for task in board.tasks:
            ranked_runs = [ranked for ranked in task.ranked if ranked.run == facts.run]
            cells.append(_overview_cell(task, ranked_runs))
            for ranked in ranked_runs:
                scorer_names[scorer_name(ranked.scorer)] = None
        if any(cell.text for cell in cells):
            lines.append(OverviewLine(facts, list(filter(None, scorer_names)), cells))
    return lines


def _overview_cell(task: TaskBoard, ranked_runs: Sequence[RankedRun]) -> OverviewCell:
    """The cell of a run and a task; an empty one if the run is not ranked there."""
    if not ranked_runs:
        return OverviewCell(None, "", "")
    ranked = ranked_runs[0]
    text = measures.value_text(task.metric, ranked.value)
    return OverviewCell(ranked.value, text, ranked.letters)


# --- the table of a task ---


def _task_table(task: TaskBoard, facts_by_run: Mapping[str, RunFacts]) -> TaskTable:
    """The table of a task: ranked runs and published results by value, then the other runs."""
    axis = _axis(task)
    lines = [_ranked_line(task, ranked, facts_by_run[ranked.run], axis) for ranked in task.ranked]
    lines += [_published_line(task, result, axis) for result in task.published]

    def value_of(line: Line) -> float:
        assert line.value is not None  # A line without a value is not compared.
        return line.value

    # Stable: of equal values the runs come before what was published.
    lines.sort(key=value_of, reverse=task.higher_is_better)
    not_compared = [_unranked_line(run, facts_by_run[run.run]) for run in task.not_compared]
    axis_text = ""
    if axis is not None:
        limits = [measures.value_text(task.metric, limit) for limit in axis]
        axis_text = " to ".join(limits)
    metric_text = measures.name_with_arrow(task.metric) if task.metric else ""
    return TaskTable(task, metric_text, axis_text, lines, not_compared)


def _axis(task: TaskBoard) -> Axis | None:
    """The axis of a task's bars: tenths around all intervals for shares; None without values."""
    numbers: list[float | None] = []
    for ranked in task.ranked:
        numbers += [ranked.value, ranked.low, ranked.high]
    for result in task.published:
        numbers += [result.value, result.low, result.high]
    values = [number for number in numbers if number is not None]
    if not values:
        return None
    start = min(values)
    end = max(values)
    if task.is_share:
        start = math.floor(10 * start) / 10
        end = math.ceil(10 * end) / 10
    if start == end:  # such as a single value without an interval
        end = start + 1
    return Axis(start, end)


def _bar(axis: Axis | None, value: float, low: float | None, high: float | None) -> Bar | None:
    """The drawing of a value and its interval; None without an axis."""
    if axis is None:
        return None
    return Bar(
        low=axis.position(value if low is None else low),
        high=axis.position(value if high is None else high),
        value=axis.position(value),
    )


def _ranked_line(task: TaskBoard, ranked: RankedRun, facts: RunFacts, axis: Axis | None) -> Line:
    text = measures.value_text(task.metric, ranked.value)
    limits = [limit for limit in (ranked.low, ranked.high) if limit is not None]
    if limits:
        limit_texts = [measures.value_text(task.metric, limit) for limit in limits]
        text += f" [{', '.join(limit_texts)}]"
    return Line(
        name=facts.model,
        facts=facts,
        rank=ranked.rank,
        letters=ranked.letters,
        value=ranked.value,
        value_text=text,
        bar=_bar(axis, ranked.value, ranked.low, ranked.high),
        rows=ranked.rows,
        scorer=ranked.scorer,
    )


def _published_line(task: TaskBoard, result: PublishedResult, axis: Axis | None) -> Line:
    return Line(
        name=result.model,
        facts=None,
        rank=None,
        letters="",
        value=result.value,
        value_text=result.text,
        bar=_bar(axis, result.value, result.low, result.high),
        rows=None,
        scorer=None,
        source=f"{result.paper}, {result.table}",
        kind=result.kind,
    )


def _unranked_line(run: UnrankedRun, facts: RunFacts) -> Line:
    text = "no value"
    if run.value is not None:
        text = f"{run.metric} {measures.value_text(run.metric, run.value)}"
    return Line(
        name=facts.model,
        facts=facts,
        rank=None,
        letters="",
        value=run.value,
        value_text=text,
        bar=None,
        rows=run.rows,
        scorer=run.scorer,
        reasons=run.reasons,
    )


def _scorer_names(tables: Iterable[TaskTable]) -> set[str]:
    """The names of all scorers of runs on the page."""
    names: set[str] = set()
    for table in tables:
        for line in (*table.lines, *table.not_compared):
            if line.scorer_name:
                names.add(line.scorer_name)
    return names


def _environment() -> Environment:
    """The Jinja environment of the page, with its filters."""
    environment = page_environment(_FOLDER)
    environment.filters["parameters"] = parameters_text
    environment.filters["scorer_name"] = scorer_name
    return environment
