"""Few-shot exemplars: which rows stand before a question."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from figlang_tasks.core.errors import DataError


def draw_exemplars(
    groups: Sequence[str],
    labels: Sequence[str],
    balanced_labels: Sequence[str],
    count: int,
    seed: int,
) -> list[int]:
    """Draw rows that are spread evenly over groups and labels; return their indices.

    Groups take turns, in an order drawn with the seed. Each turn takes a row whose label has been
    drawn least so far among the labels that the group still has.

    Args:
        groups: the group of each row.
        labels: the label of each row.
        balanced_labels: the labels to draw, in an order that the draw depends on. Rows with other
            labels are never drawn; at least `count` rows must have one of these.
        count: how many rows to draw.
        seed: of the random numbers.

    Raises:
        DataError: `count` is below 1, or above the number of rows.
    """
    if not 1 <= count <= len(groups):
        raise DataError(
            f"{count} exemplars asked for; there are {len(groups)} rows to draw them from"
        )
    undrawn: dict[str, dict[str, list[int]]] = {}  # indices of rows, by group and label
    for index, (group, label) in enumerate(zip(groups, labels, strict=True)):
        undrawn.setdefault(group, {}).setdefault(label, []).append(index)
    generator = random.Random(seed)
    group_order = sorted(undrawn)
    generator.shuffle(group_order)

    times_drawn: Counter[str] = Counter()  # by label
    exemplars: list[int] = []
    while len(exemplars) < count:
        for group in group_order:
            available = [label for label in balanced_labels if undrawn[group].get(label)]
            if not available or len(exemplars) == count:
                continue
            fewest = min(times_drawn[label] for label in available)
            rarest_labels = [label for label in available if times_drawn[label] == fewest]
            label = generator.choice(rarest_labels)
            rows = undrawn[group][label]
            exemplars.append(rows.pop(generator.randrange(len(rows))))
            times_drawn[label] += 1
    return exemplars
