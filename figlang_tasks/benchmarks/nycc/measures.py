"""The measures of the New Yorker Caption Contest (arXiv 2209.06293, Tables 2 and 5; released ``eval_crossval.py``).

The value of a task is the unweighted mean of its folds. A record has ``id``, ``data``, ``fold`` (0 to 4) and ``unit``
(the contest). Of matching and ranking ``gold`` and ``predicted`` (letters; None: no answer), ``predicted_strict`` (by
the common reader alone), ``predicted_official`` (by the released rules with their guess) and ``scores`` (None: an
answer in words); of ranking ``winner_source``. Of explanation it is a
:func:`figlang_tasks.scoring.explained.record_of` with ``bleu_sums`` and ``rouge_l``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from figlang_tasks.benchmarks.nycc.configurations import config
from figlang_tasks.core.data_id import DataId
from figlang_tasks.metrics import overlap
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import (
    BOOTSTRAP,
    Measure,
    Measures,
    Record,
    Scopes,
    grouped,
    parse_rate,
    tie_rate,
)
from figlang_tasks.scoring.common_measures import PARSE_DISAGREEMENT
from figlang_tasks.scoring.explained import MEAN_SCORE, SCHEMES, explained_measures
from figlang_tasks.scoring.measure import unit_of


def _fold(record: Record) -> tuple[str]:
    """The fold of a record; of records without one (one fold was a task once) its data tells it."""
    found = record.get("fold")
    return (f"fold_{config(DataId.parse(record['data']).part).fold if found is None else found}",)


FOLDS = Scopes(tuple(f"fold_{number}" for number in range(5)), _fold, averaged=True)

_TABLE_2 = "New Yorker Caption Contest, arXiv 2209.06293, Table 2"
_TABLE_5 = "New Yorker Caption Contest, arXiv 2209.06293, Table 5"


class _Winners(NamedTuple):
    """The rows of ranking whose winning caption was chosen by the same people."""

    rows: str  # in a description
    applies: Callable[[Record], bool]


_WINNERS: Mapping[str, _Winners] = {
    "": _Winners("all rows", lambda record: True),
    "_crowd": _Winners(
        "rows whose winner the crowd chose", lambda record: bool(record["winner_source"] == "crowd_winner")
    ),
    "_ny": _Winners(
        "rows whose winner the editors chose", lambda record: bool(record["winner_source"] != "crowd_winner")
    ),
}
"""By the suffix of the metric."""


def _accuracy(suffix: str) -> Measure:
    """The accuracy of our reading, of all rows or of those with such winners."""
    winners = _WINNERS[suffix]
    return Measure(
        f"acc{suffix}",
        description=f"Share with the right letter, of {winners.rows}.",
        source=_TABLE_2,
        value_of_record=lambda record: float(record["predicted"] == record["gold"]),
        applies=winners.applies,
        scopes=FOLDS,
        answer=lambda record: record["predicted"],
    )


def _official_accuracy(suffix: str) -> Measure:
    """The accuracy of the released rules, of all rows or of those with such winners."""
    winners = _WINNERS[suffix]
    return Measure(
        f"acc{suffix}_official",
        description=f"Share with the right letter by the released rules, which guess one, of {winners.rows}.",
        source="New Yorker Caption Contest, arXiv 2209.06293, released eval_crossval.py",
        value_of_record=lambda record: float(record["predicted_official"] == record["gold"]),
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
        tie_rate("Share of rows by scores in which several captions have the highest score.", scopes=FOLDS),
        parse_rate(scopes=FOLDS),
        replace(PARSE_DISAGREEMENT, scopes=FOLDS),
    )


MATCHING, RANKING = _choice(""), _choice(*_WINNERS)


def _corpus_bleu(records: Sequence[Record]) -> Statistic:
    """BLEU-4 of all explanations together."""
    sums = [record["bleu_sums"] for record in records]
    return grouped(map(unit_of, records), sums, overlap.corpus_bleu4)


def _of_explanations() -> Iterator[Measure]:
    """The measures of explanation scores: no label is asked for, so those of labels say nothing here."""
    thresholds = {threshold.name: threshold for threshold in SCHEMES["alone"].thresholds}
    for measure in explained_measures(SCHEMES["alone"], FOLDS):
        if measure.name in thresholds:
            least_score = thresholds[measure.name].at
            description = "Share of outputs with an explanation."
            if least_score > 0:
                description = f"Share of outputs with an explanation that scores at least {least_score:g}."
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
