"""Published figures in tables: a row for each model and setting of a paper."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from figlang_tasks.results.published import PublishedFigure, figures_of_task, measure_and_scope
from figlang_tasks.scoring import OVERALL

MOST_LINES = 60
"""The most published lines of scopes below a table, which hides its own lines among more."""

KINDS_WITHOUT_MODEL = ("humans", "chance")
"""Kinds of setting in which no model answered; the name in the place of the model says the kind."""


@dataclass(frozen=True)
class PublishedRow:
    """The figures of one model in one setting of a paper, for one of our tasks.

    Attributes:
        label: the model, with what distinguishes its setting from other rows of the task.
        kind: the first part of the setting: ``zero-shot``, ``humans``, ``chance``.
        values: the figure of each metric, by the name of the metric with its scope.
    """

    label: str
    kind: str
    paper: str
    table: str
    values: Mapping[str, PublishedFigure]


class PublishedLine(NamedTuple):
    """The figures of a `PublishedRow` in one scope.

    `figures` has the name of the measure as key, without the scope.
    """

    label: str
    scope: str
    figures: dict[str, PublishedFigure]


class _RowKey(NamedTuple):
    """What the figures of a `PublishedRow` have in common."""

    model: str
    setting: str
    paper: str

    @property
    def kind(self) -> str:
        """The first part of the setting: ``zero-shot``."""
        return self.setting.partition("; ")[0]


def published_rows(
    task: str, full_names: Collection[str], release: str | None = None
) -> list[PublishedRow]:
    """The published figures for a task that runs can be compared with, by model and setting.

    Rows have the order of the files. Figures that are not in the short table
    (`PublishedFigure.is_in_short_table`) are left out.

    Args:
        full_names: the metrics whose figures to include, with their scopes, in the order of the
            table.
        release: the release whose figures to include; None for all.
    """
    figures_by_row: dict[_RowKey, dict[str, PublishedFigure]] = {}
    for figure in figures_of_task(task):
        is_of_release = release is None or figure.release == release
        if is_of_release and figure.metric in full_names and figure.is_in_short_table:
            key = _RowKey(figure.model, figure.setting, figure.paper)
            figures_by_row.setdefault(key, {})[figure.metric] = figure

    labels = _row_labels(list(figures_by_row))
    rows = []
    for key, figures in figures_by_row.items():
        tables = dict.fromkeys(figure.table for figure in figures.values())
        ordered_figures: dict[str, PublishedFigure] = {}
        for full_name in full_names:
            if full_name in figures:
                ordered_figures[full_name] = figures[full_name]
        rows.append(
            PublishedRow(labels[key], key.kind, key.paper, ", ".join(tables), ordered_figures)
        )
    return rows


def table_lines(
    task: str, full_names: Collection[str], release: str | None = None
) -> list[PublishedLine]:
    """The `published_rows` of a task, each split into a line for each scope that it has figures of.

    If these are more than `MOST_LINES`, and some are of all rows, they are the lines of all rows
    alone.

    Args:
        full_names: the metrics whose figures to include, with their scopes: ``f1@60_muse``;
            ``f1@60`` for all rows alone.
        release: the release whose figures to include; None for all.
    """
    lines: dict[tuple[str, str], PublishedLine] = {}  # by label and scope
    for row in published_rows(task, full_names, release):
        for full_name, figure in row.values.items():
            measure, scope = measure_and_scope(full_name)
            new_line = PublishedLine(row.label, scope, figures={})
            line = lines.setdefault((row.label, scope), new_line)
            line.figures[measure.name] = figure
    overall_lines = [line for line in lines.values() if line.scope == OVERALL]
    if len(lines) > MOST_LINES and overall_lines:
        return overall_lines
    return list(lines.values())


def protocol_text(task: str, full_names: Collection[str], release: str | None = None) -> str:
    """Papers and kinds of setting behind `table_lines`: ``V-FLUTE (2405.01474): zero-shot``.

    "" if there are no lines.
    """
    rows = published_rows(task, full_names, release)
    if not rows:
        return ""
    papers = dict.fromkeys(row.paper for row in rows)
    kinds = dict.fromkeys(row.kind for row in rows)
    return f"{'; '.join(papers)}: {', '.join(kinds)}"


def _row_labels(keys: Sequence[_RowKey]) -> dict[_RowKey, str]:
    """A label for each row: the model, and what distinguishes it from other rows of the model.

    If the rows with a model are of several kinds of setting, every one of them also has its kind. A
    row without a model (`KINDS_WITHOUT_MODEL`) has not: its name says it.
    """
    kinds_with_model = {key.kind for key in keys} - set(KINDS_WITHOUT_MODEL)
    labels: dict[_RowKey, str] = {}
    for key in keys:
        words = [key.model]
        if len(kinds_with_model) > 1 and key.kind in kinds_with_model:
            words.append(key.kind)
        rows_of_model = [other for other in keys if other.model == key.model]
        for part in _distinguishing_parts(key):
            # A part that all rows of the model have tells none of them apart.
            if any(part not in _distinguishing_parts(row) for row in rows_of_model):
                words.append(part)
        # The kind may be among the parts too.
        labels[key] = ", ".join(dict.fromkeys(words))
    return labels


def _distinguishing_parts(key: _RowKey) -> list[str]:
    """What may distinguish a row from others of its model: the parts of its setting, its paper."""
    return [*key.setting.split("; "), key.paper]
