"""Tables of results for people: texts, from the numbers of a DataFrame of estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from figlang_tasks.core import text
from figlang_tasks.results import measures, published
from figlang_tasks.scoring import Estimate

if TYPE_CHECKING:
    import pandas as pd


def wide_table(found: pd.DataFrame, by: list[str], metrics: Sequence[str]) -> pd.DataFrame:
    """A DataFrame of texts: columns `by`, then ``n``, then each metric with its interval; "" where
    there is no value.

    `found` has the columns of `figlang_tasks.results.frame.estimates_frame`. Scopes are written as
    people read them.
    """
    import pandas as pd

    lines = []
    for labels, own in found.groupby(by, sort=False):
        n = own["n"].max()
        line = dict(zip(by, labels, strict=True)) | {"n": "" if pd.isna(n) else str(n)}
        if "scope" in line:
            line["scope"] = measures.scope_text(str(line["scope"]))
        cells = {}
        for each in own.to_dict("records"):
            low, high, rows = (
                None if pd.isna(each[key]) else each[key] for key in ("low", "high", "n")
            )
            estimate = Estimate(each["value"], low, high, rows=rows)
            cells[each["metric"]] = measures.estimate_text(
                each["metric"], estimate, None if pd.isna(n) else n
            )
        lines.append(line | {metric: cells.get(metric, "") for metric in metrics})
    return pd.DataFrame(lines, columns=[*by, "n", *metrics])


def published_table(
    rows: Sequence[tuple[str, Mapping[str, published.PublishedFigure]]], shown: pd.DataFrame
) -> pd.DataFrame:
    """Lines of published figures with the columns of a table, to stand beneath it; empty where
    there is no figure.
    """
    import pandas as pd

    digits = {
        name: max((own[name].digits for _, own in rows if name in own), default=1)
        for name in shown.columns[1:]
    }
    lines = [
        [label, *(own[name].text(most) if name in own else "" for name, most in digits.items())]
        for label, own in rows
    ]
    return pd.DataFrame(lines, columns=shown.columns)


def markdown(shown: pd.DataFrame) -> str:
    """A table of texts in Markdown, padded so that it reads well as plain text too."""
    return text.table([list(shown.columns), *shown.to_numpy().tolist()])
