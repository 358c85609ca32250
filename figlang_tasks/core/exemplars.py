"""Few-shot exemplars: which rows stand before a question."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from figlang_tasks.core.errors import DataError


def draw_exemplars(
    groups: Sequence[str], labels: Sequence[str], known: Sequence[str], count: int, seed: int
) -> list[int]:
    """The places of rows drawn over groups and labels.

    Groups take turns, in an order drawn with the seed; within a group the label of `known` that has
    been used less so far is taken where the group has it.
    """
    if not 1 <= count <= len(groups):
        raise DataError(
            f"{count} exemplars asked for; there are {len(groups)} rows to draw them from"
        )
    pools: dict[str, dict[str, list[int]]] = {}
    for place, (group, label) in enumerate(zip(groups, labels, strict=True)):
        pools.setdefault(group, {}).setdefault(label, []).append(place)
    generator = random.Random(seed)
    order = sorted(pools)
    generator.shuffle(order)
    used: Counter[str] = Counter()
    chosen: list[int] = []
    while len(chosen) < count:
        for group in order:
            available = [label for label in known if pools[group].get(label)]
            if not available or len(chosen) == count:
                continue
            fewest = min(used[label] for label in available)
            label = generator.choice([label for label in available if used[label] == fewest])
            pool = pools[group][label]
            chosen.append(pool.pop(generator.randrange(len(pool))))
            used[label] += 1
    return chosen
