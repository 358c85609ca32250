"""Published results for comparison with our tasks: data files with their sources, and tables of them.

Each ``published.json`` of a benchmark holds the figures of one paper: ``{"paper": ..., "rows": {...}, "records":
[...]}``. A record says where a figure stands, whose it is, which of our tasks and metrics it belongs beside, and where
it was taken from. ``rows`` says by task how many rows the figures are of, or in words why they are of other rows than
ours; a task that is not there has no number that is known.
Values are on the scale of our metric: shares, 0 to 1, where the paper prints percent, and as they are for what is no
share (``Measure.percent``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Any

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.text import listing
from figlang_tasks.results import measures
from figlang_tasks.scoring import Estimates, Measure
from figlang_tasks.scoring.explained import SCHEMES

_NOT_SHOWN = ("v1", "supervised", "beside the supervised model", "third party", "not comparable")
_WITHOUT_MODEL = ("humans", "chance")  # kinds of setting that the name in the row says already


@dataclass(frozen=True)
class Published:
    """One published figure.

    Attributes:
        paper: short name and arXiv number.
        table: table or section of the paper.
        model: whose figure it is, as printed; "Humans" for people.
        metric: name of our metric.
        setting: how it was obtained, in parts separated by "; ", of which the first is the kind: ``zero-shot``,
            ``fine-tuned``, ``humans``, ``chance`` ... The parts ``v1`` (an earlier version of the paper),
            ``supervised``, ``beside the supervised model`` (a figure of the main table, repeated), ``third party``
            and ``not comparable`` keep it out of the short table; what follows a comma is the reason.
        source: where the figure was taken from.
        value: the figure, 0 to 1, or 0 and above for what is no share; None where only a range is published.
        low, high: the range, on the same scale; None where there is a value.
        std: standard deviation over runs, on the same scale; None where none is published.
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

    @property
    def shown(self) -> bool:
        """Whether it stands in the short table: comparable with a run of ours, in the paper's last version."""
        parts = [part.partition(",")[0] for part in self.setting.split("; ")]
        return not any(part in _NOT_SHOWN for part in parts)

    @property
    def digits(self) -> int:
        """How many digits the paper prints after the point of `text`, at least 1; zeros at the end do not count."""
        return max(1, *(-int(number.normalize().as_tuple().exponent) for number in self._printed()))

    def text(self, digits: int | None = None) -> str:
        """The figure as a table has it: in percent (``57.0``, ``75.0-87.0`` for a range), what is no share as it is."""
        step = Decimal(1).scaleb(-(self.digits if digits is None else digits))
        return "-".join(str(number.quantize(step, ROUND_HALF_UP)) for number in self._printed())

    def _printed(self) -> list[Decimal]:
        numbers = (self.low, self.high) if self.value is None else (self.value,)
        scale = 100 if _named(self.metric)[0].percent else 1
        return [scale * Decimal(repr(number)) for number in numbers if number is not None]


@dataclass(frozen=True)
class PublishedRow:
    """The figures of one model in one setting of a paper, for one of our tasks."""

    label: str  # the model, and of its setting what tells the rows of the task apart
    setting: str
    paper: str
    table: str
    values: Mapping[str, Published]  # by metric

    @property
    def kind(self) -> str:
        """The first part of the setting: ``zero-shot``, ``humans``, ``chance``."""
        return self.setting.partition("; ")[0]


@dataclass(frozen=True)
class Measured:
    """Facts of a run on which it depends whether published results are comparable."""

    rows: int  # of the benchmark
    cut: str | None = None  # why the run is partial
    scorer: str | None = None  # signature or name of the explanation scorer
    own: bool = False  # whether the user brought the rows
    data: str = ""  # dataset and part


def comparable(task: str, metrics: Collection[str], runs: Iterable[Measured]) -> tuple[list[str], str]:
    """The metrics whose published figures are comparable with runs, and why others are not.

    Figures are of the paper's rows, all of them, and those with explanation scores of the paper's scorer.
    """
    there = {figure.metric for figure in for_task(task) if figure.shown}
    theirs = [metric for metric in dict.fromkeys(metrics) if metric in there]
    if not theirs:
        return [], ""
    measured = list(runs)
    expected = _rows_of(task)
    if isinstance(expected, str):
        return [], f"published figures are left out: they are of {expected}"
    for run in measured:
        if run.own:
            return [], "published figures are left out: they are of the released rows, and a run has rows of your own"
        if run.cut is not None:
            return [], f"published figures are left out: they are of all rows, and a run was cut short ({run.cut})"
        if expected is not None and run.rows != expected:
            has = f"{run.rows} ({run.data})" if run.data else str(run.rows)
            return [], f"published figures are left out: they are of {expected} rows, a run has {has}"
    scorers = {(run.scorer or "no known scorer").partition("|")[0]: None for run in measured}
    by = {metric: scorer for metric in theirs if (scorer := _scorer_of(metric)) and set(scorers) != {scorer}}
    if not by:
        return theirs, ""
    wanted, here = listing(dict.fromkeys(by.values())), listing(each for each in scorers if each not in by.values())
    told = f"published {', '.join(by)} are left out: explanations scored by {wanted}, in a run by {here}"
    return [metric for metric in theirs if metric not in by], told


