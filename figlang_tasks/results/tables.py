"""Tables of results for people: a DataFrame of numbers (`figlang_tasks.results.frame.values`) as one of texts.

Markdown, LaTeX, HTML and CSV are made of the DataFrame of texts: `markdown`, and pandas' own ``to_latex`` and the like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from figlang_tasks.core import text
from figlang_tasks.results import measures, published
from figlang_tasks.scoring import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from figlang_tasks.results.comparison import Difference


def wide(found: pd.DataFrame, by: str | list[str], metrics: Sequence[str]) -> pd.DataFrame:
    """A DataFrame of texts: columns `by`, then ``n``, then each metric with its interval; "" where there is no value.

    `found` has the columns of `figlang_tasks.results.frame.values`. Scopes are written as people read them.
    """
    import pandas as pd

    keys = [by] if isinstance(by, str) else by
    lines = []
    for labels, own in found.groupby(keys, sort=False):
        n = own["n"].max()
        line = dict(zip(keys, labels, strict=True)) | {"n": "" if pd.isna(n) else str(n)}
        if "scope" in line:
            line["scope"] = measures.scope_text(str(line["scope"]))
        cells = {}
        for each in own.to_dict("records"):
            low, high, rows = (None if pd.isna(each[key]) else each[key] for key in ("low", "high", "n"))
            estimate = Estimate(each["value"], low, high, rows=rows)
            cells[each["metric"]] = measures.estimate_text(each["metric"], estimate, None if pd.isna(n) else n)
        lines.append(line | {metric: cells.get(metric, "") for metric in metrics})
    return pd.DataFrame(lines, columns=[*keys, "n", *metrics])


def with_arrows(shown: pd.DataFrame) -> pd.DataFrame:
    """The table with an arrow to better values in the head of each measure."""
    return shown.rename(columns=measures.with_arrow)


def of_published(rows: Sequence[tuple[str, Mapping[str, published.Published]]], shown: pd.DataFrame) -> pd.DataFrame:
    """Lines of published figures with the columns of a table, to stand beneath it; empty where there is no figure."""
    import pandas as pd

    digits = {name: max((own[name].digits for _, own in rows if name in own), default=1) for name in shown.columns[1:]}
    lines = [
        [label, *(own[name].text(most) if name in own else "" for name, most in digits.items())] for label, own in rows
    ]
    return pd.DataFrame(lines, columns=shown.columns)


def of_differences(found: Sequence[Difference]) -> pd.DataFrame:
    """A DataFrame of texts: a line for each difference of two runs, with its test."""
    import pandas as pd

    from figlang_tasks.results import verdict

    first, second = found[0].first, found[0].second
    lines = []
    for each in found:
        lines.append(
            [
                measures.with_arrow(each.metric),
                measures.scope_text(each.scope),
                each.rows_text,
                *(measures.text(each.metric, value) for value in each.values),
                verdict.difference_text(each),
                "" if each.smallest is None else measures.text(each.metric, each.smallest),
                *_p_values(each),
            ]
        )
    return pd.DataFrame(lines, columns=["metric", "part", "n", first, second, "difference", "smallest", "p", "p Holm"])


def _p_values(each: Difference) -> tuple[str, str]:
    """Both p of a difference, before and after adjustment, ``.0018`` and ``.021*``."""
    from figlang_tasks.results import verdict

    if each.p is None or each.p_holm is None:
        return "no test", ""
    p, adjusted = (verdict.p_text(found).removeprefix("= ") for found in (each.p, each.p_holm))
    return p, adjusted + ("*" if each.p_holm < verdict.ALPHA else " ")


def markdown(shown: pd.DataFrame) -> str:
    """A table of texts in Markdown, padded so that it reads well as plain text too."""
    return text.table([list(shown.columns), *shown.to_numpy().tolist()])
