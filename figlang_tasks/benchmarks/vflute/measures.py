"""The metrics of V-FLUTE (arXiv 2405.01474): F1@ExplanationScore, and others beside it.

In F1@53 "all predictions with ExplanationScore <= 53 are considered incorrect" (section 4.2); 53
is 0.53 here. The paper calls F1@0 "simply F1 score", but the released scorer applies the rule at 0
too, and so does this project. That F1 is macro F1 is the scorer's as well. Section 5.3 chooses the
thresholds by what people find adequate.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from figlang_tasks.benchmarks.vflute.records import VFluteRecord
from figlang_tasks.benchmarks.vflute.rows import INSTRUCTION_NUMBERS, REPORT_GROUPS
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import IntervalMethod, Measure, Measures, Scopes, by_field
from figlang_tasks.scoring.explained import Scheme, explained_measures, thresholds
from figlang_tasks.scoring.statistics import combine_statistics

# --- Tables 4 and 7, Figure 11: F1@0, F1@53 and F1@60, for all rows and by report group ---

SCHEME = Scheme(
    thresholds("f1", (0.0, 0.53, 0.60), "V-FLUTE, arXiv 2405.01474, section 4.2 and Table 4"),
    headline="f1@60",
)

VFLUTE = Measures.of(*explained_measures(SCHEME, by_field("report_group", REPORT_GROUPS)))

# --- every row with each of the 21 instructions of Table 8 ---


def _instruction_scope(number: int) -> str:
    """The scope of an instruction, ``instruction_07``, which becomes part of metrics' names."""
    return f"instruction_{number:02}"


def _scopes_of_record(record: VFluteRecord) -> tuple[str]:
    """The only scope that a record counts in: its instruction's."""
    return (_instruction_scope(record["instruction"]),)


# The rows are the same in all scopes. The task's value is the mean over the instructions; no F1 is
# computed of the records of all instructions together.
_INSTRUCTION_SCOPES = Scopes(
    names=tuple(_instruction_scope(number) for number in INSTRUCTION_NUMBERS),
    scopes_of=_scopes_of_record,
    averaged=True,
)
_MEASURES_BY_INSTRUCTION = explained_measures(SCHEME, _INSTRUCTION_SCOPES)
_F1_AT_0 = _MEASURES_BY_INSTRUCTION[0]  # they are in the order of the thresholds


def _standard_deviation_of_f1(records: Sequence[VFluteRecord]) -> Statistic | None:
    """The sample standard deviation of F1@0 over instructions; None for a single instruction."""
    f1_statistics: list[Statistic] = []
    for records_of_instruction in _INSTRUCTION_SCOPES.split(records).values():
        f1_statistic = _F1_AT_0.statistic_of(records_of_instruction)
        if f1_statistic is not None:
            f1_statistics.append(f1_statistic)
    if len(f1_statistics) < 2:
        return None
    return combine_statistics(f1_statistics, partial(np.std, ddof=1))


def _no_interval(statistic: Statistic) -> None:
    """No interval: the bootstrap overestimates this standard deviation.

    Resampled rows add noise of their own to the F1 of each instruction. So F1 differs more between
    instructions in resampled rows than in the rows themselves.
    """


INSTRUCTIONS = Measures.of(
    *_MEASURES_BY_INSTRUCTION,
    Measure(
        "f1@0_sd",
        description="Standard deviation of f1@0 over the instructions.",
        source="figlang_tasks",
        statistic=_standard_deviation_of_f1,
        interval=IntervalMethod("none: resampled rows spread more", _no_interval),
        role="diagnostic",
        higher_is_better=False,
    ),
)
"""Means over the instructions, each instruction's own values, and the spread of F1@0."""

# --- the FigLang 2024 shared task: other thresholds and another score (BERTScore alone) ---

_FIGLANG24_SCHEME = Scheme(
    thresholds("f1", (0.0, 0.50, 0.60), "FigLang 2024 shared task, scoring script"),
    headline="f1@60",
)
_FIGLANG24_MEASURES = explained_measures(_FIGLANG24_SCHEME)
FIGLANG24 = Measures.of(*(measure for measure in _FIGLANG24_MEASURES if not measure.is_diagnostic))
"""The metrics of the shared task's board (``figlang submit score2024``)."""
