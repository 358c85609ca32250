"""The numbers of a difference between two runs, as texts for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from figlang_tasks.results import measures
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.groups import significance
from figlang_tasks.scoring import Estimate

if TYPE_CHECKING:
    import pandas as pd

_SMALLEST_P = 0.00005
"""The smallest p that is not 0 in four digits."""


def difference_text(metric: str, difference: Estimate) -> str:
    """A difference with its sign and its interval: ``+28.7 [18.6, 39.4]``."""
    sign = "+" if difference.value > 0 else ""
    text = sign + measures.value_text(metric, difference.value)
    if difference.low is None or difference.high is None:
        return text
    low = measures.value_text(metric, difference.low)
    high = measures.value_text(metric, difference.high)
    return f"{text} [{low}, {high}]"


def p_text(p: float) -> str:
    """A p-value with its sign, as papers print it: ``= .021``, ``= .0042`` or ``< .0001``."""
    if p < _SMALLEST_P:
        return "< .0001"
    digits = 3 if p >= 0.01 else 4
    return f"= {p:.{digits}f}".replace("0.", ".", 1)


def rows_text(difference: Difference) -> str:
    """How many rows were compared: ``12``, or "" if unknown.

    ``12 / 15`` if the runs differ: the baseline has 12, the candidate 15.
    """
    counts = [difference.baseline_rows, difference.candidate_rows]
    distinct_counts = dict.fromkeys(str(count) for count in counts if count is not None)
    return " / ".join(distinct_counts)


def differences_table(differences: Sequence[Difference]) -> pd.DataFrame:
    """A table of texts with a line for each difference.

    Args:
        differences: at least one; all must be of one task and the same two runs.
    """
    import pandas as pd

    # Lines are lists and not dictionaries by column: a run may be called like another column.
    columns = [
        "metric",
        "scope",
        "n",
        differences[0].baseline,
        differences[0].candidate,
        "difference",
        "smallest",  # the smallest true difference that these rows can show
        "p",
        "p Holm",
    ]
    lines = []
    for difference in differences:
        metric = difference.metric
        smallest_detectable = difference.smallest_detectable
        cells = [
            measures.name_with_arrow(metric),
            measures.scope_text(difference.scope),
            rows_text(difference),
            measures.value_text(metric, difference.baseline_value),
            measures.value_text(metric, difference.candidate_value),
            difference_text(metric, difference.estimate),
            "" if smallest_detectable is None else measures.value_text(metric, smallest_detectable),
            _p_cell(difference),
            _adjusted_p_cell(difference),
        ]
        lines.append(cells)
    return pd.DataFrame(lines, columns=columns)


def _p_cell(difference: Difference) -> str:
    """The p of a difference before adjustment: ``.0018``, ``< .0001`` or ``no test``."""
    if difference.p is None:
        return "no test"
    return p_text(difference.p).removeprefix("= ")


def _adjusted_p_cell(difference: Difference) -> str:
    """The adjusted p of a difference: ``.021*`` if significant, else ``.210``; "" if not tested."""
    if difference.p_holm is None:
        return ""
    star = " " if significance(difference) is None else "*"  # a blank, so that digits line up
    return p_text(difference.p_holm).removeprefix("= ") + star
