"""The measures of the New Yorker Caption Contest: Tables 2 and 5 of the paper (arXiv 2209.06293).

As in the released ``eval_crossval.py``, the value of a task is the unweighted mean of its folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    """The rows of ranking whose winning caption was chosen by the same people.

    Attributes:
        rows: what they are, for the description of a measure.
        applies: whether a record is of such a row.
    """

    rows: str
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
"""By the suffix of the metrics that count them: ``acc_crowd`` has the suffix ``_crowd``."""


# --- matching and ranking: Table 2 ---


def _is_right(record: ChoiceRecord) -> float:
    """1 if the letter that our reader reads is right, else 0."""
    return float(record["predicted"] == record["gold"])


def _is_right_officially(record: ChoiceRecord) -> float:
    """1 if the letter that the released rules read or guess is right, else 0."""
    return float(record["predicted_official"] == record["gold"])


def _predicted(record: ChoiceRecord) -> str | None:
    """The letter that our reader reads; None if it reads none."""
    return record["predicted"]


def _predicted_officially(record: ChoiceRecord) -> str | None:
    """The letter that the released rules read or guess; None if they find none."""
    return record["predicted_official"]


def _accuracy(suffix: str) -> Measure:
    """The accuracy ``acc_crowd`` for the suffix ``_crowd``: over the rows in `_WINNERS`.

    The letter that counts is the one of the released rules, else of the common reader; no guess.
    """
    winners = _WINNERS[suffix]
    return Measure(
        f"acc{suffix}",
        description=f"Share with the right letter, of {winners.rows}.",
        source=_TABLE_2,
        value_of_record=_is_right,
        applies=winners.applies,
        scopes=FOLDS,
        answer=_predicted,
    )


def _official_accuracy(suffix: str) -> Measure:
    """The accuracy ``acc_crowd_official`` for the suffix ``_crowd``: over the rows in `_WINNERS`.

    The letter is the one of the released rules alone, with the guess that they make from pixels.
    """
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
        answer=_predicted_officially,
    )


def _choice_measures(*suffixes: str) -> Measures:
    """The measures of a choice: accuracies, those by the released rules, ties, and readings.

    Args:
        suffixes: keys of `_WINNERS`; "" is the accuracy over all rows.
    """
    accuracies = [_accuracy(suffix) for suffix in suffixes]
    official_accuracies = [_official_accuracy(suffix) for suffix in suffixes]
    return Measures.of(
        *accuracies,
        *official_accuracies,
        tie_rate(
            "Share of rows by scores in which several captions have the highest score.",
            scopes=FOLDS,
        ),
        parse_rate(scopes=FOLDS),
        replace(PARSE_DISAGREEMENT, scopes=FOLDS),
    )


MATCHING = _choice_measures("")
RANKING = _choice_measures(*_WINNERS)

# --- explanations: Table 5, and our ExplanationScore ---

SCHEME = Scheme(
    thresholds("explained", (0.0, 0.53, 0.60), "figlang_tasks", "all"),
    headline="",
    asks_label=False,
)
"""Our metrics of explanation scores, with V-FLUTE's thresholds.

No label is asked for: the label of a row counts as right if there is an explanation.
"""


def _corpus_bleu(records: Sequence[ExplanationRecord]) -> Statistic:
    """BLEU-4 of all explanations, taken together as one corpus."""
    sums = [record["bleu_sums"] for record in records]
    return grouped(map(unit_of, records), sums, overlap.corpus_bleu4)


def _rouge_l(record: ExplanationRecord) -> float:
    """ROUGE-L F1 of an explanation, 0 to 1."""
    return float(record["rouge_l"])


def _score_measures() -> list[Measure]:
    """The measures of explanation scores, with descriptions that speak of explanations alone.

    The measures of labels are left out, since no label is asked for.
    """
    # "explained@53": 0.53
    least_score_by_metric = {threshold.name: threshold.at for threshold in SCHEME.thresholds}
    label_metrics = ("acc", PARSE_DISAGREEMENT.name)
    measures: list[Measure] = []
    for measure in explained_measures(SCHEME, FOLDS):
        if measure.name in label_metrics:
            continue
        if measure.name in least_score_by_metric:
            description = _share_description(least_score_by_metric[measure.name])
            measure = replace(measure, description=description, in_table=False)
        elif measure.name == MEAN_SCORE:
            measure = replace(measure, description="Mean score of the explanations.")
        measures.append(measure)  # parse_rate as it is
    return measures


def _share_description(least_score: float) -> str:
    """What a share of explanations that score at least so much says, in a sentence."""
    if least_score == 0:
        return "Share of outputs with an explanation."
    return f"Share of outputs with an explanation that scores at least {least_score:g}."


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
        value_of_record=_rouge_l,
        scopes=FOLDS,
        interval=BOOTSTRAP,
    ),
    *_score_measures(),
)
