"""Which differences between runs are significant, and which runs cannot be told apart."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from figlang_tasks.results import measures
from figlang_tasks.results.comparison import Difference

Significance: TypeAlias = Literal["better", "worse"]
"""How the candidate of a significant difference compares with the baseline."""

ALPHA = 0.05
"""A difference is significant if its p, adjusted for all tests, is below this level."""

BOLD_NOTE = "Bold: best, with what cannot be told apart from it"
"""What `best_runs` selects, for a reader of a table."""


def significance(difference: Difference) -> Significance | None:
    """Whether the candidate is significantly better or worse than the baseline; None if neither.

    A difference without a test is not significant.
    """
    if difference.p_holm is None or difference.p_holm >= ALPHA:
        return None
    is_higher = difference.difference > 0
    if is_higher == measures.measure_of(difference.metric).higher_is_better:
        return "better"
    return "worse"


def count_tests(differences: Sequence[Difference]) -> int:
    """How many of the differences were tested; those without a p were not."""
    return sum(difference.p is not None for difference in differences)


def best_runs(
    metric: str, values: Mapping[str, float], differences: Sequence[Difference]
) -> set[str]:
    """The names of the runs to print in bold: the best, and all that cannot be told apart from it.

    Without tests, only runs whose value is printed like the best one. None if there is a single
    run, or if one of these has nothing right: 0 where higher is better.

    Args:
        metric: its name, with or without a scope.
        values: the value of each run by name.
        differences: by this metric, between these runs; those of other runs are ignored.
    """
    if len(values) < 2:
        return set()
    measure = measures.measure_of(metric)
    choose = max if measure.higher_is_better else min
    best_name = choose(values, key=values.__getitem__)
    best_text = measure.text(values[best_name])

    differences_to_best: dict[str, Difference] = {}
    for difference in differences:
        if best_name in difference.pair:
            baseline, candidate = difference.pair
            differences_to_best[candidate if baseline == best_name else baseline] = difference
    best = {best_name}
    for name, value in values.items():
        tested = differences_to_best.get(name)
        if tested is None or tested.p_holm is None:
            is_equally_good = measure.text(value) == best_text
        else:
            is_equally_good = significance(tested) is None
        if is_equally_good:
            best.add(name)
    has_nothing_right = any(measure.text(values[name]) == measure.text(0) for name in best)
    if measure.higher_is_better and has_nothing_right:
        return set()
    return best


def indistinguishable_groups(
    ranking: Sequence[str], differences: Sequence[Difference]
) -> list[list[str]]:
    """Find the largest groups of runs of which no two differ significantly, best group first.

    A run may be in several groups; one that differs from all others is a group of its own. The
    method is insert and absorb (Piepho 2004, "An Algorithm for a Letter-Based Representation of
    All-Pairwise Comparisons", JCGS 13(2)).

    Args:
        ranking: the names of the runs, best first; those in a group have the same order.
        differences: one for each pair of runs.
    """
    groups = [frozenset(ranking)]
    for difference in differences:
        if significance(difference):
            groups = _split(groups, *difference.pair)
    ranked_groups = []
    for group in groups:
        ranked_groups.append([run for run in ranking if run in group])
    # By the positions of their runs in the ranking: first the group with the best run.
    return sorted(ranked_groups, key=lambda group: [ranking.index(run) for run in group])


def group_letters(ranking: Sequence[str], differences: Sequence[Difference]) -> dict[str, str]:
    """The letters of each run: two runs share a letter if they cannot be told apart.

    The first group has the letter ``a``, the 27th ``aa``. Letters of a run are joined by commas
    where one has more than a character, else without a sign: ``ab``.

    Args:
        ranking, differences: as `indistinguishable_groups` takes them.

    Returns:
        A text for each run, in the order of the ranking.
    """
    groups = indistinguishable_groups(ranking, differences)
    names_of_groups = [_letters_of_position(position) for position in range(len(groups))]
    separator = "" if len(groups) <= len(string.ascii_lowercase) else ","
    letters: dict[str, str] = {}
    for run in ranking:
        names_of_run = []
        for name, group in zip(names_of_groups, groups, strict=True):
            if run in group:
                names_of_run.append(name)
        letters[run] = separator.join(names_of_run)
    return letters


def _letters_of_position(position: int) -> str:
    """The name of a group: ``a`` for 0, ``z`` for 25, ``aa`` for 26, as columns of a sheet."""
    alphabet = string.ascii_lowercase
    letters = ""
    remaining = position + 1
    while remaining:
        remaining, letter = divmod(remaining - 1, len(alphabet))
        letters = alphabet[letter] + letters
    return letters


def _split(groups: Sequence[frozenset[str]], run: str, other: str) -> list[frozenset[str]]:
    """The groups after each that holds both of two runs, which differ significantly, is split.

    Such a group becomes two, each without one of the runs; the others stay. Groups that lie within
    a larger one are left out.
    """
    split: list[frozenset[str]] = []
    for group in groups:
        if run in group and other in group:
            split += [group - {run}, group - {other}]
        else:
            split.append(group)
    largest: list[frozenset[str]] = []
    for group in dict.fromkeys(split):
        if not _is_part_of_another(group, split):
            largest.append(group)
    return largest


def _is_part_of_another(group: frozenset[str], groups: Sequence[frozenset[str]]) -> bool:
    return any(group < larger for larger in groups)
