"""The metrics of AdMIRe: those of the two official scorers, and what these leave out.

Source: SemEval-2025 Task 1, ``task_a_scoring.py`` (subtask A, rankings) and ``task_b_scoring.py``
(subtask B, sequences).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from figlang_tasks.benchmarks.admire.records import RankingRecord, SequenceRecord
from figlang_tasks.benchmarks.admire.rows import SENSES
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import (
    BOOTSTRAP,
    Measure,
    Measures,
    Record,
    by_field,
    parse_rate,
    ratio,
    tie_rate,
)
from figlang_tasks.scoring.records import unit_of

_SCORER_A = "AdMIRe (SemEval-2025 Task 1), task_a_scoring.py"
_SCORER_B = "AdMIRe (SemEval-2025 Task 1), scoring program of subtask B"

WEIGHTS = (3, 1, 0, 0, 0)
"""What the pictures that are expected first, second ... add to DCG (``task_a_scoring.py``)."""

# A value of each measure for idiomatic and for literal rows, beside the one for all.
_SENSES = by_field("sense", SENSES)


# --- numbers of a ranking ---


def dcg(gold: Sequence[str], predicted: Sequence[str] | None) -> float:
    """The official DCG of a ranking: 3 / log2(1 + r1) + 1 / log2(1 + r2).

    r1 and r2 are the ranks that the model gives the pictures expected first and second, from 1. So
    the weights belong to the expected ranks, not to the predicted ones.

    Args:
        gold: the file names in the expected order, the best first.
        predicted: the same names as the model ranks them; None without a ranking.

    Returns:
        1.5912 to 3.6309 (2.3588 by chance); 0 without a ranking, which the scorer does not define.
    """
    if predicted is None:
        return 0.0
    gain = 0.0
    for weight, name in zip(WEIGHTS, gold, strict=True):
        if weight:
            predicted_rank = 1 + predicted.index(name)
            gain += weight / math.log2(1 + predicted_rank)
    return gain


def rank_correlation(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Spearman's correlation of the expected and the predicted rank of each picture, -1 to 1."""
    predicted_ranks = [predicted.index(name) for name in gold]
    return _spearman(range(len(gold)), predicted_ranks)


