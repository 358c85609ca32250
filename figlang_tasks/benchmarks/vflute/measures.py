"""The measures of V-FLUTE (arXiv 2405.01474, section 4.2 and Table 4)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.benchmarks.vflute.rows import REPORT_GROUPS
from figlang_tasks.scoring import Measures, Record, by_field
from figlang_tasks.scoring.explained import SCHEMES, Scheme, Threshold, explained_measures

VFLUTE = Measures.of(*explained_measures(SCHEMES["f1"], by_field("report_group", REPORT_GROUPS)))

_BOARD = Scheme((Threshold("f1@0", 0.0), Threshold("f1@50", 0.50), Threshold("f1@60", 0.60)), "figlang24", main="f1@60")
FIGLANG24 = Measures.of(*(measure for measure in explained_measures(_BOARD) if not measure.diagnostic))
"""Of the board of the FigLang 2024 shared task (``figlang submit score2024``)."""


def of_records(records: Sequence[Record]) -> Measures:
    """The measures of the task that wrote `records`."""
    return VFLUTE
