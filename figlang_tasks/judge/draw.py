"""Draws the rows that people judge, and keeps what machines say of all rows."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.record import Record
from figlang_tasks.judge.explained import ExplainedTask
from figlang_tasks.judge.key import MachineRow
from figlang_tasks.scoring.records import unit_of

LEAST_OF_SOURCE = 2
"""Rows that are drawn from a source at least: one alone does not show how much its rows vary."""


def draw_rows(
    records: Sequence[Record], count: int, generator: random.Random, *, by_source: bool
) -> list[str]:
    """The ids of rows drawn at random, in random order.

    Args:
        records: one of each row.
        count: how many rows, at most; all if there are fewer.
        generator: of the draw.
        by_source: draws from each source in proportion to its rows, not from all rows.

    Raises:
        FigLangError: there are too many sources for so few rows.
    """
    # Sorted, so that the draw does not depend on the order of the samples file.
    sorted_ids = sorted(record["id"] for record in records)
    count = min(count, len(sorted_ids))
    if not by_source:
        return generator.sample(sorted_ids, count)

    source_of_row = {record["id"]: source_of(record) for record in records}
    ids_by_source: dict[str, list[str]] = {}
    for row_id in sorted_ids:
        ids_by_source.setdefault(source_of_row[row_id], []).append(row_id)
    sizes = {source: len(ids) for source, ids in ids_by_source.items()}
    row_ids: list[str] = []
    for source, quota in sorted(_quotas(sizes, count).items()):
        row_ids += generator.sample(ids_by_source[source], quota)
    generator.shuffle(row_ids)
    return row_ids


def _quotas(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """How many rows to draw from each source, in proportion to its rows.

    Args:
        sizes: the number of rows of each source.
        count: of rows to draw, at most that of all rows.

    Raises:
        FigLangError: `count` is too small for the least number of each source.
    """
    quotas = {source: min(LEAST_OF_SOURCE, size) for source, size in sizes.items()}
    least = sum(quotas.values())
    if count < least:
        raise FigLangError(
            f"--by-source draws {LEAST_OF_SOURCE} rows or more of each of {len(sizes)} sources:"
            f" --n must be {least} or more"
        )
    total = sum(sizes.values())
    for _ in range(count - least):
        # The next row is of the source that has least in proportion to its rows.
        lacking = {
            source: size * count / total - quotas[source]
            for source, size in sizes.items()
            if quotas[source] < size
        }
        quotas[max(lacking, key=lambda source: (lacking[source], source))] += 1
    return quotas


def source_of(record: Record) -> str:
    """The part of the benchmark that a row is from; "" for a benchmark without parts."""
    return str(record.get("report_group") or "")


def machine_rows(explained_by_system: Mapping[str, ExplainedTask]) -> list[MachineRow]:
    """What the systems predict of each row, and how a scorer scores their explanations.

    Args:
        explained_by_system: the task of each system; all of the same rows.
    """
    first = next(iter(explained_by_system.values()))
    rows: dict[str, MachineRow] = {}
    for row_id, record in first.records.items():
        rows[row_id] = {
            "id": row_id,
            "unit": unit_of(record),
            "source": source_of(record),
            "gold": record["gold"] if first.asks_label else 1,
            "predicted": {},
            "scores": {},
        }
    for system, explained in explained_by_system.items():
        for row_id, record in explained.records.items():
            row = rows[row_id]
            row["predicted"][system] = record["predicted"] if explained.asks_label else None
            row["scores"][system] = score_of(record)
    return [rows[row_id] for row_id in sorted(rows)]


def score_of(record: Record) -> float | None:
    """The ExplanationScore of a record; None without one."""
    score: float | None = (record.get("explanation_scores") or {}).get("mean")
    return score
