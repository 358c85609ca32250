"""Published results for comparison with our tasks: data files with their sources.

Each ``published.json`` of a benchmark holds the figures of one paper, ``{"paper": ..., "rows":
{...}, "records": [...]}``. ``rows`` says for each task how many rows the figures were computed
from, or in words why these are other rows than ours. If the data was released more than once,
``release`` stands in its place, for records that name none; `Benchmark.releases` has the rows.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Any, NamedTuple, TypedDict

from figlang_tasks.core.benchmark import Benchmark, benchmarks
from figlang_tasks.core.text import listing
from figlang_tasks.results import measures
from figlang_tasks.scoring import Measure

_NOT_COMPARABLE = (
    "v1",
    "supervised",
    "beside the supervised model",
    "third party",
    "not comparable",
)
"""Parts of a setting that keep a figure out of the short table.

A comma and the reason may follow: ``not comparable, other rows``.
"""


@dataclass(frozen=True)
class PublishedFigure:
    """One published figure, on the scale of our metric: 0 to 1 for shares.

    Attributes:
        paper: short name and arXiv number.
        table: the table of the paper.
        model: as printed; "Humans" for people.
        metric: the name of our metric, with its scope.
        setting: parts separated by "; ", the first is the kind (``zero-shot``); see
            `_NOT_COMPARABLE`.
        source: where the figure was taken from.
        value: None where only a range is published.
        low, high: the range.
        std: standard deviation over runs.
        scorer: the paper's scorer of explanations; None if the metric needs no such scores.
        release: the release of the data; None for data that was released once.
    """

    paper: str
    table: str
    model: str
    metric: str
    setting: str
    source: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    std: float | None = None
    scorer: str | None = None
    release: str | None = None

    @property
    def is_in_short_table(self) -> bool:
        """Whether runs can be compared with the figure: no part of its setting says otherwise."""
        for part in self.setting.split("; "):
            part_without_reason = part.partition(",")[0]
            if part_without_reason in _NOT_COMPARABLE:
                return False
        return True

    @property
    def digits(self) -> int:
        """How many digits `text` needs after the point; at least 1, even for whole numbers."""
        digits = 1
        for number in self._printed_numbers():
            exponent = number.normalize().as_tuple().exponent  # -2 for 57.25, which has 2 digits
            digits = max(digits, -int(exponent))
        return digits

    def text(self, digits: int | None = None) -> str:
        """The figure as tables print it: ``57.0``, or ``75.0-87.0`` for a range.

        Shares are in percent, any other number is on its own scale.

        Args:
            digits: how many to print after the point, at least 1; default as many as it needs.
        """
        step = Decimal(1).scaleb(-(digits or self.digits))  # 0.1 for one digit
        numbers = self._printed_numbers()
        return "-".join(str(number.quantize(step, ROUND_HALF_UP)) for number in numbers)

    def _printed_numbers(self) -> list[Decimal]:
        """The value, or else the ends of the range; shares in percent."""
        measure, _ = measure_and_scope(self.metric)
        scale = 100 if measure.percent else 1
        numbers: Sequence[float | None] = [self.value]
        if self.value is None:
            numbers = [self.low, self.high]
        printed_numbers: list[Decimal] = []
        for number in numbers:
            if number is not None:
                # `repr` gives the digits of the data file, where the float itself has many more.
                printed_numbers.append(scale * Decimal(repr(number)))
        return printed_numbers


def measure_and_scope(full_name: str) -> tuple[Measure, str]:
    """The measure and the scope of a published figure's metric, which our benchmarks all have."""
    measure_with_scope = measures.find_measure(full_name)
    assert measure_with_scope is not None, full_name  # a test reads all data files
    return measure_with_scope


def figures_of_task(task: str) -> tuple[PublishedFigure, ...]:
    """Every published figure for a task, in the order of the files; () if there is none."""
    return figures_by_task().get(task, ())


# --- which figures are comparable with a run ---


