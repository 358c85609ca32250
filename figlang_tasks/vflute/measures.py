"""The measures of V-FLUTE (arXiv 2405.01474, section 4.2 and Table 4)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.scoring import Measures, Record, by_field
from figlang_tasks.scoring.explained import SCHEMES, explained_measures
from figlang_tasks.vflute.rows import REPORT_GROUPS

VFLUTE = Measures.of(*explained_measures(SCHEMES["f1"], by_field("report_group", REPORT_GROUPS)))


def of_records(records: Sequence[Record]) -> Measures:
    """The measures of the task that wrote `records`."""
    return VFLUTE
