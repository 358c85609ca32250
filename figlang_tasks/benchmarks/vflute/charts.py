"""The report's chart of V-FLUTE's results by instruction, which is this project's own.

The instructions are those of Table 8 (arXiv 2405.01474).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from figlang_tasks.core.presentation import ChartCategory, ChartSection
from figlang_tasks.core.record import Record

_METRIC = "f1@0"
_SCOPE_PREFIX = "instruction_"


def _no_chance_level(records: Sequence[Record]) -> float:
    """NaN: the chart shows no level of chance."""
    return math.nan


def _by_instruction(
    dataset: str, task: str, scopes: Mapping[str, Collection[str]]
) -> Iterator[ChartCategory]:
    """Yield the chart category of each instruction that a task has a value of F1@0 for.

    Only ``vflute_instructions`` has scopes such as ``instruction_07``.

    Args:
        dataset: the name of the dataset.
        task: the name of the task.
        scopes: by metric, the scopes that it has a value in: ``{"f1@0": ["instruction_07", ...]}``.
    """
    for scope in scopes.get(_METRIC, ()):
        if scope.startswith(_SCOPE_PREFIX):
            yield ChartCategory(
                title=f"{dataset}: {_METRIC} by instruction ({task})",
                label=f"{_METRIC} (percent)",
                measure=_METRIC,
                scope=scope,
                category=scope.removeprefix(_SCOPE_PREFIX),
                chance=_no_chance_level,
            )


CHARTS = (
    ChartSection(
        id="instructions",
        title="Prompt sensitivity",
        intro="All rows asked with each of the 21 instructions of Table 8 (arXiv 2405.01474).",
        categories=_by_instruction,
    ),
)
