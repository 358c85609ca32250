"""Letters and bold values: what they say of runs follows from the tests of pairs alone."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Mapping, Sequence

import pytest

from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.groups import best_runs, group_letters

Pair = tuple[str, str]


def difference(pair: Pair, values: Mapping[str, float], p_holm: float | None) -> Difference:
    """A difference by accuracy."""
    baseline, candidate = pair
    return Difference(
        task="t",
        name="acc",
        metric="acc",
        scope="all",
        baseline=baseline,
        candidate=candidate,
        baseline_value=values[baseline],
        candidate_value=values[candidate],
        difference=values[candidate] - values[baseline],
        p_randomization=p_holm,
        p_holm=p_holm,
    )


def differences(values: Mapping[str, float], significant: Collection[Pair]) -> list[Difference]:
    """The differences of all pairs; those that are named have a small p."""
    pairs = itertools.combinations(values, 2)
    return [difference(pair, values, 0.01 if pair in significant else 0.2) for pair in pairs]


def maximal_cliques(names: Sequence[str], significant: Collection[Pair]) -> set[frozenset[str]]:
    """The largest sets of runs without a significant pair, from all subsets of the runs."""
    groups = []
    for size in range(1, len(names) + 1):
        for subset in itertools.combinations(names, size):
            if not any(pair in significant for pair in itertools.combinations(subset, 2)):
                groups.append(frozenset(subset))
    return {group for group in groups if not any(group < larger for larger in groups)}


@pytest.mark.parametrize("seed", range(25))
def test_letters_are_the_largest_groups_without_a_significant_pair(seed: int) -> None:
    generator = random.Random(seed)
    names = [f"run {number}" for number in range(generator.randint(2, 8))]
    values = {name: (len(names) - number) / 10 for number, name in enumerate(names)}
    share = generator.random()
    pairs = list(itertools.combinations(names, 2))
    significant = [pair for pair in pairs if generator.random() < share]
    letters = group_letters(names, differences(values, significant))

    runs_by_letter: dict[str, set[str]] = {}
    for name, letters_of_run in letters.items():
        for letter in letters_of_run:
            runs_by_letter.setdefault(letter, set()).add(name)
    assert {frozenset(group) for group in runs_by_letter.values()} == maximal_cliques(
        names, significant
    )
    assert list(letters) == names and "a" in letters[names[0]]


def test_letters_beyond_z_are_separated() -> None:
    values = {f"run {number:02}": 1 - number / 100 for number in range(28)}
    names = list(values)
    letters = group_letters(names, differences(values, set(itertools.combinations(names, 2))))
    assert [letters[name] for name in (names[0], names[25], names[26], names[27])] == [
        "a",
        "z",
        "aa",
        "ab",
    ]


@pytest.mark.parametrize(
    ("values", "significant", "bold"),
    [
        ({"A": 0.9, "B": 0.5}, [("A", "B")], {"A"}),
        ({"A": 0.9, "B": 0.8, "C": 0.5}, [("A", "C")], {"A", "B"}),
        ({"A": 0.5, "B": 0.8, "C": 0.9}, [("A", "B"), ("A", "C")], {"B", "C"}),
        ({"A": 0.0, "B": 0.0}, [], set()),
        ({"A": 0.1, "B": 0.0}, [], set()),  # cannot be told from a run with nothing right
        ({"A": 0.1, "B": 0.0}, [("A", "B")], {"A"}),
        ({"A": 0.9}, [], set()),
    ],
)
def test_bold_is_the_best_run_with_all_that_cannot_be_told_apart(
    values: dict[str, float], significant: list[Pair], bold: set[str]
) -> None:
    assert best_runs("acc", values, differences(values, significant)) == bold


def test_without_tests_only_values_that_are_printed_alike_are_bold() -> None:
    values = {"A": 0.70001, "B": 0.70002, "C": 0.699}
    untested = [difference(pair, values, None) for pair in itertools.combinations(values, 2)]
    assert best_runs("acc", values, untested) == best_runs("acc", values, []) == {"A", "B"}


def test_where_lower_is_better_the_lowest_value_is_bold() -> None:
    assert best_runs("rank", {"A": 2.0, "B": 1.5}, []) == {"B"}
    assert best_runs("tie_rate", {"A": 0.2, "B": 0.0}, []) == {"B"}
