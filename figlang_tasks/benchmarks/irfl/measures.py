"""The measures of IRFL (arXiv 2303.15445, section 4, Tables 3 to 5 and 7).

A record of detection has ``candidates`` in the order shown, the ``roles`` of each, the place of the ``answer``, that of
the ``chosen`` one (None: no choice, as where several have the highest score) and ``scores`` (None: an answer in words).
A record of retrieval is of one image of a row: ``positive``, ``images`` of the row, and the ``value`` that the ranking
goes by. Both have ``row``, ``unit`` (the phrase), ``type``, ``data`` and ``status``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loguru import logger

from figlang_tasks.benchmarks.irfl.rows import CLASSES, LETTERS, figurative_type
from figlang_tasks.core import notes
from figlang_tasks.core.data_id import DataId
from figlang_tasks.metrics import ranking
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import BOOTSTRAP, Measure, Measures, Record, Scopes, ratio

SCORES, NO_SCORES = "scores", "no_scores"
"""Statuses beside those of ``figlang_tasks.answers``: matching scores; words where scores were needed."""

LITERAL_ROLES = ("literal", "source", "target")


def _types(record: Record) -> tuple[str, ...]:
    """The type of an idiom: rows of metaphors and similes have one type each."""
    return (record["type"],) if figurative_type(DataId.parse(record["data"]).part) == "idiom" else ()


_TYPES = Scopes(CLASSES, _types)


# --- detection ---


def _is_right(record: Record) -> float | None:
    """Whether the answer was chosen; words where scores were needed are no failure of the model."""
    return None if record["status"] == NO_SCORES else float(record["chosen"] == record["answer"])


def _is_literal(record: Record) -> float | None:
    """Whether a failure chose a partial-literal image; None if it chose none."""
    chosen = record["chosen"]
    return None if chosen in (None, record["answer"]) else float(record["roles"][chosen] in LITERAL_ROLES)


def _is_tied(record: Record) -> float | None:
    return None if record["scores"] is None else float(ranking.tied_at_top(record["scores"]))


def _scores_higher(first: str, second: str) -> Callable[[Record], float | None]:
    """The function of a record that tells whether one role scores higher; None unless a simile has all three."""

    def compare(record: Record) -> float | None:
        if record["scores"] is None or not {"answer", "source", "target"} <= set(record["roles"]):
            return None
        by_role = dict(zip(record["roles"], record["scores"], strict=True))
        return float(by_role[first] > by_role[second])

    return compare


def _is_letter(place: int) -> Callable[[Record], float | None]:
    """The function of a record that tells whether its answer names the image at a place."""
    return lambda record: None if record["chosen"] is None else float(record["chosen"] == place)


def by_row(records: Sequence[Record], size: Callable[[Record], int]) -> tuple[list[list[Record]], int]:
    """The records of each row that is complete, and how many are not: a limit may have cut them."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record["row"], []).append(record)
    whole = [own for own in found.values() if len(own) == size(own[0])]
    return whole, len(found) - len(whole)


def _units(rows: Sequence[Sequence[Record]]) -> list[str]:
    """The phrase of each row."""
    return [own[0]["unit"] for own in rows]


def _report_cut(metric: str, size: Callable[[Record], int]) -> Callable[[Sequence[Record]], None]:
    def report(records: Sequence[Record]) -> None:
        whole, cut = by_row(records, size)
        if cut:
            total = len(whole) + cut
            logger.warning(f"figlang_tasks: {cut} of {total} rows are not complete (--limit?) and left out of {metric}")
        if not whole:
            notes.note(f"{metric} could not be computed: no row is complete (--limit?)")

    return report


def _rotations(record: Record) -> int:
    return len(record["candidates"])


def _all_rotations(records: Sequence[Record]) -> Statistic | None:
    """The share of complete rows whose answer was chosen in every rotation."""
    whole, _ = by_row(records, _rotations)
    hits = [float(all(_is_right(record) for record in own)) for own in whole]
    return ratio(_units(whole), hits) if whole else None


