"""The measures of COLUMBUS (arXiv 2409.04053, Table 2)."""

from __future__ import annotations

from figlang_tasks.benchmarks.columbus.records import PuzzleRecord
from figlang_tasks.scoring import Measure, Measures, Scopes, parse_rate

_SOURCE = "COLUMBUS, arXiv 2409.04053, Table 2"


def _kinds(record: PuzzleRecord) -> tuple[str, ...]:
    """The scopes of a puzzle: its kind, and whether it is there in both kinds."""
    kind = record["kind"]
    return (kind, f"overlap_{kind}") if record["overlap"] else (kind,)


def _is_right(record: PuzzleRecord) -> float:
    """Whether our reader reads the right letter."""
    return float(record["predicted"] == record["gold"])


def _is_right_officially(record: PuzzleRecord) -> float:
    """Whether the released rule reads the right letter."""
    return float(record["predicted_official"] == record["gold"])


def _has_letter(record: PuzzleRecord) -> bool:
    """Whether our reader reads a letter, or one score is the highest: a tie has no answer here."""
    return record["predicted"] is not None


def _has_official_letter(record: PuzzleRecord) -> float:
    """Whether the released rule reads a letter."""
    return float(record["predicted_official"] is not None)


_SCOPES = Scopes(("text", "icon", "overlap_text", "overlap_icon"), _kinds)

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
