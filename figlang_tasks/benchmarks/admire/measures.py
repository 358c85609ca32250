"""The measures of AdMIRe: those of the official scorers, and what these leave out."""

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

WEIGHTS = (3, 1, 0, 0, 0)  # of the expected first, second ... picture (``task_a_scoring.py``)

_SENSES = by_field("sense", SENSES)


def dcg(gold: Sequence[str], predicted: Sequence[str] | None) -> float:
    """The official DCG, whose weights belong to the expected ranks, not to the predicted ones.

    It is 1.5912 to 3.6309, by chance 2.3588; without a ranking 0, which the scorer does not define.
    """
    if predicted is None:
        return 0.0
    return sum(
        weight / math.log2(2 + predicted.index(name))
        for weight, name in zip(WEIGHTS, gold, strict=True)
        if weight
    )


def rank_correlation(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Spearman's correlation of the expected and the predicted rank of each picture, -1 to 1."""
    return _spearman([predicted.index(name) for name in gold], range(len(gold)))


def file_name_correlation(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The scorer's "corr", -1 to 1: the correlation of the names' places in the alphabet, list
    beside list.

    It says nothing about the ranks of pictures: a reversed order may get 0.8.
    """
    alphabet = sorted(gold)
    return _spearman(
        [alphabet.index(name) for name in gold], [alphabet.index(name) for name in predicted]
    )


def _spearman(first: Sequence[int], second: Sequence[int]) -> float:
    """Spearman's correlation of two permutations of 0 to n - 1."""
    n = len(first)
    return 1 - 6 * sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) / (n * (n * n - 1))


def is_right_first(record: RankingRecord) -> float:
    """Whether the first picture of a ranking is the expected one."""
    return float(_first(record) == record["gold"][0])


def is_right_item(record: SequenceRecord) -> float:
    """Whether the picture of a sequence is the expected one."""
    return float(record["predicted"] == record["gold"])


def _first(record: RankingRecord) -> str | None:
    """The first picture of a ranking."""
    return record["predicted"][0] if record["predicted"] else None


def _in_both_senses(is_right: Callable[[Any], float]) -> Measure:
    """The measure of how many compounds are right in both senses."""

    def statistic(records: Sequence[Record]) -> Statistic | None:
        hits_by_compound: dict[str, list[float]] = {}
        for record in records:
            hits_by_compound.setdefault(unit_of(record), []).append(is_right(record))
        # Those whose second row a limit has cut do not count.
        pairs = {
            compound: min(hits)
            for compound, hits in hits_by_compound.items()
            if len(hits) == len(SENSES)
        }
        return ratio(pairs, list(pairs.values())) if pairs else None

    return Measure(
        "both_senses_acc",
        description="Share of compounds that are right in both senses.",
        source="figlang_tasks",
        statistic=statistic,
    )


def _dcg_of_record(record: RankingRecord) -> float:
    """The official DCG of a record; 0 without a ranking."""
    return dcg(record["gold"], record["predicted"])


def _if_ranked(
    correlation: Callable[[Sequence[str], Sequence[str]], float],
) -> Callable[[RankingRecord], float | None]:
    """The function of a record that returns a correlation; None without a ranking."""

    def value_of_record(record: RankingRecord) -> float | None:
        if record["predicted"] is None:
            return None
        return correlation(record["gold"], record["predicted"])

    return value_of_record


def _has_equal_scores(record: RankingRecord) -> float | None:
    """Whether two pictures of a ranking have the same score; None for an answer in words."""
    scores = record["scores"]
    return None if scores is None else float(len(set(scores)) < len(scores))


def _is_right_sense(record: SequenceRecord) -> float:
    """Whether the sense of a sequence is the expected one."""
    return float(record["predicted_sense"] == record["sense"])


_RANK = (
    Measure(
        "acc",
        description="Share of rankings with the expected picture first.",
        source=_SCORER_A,
        value_of_record=is_right_first,
        scopes=_SENSES,
        answer=_first,
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
        value_of_record=_if_ranked(rank_correlation),
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
        value_of_record=_if_ranked(file_name_correlation),
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
RANK_BOTH = Measures.of(*_RANK, _in_both_senses(is_right_first), parse_rate())
SEQUENCE = Measures.of(*_SEQUENCE, parse_rate())
SEQUENCE_BOTH = Measures.of(*_SEQUENCE, _in_both_senses(is_right_item), parse_rate())
