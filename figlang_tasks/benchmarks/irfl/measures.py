"""The measures of IRFL (arXiv 2303.15445, section 4, Tables 3 to 5 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from loguru import logger

from figlang_tasks.benchmarks.irfl.records import DetectionRecord, RetrievalRecord
from figlang_tasks.benchmarks.irfl.rows import CLASSES, LETTERS, figurative_type
from figlang_tasks.core import notes
from figlang_tasks.core.data_id import DataId
from figlang_tasks.metrics import ranking
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import (
    BOOTSTRAP,
    Measure,
    Measures,
    Record,
    Scopes,
    parse_rate,
    ratio,
    tie_rate,
)
from figlang_tasks.scoring.readings import has_answer

_TABLE_3 = "IRFL, arXiv 2303.15445, Table 3"
_TABLE_7 = "IRFL, arXiv 2303.15445, Table 7"
_SECTION_4 = "IRFL, arXiv 2303.15445, section 4.1.2"

LITERAL_ROLES = ("literal", "source", "target")


def _types(record: DetectionRecord | RetrievalRecord) -> tuple[str, ...]:
    """The type of an idiom: rows of metaphors and similes have one type each."""
    return (
        (record["type"],) if figurative_type(DataId.parse(record["data"]).part) == "idiom" else ()
    )


_TYPES = Scopes(CLASSES, _types)


# --- detection ---


def _is_right(record: DetectionRecord) -> float | None:
    """Whether the answer was chosen; words where scores were needed are no failure of the model."""
    return None if record["status"] == "no_scores" else float(record["chosen"] == record["answer"])


def _is_literal(record: DetectionRecord) -> float | None:
    """Whether a failure chose a partial-literal image; None if it chose none."""
    chosen = record["chosen"]
    return (
        None
        if chosen in (None, record["answer"])
        else float(record["roles"][chosen] in LITERAL_ROLES)
    )


def _scores_higher(first: str, second: str) -> Callable[[DetectionRecord], float | None]:
    """The function of a record that tells whether one role scores higher; None unless a simile has
    all three.
    """

    def compare(record: DetectionRecord) -> float | None:
        if record["scores"] is None or not {"answer", "source", "target"} <= set(record["roles"]):
            return None
        by_role = dict(zip(record["roles"], record["scores"], strict=True))
        return float(by_role[first] > by_role[second])

    return compare


def _is_letter(place: int) -> Callable[[DetectionRecord], float | None]:
    """The function of a record that tells whether its answer names the image at a place."""

    def value_of_record(record: DetectionRecord) -> float | None:
        chosen = record["chosen"]
        return None if chosen is None else float(chosen == place)

    return value_of_record


_AnyRecord = TypeVar("_AnyRecord", bound=Mapping[str, Any])


def by_row(
    records: Sequence[_AnyRecord], size: Callable[[Any], int]
) -> tuple[list[list[_AnyRecord]], int]:
    """The records of each row that is complete, and how many are not: a limit may have cut them."""
    records_by_row: dict[str, list[_AnyRecord]] = {}
    for record in records:
        records_by_row.setdefault(record["row"], []).append(record)
    complete = [members for members in records_by_row.values() if len(members) == size(members[0])]
    return complete, len(records_by_row) - len(complete)


def _units(rows: Sequence[Sequence[Record]]) -> list[str]:
    """The phrase of each row."""
    return [own[0]["unit"] for own in rows]


def _report_cut(metric: str, size: Callable[[Any], int]) -> Callable[[Sequence[Record]], None]:
    def report(records: Sequence[Record]) -> None:
        whole, cut = by_row(records, size)
        if cut:
            total = len(whole) + cut
            logger.warning(
                f"figlang_tasks: {cut} of {total} rows are not complete (--limit?) and left out of"
                f" {metric}"
            )
        if not whole:
            notes.note_failure(f"{metric} could not be computed: no row is complete (--limit?)")

    return report


def _share_of_letter(place: int) -> Measure:
    """The measure of how often the image at a place is chosen."""
    return Measure(
        f"share_{LETTERS[place]}",
        description=f"Share of choices that are image {LETTERS[place]}.",
        source="figlang_tasks",
        value_of_record=_is_letter(place),
        role="diagnostic",
        in_table=False,
    )


def _rotations(record: DetectionRecord) -> int:
    return len(record["candidates"])


def _all_rotations(records: Sequence[DetectionRecord]) -> Statistic | None:
    """The share of complete rows whose answer was chosen in every rotation."""
    whole, _ = by_row(records, _rotations)
    hits = [float(all(_is_right(record) for record in own)) for own in whole]
    return ratio(_units(whole), hits) if whole else None


_ACC = Measure(
    "acc",
    description="Share of rows with the right choice.",
    source=_TABLE_3,
    value_of_record=_is_right,
    scopes=_TYPES,
    answer=lambda record: record["chosen"],
)
_TIE_RATE = tie_rate("Share of rows by scores in which several images have the highest score.")

DETECT = Measures.of(
    _ACC,
    Measure(
        "literal_preference",
        description="Share of wrong choices that are a partial-literal image.",
        source=_SECTION_4,
        value_of_record=_is_literal,
        higher_is_better=False,
    ),
    Measure(
        "figurative_over_source",
        description=(
            "Share of similes by scores whose figurative image scores above that of the source."
        ),
        source=_SECTION_4,
        value_of_record=_scores_higher("answer", "source"),
        in_table=False,
    ),
    Measure(
        "source_over_target",
        description=(
            "Share of similes by scores whose image of the source scores above that of the target."
        ),
        source=_SECTION_4,
        value_of_record=_scores_higher("source", "target"),
        in_table=False,
    ),
    _TIE_RATE,
    parse_rate(),
)
"""Of a choice by words or by scores: Table 3, and section 4.1.2."""

RANDOM = Measures.of(
    replace(_ACC, source="IRFL, arXiv 2303.15445, Tables 4 and 5"), _TIE_RATE, parse_rate()
)
"""Of a choice among random candidates, of which none is partial-literal: Tables 4 and 5."""

CIRCULAR = Measures.of(
    replace(
        _ACC,
        description="Share of right choices, with each row in all rotations of its images.",
        source="figlang_tasks",
        scopes=None,
    ),
    Measure(
        "all_rotations_acc",
        description="Share of rows with the right choice in every rotation of their images.",
        source="figlang_tasks",
        statistic=_all_rotations,
        warn=_report_cut("all_rotations_acc", _rotations),
    ),
    *map(_share_of_letter, range(len(LETTERS))),
    parse_rate(),
)
"""Of every row in all rotations."""


# --- retrieval ---


def images_of(record: RetrievalRecord) -> int:
    """The number of images in the row of a record of retrieval."""
    return int(record["images"])


def _mean_of_rows(
    of_row: Callable[[list[float], list[bool]], float],
) -> Callable[[Sequence[RetrievalRecord]], Statistic | None]:
    """The mean over rankings of a function of their values and positives."""

    def statistic(records: Sequence[RetrievalRecord]) -> Statistic | None:
        whole, _ = by_row(records, images_of)
        return ratio(_units(whole), [of_row(*_ranking(own)) for own in whole]) if whole else None

    return statistic


def _ranking(images: Sequence[RetrievalRecord]) -> tuple[list[float], list[bool]]:
    return [image["value"] for image in images], [image["positive"] for image in images]


def _pooled(records: Sequence[RetrievalRecord]) -> Statistic | None:
    """Precision@k with the positives of all complete rows counted together."""
    whole, _ = by_row(records, images_of)
    if not whole:
        return None
    counts = [sum(image["positive"] for image in own) for own in whole]
    # precision is hits / count: the product is a whole number but for rounding, and Wilson's
    # interval counts hits
    hits = [
        round(ranking.precision_at_k(*_ranking(own)) * count)
        for own, count in zip(whole, counts, strict=True)
    ]
    return ratio(_units(whole), hits, counts)


def _value_of_answer(record: RetrievalRecord) -> float | None:
    """The value of an image by an answer to it, 1 for Yes and 0 for No; None where nothing was
    read.
    """
    return float(record["value"]) if has_answer(record) else None


def _depends_on_ties(values: list[float], positives: list[bool]) -> float:
    """Whether ties decide precision@k of a ranking."""
    return float(ranking.depends_on_ties(values, positives))


RETRIEVE = Measures.of(
    Measure(
        "p@k",
        description=(
            "Mean over rows of precision@k, with k the number of positives; ties go against the"
            " model."
        ),
        source=_TABLE_7,
        statistic=_mean_of_rows(ranking.precision_at_k),
        interval=BOOTSTRAP,
        scopes=_TYPES,
        warn=_report_cut("p@k", images_of),
        answer=_value_of_answer,
    ),
    Measure(
        "expected_p@k",
        description="Mean over rows of precision@k that is expected if ties are broken at random.",
        source="figlang_tasks",
        statistic=_mean_of_rows(ranking.random_tie_precision_at_k),
        interval=BOOTSTRAP,
    ),
    Measure(
        "pooled_p@k",
        description="Precision@k with the positives of all rows counted together.",
        source="figlang_tasks",
        statistic=_pooled,
        in_table=False,
    ),
    tie_rate(
        "Share of rows whose precision@k is decided by ties.",
        statistic=_mean_of_rows(_depends_on_ties),
    ),
    parse_rate(),
)
"""Of rankings; rows of which images are missing are left out: Table 7."""
