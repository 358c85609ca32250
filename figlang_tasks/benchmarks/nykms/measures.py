"""NYK-MS's measures: Tables 8, 9 and 10 of the paper (arXiv 2409.01037).

"We use Macro P, R and F1" for the labels MC and SC, "EM (Exact Match) and BLEU-4" for the words MW
and SW, and for ME, ST and SE, "since the answers are longer, we only use BLEU-4" (section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from figlang_tasks.benchmarks.nykms.parse import FIELDS, LABELS, Referent
from figlang_tasks.benchmarks.nykms.records import CartoonRecord
from figlang_tasks.metrics import classification, overlap
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.metrics.statistic import Floats
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
"""The answers that exact match judges too; the others are longer."""

REFERENTS: Final[tuple[Referent, ...]] = ("word", "object", "image", "free")

_PAPER: Final = "NYK-MS, arXiv 2409.01037"
_TABLE_8: Final = f"{_PAPER}, Table 8"
_TABLE_9: Final = f"{_PAPER}, Table 9"
_TABLES_9_10: Final = f"{_PAPER}, Tables 9 and 10"

_MACRO_SCORES: Final = {
    "macro precision": classification.macro_precision,
    "macro recall": classification.macro_recall,
    "macro F1": classification.macro_f1,
}
"""The scores of Table 8 that are means over both classes, by their usual names."""

# --- labels: Table 8 ---


def _is_right(record: CartoonRecord, field: str) -> bool:
    """Whether the predicted label of a field, MC or SC, is the annotated one."""
    return bool(record["gold"][field] == record["predicted"][field])


def _label_hit(record: CartoonRecord, field: str) -> float:
    """1 if the predicted label of a field is right, else 0."""
    return float(_is_right(record, field))


def _predicted_label(record: CartoonRecord, field: str) -> int:
    """The predicted label of a field, 0 or 1."""
    return int(record["predicted"][field])


def _label_statistic(
    records: Sequence[CartoonRecord], field: str, score: Callable[[Floats], Floats]
) -> Statistic:
    """A score of the labels of a field, computed from the sums of their confusion cells."""
    gold = [record["gold"][field] for record in records]
    right = [_is_right(record, field) for record in records]
    cells = classification.confusion_cells(gold, right)
    return grouped(map(unit_of, records), cells, score)


def _label_measures(field: str) -> list[Measure]:
    """The measures of a label, MC or SC: accuracy, and macro precision, recall and F1."""
    prefix = field.lower()
    accuracy = Measure(
        f"{prefix}_acc",
        description=f"Share of {field} labels that are right.",
        source=_TABLE_8,
        value_of_record=partial(_label_hit, field=field),
    )
    label_measures = [accuracy]
    for score_name, score in _MACRO_SCORES.items():
        is_headline = score is classification.macro_f1
        macro_score = Measure(
            f"{prefix}_{score.__name__}",
            description=f"Unweighted mean over Yes and No of {field}: {score_name}.",
            source=_TABLE_8,
            statistic=partial(_label_statistic, field=field, score=score),
            interval=TWO_CLASSES,
            role="headline" if is_headline else "secondary",
            answer=partial(_predicted_label, field=field),
        )
        label_measures.append(macro_score)
    return label_measures


# --- words: Tables 9 and 10, over all positives, whatever was answered to the first question ---


def _is_positive(record: CartoonRecord, field: str) -> bool:
    """Whether the annotations have an answer in a field: only positives have answers in words."""
    # Scores are there for positives, whatever the model answered.
    return field in record["words"]


def _word_score(
    record: CartoonRecord, field: str, score: Literal["em", "relaxed_em", "bleu4"]
) -> float:
    """A score of the predicted answer of a field, 0 to 1."""
    return float(record["words"][field][score])


def _corpus_bleu4(records: Sequence[CartoonRecord], field: str) -> Statistic:
    """BLEU-4 of the predicted answers of a field, taken together as one corpus."""
    sums = [record["words"][field]["bleu4_sums"] for record in records]
    return grouped(map(unit_of, records), sums, overlap.corpus_bleu4)


def _scopes_by_referent(field: str) -> Scopes:
    """A value for each of `REFERENTS`: over the rows whose annotated answer names such a thing."""

    def scopes_of(record: CartoonRecord) -> tuple[str]:
        """The scope of a record: ``("object",)`` if the answer is annotated as ``[I] horse``."""
        return (record["kinds"][field],)

    return Scopes(REFERENTS, scopes_of)


def _word_measures(field: str) -> list[Measure]:
    """The measures of an answer in words: BLEU-4, and exact match if it is MW or SW."""
    measures = _exact_match_measures(field) if field in WORDS else []
    return measures + _bleu_measures(field)


def _exact_match_measures(field: str) -> list[Measure]:
    """The measures of exact match of a word: as in Table 9, and in our relaxed form."""
    prefix = field.lower()
    is_positive = partial(_is_positive, field=field)
    exact_match = Measure(
        f"{prefix}_em",
        description=f"Share of positives whose {field} equals the annotated one, without its mark.",
        source=_TABLE_9,
        value_of_record=partial(_word_score, field=field, score="em"),
        applies=is_positive,
        scopes=_scopes_by_referent(field),
    )
    relaxed_match = Measure(
        f"{prefix}_relaxed_em",
        description=(
            f"The same as {prefix}_em without case, surrounding punctuation and a leading article."
        ),
        source="figlang_tasks",
        value_of_record=partial(_word_score, field=field, score="relaxed_em"),
        applies=is_positive,
        in_table=False,
    )
    return [exact_match, relaxed_match]


def _bleu_measures(field: str) -> list[Measure]:
    """The measures of BLEU-4 of a field: mean over answers (Tables 9 and 10), and of the corpus."""
    prefix = field.lower()
    is_positive = partial(_is_positive, field=field)
    mean_bleu4 = Measure(
        f"{prefix}_bleu4",
        description=f"Mean BLEU-4 of the {field} of positives, with effective order.",
        source=_TABLES_9_10,
        value_of_record=partial(_word_score, field=field, score="bleu4"),
        interval=BOOTSTRAP,
        applies=is_positive,
    )
    corpus_bleu4 = Measure(
        f"{prefix}_corpus_bleu4",
        description=f"BLEU-4 of the {field} of all positives together.",
        source="figlang_tasks",
        statistic=partial(_corpus_bleu4, field=field),
        interval=BOOTSTRAP,
        applies=is_positive,
        in_table=False,
    )
    return [mean_bleu4, corpus_bleu4]


# --- how outputs were read ---


def _is_refused(record: CartoonRecord) -> float:
    """1 if the output is a refusal, else 0."""
    return float(record["status"] == "refused")


_REFUSAL_RATE = Measure(
    "refusal_rate",
    description="Share of outputs that refuse to answer, which count as No.",
    source="figlang_tasks",
    value_of_record=_is_refused,
    role="diagnostic",
    higher_is_better=False,
)


def _is_read_differently(record: CartoonRecord, field: str) -> float:
    """1 if a careful reader reads another label than the published rules, or none; else 0."""
    return float(record["predicted_strict"] != record["predicted"][field])


def _disagreement(field: str) -> Measure:
    """The measure of how often a careful reader reads another label than the published rules."""
    return replace(
        PARSE_DISAGREEMENT,
        value_of_record=partial(_is_read_differently, field=field),
        in_table=False,
    )


# --- the measures of each question ---


def _measures_of_question(question: str) -> Measures:
    """The measures of all answers that a question asks for, in the order of tables."""
    answer_measures: list[Measure] = []
    disagreements: list[Measure] = []
    for field in FIELDS[question]:
        if field in LABELS:
            answer_measures += _label_measures(field)
            disagreements.append(_disagreement(field))
        else:
            answer_measures += _word_measures(field)
    return Measures.of(*answer_measures, parse_rate(), _REFUSAL_RATE, *disagreements)


BY_QUESTION: Final = {question: _measures_of_question(question) for question in FIELDS}