def file_name_correlation(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The official scorer's ``corr``: Spearman's correlation of file names, -1 to 1.

    It compares the expected and the predicted order position by position, by where the file names
    stand in the alphabet. So it says nothing about the ranks of pictures: a reversed order may get
    0.8.
    """
    alphabet = sorted(gold)
    gold_positions = [alphabet.index(name) for name in gold]
    predicted_positions = [alphabet.index(name) for name in predicted]
    return _spearman(gold_positions, predicted_positions)


def _spearman(first_ranks: Sequence[int], second_ranks: Sequence[int]) -> float:
    """Spearman's correlation of two permutations of 0 to n - 1: 1 - 6 * sum(d^2) / (n^3 - n)."""
    n = len(first_ranks)
    squared_differences = 0
    for first_rank, second_rank in zip(first_ranks, second_ranks, strict=True):
        squared_differences += (first_rank - second_rank) ** 2
    return 1 - 6 * squared_differences / (n * (n * n - 1))


# --- numbers of a record ---


def is_right_first(record: RankingRecord) -> float:
    """1.0 if the first picture of a ranking is the expected one, else 0.0."""
    return float(_first_picture(record) == record["gold"][0])


def is_right_item(record: SequenceRecord) -> float:
    """1.0 if the chosen picture of a sequence is the expected one, else 0.0."""
    return float(record["predicted"] == record["gold"])


def _is_right_sense(record: SequenceRecord) -> float:
    """1.0 if the sense that the model names for a sequence is the expected one, else 0.0."""
    return float(record["predicted_sense"] == record["sense"])


def _first_picture(record: RankingRecord) -> str | None:
    """The file name of the picture that is ranked first; None without a ranking."""
    return record["predicted"][0] if record["predicted"] else None


def _dcg_of_record(record: RankingRecord) -> float:
    """The official DCG of a record; 0 without a ranking."""
    return dcg(record["gold"], record["predicted"])


def _rank_correlation_of_record(record: RankingRecord) -> float | None:
    """The rank correlation of a record; None without a ranking, so that it does not count."""
    if record["predicted"] is None:
        return None
    return rank_correlation(record["gold"], record["predicted"])


def _file_name_correlation_of_record(record: RankingRecord) -> float | None:
    """The scorer's ``corr`` of a record; None without a ranking, so that it does not count."""
    if record["predicted"] is None:
        return None
    return file_name_correlation(record["gold"], record["predicted"])


def _has_equal_scores(record: RankingRecord) -> float | None:
    """1.0 if two pictures have the same score, else 0.0; None for an answer in words."""
    scores = record["scores"]
    if scores is None:
        return None
    return float(len(set(scores)) < len(scores))


# --- both senses of a compound ---


def _both_senses_acc(is_right: Callable[[Any], float]) -> Measure:
    """The measure ``both_senses_acc``: the share of compounds that are right in both senses.

    Args:
        is_right: returns 1.0 for a record with the right answer, else 0.0.
    """

    def statistic(records: Sequence[Record]) -> Statistic | None:
        """The share over the compounds with two records; None if there are none."""
        hits_by_compound: dict[str, list[float]] = {}  # 1.0 or 0.0 for each sense
        for record in records:
            hits_by_compound.setdefault(unit_of(record), []).append(is_right(record))
        both_right_by_compound: dict[str, float] = {}
        for compound, hits in hits_by_compound.items():
            # A limit on the rows may have left out one of the two senses.
            if len(hits) == len(SENSES):
                both_right_by_compound[compound] = min(hits)
        if not both_right_by_compound:
            return None
        return ratio(both_right_by_compound, list(both_right_by_compound.values()))

    return Measure(
        "both_senses_acc",
        description="Share of compounds that are right in both senses.",
        source="figlang_tasks",
        statistic=statistic,
    )


# --- the measures ---

_RANK = (
    Measure(
        "acc",
        description="Share of rankings with the expected picture first.",
        source=_SCORER_A,
        value_of_record=is_right_first,
        scopes=_SENSES,
        answer=_first_picture,
    ),
    Measure(
        "dcg",
        description=(
            "Mean of 3 / log2(1 + r1) + 1 / log2(1 + r2), r being the ranks of the expected two"
            " first."
        ),
        source=_SCORER_A,
        value_of_record=_dcg_of_record,
        interval=BOOTSTRAP,
        scopes=_SENSES,
        percent=False,
        bounds=(0.0, dcg("abcde", "abcde")),
    ),
    Measure(
        "rank_correlation",
        description="Mean of Spearman's correlation of the expected and the predicted ranks.",
        source="figlang_tasks",
        value_of_record=_rank_correlation_of_record,
        interval=BOOTSTRAP,
        scopes=_SENSES,
        percent=False,
        bounds=(-1.0, 1.0),
    ),
    Measure(
        "file_name_correlation",
        description=(
            "The scorer's `corr`, a correlation of the places of file names; it says nothing about"
            " ranks."
        ),
        source=_SCORER_A,
        value_of_record=_file_name_correlation_of_record,
        interval=BOOTSTRAP,
        scopes=_SENSES,
        role="diagnostic",
        in_table=False,
        percent=False,
        bounds=(-1.0, 1.0),
    ),
    tie_rate(
        "Share of rankings by scores in which two pictures have the same score.", _has_equal_scores
    ),
)
_SEQUENCE = (
    Measure(
        "item_acc",
        description="Share of sequences with the right picture.",
        source=_SCORER_B,
        value_of_record=is_right_item,
        scopes=_SENSES,
        answer=lambda record: record["predicted"],
    ),
    Measure(
        "sense_acc",
        description="Share of sequences with the right sense, idiomatic or literal.",
        source=_SCORER_B,
        value_of_record=_is_right_sense,
        scopes=_SENSES,
    ),
)
RANK = Measures.of(*_RANK, parse_rate())
RANK_BOTH = Measures.of(*_RANK, _both_senses_acc(is_right_first), parse_rate())
SEQUENCE = Measures.of(*_SEQUENCE, parse_rate())
SEQUENCE_BOTH = Measures.of(*_SEQUENCE, _both_senses_acc(is_right_item), parse_rate())