def _scorer_of(metric: str) -> str | None:
    """The scorer by which a paper has a metric; None for what needs no explanation scores."""
    name = _named(metric)[0].name
    return next((scheme.scorer for scheme in SCHEMES.values() if name in scheme.need_scores), None)


def _named(metric: str) -> tuple[Measure, str]:
    """Measure and scope of a figure."""
    found = measures.named(metric)
    assert found is not None, metric  # a test reads all data files
    return found


def for_task(task: str) -> tuple[Published, ...]:
    """Every published figure for `task`, in the order of the files; () if there is none."""
    return by_task().get(task, ())


def rows(task: str, metrics: Collection[str]) -> list[PublishedRow]:
    """What was published for `task`, one row per model and setting, in the order of the papers."""
    found: dict[tuple[str, str, str], dict[str, Published]] = {}
    for figure in for_task(task):
        if figure.metric in metrics and figure.shown:
            found.setdefault((figure.model, figure.setting, figure.paper), {})[figure.metric] = figure
    labels = _labels(list(found))
    return [
        PublishedRow(
            labels[of],
            *of[1:],
            table=", ".join(dict.fromkeys(figure.table for figure in figures.values())),
            values={metric: figures[metric] for metric in dict.fromkeys(metrics) if metric in figures},
        )
        for of, figures in found.items()
    ]


def place(task: str, names: Sequence[str], estimates: Estimates) -> str:
    """Where a run would stand among the published models, by the first of some metrics; "" without any model.

    People and chance have no place.
    """
    for name in names:
        measure, scope = _named(name)
        found = [row for row in rows(task, [name]) if row.kind not in _WITHOUT_MODEL]
        figures = [(row.label, figure) for row in found for figure in row.values.values() if figure.value is not None]
        if not figures or math.isnan(estimates[measure.name][scope].value):
            continue
        sign, digits = -1 if measure.higher_is_better else 1, max(figure.digits for _, figure in figures)
        order = sorted((sign * (figure.value or 0.0), f"{label} ({figure.text(digits)})") for label, figure in figures)
        own = sign * estimates[measure.name][scope].value
        above = [text for value, text in order if value < own]
        told = [f"after {text}" for text in above[-1:]]
        told += [f"before {text}" for _, text in order[len(above) :][:1]]
        models = f"{len(order)} published model{'s' * (len(order) > 1)}"
        return f"{task}: place {len(above) + 1} by {measures.name_text(name)} beside {models}, {', '.join(told)}"
    return ""


def lines(task: str, metrics: Collection[str]) -> list[tuple[str, str, dict[str, Published]]]:
    """The published figures of `task` as table lines: label, scope, and figures by measure."""
    found: dict[tuple[str, str], dict[str, Published]] = {}
    for row in rows(task, metrics):
        for metric, figure in row.values.items():
            measure, scope = _named(metric)
            found.setdefault((row.label, scope), {})[measure.name] = figure
    return [(label, scope, figures) for (label, scope), figures in found.items()]


def protocol(task: str, metrics: Collection[str]) -> str:
    """Papers and settings of the figures in `lines`, in one line; "" if there are none."""
    found = rows(task, metrics)
    papers = "; ".join(dict.fromkeys(row.paper for row in found))
    groups: dict[str, dict[str, None]] = {}  # kinds of setting, each with all that is said of them
    for row in found:
        parts = row.setting.split("; ")
        groups.setdefault(parts[0], {}).update(dict.fromkeys(parts))
    settings = " / ".join(", ".join(parts) for parts in groups.values())
    return f"{papers}: {settings}" if found else ""


def _labels(found: list[tuple[str, str, str]]) -> dict[tuple[str, str, str], str]:
    """Names of rows, given as model, setting and paper: add the kind, then whatever else distinguishes equal names."""
    kinds = {setting.split("; ")[0] for _, setting, _ in found} - {*_WITHOUT_MODEL}
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
def by_task() -> Mapping[str, tuple[Published, ...]]:
    """Every published figure, by task."""
    found: dict[str, tuple[Published, ...]] = {}
    for content in _files():
        for record in content["records"]:
            values = {name: value for name, value in record.items() if name != "task"}
            figure = Published(**{"paper": content["paper"], **values})
            for task in [record["task"]] if isinstance(record["task"], str) else record["task"]:
                found[task] = (*found.get(task, ()), figure)
    return found


def _rows_of(task: str) -> int | str | None:
    """How many rows the figures of a task are of, or in words of which other rows; None if unknown."""
    return next((content["rows"][task] for content in _files() if task in content.get("rows", ())), None)


@cache
def _files() -> list[dict[str, Any]]:
    paths = [benchmark.folder / "published.json" for benchmark in benchmarks().values()]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()]
