"""Where are the concepts? Judging of ``metaclue_localize`` (paper, 3.3, Table 4).

A model is asked for one concept at a time, as the paper asks its phrase-grounding model, and gives any number of boxes.
The numbers it gives them in are declared by the task, never guessed:

- ``thousand`` (``metaclue_localize``): 0 to 1000 of width and height (Qwen2-VL, Qwen3-VL, InternVL);
- ``unit``: 0 to 1 (LLaVA);
- ``pixel``: pixels of the picture;
- ``pixel28``: pixels of the picture as Qwen2.5-VL sees it, resized so that its sides are multiples of 28;
- ``thousand_yx``: 0 to 1000, y before x (Gemini);
- ``loc1024``: ``<loc0000>`` to ``<loc1023>`` (PaliGemma).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from figlang_tasks.benchmarks.metaclue.boxes import Boxes, parse_boxes
from figlang_tasks.benchmarks.metaclue.measures import LOCALIZE, judged_of_image
from figlang_tasks.benchmarks.metaclue.task import Document, no_chance

chance_answers = no_chance


def doc_to_target(doc: Document) -> str:
    """Return the annotated boxes."""
    return str([list(map(float, box)) for box in doc["boxes"]])


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return the record of the boxes of one concept and its numbers; `dropped` has those of the other concept too."""
    role, convention = doc["role"], doc["convention"]
    width, height = doc["width"], doc["height"]
    seen = resized(width, height) if convention == "pixel28" else (width, height)
    read: Any = "pixel" if convention == "pixel28" else convention
    found = parse_boxes(results[0], read, *seen, role=role, names={doc["concept"]: role})
    boxes = found.value or Boxes((), ())
    other = {"primary": boxes.secondary, "secondary": boxes.primary}[role]
    scale = (width / seen[0], height / seen[1]) * 2
    record = {name: doc[name] for name in ("id", "data", "role", "concept", "convention")} | {
        "truth": [list(map(float, box)) for box in doc["boxes"]],
        "types": list(doc["types"]),
        "predicted": [[edge * factor for edge, factor in zip(box, scale, strict=True)] for box in getattr(boxes, role)],
        "dropped": boxes.dropped + len(other),
        "status": found.status,
        "rule": found.rule,
    }
    return judged_of_image(record, LOCALIZE)


# As the harness's class qwen2_5_vl sets its processor.
_FACTOR, _FEWEST, _MOST = 28, 256 * 28 * 28, 2048 * 28 * 28


def resized(width: int, height: int) -> tuple[int, int]:
    """Return width and height of a picture as Qwen2.5-VL sees it: multiples of 28, its area within bounds."""

    def multiple(value: float, rounded: Callable[[float], float]) -> int:
        return max(_FACTOR, int(rounded(value / _FACTOR)) * _FACTOR)

    near = multiple(width, round), multiple(height, round)
    if near[0] * near[1] > _MOST:
        shrink = math.sqrt(width * height / _MOST)
        return multiple(width / shrink, math.floor), multiple(height / shrink, math.floor)
    if near[0] * near[1] < _FEWEST:
        grow = math.sqrt(_FEWEST / (width * height))
        return multiple(width * grow, math.ceil), multiple(height * grow, math.ceil)
    return near
