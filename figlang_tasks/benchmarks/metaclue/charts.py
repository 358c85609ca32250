"""The report's chart of MetaCLUE: precision@1 by kind of candidates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from figlang_tasks.core.presentation import BarChart, Bars, BarSection, Records


def _retrieval(dataset: str, task: str, scopes: Mapping[str, Collection[str]]) -> Iterator[Bars]:
    chart = BarChart(
        f"{dataset}: retrieval by kind of candidates",
        "precision@1 (percent)",
    )
    kind = task.rpartition("retrieve_")[2].replace("_", " ")
    yield Bars(chart=chart, measure="p@1", category=kind, chance=_chance)


def _chance(records: Records) -> float:
    return float(np.mean([1 / record["candidates"] for record in records]))


CHARTS = (
    BarSection(
        id="retrieval",
        title="Retrieval",
        intro="Which statement is conveyed by the image? Dashed lines are chance.",
        bars=_retrieval,
    ),
)
