"""The metrics of COLUMBUS: accuracy, for text and icons apart (arXiv 2409.04053, Table 2)."""

from __future__ import annotations

from figlang_tasks.benchmarks.columbus.records import PuzzleRecord
from figlang_tasks.scoring import Measure, Measures, Scopes, parse_rate

_SOURCE = "COLUMBUS, arXiv 2409.04053, Table 2"


def _scopes_of_record(record: PuzzleRecord) -> tuple[str, ...]:
    """The scopes that a record counts in: ``("icon",)``, or ``("icon", "overlap_icon")``."""
    kind = record["kind"]
    if record["overlap"]:
        return (kind, f"overlap_{kind}")
    return (kind,)


def _is_right(record: PuzzleRecord) -> float:
    """1.0 if our reader reads the right letter, else 0.0."""
    return float(record["predicted"] == record["gold"])


def _is_right_officially(record: PuzzleRecord) -> float:
    """1.0 if the released rule reads the right letter, else 0.0."""
    return float(record["predicted_official"] == record["gold"])


def _has_letter(record: PuzzleRecord) -> bool:
    """Whether our reader reads a letter, or one option alone has the highest score."""
    return record["predicted"] is not None


def _has_official_letter(record: PuzzleRecord) -> float:
    """1.0 if the released rule reads a letter, else 0.0."""
    return float(record["predicted_official"] is not None)


_SCOPES = Scopes(("text", "icon", "overlap_text", "overlap_icon"), _scopes_of_record)

COLUMBUS = Measures.of(
    Measure(
        "acc",
        description="Share of puzzles with the right answer.",
        source=_SOURCE,
        value_of_record=_is_right,
        scopes=_SCOPES,
        answer=lambda record: record["predicted"],
    ),
    Measure(
        "acc_official",
        description="Share of puzzles in which the released rule reads the right answer.",
        source=f"{_SOURCE}; released code",
        value_of_record=_is_right_officially,
        scopes=_SCOPES,
    ),
    parse_rate(_has_letter),
    Measure(
        "parse_rate_official",
        description="Share of outputs in which the released rule reads an answer.",
        source="figlang_tasks",
        value_of_record=_has_official_letter,
        role="diagnostic",
    ),
)
