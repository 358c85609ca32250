"""The metrics of HumorDB: accuracy, and the root mean square error of ratings (arXiv 2406.13564).

Pairs, originals and edited pictures have values where the authors' files say which they are
(`figlang_tasks.benchmarks.humordb.names`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from figlang_tasks.benchmarks.humordb.records import (
    BinaryRecord,
    ComparisonRecord,
    PictureFields,
    RangeRecord,
)
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.metrics.statistic import Floats
from figlang_tasks.scoring import (
    BOOTSTRAP,
    Measure,
    Measures,
    Scopes,
    by_field,
    grouped,
    parse_rate,
    ratio,
)
from figlang_tasks.scoring.records import unit_of

_SECTION_4 = "HumorDB, arXiv 2406.13564, section 4"

# --- scopes ---


def _scopes_of_picture(record: PictureFields) -> list[str]:
    """The scopes of a picture: ``["only_pairs", "edited"]``; none if its kind is not known."""
    scopes = ["only_pairs"] if record["pair"] else []
    if record["kind"]:
        scopes.append(record["kind"])
    return scopes


def _scopes_of_answer(record: BinaryRecord) -> list[str]:
    """The scopes of an answer: its prompt, and those of its picture."""
    return [f"{record['question']}_prompt", *_scopes_of_picture(record)]


_OF_PICTURES = ("only_pairs", "original", "edited")
_ANSWERS = Scopes(("funny_prompt", "not_funny_prompt", *_OF_PICTURES), _scopes_of_answer)
_PICTURES = Scopes(_OF_PICTURES, _scopes_of_picture)

# --- answers in words ---


def _is_right(record: BinaryRecord | ComparisonRecord) -> float:
    """1.0 if the right answer was read, else 0.0."""
    return float(record["predicted"] == record["gold"])


def _predicted(record: BinaryRecord | ComparisonRecord) -> str | None:
    """The answer that was read; None if none was."""
    return record["predicted"]


def _has_pair(record: BinaryRecord) -> bool:
    """Whether a picture is one of a pair."""
    return record["pair"] != ""


def _right_pairs(records: Sequence[BinaryRecord]) -> Statistic | None:
    """The share of pairs with two right answers, each pair once for each prompt.

    A pair of which one answer is missing, as with ``--limit``, is left out.

    Returns:
        None if no pair is whole.
    """
    answers_by_pair: dict[tuple[str, str], list[float]] = {}  # by pair and prompt
    for record in records:
        answers = answers_by_pair.setdefault((record["pair"], record["question"]), [])
        answers.append(_is_right(record))
    pairs: list[str] = []
    hits: list[float] = []
    for (pair, _), answers in answers_by_pair.items():
        if len(answers) == 2:
            pairs.append(pair)
            hits.append(min(answers))
    return ratio(pairs, hits) if pairs else None


# --- ratings ---


def _squared_errors(records: Sequence[RangeRecord]) -> Statistic:
    """The root mean square error of the ratings that were read.

    A record without a rating adds nothing to the sums. It has a row nevertheless, so that runs that
    were read in different numbers can be compared.
    """
    rows: list[tuple[float, float]] = []
    for record in records:
        rating = record["predicted"]
        rows.append((0, 0) if rating is None else ((rating - record["gold"]) ** 2, 1))
    return grouped(map(unit_of, records), rows, _root_mean)


def _root_mean(sums: Floats) -> Floats:
    """The root of a mean, from the sum of squares and their number; NaN without numbers."""
    with np.errstate(invalid="ignore"):
        root: Floats = np.sqrt(sums[..., 0] / sums[..., 1])
    return root


def _rank_products(records: Sequence[RangeRecord]) -> Statistic | None:
    """Spearman's correlation of the ratings that were read with the means of people.

    It is Pearson's correlation of ranks, equal ratings having their mean rank. The ranks are those
    among all records, also in the resamples of an interval, so that sums of rows decide the value.

    Returns:
        None if no rating was read.
    """
    # Imported here: it takes half a second, and every report and comparison imports this module.
    from scipy.stats import rankdata

    is_read = np.array([record["predicted"] is not None for record in records])
    if not is_read.any():
        return None
    ratings = [record["predicted"] for record in records if record["predicted"] is not None]
    golds = [record["gold"] for record in records if record["predicted"] is not None]
    # Ranks around 0, so that no large sums are subtracted from each other.
    middle = (len(ratings) + 1) / 2
    ranks = rankdata(ratings) - middle
    gold_ranks = rankdata(golds) - middle
    columns = (ranks, gold_ranks, ranks**2, gold_ranks**2, ranks * gold_ranks, ranks**0)
    rows = np.zeros((len(records), len(columns)))
    rows[is_read] = np.column_stack(columns)
    return grouped(map(unit_of, records), rows, _pearson)


def _pearson(sums: Floats) -> Floats:
    """Pearson's correlation; NaN where one side does not vary.

    Args:
        sums: of x, y, x², y², xy and 1; shape [..., 6].
    """
    x, y, xx, yy, xy, count = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = xy - x * y / count
        variances = (xx - x * x / count) * (yy - y * y / count)
        correlation: Floats = covariance / np.sqrt(variances)
    return correlation


# --- the three tasks ---

BINARY = Measures.of(
    Measure(
        "acc",
        description="Share of right answers, of both prompts together.",
        source=_SECTION_4,
        value_of_record=_is_right,
        scopes=_ANSWERS,
        answer=_predicted,
    ),
    Measure(
        "pair_accuracy",
        description="Share of pairs with right answers for both pictures, of both prompts.",
        source="figlang_tasks",
        statistic=_right_pairs,
        applies=_has_pair,
    ),
    parse_rate(),
)
RANGE = Measures.of(
    Measure(
        "rmse",
        description="Root mean square error against the mean rating of people, where it was read.",
        source=f"{_SECTION_4} and Table 3",
        statistic=_squared_errors,
        interval=BOOTSTRAP,
        scopes=_PICTURES,
        higher_is_better=False,
        percent=False,
        bounds=(0.0, 9.0),
    ),
    Measure(
        "spearman",
        description="Rank correlation with the mean rating of people, where it was read.",
        source="figlang_tasks",
        statistic=_rank_products,
        interval=BOOTSTRAP,
        scopes=_PICTURES,
        percent=False,
        bounds=(-1.0, 1.0),
    ),
    parse_rate(),
)
COMPARISON = Measures.of(
    Measure(
        "acc",
        description="Share of comparisons with the right picture.",
        source=_SECTION_4,
        value_of_record=_is_right,
        scopes=by_field("gold", ("first", "second")),
        answer=_predicted,
    ),
    parse_rate(),
)
