"""The measures of V-FLUTE (arXiv 2405.01474, section 4.2 and Table 4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from figlang_tasks.benchmarks.vflute.rows import INSTRUCTION_COUNT, REPORT_GROUPS
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import IntervalMethod, Measure, Measures, Record, Scopes, by_field
from figlang_tasks.scoring.explained import Scheme, explained_measures, thresholds
from figlang_tasks.scoring.statistics import combine_statistics

SCHEME = Scheme(
    thresholds("f1", (0.0, 0.53, 0.60), "V-FLUTE, arXiv 2405.01474, section 4.2 and Table 4"),
    headline="f1@60",
)

VFLUTE = Measures.of(*explained_measures(SCHEME, by_field("report_group", REPORT_GROUPS)))


def _instruction(record: Record) -> tuple[str]:
    """The scope of the instruction that a record was asked with."""
    return (f"instruction_{record['instruction']:02}",)


_INSTRUCTIONS = Scopes(
    tuple(f"instruction_{number:02}" for number in range(1, INSTRUCTION_COUNT + 1)),
    _instruction,
    averaged=True,
)
_BY_INSTRUCTION = explained_measures(SCHEME, _INSTRUCTIONS)


def _spread(records: Sequence[Record]) -> Statistic | None:
    """The standard deviation of F1@0 over the instructions."""
    statistics: list[Statistic] = []
    for members in _INSTRUCTIONS.split(records).values():
        statistic = _BY_INSTRUCTION[0].statistic_of(members)
        if statistic is not None:
            statistics.append(statistic)
    if len(statistics) < 2:
        return None
    return combine_statistics(statistics, partial(np.std, ddof=1))


def _no_interval(statistic: Statistic) -> None:
    """None: the spread of resampled rows is larger than that of the rows."""


INSTRUCTIONS = Measures.of(
    *_BY_INSTRUCTION,
    Measure(
        "f1@0_sd",
        description="Standard deviation of f1@0 over the instructions.",
        source="V-FLUTE, arXiv 2405.01474, Table 8",
        statistic=_spread,
        interval=IntervalMethod("none: resampled rows spread more", _no_interval),
        role="diagnostic",
        higher_is_better=False,
    ),
)
"""Of all rows asked with each of the 21 instructions (Table 8): means over the instructions, and
their spread.
"""

_BOARD = Scheme(
    thresholds("f1", (0.0, 0.50, 0.60), "FigLang 2024 shared task, scoring script"),
    headline="f1@60",
)
FIGLANG24 = Measures.of(
    *(measure for measure in explained_measures(_BOARD) if not measure.is_diagnostic)
)
"""Of the board of the FigLang 2024 shared task (``figlang submit score2024``)."""
