"""Sufficient statistics of IRFL samples (``figlang_tasks.statistics``): phrases are resampled, not their rows."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.irfl.rows import LETTERS
from figlang_tasks.irfl.task import Turn
from figlang_tasks.metrics import ranking
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.statistics import Line, columns, means, of_ratio


def statistics(lines: Sequence[Line]) -> dict[str, Statistic]:
    """Each metric of a samples file, by name."""
    found = means(lines)
    for name, own in columns(lines).items():
        if "p@k" in name or (name == "tie_rate" and name not in found):
            found |= _of_rankings(name, own)
        elif name.startswith("share_"):
            found[name] = _letter_share(own, LETTERS.index(name[-1]))
        elif name == "acc" and name not in found:
            turns = _turns(own)
            found[name] = of_ratio(
                [turn.unit for turn in turns], [float(turn.correct) for turn in turns], [1.0] * len(own)
            )
        elif name == "all_rotations_acc":
            found |= _all_rotations(name, own)
    return found


def _turns(lines: Sequence[Line]) -> list[Turn]:
    """What the task's aggregators took of each rotation."""
    samples = [line["sample"] for line in lines]
    return [
        Turn(
            sample["row"],
            sample["unit"],
            sample["chosen"] == sample["answer"],
            -1 if sample["chosen"] is None else sample["chosen"],
        )
        for sample in samples
    ]


def _letter_share(lines: Sequence[Line], place: int) -> Statistic:
    turns = _turns(lines)
    named = [float(turn.chosen >= 0) for turn in turns]
    return of_ratio([turn.unit for turn in turns], [float(turn.chosen == place) for turn in turns], named)


def _all_rotations(name: str, lines: Sequence[Line]) -> dict[str, Statistic]:
    of_rows: dict[str, list[Turn]] = {}
    for turn in _turns(lines):
        of_rows.setdefault(turn.row, []).append(turn)
    whole = [found for found in of_rows.values() if len(found) == len(LETTERS)]  # a limit may have cut one
    hits = [float(all(turn.correct for turn in found)) for found in whole]
    return {name: of_ratio([found[0].unit for found in whole], hits, [1.0] * len(whole))} if whole else {}


def _of_rankings(name: str, lines: Sequence[Line]) -> dict[str, Statistic]:
    images: dict[str, list[Line]] = {}
    for line in lines:
        images.setdefault(line["sample"]["row"], []).append(line["sample"])
    whole = [found for found in images.values() if len(found) == found[0]["images"]]
    rankings = [([each["value"] for each in found], [each["positive"] for each in found]) for found in whole]
    units = [found[0]["unit"] for found in whole]
    if not rankings:
        return {}
    counts = [float(sum(positives)) for _, positives in rankings]
    if name == "pooled_p@k":
        hits = [ranking.precision_at_k(*row) * count for row, count in zip(rankings, counts, strict=True)]
        return {name: of_ratio(units, hits, counts)}
    of_row = {
        "expected_p@k": ranking.random_tie_precision_at_k,
        "tie_rate": lambda values, positives: float(ranking.depends_on_ties(values, positives)),
    }.get(name, ranking.precision_at_k)
    return {name: of_ratio(units, [of_row(*row) for row in rankings], [1.0] * len(whole))}