_ACC = Measure("acc", each=_is_right, scopes=_TYPES, answer=lambda record: record["chosen"])
_TIE_RATE = Measure("tie_rate", each=_is_tied, higher_is_better=False, diagnostic=True)
_PARSE_RATE = Measure("parse_rate", each=lambda record: float(record["status"] in (SCORES, "read")), diagnostic=True)

DETECT = Measures.of(
    _ACC,
    Measure("literal_preference", each=_is_literal, higher_is_better=False),
    Measure("figurative_over_source", each=_scores_higher("answer", "source"), headline=False),
    Measure("source_over_target", each=_scores_higher("source", "target"), headline=False),
    _TIE_RATE,
    _PARSE_RATE,
)
"""Of a choice by words or by scores: Table 3, and section 4.1.2."""

RANDOM = Measures.of(_ACC, _TIE_RATE, _PARSE_RATE)
"""Of a choice among random candidates, of which none is partial-literal: Tables 4 and 5."""

CIRCULAR = Measures.of(
    Measure("acc", each=_is_right, answer=lambda record: record["chosen"]),
    Measure("all_rotations_acc", statistic=_all_rotations, remark=_report_cut("all_rotations_acc", _rotations)),
    *(
        Measure(f"share_{letter}", each=_is_letter(place), diagnostic=True, headline=False)
        for place, letter in enumerate(LETTERS)
    ),
    _PARSE_RATE,
)
"""Of every row in all rotations."""


# --- retrieval ---


def images_of(record: Record) -> int:
    """The number of images in the row of a record of retrieval."""
    return int(record["images"])


def _mean_of_rows(of_row: Callable[[list[float], list[bool]], float]) -> Callable[[Sequence[Record]], Statistic | None]:
    """The mean over rankings of a function of their values and positives."""

    def statistic(records: Sequence[Record]) -> Statistic | None:
        whole, _ = by_row(records, images_of)
        return ratio(_units(whole), [of_row(*_ranking(own)) for own in whole]) if whole else None

    return statistic


def _ranking(images: Sequence[Record]) -> tuple[list[float], list[bool]]:
    return [image["value"] for image in images], [image["positive"] for image in images]


def _pooled(records: Sequence[Record]) -> Statistic | None:
    """Precision@k with the positives of all complete rows counted together."""
    whole, _ = by_row(records, images_of)
    if not whole:
        return None
    counts = [sum(image["positive"] for image in own) for own in whole]
    # precision is hits / count: the product is a whole number but for rounding, and Wilson's interval counts hits
    hits = [round(ranking.precision_at_k(*_ranking(own)) * count) for own, count in zip(whole, counts, strict=True)]
    return ratio(_units(whole), hits, counts)


def _value_of_answer(record: Record) -> float | None:
    """The value of an image by an answer to it, 1 for Yes and 0 for No; None where nothing was read."""
    return float(record["value"]) if record["status"] in (SCORES, "read") else None


RETRIEVE = Measures.of(
    Measure(
        "p@k",
        statistic=_mean_of_rows(ranking.precision_at_k),
        interval=BOOTSTRAP,
        scopes=_TYPES,
        remark=_report_cut("p@k", images_of),
        answer=_value_of_answer,
    ),
    Measure("expected_p@k", statistic=_mean_of_rows(ranking.random_tie_precision_at_k), interval=BOOTSTRAP),
    Measure("pooled_p@k", statistic=_pooled, headline=False),
    Measure(
        "tie_rate",
        statistic=_mean_of_rows(lambda values, positives: float(ranking.depends_on_ties(values, positives))),
        higher_is_better=False,
        diagnostic=True,
    ),
    _PARSE_RATE,
)
"""Of rankings; rows of which images are missing are left out: Table 7."""
