"""The table of models by tasks (`ModelTable`) in Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from figlang_tasks.core import text
from figlang_tasks.results import measures
from figlang_tasks.results.groups import BOLD_NOTE
from figlang_tasks.results.model_table import Cell, ModelTable, TaskColumn

_MOST_TASK_COLUMNS = 8
"""A table of more tasks has them in rows, so that it is not too wide to read."""

_TITLES = {"model": "", "reference": "reference:", "published": "published:"}
"""What stands above the rows of each kind where a table cannot have a rule between them."""


class _Line(NamedTuple):
    """A line of a printed table: its head, and a cell for each column; None for an empty one."""

    head: str
    cells: list[Cell | None]


class _Block(NamedTuple):
    """Lines between two rules of a printed table, with what may stand above them."""

    title: str
    lines: list[_Line]


@dataclass(frozen=True)
class _Grid:
    """A table as it is printed: tasks in columns, or in rows if there are many.

    Attributes:
        heads: of all columns, the first one "" or what the lines are.
        blocks: the lines, models before references before published figures.
    """

    heads: list[str]
    blocks: list[_Block]

    @classmethod
    def of(cls, table: ModelTable) -> _Grid:
        """The table with its tasks in columns, or in rows if there are many."""
        if len(table.columns) > _MOST_TASK_COLUMNS:
            return cls._with_tasks_in_rows(table)
        lines_by_kind: dict[str, list[_Line]] = {}
        for row in table.rows:
            cells = [row.cells.get(column.task) for column in table.columns]
            lines_by_kind.setdefault(row.kind, []).append(_Line(row.label, cells))
        blocks = [_Block(_TITLES[kind], lines) for kind, lines in lines_by_kind.items()]
        return cls(["", *map(_head_of_task, table.columns)], blocks)

    @classmethod
    def _with_tasks_in_rows(cls, table: ModelTable) -> _Grid:
        """The table with a line for each task, and a column for each model."""
        heads = [""]
        for row in table.rows:
            heads.append(f"{row.label} (reference)" if row.kind == "reference" else row.label)
        lines = []
        for column in table.columns:
            cells = [row.cells.get(column.task) for row in table.rows]
            lines.append(_Line(_head_of_task(column), cells))
        return cls(heads, [_Block("", lines)])


def _head_of_task(column: TaskColumn) -> str:
    """A task with its metric: ``vflute f1@60 ↑``."""
    return f"{column.task} {measures.name_with_arrow(column.metric)}".strip()


def default_caption(table: ModelTable) -> str:
    """What the values of a table are, and what is bold if anything is."""
    caption = "Shares in percent, with 95 % intervals."
    for row in table.rows:
        if any(cell.is_best for cell in row.cells.values()):
            return f"{caption} {BOLD_NOTE}."
    return caption


# --- Markdown ---


def markdown(table: ModelTable) -> str:
    """The table in Markdown, what its values are, and its footnotes."""
    grid = _Grid.of(table)
    rows = [grid.heads]
    for block in grid.blocks:
        if block.title:
            rows.append([block.title, *[""] * (len(grid.heads) - 1)])
        for line in block.lines:
            rows.append([line.head, *map(_markdown_cell, line.cells)])
    return "\n\n".join([text.markdown_table(rows), default_caption(table), *table.footnotes])


def _markdown_cell(cell: Cell | None) -> str:
    """A value in bold or not, its mark, and its interval: ``**57.0** [55.1, 58.9]``."""
    if cell is None:
        return ""
    value = f"**{cell.value_text}**" if cell.is_best else cell.value_text
    return f"{value}{cell.mark} {cell.spread_text}".rstrip()


# --- LaTeX ---


def latex(table: ModelTable, caption: str, label: str) -> str:
    """The table as a float of LaTeX, with rules of booktabs; footnotes stand below the rules."""
    grid = _Grid.of(table)
    rules_and_lines = [r"\toprule", _latex_line(map(text.latex, grid.heads))]
    for block in grid.blocks:
        rules_and_lines.append(r"\midrule")
        for line in block.lines:
            head = text.latex_line_head(text.latex(line.head))
            rules_and_lines.append(_latex_line([head, *map(_latex_cell, line.cells)]))
    rules_and_lines.append(r"\bottomrule")

    columns = "l" + "r" * (len(grid.heads) - 1)
    notes = [rf"\par\footnotesize {text.latex(note)}." for note in table.footnotes]
    parts = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{text.latex(caption)}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        *rules_and_lines,
        r"\end{tabular}",
        *notes,
        r"\end{table}",
    ]
    return "\n".join(parts)


def _latex_line(cells: Iterable[str]) -> str:
    """A line of a table, from cells that are escaped already."""
    return rf"{' & '.join(cells)} \\"


def _latex_cell(cell: Cell | None) -> str:
    """A value in bold or not, its mark, and its interval in small type."""
    if cell is None:
        return ""
    value = text.latex(cell.value_text)
    if cell.is_best:
        value = rf"\textbf{{{value}}}"
    value += cell.mark
    if cell.spread_text:
        value += rf" {{\scriptsize {text.latex(cell.spread_text)}}}"
    return value


# --- CSV ---


def csv(table: ModelTable) -> str:
    """The table as CSV: a line for each row, with value, low and high of a task in columns.

    Values are as in files, shares from 0 to 1. A column ``TASK note`` says why a value is not
    compared, for tasks with such a value.
    """
    tasks_with_reasons = set()
    for row in table.rows:
        for task, filled_cell in row.cells.items():
            if filled_cell.reason:
                tasks_with_reasons.add(task)
    heads = ["run", "kind"]
    for column in table.columns:
        name = f"{column.task} {column.metric}".strip()
        heads += [name, f"{name} low", f"{name} high"]
        if column.task in tasks_with_reasons:
            heads.append(f"{column.task} note")
    lines = []
    for row in table.rows:
        line: list[object] = [row.label, row.kind]
        for column in table.columns:
            cell = row.cells.get(column.task)
            line += _csv_numbers(cell)
            if column.task in tasks_with_reasons:
                line.append(cell.reason if cell is not None else "")
        lines.append(line)
    return text.csv_text(heads, lines).rstrip("\n")


def _csv_numbers(cell: Cell | None) -> list[float | None]:
    """The value of a cell and the limits of its interval; None for what it has not."""
    if cell is None:
        return [None, None, None]
    if cell.figure is not None:
        return [cell.figure.value, cell.figure.low, cell.figure.high]
    if cell.estimate is None:
        return [None, None, None]
    return [cell.estimate.value, cell.estimate.low, cell.estimate.high]


# --- HTML ---

_HTML = """\
<table>
<caption>{{ caption }}</caption>
<thead>
<tr>{% for head in grid.heads %}<th scope="col">{{ head }}</th>{% endfor %}</tr>
</thead>
{% for block in grid.blocks %}
<tbody>
{% if block.title %}
<tr><th scope="rowgroup" colspan="{{ grid.heads | length }}">{{ block.title }}</th></tr>
{% endif %}
{% for line in block.lines %}
<tr><th scope="row">{{ line.head }}</th>{% for cell in line.cells %}<td>
{%- if cell and cell.is_best %}<b>{{ cell.value_text }}</b>{% elif cell %}{{ cell.value_text }}
{%- endif %}{% if cell %}{{ cell.mark }}{% endif %}
{%- if cell and cell.spread_text %} <small>{{ cell.spread_text }}</small>{% endif %}
</td>{% endfor %}</tr>
{% endfor %}
</tbody>
{% endfor %}
{% if footnotes %}
<tfoot>
{% for note in footnotes %}
<tr><td colspan="{{ grid.heads | length }}">{{ note }}</td></tr>
{% endfor %}
</tfoot>
{% endif %}
</table>"""


def html(table: ModelTable, caption: str) -> str:
    """The table as one element of HTML, all texts escaped."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_HTML)
    return template.render(grid=_Grid.of(table), caption=caption, footnotes=table.footnotes)