@dataclass(frozen=True)
class RunConditions:
    """The conditions of a run that decide whether published figures are comparable with it.

    Attributes:
        rows: how many rows of the benchmark were evaluated.
        partial: why the run is partial: ``limit 8``; None for a whole one.
        scorer: signature or name of the scorer of explanations; None without explanation scores.
        has_user_rows: whether the rows are the user's own.
        data: dataset and part, for messages; "" to leave them out.
    """

    rows: int
    partial: str | None = None
    scorer: str | None = None
    has_user_rows: bool = False
    data: str = ""

    @property
    def scorer_name(self) -> str:
        """The scorer's name without the rest of its signature: ``vflute25`` of ``vflute25|...``."""
        return (self.scorer or "no known scorer").partition("|")[0]


class ComparableMetrics(NamedTuple):
    """The metrics whose published figures are comparable with runs.

    Attributes:
        names: their full names.
        left_out: why the figures of other metrics are left out, in a sentence without a full stop;
            "" if none are, or if nothing was published.
        release: the release of the data that the figures are for; None if there is only one.
    """

    names: list[str]
    left_out: str
    release: str | None = None


def comparable_metrics(
    task: str, full_names: Collection[str], runs: Iterable[RunConditions]
) -> ComparableMetrics:
    """Those of some metrics whose published figures are comparable with all runs, and why not all.

    Figures outside of the short table (`PublishedFigure.is_in_short_table`) are left aside. Runs
    must have all rows of the paper, and for explanation scores the paper's scorer.

    Args:
        full_names: the metrics, with their scopes.
    """
    figures: list[PublishedFigure] = []
    for figure in figures_of_task(task):
        if figure.is_in_short_table and figure.metric in full_names:
            figures.append(figure)
    if not figures:
        return ComparableMetrics([], "")

    runs = list(runs)
    rows_of_figures = _rows_of_figures(task)
    release = None
    if isinstance(rows_of_figures, Mapping):
        release = _release_of(runs[0], rows_of_figures)
        releases = {figure.release for figure in figures}
        reason = _why_other_release(runs, rows_of_figures, releases)
        figures = [figure for figure in figures if figure.release == release]
    else:
        reason = _why_other_rows(runs, rows_of_figures)
    if reason:
        return ComparableMetrics([], f"published figures are left out: they are {reason}")

    # All published figures of a metric of one task have the same scorer.
    paper_scorers = {figure.metric: figure.scorer for figure in figures}
    comparable: list[str] = []
    left_out_by_scorer: dict[str, list[str]] = {}  # by the paper's scorer
    for metric in dict.fromkeys(full_names):
        if metric not in paper_scorers:
            continue
        paper_scorer = paper_scorers[metric]
        if paper_scorer is None:  # The metric needs no explanation scores.
            comparable.append(metric)
        elif all(run.scorer_name == paper_scorer for run in runs):
            comparable.append(metric)
        else:
            left_out_by_scorer.setdefault(paper_scorer, []).append(metric)
    reasons = [
        _why_other_scorer(runs, metrics_of_scorer, paper_scorer)
        for paper_scorer, metrics_of_scorer in left_out_by_scorer.items()
    ]
    return ComparableMetrics(comparable, "; ".join(reasons), release)


def _rows_of_figures(task: str) -> int | str | Mapping[str, int] | None:
    """How many rows a task's figures were computed from: 723; None if unknown.

    A text if they are other rows than ours: it says which ones. By release if there are several:
    ``{"v1": 1008, "v2": 1005}``.
    """
    for name, content in _published_files().items():
        rows_by_task = content.get("rows", {})
        if task in rows_by_task:
            return rows_by_task[task]
        has_releases = "release" in content
        if has_releases and any(task in _tasks_of(record) for record in content["records"]):
            return {release: rows for rows, release in benchmarks()[name].releases.items()}
    return None


def _release_of(run: RunConditions, rows_by_release: Mapping[str, int]) -> str | None:
    """The release whose rows a run has; None if it has other rows."""
    if run.has_user_rows or run.partial is not None:
        return None
    for release, rows in rows_by_release.items():
        if run.rows == rows:
            return release
    return None


