"""The metrics of IRFL (arXiv 2303.15445): of detection (section 4.1) and retrieval (section 4.2).

- Table 3, accuracy on the "mixed" task, and section 4.1.2, literal preference and the order of a
  simile's images: `DETECT`.
- Tables 4 and 5, accuracy with random candidates: `RANDOM`.
- Table 7, precision at k: `RETRIEVE`.

`CIRCULAR` is ours: every row in all rotations of its images.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from figlang_tasks.benchmarks.irfl.complete_rows import (
    complete_rows,
    phrases_of,
    warn_of_incomplete_rows,
)
from figlang_tasks.benchmarks.irfl.records import DetectionRecord, RetrievalRecord
from figlang_tasks.benchmarks.irfl.rows import IDIOM_TYPES, LETTERS, figurative_type
from figlang_tasks.core.data_id import DataId
from figlang_tasks.metrics import ranking
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import (
    BOOTSTRAP,
    Measure,
    Measures,
    Scopes,
    parse_rate,
    ratio,
    tie_rate,
)
from figlang_tasks.scoring.readings import has_answer

_TABLE_3 = "IRFL, arXiv 2303.15445, Table 3"
_TABLES_4_AND_5 = "IRFL, arXiv 2303.15445, Tables 4 and 5"
_TABLE_7 = "IRFL, arXiv 2303.15445, Table 7"
_SECTION_4 = "IRFL, arXiv 2303.15445, section 4.1.2"

LITERAL_ROLES = ("literal", "source", "target")
"""The roles of partially literal images: they show words of the phrase, or a simile's concepts."""


def _idiom_types(record: DetectionRecord | RetrievalRecord) -> tuple[str, ...]:
    """The scope of an idiom's record: its type. Metaphors and similes have no scope, but one type.

    Tables 3 and 7 report idioms by the category of the right image.
    """
    if figurative_type(DataId.parse(record["data"]).part) != "idiom":
        return ()
    return (record["type"],)


_BY_IDIOM_TYPE = Scopes(IDIOM_TYPES, _idiom_types)

# --- detection: the value of a record ---


def _is_right(record: DetectionRecord) -> float | None:
    """1 if the right image was chosen, else 0.

    None for words in place of matching scores: the run has failed there, not the model.
    """
    if record["status"] == "no_scores":
        return None
    return float(record["chosen"] == record["answer"])


def _chosen_image(record: DetectionRecord) -> int | None:
    """The index of the chosen image; None if none was chosen."""
    return record["chosen"]


def _is_literal_failure(record: DetectionRecord) -> float | None:
    """1 if a wrong choice is a partially literal image, else 0; None unless an image is wrong."""
    chosen = record["chosen"]
    if chosen is None or chosen == record["answer"]:
        return None
    return float(record["roles"][chosen] in LITERAL_ROLES)


def _scores_higher(higher_role: str, lower_role: str) -> Callable[[DetectionRecord], float | None]:
    """Make the function of a record that is 1 if one role of a simile scores above another, else 0.

    The roles of a simile's images are ``answer``, ``source`` and ``target``.
    """

    def value_of_record(record: DetectionRecord) -> float | None:
        """1, or 0 (also for equal scores); None without scores, or if a role is missing."""
        scores = record["scores"]
        if scores is None or not {"answer", "source", "target"} <= set(record["roles"]):
            return None
        # Only "random" may stand for several images; it is not compared.
        score_by_role = dict(zip(record["roles"], scores, strict=True))
        return float(score_by_role[higher_role] > score_by_role[lower_role])

    return value_of_record


def _is_choice_at(index: int) -> Callable[[DetectionRecord], float | None]:
    """Make the function of a record that is 1 if the image at this index was chosen, else 0."""

    def value_of_record(record: DetectionRecord) -> float | None:
        """1 or 0; None if no image was chosen."""
        chosen = record["chosen"]
        return None if chosen is None else float(chosen == index)

    return value_of_record


def _share_of_letter(index: int) -> Measure:
    """The measure ``share_A`` for index 0: how often the image with this letter is chosen."""
    letter = LETTERS[index]
    return Measure(
        f"share_{letter}",
        description=f"Share of choices that are image {letter}.",
        source="figlang_tasks",
        value_of_record=_is_choice_at(index),
        role="diagnostic",
        in_table=False,
    )


def _rotation_count(record: DetectionRecord) -> int:
    """How many rotations the row of a record has: one for each candidate."""
    return len(record["candidates"])


def _all_rotations_right(records: Sequence[DetectionRecord]) -> Statistic | None:
    """The share of complete rows that are right in every rotation; None if no row is complete.

    A row is complete if there is a record of each rotation of its candidates.
    """
    rows = complete_rows(records, _rotation_count)
    if not rows:
        return None
    hits: list[float] = []
    for row_records in rows:
        hits.append(float(all(_is_right(record) for record in row_records)))
    return ratio(phrases_of(rows), hits)


# --- detection: the measures ---

