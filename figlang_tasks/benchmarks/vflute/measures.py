"""The measures of V-FLUTE (arXiv 2405.01474, section 4.2 and Table 4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from figlang_tasks.benchmarks.vflute.rows import INSTRUCTION_COUNT, REPORT_GROUPS
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import IntervalMethod, Measure, Measures, Record, Scopes, by_field
from figlang_tasks.scoring.explained import SCHEMES, Scheme, Threshold, explained_measures
from figlang_tasks.scoring.measure import over_parts

VFLUTE = Measures.of(*explained_measures(SCHEMES["f1"], by_field("report_group", REPORT_GROUPS)))

_INSTRUCTIONS = Scopes(
    tuple(f"instruction_{number:02}" for number in range(1, INSTRUCTION_COUNT + 1)),
    lambda record: (f"instruction_{record['instruction']:02}",),
    averaged=True,
)
_BY_INSTRUCTION = explained_measures(SCHEMES["f1"], _INSTRUCTIONS)


def _spread(records: Sequence[Record]) -> Statistic | None:
    """The standard deviation of F1@0 over the instructions."""
    parts = [part for own in _INSTRUCTIONS.split(records).values() if (part := _BY_INSTRUCTION[0].statistic_of(own))]
    return over_parts(parts, partial(np.std, ddof=1)) if len(parts) > 1 else None


INSTRUCTIONS = Measures.of(
    *_BY_INSTRUCTION,
    Measure(
        "f1@0_sd",
        statistic=_spread,
        interval=IntervalMethod("none: resampled rows spread more", lambda found: None),
        higher_is_better=False,
        diagnostic=True,
    ),
)
"""Of all rows asked with each of the 21 instructions (Table 8): means over the instructions, and their spread."""

_BOARD = Scheme((Threshold("f1@0", 0.0), Threshold("f1@50", 0.50), Threshold("f1@60", 0.60)), "figlang24", main="f1@60")
FIGLANG24 = Measures.of(*(measure for measure in explained_measures(_BOARD) if not measure.diagnostic))
"""Of the board of the FigLang 2024 shared task (``figlang submit score2024``)."""