def _why_other_release(
    runs: Sequence[RunConditions],
    rows_by_release: Mapping[str, int],
    releases_of_figures: Collection[str | None],
) -> str:
    """Why figures are of another release: ``for v2 (1,005 rows); this run used v1 (1,008 rows)``.

    "" if all runs have the rows of one release that there are figures of.
    """
    texts = {release: f"{release} ({rows:,} rows)" for release, rows in rows_by_release.items()}
    first_release = _release_of(runs[0], rows_by_release)
    releases = [first_release] if first_release in releases_of_figures else releases_of_figures
    for run in runs:
        release = _release_of(run, rows_by_release)
        if release is not None and release in releases:
            continue
        figures_text = " or ".join(texts[name] for name in texts if name in releases)
        run_text = _rows_text(run) if release is None else texts[release]
        return f"for {figures_text}; this run used {run_text}"
    return ""


def _why_other_rows(runs: Iterable[RunConditions], rows_of_figures: int | str | None) -> str:
    """Why a run has other rows than the figures: ``for 76 released rows; a run has 8 rows ...``.

    "" if all runs have the rows of the figures.

    Args:
        rows_of_figures: as `_rows_of_figures` gives it.
    """
    if isinstance(rows_of_figures, str):
        return f"of {rows_of_figures}"
    for run in runs:
        # If the number is unknown, a whole run of the released rows has them.
        has_rows_of_figures = rows_of_figures is None or run.rows == rows_of_figures
        if has_rows_of_figures and not run.has_user_rows and run.partial is None:
            continue
        return f"for {rows_of_figures or 'all'} released rows; a run has {_rows_text(run)}"
    return ""


def _rows_text(run: RunConditions) -> str:
    """The rows of a run: ``8 rows (V-FLUTE/test, limit 8)``."""
    rows = f"{run.rows} rows"
    if run.has_user_rows:
        rows += " of your own"
    details = [detail for detail in (run.data, run.partial) if detail]
    if details:
        rows += f" ({', '.join(details)})"
    return rows


def _why_other_scorer(
    runs: Iterable[RunConditions], metrics: Iterable[str], paper_scorer: str
) -> str:
    """Why the published figures of some metrics are left out, if a run has another scorer.

    ``published f1@60 are left out: explanations scored by vflute25, in a run by vflute``.
    """
    run_scorers = dict.fromkeys(run.scorer_name for run in runs)
    other_scorers = [scorer for scorer in run_scorers if scorer != paper_scorer]
    return (
        f"published {', '.join(metrics)} are left out: explanations scored by {paper_scorer},"
        f" in a run by {listing(other_scorers)}"
    )


# --- the data files ---


class _PublishedFile(TypedDict, total=False):
    """The content of a ``published.json``.

    A record has the fields of a `PublishedFigure`, and under ``task`` the tasks that it is for.
    """

    paper: str
    release: str
    rows: dict[str, int | str]
    records: list[dict[str, Any]]


@cache
def figures_by_task() -> Mapping[str, tuple[PublishedFigure, ...]]:
    """Every published figure, by task, in the order of the files."""
    figures: dict[str, tuple[PublishedFigure, ...]] = {}
    for name, content in _published_files().items():
        benchmark = benchmarks()[name]
        for record in content["records"]:
            has_scorer = _needs_explanation_scores(benchmark, record["metric"])
            fields = {
                "paper": content["paper"],
                "scorer": benchmark.scorer if has_scorer else None,
                "release": content.get("release"),
                **record,  # A record may name a paper, scorer or release of its own.
            }
            del fields["task"]
            figure = PublishedFigure(**fields)
            for task in _tasks_of(record):
                figures[task] = (*figures.get(task, ()), figure)
    return figures


def _tasks_of(record: Mapping[str, Any]) -> Sequence[str]:
    """The names of the tasks that a record is for."""
    tasks: str | list[str] = record["task"]
    return [tasks] if isinstance(tasks, str) else tasks


def _needs_explanation_scores(benchmark: Benchmark, metric: str) -> bool:
    """Whether a metric depends on explanation scores in some task of a benchmark."""
    measure, _ = measure_and_scope(metric)
    for task in benchmark.tasks:
        if task.scheme is not None and measure.name in task.scheme.score_metrics:
            return True
    return False


@cache
def _published_files() -> dict[str, _PublishedFile]:
    """The content of the data files, by benchmark."""
    contents: dict[str, _PublishedFile] = {}
    for name, benchmark in benchmarks().items():
        path = benchmark.folder / "published.json"
        if path.is_file():
            contents[name] = json.loads(path.read_text(encoding="utf-8"))
    return contents
