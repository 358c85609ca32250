"""How many rows of a benchmark a metric was taken over: the n of every table.

The rotations of a row, its pictures in a ranking, and the questions about one image count once; a ranking of which a
limit has cut pictures does not count, as the metrics leave it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from figlang_tasks.explanations import MEAN_SCORE
from figlang_tasks.metric_names import ENDS

Sample = Mapping[str, Any]


def of_samples(samples: Iterable[Sample]) -> int:
    """How many rows `samples` are of: records as tasks write them to ``samples.jsonl`` under ``sample``."""
    sizes: dict[str, int] = {}  # of rankings: pictures of a row
    counts: Counter[str] = Counter()
    for sample in samples:
        row = _row(sample)
        counts[row] += 1
        if isinstance(size := sample.get("images"), int):
            sizes[row] = size
    return sum(count == sizes.get(row, count) for row, count in counts.items())


def of_lines(lines: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Rows by metric (those of one source included), of the lines of a samples file."""
    found: dict[str, list[Sample]] = {}
    for line in lines:
        for key in line:
            if key.endswith(ENDS[0]):
                name = key.removesuffix(ENDS[0])
                if not name.startswith(MEAN_SCORE) or _asked_to_explain(line["sample"]):
                    found.setdefault(name, []).append(line["sample"])
    return {name: of_samples(own) for name, own in found.items()}


def of_values(values: Mapping[str, Sequence[Any]], samples: Sequence[Sample]) -> dict[str, int]:
    """Rows by metric, of what aggregators take.

    Args:
        values: of each metric; in the order of `samples` where every document has one.
        samples: the record of each document.
    """
    found = {}
    for name, own in values.items():
        if name.startswith(MEAN_SCORE):
            found[name] = sum(getattr(value, "needs_score", True) for value in own)
        elif len(own) == len(samples):
            found[name] = of_samples(samples)
        else:
            found[name] = of_samples(_as_sample(value, number) for number, value in enumerate(own))
    return found


def _row(sample: Sample) -> str:
    if "row" in sample:
        return str(sample["row"])
    return str(sample["id"]).partition("#")[0] if "metaclue" in str(sample.get("data")).lower() else str(sample["id"])


def _as_sample(value: Any, number: int) -> Sample:
    """What a value says of the row that it is of; most say nothing, and are of a row of their own."""
    row = getattr(value, "row", getattr(value, "image", number))
    return {"row": row, "images": getattr(value, "images", None)}


def _asked_to_explain(sample: Sample) -> bool:
    """As ``Explained.needs_score``: FLUTE's first version asks for no explanation of entailments."""
    return sample.get("explained") != "contradiction" or sample.get("gold") == 0
