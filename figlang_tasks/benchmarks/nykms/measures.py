"""The measures of NYK-MS (arXiv 2409.01037, Tables 8, 9 and 10), by question.

A record has ``id``, ``data``, ``unit`` (the cartoon: up to three captions of one are not independent), ``question``,
``modality``, ``status`` and ``rule`` of the published post-processing, and by field (`parse.FIELDS`)

- ``gold``, the annotated answers with their marks, and ``predicted``; labels as 0 or 1. ``predicted_strict`` is the
  label as a careful reader takes it (None: there is none, or none was asked for);
- ``kinds``: of a positive, what the annotated MW, SW and ST name, by their marks;
- ``words``: of a positive, the scores of the answers in words, whatever was answered to the first question: ``em`` and
  ``relaxed_em`` (MW and SW), ``bleu4`` and ``bleu4_sums``, the ten numbers that corpus BLEU-4 sums.

``predicted_marks`` are the fields whose predicted answer has a mark; ``bleu`` is what BLEU-4 was computed with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from figlang_tasks.benchmarks.nykms.parse import FIELDS, LABELS
from figlang_tasks.metrics import classification, overlap
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import BOOTSTRAP, TWO_CLASSES, Measure, Measures, Record, Scopes, grouped
from figlang_tasks.scoring.measure import unit_of

WORDS: Final = ("MW", "SW")
"""Judged by exact match as well; the other answers are longer."""

KINDS: Final = ("word", "object", "image", "free")

_STATUS = (
    Measure("parse_rate", each=lambda record: float(record["status"] == "read"), diagnostic=True),
    Measure(
        "refusal_rate",
        each=lambda record: float(record["status"] == "refused"),
        higher_is_better=False,
        diagnostic=True,
    ),
)


def _of_labels(score: Callable[..., Any], field: str) -> Callable[[Sequence[Record]], Statistic]:
    def of(records: Sequence[Record]) -> Statistic:
        gold = [record["gold"][field] for record in records]
        right = [record["gold"][field] == record["predicted"][field] for record in records]
        cells = classification.confusion_cells(gold, right)
        return grouped(map(unit_of, records), cells, score)

    return of


def _labels(field: str) -> tuple[Measure, ...]:
    """The measures of Table 8."""
    name = field.lower()
    return (
        Measure(f"{name}_acc", each=lambda record: float(record["gold"][field] == record["predicted"][field])),
        *(
            Measure(
                f"{name}_{score.__name__}",
                statistic=_of_labels(score, field),
                interval=TWO_CLASSES,
                main=score is classification.macro_f1,
                answer=lambda record: record["predicted"][field],
            )
            for score in (classification.macro_precision, classification.macro_recall, classification.macro_f1)
        ),
    )


def _words(field: str) -> tuple[Measure, ...]:
    """The measures of Tables 9 and 10, over all positives, whatever was answered to the first question."""
    name = field.lower()

    def is_positive(record: Record) -> bool:
        return field in record["words"]

    def score(key: str) -> Callable[[Record], float]:
        return lambda record: float(record["words"][field][key])

    def corpus(records: Sequence[Record]) -> Statistic:
        sums = [record["words"][field]["bleu4_sums"] for record in records]
        return grouped(map(unit_of, records), sums, overlap.corpus_bleu4)

    def of_kinds(record: Record) -> tuple[str]:
        return (record["kinds"][field],)

    matches = (
        Measure(f"{name}_em", each=score("em"), applies=is_positive, scopes=Scopes(KINDS, of_kinds)),
        Measure(f"{name}_relaxed_em", each=score("relaxed_em"), applies=is_positive, headline=False),
    )
    return (
        *(matches if field in WORDS else ()),
        Measure(f"{name}_bleu4", each=score("bleu4"), interval=BOOTSTRAP, applies=is_positive),
        Measure(f"{name}_corpus_bleu4", statistic=corpus, interval=BOOTSTRAP, applies=is_positive, headline=False),
    )


def _disagreement(field: str) -> Measure:
    """The share of outputs that a careful reader takes for another label than the published rules."""
    return Measure(
        "parse_disagreement",
        each=lambda record: float(record["predicted_strict"] != record["predicted"][field]),
        higher_is_better=False,
        diagnostic=True,
        headline=False,
    )


def _of(question: str) -> Measures:
    labels = [field for field in FIELDS[question] if field in LABELS]
    return Measures.of(
        *(measure for field in FIELDS[question] for measure in (_labels if field in LABELS else _words)(field)),
        *_STATUS,
        *map(_disagreement, labels),
    )


BY_QUESTION: Final = {question: _of(question) for question in FIELDS}
