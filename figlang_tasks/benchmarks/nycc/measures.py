"""The measures of the New Yorker Caption Contest (arXiv 2209.06293, Tables 2 and 5; released
``eval_crossval.py``).

The value of a task is the unweighted mean of its folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from figlang_tasks.benchmarks.nycc.records import ChoiceRecord, ExplanationRecord, RankingRecord
from figlang_tasks.metrics import overlap
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import (
    BOOTSTRAP,
    Measure,
    Measures,
    Scopes,
    grouped,
    parse_rate,
    tie_rate,
)
from figlang_tasks.scoring.common_measures import PARSE_DISAGREEMENT
from figlang_tasks.scoring.explained import MEAN_SCORE, Scheme, explained_measures, thresholds
from figlang_tasks.scoring.records import unit_of


def _fold(record: ChoiceRecord | ExplanationRecord) -> tuple[str]:
    """The scope of the fold that a record is of."""
    return (f"fold_{record['fold']}",)


FOLDS = Scopes(tuple(f"fold_{number}" for number in range(5)), _fold, averaged=True)

_TABLE_2 = "New Yorker Caption Contest, arXiv 2209.06293, Table 2"
_TABLE_5 = "New Yorker Caption Contest, arXiv 2209.06293, Table 5"


class _Winners(NamedTuple):
    """The rows of ranking whose winning caption was chosen by the same people."""

    rows: str  # in a description
    applies: Callable[[RankingRecord], bool]


def _always(record: RankingRecord) -> bool:
    """True: every row counts."""
    return True


def _won_by_crowd(record: RankingRecord) -> bool:
    """Whether the crowd chose the winning caption."""
    return record["winner_source"] == "crowd_winner"


def _won_by_editors(record: RankingRecord) -> bool:
    """Whether the editors chose the winning caption."""
    return not _won_by_crowd(record)


_WINNERS: Mapping[str, _Winners] = {
    "": _Winners("all rows", _always),
    "_crowd": _Winners("rows whose winner the crowd chose", _won_by_crowd),
    "_ny": _Winners("rows whose winner the editors chose", _won_by_editors),
}
"""By the suffix of the metric."""


def _is_right(record: ChoiceRecord) -> float:
    """Whether our reader reads the right letter."""
    return float(record["predicted"] == record["gold"])


def _is_right_officially(record: ChoiceRecord) -> float:
    """Whether the released rules read, or guess, the right letter."""
    return float(record["predicted_official"] == record["gold"])


def _accuracy(suffix: str) -> Measure:
    """The accuracy of our reading, of all rows or of those with such winners."""
    winners = _WINNERS[suffix]
    return Measure(
        f"acc{suffix}",
        description=f"Share with the right letter, of {winners.rows}.",
        source=_TABLE_2,
        value_of_record=_is_right,
        applies=winners.applies,
        scopes=FOLDS,
        answer=lambda record: record["predicted"],
    )


def _official_accuracy(suffix: str) -> Measure:
    """The accuracy of the released rules, of all rows or of those with such winners."""
    winners = _WINNERS[suffix]
    return Measure(
        f"acc{suffix}_official",
        description=(
            "Share with the right letter by the released rules, which guess one, of"
            f" {winners.rows}."
        ),
        source="New Yorker Caption Contest, arXiv 2209.06293, released eval_crossval.py",
        value_of_record=_is_right_officially,
        applies=winners.applies,
        scopes=FOLDS,
        in_table=False,
        answer=lambda record: record["predicted_official"],
    )


def _choice(*suffixes: str) -> Measures:
    """The measures of a choice: by our reading, and by the released rules with their guess."""
    return Measures.of(
        *map(_accuracy, suffixes),
        *map(_official_accuracy, suffixes),
        tie_rate(
            "Share of rows by scores in which several captions have the highest score.",
            scopes=FOLDS,
        ),
        parse_rate(scopes=FOLDS),
        replace(PARSE_DISAGREEMENT, scopes=FOLDS),
    )


MATCHING, RANKING = _choice(""), _choice(*_WINNERS)


def _corpus_bleu(records: Sequence[ExplanationRecord]) -> Statistic:
    """BLEU-4 of all explanations together."""
    sums = [record["bleu_sums"] for record in records]
    return grouped(map(unit_of, records), sums, overlap.corpus_bleu4)


SCHEME = Scheme(thresholds("explained", (0.0, 0.53, 0.60), "figlang_tasks", "all"), headline="")
"""Of explanations alone, with the thresholds of V-FLUTE: a row is right if there is an
explanation.
"""


def _of_explanations() -> Iterator[Measure]:
    """The measures of explanation scores: no label is asked for, so those of labels say nothing
    here.
    """
    least_scores = {threshold.name: threshold.at for threshold in SCHEME.thresholds}
    for measure in explained_measures(SCHEME, FOLDS):
        if measure.name in least_scores:
            least_score = least_scores[measure.name]
            description = "Share of outputs with an explanation."
            if least_score > 0:
                description = (
                    f"Share of outputs with an explanation that scores at least {least_score:g}."
                )
            yield replace(measure, description=description, in_table=False)
        elif measure.name == MEAN_SCORE:
            yield replace(measure, description="Mean score of the explanations.")
        elif measure.name not in ("acc", PARSE_DISAGREEMENT.name):
            yield measure


EXPLANATION = Measures.of(
    Measure(
        "bleu4",
        description="BLEU-4 of all explanations of a fold together.",
        source=_TABLE_5,
        statistic=_corpus_bleu,
        scopes=FOLDS,
        interval=BOOTSTRAP,
    ),
    Measure(
        "rouge_l",
        description="Mean ROUGE-L F1 of the explanations, without stemming.",
        source=_TABLE_5,
        value_of_record=lambda record: float(record["rouge_l"]),
        scopes=FOLDS,
        interval=BOOTSTRAP,
    ),
    *_of_explanations(),
)
