"""The report's chart of V-FLUTE: results by instruction (arXiv 2405.01474)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from figlang_tasks.core.presentation import ChartCategory, ChartSection


def _by_instruction(
    dataset: str, task: str, scopes: Mapping[str, Collection[str]]
) -> Iterator[ChartCategory]:
    for scope in scopes.get("f1@0", ()):
        if scope.startswith("instruction_"):
            yield ChartCategory(
                title=f"{dataset}: f1@0 by instruction ({task})",
                label="f1@0 (percent)",
                measure="f1@0",
                scope=scope,
                category=scope.removeprefix("instruction_"),
                chance=lambda records: math.nan,
            )


CHARTS = (
    ChartSection(
        id="instructions",
        title="Prompt sensitivity",
        intro="All rows asked with each of the 21 instructions of Table 8 (arXiv 2405.01474).",
        categories=_by_instruction,
    ),
)
