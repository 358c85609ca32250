"""FLUTE's held-out part: the 1,500 released rows that are evaluated.

The test set of the shared task has no published answers. So this part stands in for it, in its
proportions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from figlang_tasks.benchmarks.flute.counts import HELDOUT_SIZES
from figlang_tasks.benchmarks.flute.pairs import Pair, collapse_spaces, sha256_of
from figlang_tasks.core.errors import DataError
from figlang_tasks.metrics.units import link_rows

HELDOUT_SEED = "figlang_tasks FLUTE held-out 1"
HELDOUT_DIGEST = "d75fcb192f3c"
"""The first 12 hex digits of the SHA-256 over the sorted ids of FLUTE's held-out part, joined by
newlines.
"""


def families(rows: Sequence[Pair]) -> list[list[int]]:
    """The rows that depend on each other, as lists of indices; each row is in one list.

    Rows are linked by a sentence that they share, or by the release's id within a portion. A
    premise stands in up to six rows (with both labels), a hypothesis in up to four. White space and
    the case of ASCII letters are ignored.
    """
    keys_of_rows: list[tuple[object, ...]] = []
    for row in rows:
        keys_of_rows.append((*row.sentences, (row.portion, row.source_id)))
    indices_by_first: dict[int, list[int]] = {}
    # `link_rows` gives the index of the first row of each row's family.
    for index, first_index in enumerate(link_rows(keys_of_rows)):
        indices_by_first.setdefault(first_index, []).append(index)
    return list(indices_by_first.values())


def draw_heldout(rows: Sequence[Pair]) -> list[int]:
    """The indices of the held-out rows, in the order of the rows' hashes.

    The draw depends on the texts alone, not on the order of the rows or on Python's version:

    1. Rows are grouped into `families`. A family with a sentence pair that stands twice in the
       data, or with an empty explanation, is left out: the pair would count twice or has two
       answers, the explanation cannot be scored.
    2. Each row has the hash SHA-256(seed, premise, hypothesis; newlines between, white space
       collapsed), each family the smallest of its rows'.
    3. Families are taken in the order of their hashes, whole. One that would pass a size of
       `HELDOUT_SIZES` is skipped.

    Raises:
        DataError: the rows do not fill `HELDOUT_SIZES`.
    """
    hashes: list[str] = []
    for row in rows:
        premise = collapse_spaces(row.premise)
        hypothesis = collapse_spaces(row.hypothesis)
        hashes.append(sha256_of(HELDOUT_SEED, premise, hypothesis))

    missing = Counter(HELDOUT_SIZES)  # how many rows are still to be drawn, by portion and label
    heldout: list[int] = []
    for family in _usable_families_in_order(rows, hashes):
        family_sizes = Counter((rows[index].portion, rows[index].label) for index in family)
        fits = all(size <= missing[stratum] for stratum, size in family_sizes.items())
        if fits:
            missing -= family_sizes
            heldout += family

    # Of a counter `-=` keeps positive counts alone, so that it is empty if all rows are drawn.
    if missing:
        shortfalls = [
            f"{count} of {portion} {label}" for (portion, label), count in missing.items()
        ]
        raise DataError(
            f"a held-out part of {sum(HELDOUT_SIZES.values())} rows cannot be drawn:"
            f" {', '.join(shortfalls)} missing"
        )
    return sorted(heldout, key=lambda index: hashes[index])


def _usable_families_in_order(rows: Sequence[Pair], hashes: Sequence[str]) -> Iterator[list[int]]:
    """Yield the families that may be held out, as indices of rows, the smallest hash first.

    A family may be held out if each of its rows has an explanation and stands once in the data.

    Args:
        rows: all rows of the data.
        hashes: the hash of each row.
    """
    occurrences = Counter(row.sentences for row in rows)

    def is_usable(row: Pair) -> bool:
        """Whether a row has an explanation and its pair of sentences stands once in the data."""
        has_explanation = collapse_spaces(row.explanation) != ""
        return has_explanation and occurrences[row.sentences] == 1

    def smallest_hash(family: list[int]) -> str:
        """The sort key of a family."""
        return min(hashes[index] for index in family)

    for family in sorted(families(rows), key=smallest_hash):
        if all(is_usable(rows[index]) for index in family):
            yield family