_ACC = Measure(
    "acc",
    description="Share of rows with the right choice.",
    source=_TABLE_3,
    value_of_record=_is_right,
    scopes=_BY_IDIOM_TYPE,
    answer=_chosen_image,
)
_RANDOM_ACC = replace(_ACC, source=_TABLES_4_AND_5)
_CIRCULAR_ACC = replace(
    _ACC,
    description="Share of right choices, with each row in all rotations of its images.",
    source="figlang_tasks",
    scopes=None,
)
_TIE_RATE = tie_rate("Share of rows by scores in which several images have the highest score.")

DETECT = Measures.of(
    _ACC,
    Measure(
        "literal_preference",
        description="Share of wrong choices that are a partial-literal image.",
        source=_SECTION_4,
        value_of_record=_is_literal_failure,
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
"""The "mixed" task, by words or by matching scores: Table 3 and section 4.1.2."""

RANDOM = Measures.of(_RANDOM_ACC, _TIE_RATE, parse_rate())
"""Random candidates, none of them partially literal: Tables 4 and 5."""

CIRCULAR = Measures.of(
    _CIRCULAR_ACC,
    Measure(
        "all_rotations_acc",
        description="Share of rows with the right choice in every rotation of their images.",
        source="figlang_tasks",
        statistic=_all_rotations_right,
        warn=warn_of_incomplete_rows("all_rotations_acc", _rotation_count),
    ),
    *(_share_of_letter(index) for index in range(len(LETTERS))),
    parse_rate(),
)
"""Every row in all rotations of its images."""

# --- retrieval: the value of a ranking ---


def images_of(record: RetrievalRecord) -> int:
    """How many images the row of a record has, each with a record of its own."""
    return int(record["images"])


def _values_and_positives(images: Sequence[RetrievalRecord]) -> tuple[list[float], list[bool]]:
    """What the images of a row are ranked by, and which of them are positive."""
    values = [image["value"] for image in images]
    positives = [image["positive"] for image in images]
    return values, positives


def _mean_over_rows(
    value_of_ranking: Callable[[list[float], list[bool]], float],
) -> Callable[[Sequence[RetrievalRecord]], Statistic | None]:
    """Make the statistic that is the mean, over complete rows, of a number of their ranking.

    Args:
        value_of_ranking: ``(values, positives) -> number``, such as the precision at k: what the
            images of a row are ranked by, and which of them are positive.
    """

    def statistic(records: Sequence[RetrievalRecord]) -> Statistic | None:
        """The mean over complete rows; None if no row is complete."""
        rows = complete_rows(records, images_of)
        if not rows:
            return None
        numbers = [value_of_ranking(*_values_and_positives(row_images)) for row_images in rows]
        return ratio(phrases_of(rows), numbers)

    return statistic


def _pooled_precision(records: Sequence[RetrievalRecord]) -> Statistic | None:
    """Hits of all complete rows divided by all their positives; None if no row is complete.

    The hits of a row are the positives among its k best images, k being the number of positives.
    Ties go against the model.
    """
    rows = complete_rows(records, images_of)
    if not rows:
        return None
    positive_counts: list[int] = []
    hits: list[int] = []
    for row_images in rows:
        values, positives = _values_and_positives(row_images)
        positive_count = sum(positives)
        positive_counts.append(positive_count)
        # Precision at k is hits / k, and k is the number of positives. The product is rounded
        # because it may be 1.9999 for 2 hits, and Wilson's interval counts whole hits.
        hits.append(round(ranking.precision_at_k(values, positives) * positive_count))
    return ratio(phrases_of(rows), hits, positive_counts)


def _is_decided_by_ties(values: list[float], positives: list[bool]) -> float:
    """1 if ties decide the precision at k of a ranking, else 0."""
    return float(ranking.depends_on_ties(values, positives))


def _value_of_answer(record: RetrievalRecord) -> float | None:
    """The value of an image by its answer, 1 for Yes and 0 for No; None if nothing was read."""
    return float(record["value"]) if has_answer(record) else None


# --- retrieval: the measures ---

RETRIEVE = Measures.of(
    Measure(
        "p@k",
        description=(
            "Mean over rows of precision@k, with k the number of positives; ties go against the"
            " model."
        ),
        source=_TABLE_7,
        statistic=_mean_over_rows(ranking.precision_at_k),
        interval=BOOTSTRAP,
        scopes=_BY_IDIOM_TYPE,
        warn=warn_of_incomplete_rows("p@k", images_of),
        answer=_value_of_answer,
    ),
    Measure(
        "expected_p@k",
        description="Mean over rows of precision@k that is expected if ties are broken at random.",
        source="figlang_tasks",
        statistic=_mean_over_rows(ranking.random_tie_precision_at_k),
        interval=BOOTSTRAP,
    ),
    Measure(
        "pooled_p@k",
        description="Precision@k with the positives of all rows counted together.",
        source="figlang_tasks",
        statistic=_pooled_precision,
        in_table=False,
    ),
    tie_rate(
        "Share of rows whose precision@k is decided by ties.",
        statistic=_mean_over_rows(_is_decided_by_ties),
    ),
    parse_rate(),
)
"""Rankings of figurative and partially literal images: Table 7. Rows that lack images are left out.

The paper does not say whether it averages over rows or over all positives; we average over rows.
"""
