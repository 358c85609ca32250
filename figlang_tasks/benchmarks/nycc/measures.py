"""The measures of the New Yorker Caption Contest (arXiv 2209.06293, Tables 2 and 5; released ``eval_crossval.py``).

The value of a task is the unweighted mean of its folds. A record has ``id``, ``data``, ``fold`` (0 to 4) and ``unit``
(the contest). Of matching and ranking ``gold`` and ``predicted`` (letters; None: no answer), ``predicted_strict`` (by
the common reader alone), ``predicted_official`` (by the released rules with their guess) and ``scores`` (None: an
answer in words); of ranking ``winner_source``. Of explanation it is a
:func:`figlang_tasks.scoring.explained.record_of` with ``bleu_sums`` and ``rouge_l``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from figlang_tasks.benchmarks.nycc.rows import config
from figlang_tasks.core.data_id import DataId
from figlang_tasks.metrics import overlap, ranking
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import BOOTSTRAP, Measure, Measures, Record, Scopes, grouped
from figlang_tasks.scoring.explained import PARSE_DISAGREEMENT, SCHEMES, explained_measures
from figlang_tasks.scoring.measure import unit_of


def _fold(record: Record) -> tuple[str]:
    """The fold of a record; of records without one (one fold was a task once) its data tells it."""
    found = record.get("fold")
    return (f"fold_{config(DataId.parse(record['data']).part).fold if found is None else found}",)


FOLDS = Scopes(tuple(f"fold_{number}" for number in range(5)), _fold, averaged=True)

_WINNERS: Mapping[str, Callable[[Record], bool]] = {
    "": lambda record: True,
    "_crowd": lambda record: bool(record["winner_source"] == "crowd_winner"),
    "_ny": lambda record: bool(record["winner_source"] != "crowd_winner"),
}


def _accuracy(of: str, field: str, suffix: str = "") -> Measure:
    return Measure(
        f"acc{of}{suffix}",
        each=lambda record: float(record[field] == record["gold"]),
        applies=_WINNERS[of],
        scopes=FOLDS,
        headline=not suffix,
        answer=lambda record: record[field],
    )


def _choice(*winners: str) -> Measures:
    """The measures of a choice: by our reading, and by the released rules with their guess."""
    official = (_accuracy(of, "predicted_official", "_official") for of in winners)
    return Measures.of(*(_accuracy(of, "predicted") for of in winners), *official, *_DIAGNOSTIC)


_DIAGNOSTIC = (
    Measure(
        "tie_rate",
        each=lambda record: None if record["scores"] is None else float(ranking.tied_at_top(record["scores"])),
        scopes=FOLDS,
        higher_is_better=False,
        diagnostic=True,
    ),
    Measure(
        "parse_rate",
        each=lambda record: float(record["status"] in ("scores", "read")),
        scopes=FOLDS,
        diagnostic=True,
    ),
    replace(PARSE_DISAGREEMENT, scopes=FOLDS),
)

MATCHING, RANKING = _choice(""), _choice(*_WINNERS)


def _corpus_bleu(records: Sequence[Record]) -> Statistic:
    sums = [record["bleu_sums"] for record in records]
    return grouped(map(unit_of, records), sums, overlap.corpus_bleu4)


EXPLANATION = Measures.of(
    Measure("bleu4", statistic=_corpus_bleu, scopes=FOLDS, interval=BOOTSTRAP),
    Measure("rouge_l", each=lambda record: float(record["rouge_l"]), scopes=FOLDS, interval=BOOTSTRAP),
    # Measures of labels say nothing here, since none is asked for; those of thresholds are no paper's.
    *(
        replace(measure, headline="@" not in measure.name)
        for measure in explained_measures(SCHEMES["alone"], FOLDS)
        if measure.name not in ("acc", "parse_disagreement")
    ),
)
