"""The metrics of CII-Bench: accuracy, by the released rule and by our reader (arXiv 2410.13854)."""

from __future__ import annotations

from figlang_tasks.benchmarks.ciibench.labels import scope_names
from figlang_tasks.benchmarks.ciibench.records import ImplicationRecord
from figlang_tasks.scoring import Measure, Measures, Scopes, parse_rate

_SOURCE = "CII-Bench, arXiv 2410.13854, Tables 1, 2, 6, 7 and 8"


def _scopes_of_record(record: ImplicationRecord) -> list[str]:
    """The scopes that a record counts in."""
    return record["scopes"]


def _is_right_officially(record: ImplicationRecord) -> float:
    """1.0 if the released rule reads the right letter, else 0.0."""
    return float(record["predicted_official"] == record["gold"])


def _is_right(record: ImplicationRecord) -> float:
    """1.0 if our reader reads the right letter, else 0.0."""
    return float(record["predicted"] == record["gold"])


def _has_official_letter(record: ImplicationRecord) -> float:
    """1.0 if the released rule reads a letter, else 0.0."""
    return float(record["predicted_official"] is not None)


_SCOPES = Scopes(scope_names(), _scopes_of_record)

CIIBENCH = Measures.of(
    # The first secondary measure stands for the task: the paper's own rule.
    Measure(
        "acc_official",
        description="Share of questions in which the released rule reads the right answer.",
        source=f"{_SOURCE}; released code",
        value_of_record=_is_right_officially,
        scopes=_SCOPES,
        answer=lambda record: record["predicted_official"],
    ),
    Measure(
        "acc",
        description="Share of questions with the right answer.",
        source="figlang_tasks",
        value_of_record=_is_right,
        scopes=_SCOPES,
        answer=lambda record: record["predicted"],
    ),
    parse_rate(),
    Measure(
        "parse_rate_official",
        description="Share of outputs in which the released rule reads an answer.",
        source="figlang_tasks",
        value_of_record=_has_official_letter,
        role="diagnostic",
    ),
)
