"""Position and length bias of a judge: does the order decide, or how long an explanation is?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from figlang_tasks.judge.questions import AnsweredQuestion


class PositionBias(NamedTuple):
    """How often the preference of a judge depends on the order of the explanations.

    Attributes:
        items: the items with a readable preference in both orders.
        changed: those of them whose preference changes with the order.
        first: how often the explanation that stands first is preferred, in both orders together.
    """

    items: int
    changed: int
    first: int


class LengthBias(NamedTuple):
    """How far the verdict of a judge goes with the length of the explanation.

    Attributes:
        verdicts: how many there are.
        correlation: Spearman's rank correlation of verdict (adequate: 1) and number of words; None
            if all verdicts or all lengths are equal.
    """

    verdicts: int
    correlation: float | None


def preferences_by_item(answered: Sequence[AnsweredQuestion]) -> dict[str, list[str | None]]:
    """The preferred letter in each order, by the id of the item; None where it was not read."""
    preferences: dict[str, list[str | None]] = {}
    for question, _, cells in answered:
        if question.column == "preferred":
            preferences.setdefault(question.item.id, []).append(cells.get("preferred"))
    return preferences


def settled_preferences(answered: Sequence[AnsweredQuestion]) -> dict[str, str]:
    """The preferred letter, or ``none``, of each item for which both orders give the same."""
    settled: dict[str, str] = {}
    for item_id, (preferred, preferred_reversed) in preferences_by_item(answered).items():
        if preferred is not None and preferred == preferred_reversed:
            settled[item_id] = preferred
    return settled


def position_bias(answered: Sequence[AnsweredQuestion]) -> PositionBias | None:
    """The position bias of a judge; None if it was asked for no preference."""
    preferences = preferences_by_item(answered)
    if not preferences:
        return None
    read_in_both = {item for item, letters in preferences.items() if None not in letters}
    first = 0
    for question, _, cells in answered:
        is_counted = question.column == "preferred" and question.item.id in read_in_both
        if is_counted and cells["preferred"] == question.letters[0]:
            first += 1
    changed = sum(len(set(preferences[item])) > 1 for item in read_in_both)
    return PositionBias(len(read_in_both), changed, first)


def length_bias(answered: Sequence[AnsweredQuestion]) -> LengthBias:
    """The length bias of a judge over all explanations whose verdict was read."""
    verdicts: list[int] = []
    word_counts: list[int] = []
    for question, _, cells in answered:
        if question.column == "adequate" and cells:
            (letter,) = question.letters
            verdicts.append(verdict_of(cells))
            word_counts.append(len(question.item.explanations[letter].split()))
    if len(set(verdicts)) < 2 or len(set(word_counts)) < 2:
        return LengthBias(len(verdicts), None)
    from scipy.stats import spearmanr

    return LengthBias(len(verdicts), float(spearmanr(verdicts, word_counts).statistic))


def verdict_of(cells: Mapping[str, str]) -> int:
    """1 if the cells say that an explanation is adequate, else 0."""
    return int(cells["adequate"] == "yes")
