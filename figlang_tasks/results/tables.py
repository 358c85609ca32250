"""Tables of results for people: texts, from the numbers of a DataFrame of estimates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from figlang_tasks.core import text
from figlang_tasks.results import measures, published
from figlang_tasks.scoring import Estimate

if TYPE_CHECKING:
    import pandas as pd


def wide_table(estimates: pd.DataFrame, by: list[str], metrics: Sequence[str]) -> pd.DataFrame:
    """A DataFrame of texts: a line for each group of estimates, a column for each metric.

    Args:
        estimates: with the columns of `figlang_tasks.results.frame.estimates_frame`.
        by: the columns that tell the groups apart: some of ``run``, ``task`` and ``scope``. A
            group has one estimate of a metric.
        metrics: the columns of metrics, in this order.

    Returns:
        Columns `by`, ``n`` (the most rows of an estimate in the line), and `metrics`, whose cells
        are values with their interval; "" where there is no value. Scopes are written as people
        read them.
    """
    import pandas as pd

    lines = []
    for labels, group in estimates.groupby(by, sort=False):
        line = {column: str(label) for column, label in zip(by, labels, strict=True)}
        if "scope" in line:
            line["scope"] = measures.scope_text(line["scope"])
        most_rows = _number_or_none(group["n"].max())
        line["n"] = "" if most_rows is None else str(most_rows)
        line.update(dict.fromkeys(metrics, ""))
        for row in group.to_dict("records"):
            metric = row["metric"]
            if metric in metrics:
                # A metric of fewer rows than the column "n" states has its own n in the cell.
                line[metric] = measures.estimate_text(metric, estimate_of_line(row), most_rows)
        lines.append(line)
    return pd.DataFrame(lines, columns=[*by, "n", *metrics])


def estimate_of_line(row: Mapping[Hashable, Any]) -> Estimate:
    """The estimate in a line of `figlang_tasks.results.frame.estimates_frame`."""
    return Estimate(
        row["value"],
        low=_number_or_none(row["low"]),
        high=_number_or_none(row["high"]),
        rows=_number_or_none(row["n"]),
    )


def _number_or_none(cell: Any) -> Any:
    """The number in a cell of a DataFrame; None for a missing one."""
    import pandas as pd

    return None if pd.isna(cell) else cell


def published_table(
    rows: Sequence[tuple[str, Mapping[str, published.PublishedFigure]]], above: pd.DataFrame
) -> pd.DataFrame:
    """A DataFrame of published figures, to be appended to a table; "" where there is no figure.

    Args:
        rows: pairs of the label of a line and its figures by column.
        above: the table to append to: the lines get its columns. Its first column holds labels.
    """
    import pandas as pd

    label_column, *metric_columns = above.columns
    digits: dict[str, int] = {}  # after the point, by column: as many as any figure there has
    for _, figures in rows:
        for column, figure in figures.items():
            digits[column] = max(figure.digits, digits.get(column, 1))

    lines = []
    for label, figures in rows:
        line = {label_column: label, **dict.fromkeys(metric_columns, "")}
        for column in metric_columns:
            if column in figures:
                line[column] = figures[column].text(digits[column])
        lines.append(line)
    return pd.DataFrame(lines, columns=above.columns)


def markdown(table: pd.DataFrame) -> str:
    """A table of texts in Markdown, padded so that it reads well as plain text too."""
    return text.markdown_table([list(table.columns), *table.to_numpy().tolist()])
