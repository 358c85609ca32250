"""Published results for comparison with our tasks: data files with their sources, and tables of
them.

Each ``published.json`` of a benchmark holds the figures of one paper, ``{"paper": ..., "rows":
{...}, "records": [...]}``. ``rows`` says by task how many rows the figures are of, or in words why
they are of other rows than ours.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Any

from figlang_tasks.core.benchmark import Benchmark, benchmarks
from figlang_tasks.core.text import listing
from figlang_tasks.results import measures
from figlang_tasks.scoring import Measure

# Parts of a setting, before a comma and the reason, by which a figure is not in the short table.
_NOT_SHOWN = ("v1", "supervised", "beside the supervised model", "third party", "not comparable")
WITHOUT_MODEL = ("humans", "chance")  # kinds of setting that the name in the row says already


@dataclass(frozen=True)
class PublishedFigure:
    """One published figure, on the scale of our metric: shares are 0 to 1."""

    paper: str  # short name and arXiv number
    table: str
    model: str  # as printed; "Humans" for people
    metric: str  # full name of ours
    setting: str  # parts separated by "; ", the first is the kind (``zero-shot``); see `_NOT_SHOWN`
    source: str  # where the figure was taken from
    value: float | None = None  # None where only a range is published
    low: float | None = None
    high: float | None = None
    std: float | None = None  # over runs
    scorer: str | None = (
        None  # of explanations, by which the paper has it; None of what needs no scores
    )

    @property
    def is_in_short_table(self) -> bool:
        """Whether it stands in the short table: comparable with a run of ours, in the paper's last
        version.
        """
        parts = [part.partition(",")[0] for part in self.setting.split("; ")]
        return not any(part in _NOT_SHOWN for part in parts)

    @property
    def digits(self) -> int:
        """How many digits the paper prints after the point of `text`, at least 1; zeros at the end
        do not count.
        """
        return max(1, *(-int(number.normalize().as_tuple().exponent) for number in self._printed()))

    def text(self, digits: int | None = None) -> str:
        """The figure as a table has it: in percent (``57.0``, ``75.0-87.0`` for a range), what is
        no share as it is.
        """
        step = Decimal(1).scaleb(-(digits or self.digits))
        return "-".join(str(number.quantize(step, ROUND_HALF_UP)) for number in self._printed())

    def _printed(self) -> list[Decimal]:
        numbers = (self.low, self.high) if self.value is None else (self.value,)
        scale = 100 if measure_and_scope(self.metric)[0].percent else 1
        return [scale * Decimal(repr(number)) for number in numbers if number is not None]


@dataclass(frozen=True)
class PublishedRow:
    """The figures of one model in one setting of a paper, for one of our tasks."""

    label: str  # the model, and of its setting what tells the rows of the task apart
    kind: str  # the first part of the setting: ``zero-shot``, ``humans``, ``chance``
    paper: str
    table: str
    values: Mapping[str, PublishedFigure]  # by metric


@dataclass(frozen=True)
class RunConditions:
    """Facts of a run on which it depends whether published results are comparable."""

    rows: int  # of the benchmark
    partial: str | None = None  # why the run is partial: ``limit 8``
    scorer: str | None = None  # signature or name of the explanation scorer
    has_user_rows: bool = False  # whether the user brought the rows
    data: str = ""  # dataset and part


def comparable_metrics(
    task: str, metrics: Collection[str], runs: Iterable[RunConditions]
) -> tuple[list[str], str]:
    """The metrics whose published figures are comparable with runs, and why others are not.

    Figures are of the paper's rows, all of them, and those with explanation scores of the paper's
    scorer.
    """
    there = {figure.metric for figure in figures_of_task(task) if figure.is_in_short_table}
    theirs = [metric for metric in dict.fromkeys(metrics) if metric in there]
    if not theirs:
        return [], ""
    measured = list(runs)
    # How many rows the figures are of, or in words of which other rows; None if unknown.
    expected = next(
        (content["rows"][task] for content in _files().values() if task in content.get("rows", ())),
        None,
    )
    if isinstance(expected, str):
        return [], f"published figures are left out: they are of {expected}"
    for run in measured:
        if run.has_user_rows or run.partial is not None or expected not in (None, run.rows):
            about = ", ".join(filter(None, [run.data, run.partial]))
            rows = f"{run.rows} rows of your own" if run.has_user_rows else f"{run.rows} rows"
            if about:
                rows += f" ({about})"
            released = f"{expected or 'all'} released rows"
            return [], f"published figures are left out: they are of {released}, a run has {rows}"
    scorers = {(run.scorer or "no known scorer").partition("|")[0]: None for run in measured}
    papers_scorers = {figure.metric: figure.scorer for figure in figures_of_task(task)}
    by = {
        metric: scorer
        for metric in theirs
        if (scorer := papers_scorers[metric]) and set(scorers) != {scorer}
    }
    if not by:
        return theirs, ""
    wanted, here = (
        listing(dict.fromkeys(by.values())),
        listing(each for each in scorers if each not in by.values()),
    )
    told = (
        f"published {', '.join(by)} are left out: explanations scored by {wanted}, in a run by"
        f" {here}"
    )
    return [metric for metric in theirs if metric not in by], told


def measure_and_scope(metric: str) -> tuple[Measure, str]:
    """Measure and scope of a figure."""
    found = measures.find_measure(metric)
    assert found is not None, metric  # a test reads all data files
    return found


def figures_of_task(task: str) -> tuple[PublishedFigure, ...]:
    """Every published figure for `task`, in the order of the files; () if there is none."""
    return figures_by_task().get(task, ())


def published_rows(task: str, metrics: Collection[str]) -> list[PublishedRow]:
    """What was published for `task`, one row per model and setting, in the order of the papers."""
    found: dict[tuple[str, str, str], dict[str, PublishedFigure]] = {}
    for figure in figures_of_task(task):
        if figure.metric in metrics and figure.is_in_short_table:
            found.setdefault((figure.model, figure.setting, figure.paper), {})[figure.metric] = (
                figure
            )
    labels = _labels(list(found))
    return [
        PublishedRow(
            labels[model, setting, paper],
            setting.partition("; ")[0],
            paper,
            table=", ".join(dict.fromkeys(figure.table for figure in figures.values())),
            values={
                metric: figures[metric] for metric in dict.fromkeys(metrics) if metric in figures
            },
        )
        for (model, setting, paper), figures in found.items()
    ]


def table_lines(
    task: str, metrics: Collection[str]
) -> list[tuple[str, str, dict[str, PublishedFigure]]]:
    """The published figures of `task` as table lines: label, scope, and figures by measure."""
    found: dict[tuple[str, str], dict[str, PublishedFigure]] = {}
    for row in published_rows(task, metrics):
        for metric, figure in row.values.items():
            measure, scope = measure_and_scope(metric)
            found.setdefault((row.label, scope), {})[measure.name] = figure
    return [(label, scope, figures) for (label, scope), figures in found.items()]


def protocol_text(task: str, metrics: Collection[str]) -> str:
    """Papers and settings of the figures in `table_lines`, in one line; "" if there are none."""
    found = published_rows(task, metrics)
    papers, kinds = (
        dict.fromkeys(of) for of in ([row.paper for row in found], [row.kind for row in found])
    )
    return f"{'; '.join(papers)}: {', '.join(kinds)}" if found else ""


def _labels(found: list[tuple[str, str, str]]) -> dict[tuple[str, str, str], str]:
    """Names of rows, given as model, setting and paper: add the kind, then whatever else
    distinguishes equal names.
    """
    kinds = {setting.split("; ")[0] for _, setting, _ in found} - {*WITHOUT_MODEL}
    labels = {}
    for of in found:
        model, setting, paper = of
        parts = [*setting.split("; "), paper]
        others = [{*text.split("; "), of_paper} for name, text, of_paper in found if name == model]
        differing = [part for part in parts if not all(part in other for other in others)]
        kind = [parts[0]] if len(kinds) > 1 and parts[0] in kinds else []
        labels[of] = ", ".join(dict.fromkeys([model, *kind, *differing]))
    return labels


@cache
def figures_by_task() -> Mapping[str, tuple[PublishedFigure, ...]]:
    """Every published figure, by task."""
    figures: dict[str, tuple[PublishedFigure, ...]] = {}
    for name, content in _files().items():
        benchmark = benchmarks()[name]
        for record in content["records"]:
            values = {field: value for field, value in record.items() if field != "task"}
            scorer = benchmark.scorer if _needs_scores(benchmark, record["metric"]) else None
            figure = PublishedFigure(**{"paper": content["paper"], "scorer": scorer, **values})
            for task in [record["task"]] if isinstance(record["task"], str) else record["task"]:
                figures[task] = (*figures.get(task, ()), figure)
    return figures


def _needs_scores(benchmark: Benchmark, metric: str) -> bool:
    """Whether a figure of a benchmark depends on explanation scores."""
    name = measure_and_scope(metric)[0].name
    return any(
        name in task.scheme.score_metrics for task in benchmark.tasks if task.scheme is not None
    )


@cache
def _files() -> dict[str, dict[str, Any]]:
    """The content of the data files, by benchmark."""
    contents: dict[str, dict[str, Any]] = {}
    for name, benchmark in benchmarks().items():
        path = benchmark.folder / "published.json"
        if path.is_file():
            contents[name] = json.loads(path.read_text(encoding="utf-8"))
    return contents
