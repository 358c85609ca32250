"""The measures of NYK-MS (arXiv 2409.01037, Tables 8, 9 and 10), by question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from figlang_tasks.benchmarks.nykms.parse import FIELDS, LABELS
from figlang_tasks.benchmarks.nykms.records import CartoonRecord
from figlang_tasks.metrics import classification, overlap
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import (
    BOOTSTRAP,
    TWO_CLASSES,
    Measure,
    Measures,
    Scopes,
    grouped,
    parse_rate,
)
from figlang_tasks.scoring.common_measures import PARSE_DISAGREEMENT
from figlang_tasks.scoring.records import unit_of

WORDS: Final = ("MW", "SW")
"""Judged by exact match as well; the other answers are longer."""

KINDS: Final = ("word", "object", "image", "free")

_PAPER: Final = "NYK-MS, arXiv 2409.01037"
_TABLE_8: Final = f"{_PAPER}, Table 8"
_TABLE_9: Final = f"{_PAPER}, Table 9"
_TABLES_9_10: Final = f"{_PAPER}, Tables 9 and 10"

_SCORES: Final = {
    "macro precision": classification.macro_precision,
    "macro recall": classification.macro_recall,
    "macro F1": classification.macro_f1,
}
"""The scores of Table 8 by what people call them."""


def _is_refused(record: CartoonRecord) -> float:
    """Whether the output is a refusal."""
    return float(record["status"] == "refused")


_REFUSAL_RATE = Measure(
    "refusal_rate",
    description="Share of outputs that refuse to answer, which count as No.",
    source="figlang_tasks",
    value_of_record=_is_refused,
    role="diagnostic",
    higher_is_better=False,
)


def _of_labels(
    score: Callable[..., Any], field: str
) -> Callable[[Sequence[CartoonRecord]], Statistic]:
    """The statistic of a score of the labels of a field."""

    def statistic(records: Sequence[CartoonRecord]) -> Statistic:
        gold = [record["gold"][field] for record in records]
        right = [record["gold"][field] == record["predicted"][field] for record in records]
        cells = classification.confusion_cells(gold, right)
        return grouped(map(unit_of, records), cells, score)

    return statistic


def _labels(field: str) -> Iterator[Measure]:
    """The measures of Table 8."""
    name = field.lower()
    yield Measure(
        f"{name}_acc",
        description=f"Share of {field} labels that are right.",
        source=_TABLE_8,
        value_of_record=lambda record: float(record["gold"][field] == record["predicted"][field]),
    )
    for words, score in _SCORES.items():
        yield Measure(
            f"{name}_{score.__name__}",
            description=f"Unweighted mean over Yes and No of {field}: {words}.",
            source=_TABLE_8,
            statistic=_of_labels(score, field),
            interval=TWO_CLASSES,
            role="headline" if score is classification.macro_f1 else "secondary",
            answer=lambda record: record["predicted"][field],
        )


def _words(field: str) -> Iterator[Measure]:
    """The measures of Tables 9 and 10, over all positives, whatever was answered to the first
    question.
    """
    name = field.lower()

    def is_positive(record: CartoonRecord) -> bool:
        return field in record["words"]

    def score(key: Literal["em", "relaxed_em", "bleu4"]) -> Callable[[CartoonRecord], float]:
        return lambda record: float(record["words"][field][key])

    def corpus(records: Sequence[CartoonRecord]) -> Statistic:
        sums = [record["words"][field]["bleu4_sums"] for record in records]
        return grouped(map(unit_of, records), sums, overlap.corpus_bleu4)

    def of_kinds(record: CartoonRecord) -> tuple[str]:
        return (record["kinds"][field],)

    if field in WORDS:
        yield Measure(
            f"{name}_em",
            description=(
                f"Share of positives whose {field} equals the annotated one, without its mark."
            ),
            source=_TABLE_9,
            value_of_record=score("em"),
            applies=is_positive,
            scopes=Scopes(KINDS, of_kinds),
        )
        yield Measure(
            f"{name}_relaxed_em",
            description=(
                f"The same as {name}_em without case, surrounding punctuation and a leading"
                " article."
            ),
            source="figlang_tasks",
            value_of_record=score("relaxed_em"),
            applies=is_positive,
            in_table=False,
        )
    yield Measure(
        f"{name}_bleu4",
        description=f"Mean BLEU-4 of the {field} of positives, with effective order.",
        source=_TABLES_9_10,
        value_of_record=score("bleu4"),
        interval=BOOTSTRAP,
        applies=is_positive,
    )
    yield Measure(
        f"{name}_corpus_bleu4",
        description=f"BLEU-4 of the {field} of all positives together.",
        source="figlang_tasks",
        statistic=corpus,
        interval=BOOTSTRAP,
        applies=is_positive,
        in_table=False,
    )


def _disagreement(field: str) -> Measure:
    """How often a careful reader finds another label of a field than the published rules."""
    return replace(
        PARSE_DISAGREEMENT,
        value_of_record=lambda record: float(
            record["predicted_strict"] != record["predicted"][field]
        ),
        in_table=False,
    )


def _of(question: str) -> Measures:
    """The measures of a question."""
    declared: list[Measure] = []
    disagreements: list[Measure] = []
    for field in FIELDS[question]:
        if field in LABELS:
            declared += _labels(field)
            disagreements.append(_disagreement(field))
        else:
            declared += _words(field)
    return Measures.of(*declared, parse_rate(), _REFUSAL_RATE, *disagreements)


BY_QUESTION: Final = {question: _of(question) for question in FIELDS}
