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
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from figlang_tasks.aggregate import Aggregator, aggregators, with_ends
from figlang_tasks.metaclue import schema
from figlang_tasks.metaclue.parse import PixelBox, parse_boxes
from figlang_tasks.metaclue.task import Document
from figlang_tasks.metrics import boxes
from figlang_tasks.metrics.intervals import Estimated


@dataclass(frozen=True)
class LocalizeRecord:
    """What was read for one concept of one image.

    Attributes:
        id: ``{image}#{role}``.
        data: dataset, task, revision and digest.
        role: ``primary`` or ``secondary``.
        concept: its words.
        truth, types: the annotated boxes and the type of each.
        predicted: boxes in pixels of the picture, in the order of the output.
        dropped: boxes that were left out, as they have no area or the output says that they are the other concept's.
        convention: what numbers the output was read as.
        status, rule: outcome of parsing (``figlang_tasks.metaclue.parse``).
    """

    id: str
    data: str
    role: str
    concept: str
    truth: list[list[float]]
    types: list[str]
    predicted: list[list[float]]
    dropped: int
    convention: str
    status: str
    rule: str


class Boxed(NamedTuple):
    """The boxes of one concept of one image, as the aggregators take it."""

    image: str
    role: Any
    truth: tuple[tuple[PixelBox, Any], ...]
    predicted: tuple[PixelBox, ...]


def doc_to_target(doc: Document) -> str:
    """Return the annotated boxes."""
    return str([list(map(float, box)) for box in doc["boxes"]])


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return one empty answer: there is no chance level, and ``figlang_random`` and ``figlang_majority`` say nothing.

    So they can run a group that has such a task (``figlang_tasks.models.baselines``).
    """
    return {"": ""}, ""


# --- scoring of one document -----------------------------------------------------------------------------------------


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Read boxes.

    Returns:
        ``sample``: the :class:`LocalizeRecord` as a dict (in no metric list: only logged); ``mAP50_{role}``,
        ``mAP70_{role}`` and the same with ``_{type}``: a :class:`Boxed`; ``parse_rate``. Each also with ``_ci_low`` and
        ``_ci_high``.
    """
    role, convention = doc["role"], doc["convention"]
    width, height = doc["width"], doc["height"]
    seen = resized(width, height) if convention == "pixel28" else (width, height)
    read: Any = "pixel" if convention == "pixel28" else convention
    found = parse_boxes(results[0], read, *seen, role=role, names={doc["concept"]: role})
    scale = (width / seen[0], height / seen[1]) * 2
    predicted = [[edge * factor for edge, factor in zip(box, scale, strict=True)] for box in getattr(found, role)]
    truth = [list(map(float, box)) for box in doc["boxes"]]
    shared = {name: doc[name] for name in ("id", "data", "role", "concept", "convention")}
    record = LocalizeRecord(
        **shared,
        truth=truth,
        types=list(doc["types"]),
        predicted=predicted,
        dropped=found.dropped + len(getattr(found, _OTHER[role])),
        status=found.status,
        rule=found.rule,
    )
    boxed = Boxed(
        doc["image"],
        role,
        tuple((_box(box), kind) for box, kind in zip(truth, record.types, strict=True)),
        tuple(map(_box, predicted)),
    )
    names = [f"{metric}_{role}{kind}" for metric in ("mAP50", "mAP70") for kind in ("", *_TYPE_ENDS)]
    values: dict[str, Any] = dict.fromkeys(names, boxed) | {"parse_rate": float(found.status == "parsed")}
    return {"sample": asdict(record), **with_ends(values, doc["id"])}


_OTHER = {"primary": "secondary", "secondary": "primary"}


def _box(edges: Sequence[float]) -> PixelBox:
    left, top, right, bottom = edges
    return left, top, right, bottom


_TYPE_ENDS = tuple(f"_{kind}" for kind in schema.BOX_TYPES)
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


# --- aggregation -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _precision(found: tuple[tuple, ...], kind: str | None) -> tuple[Estimated, Estimated] | None:
    """Average precision at both thresholds of the role whose boxes these are, of all or of one type."""
    given = [Boxed(*each) for each in found]
    role = given[0].role
    images = [
        boxes.BoxImage(
            each.image,
            tuple(boxes.TrueBox(box, role, type_of) for box, type_of in each.truth),
            # The prompt asks for the most certain box first: the first boxes of all images rank before the second ones.
            tuple(boxes.PredictedBox(box, role, 1 / (1 + place)) for place, box in enumerate(each.predicted)),
        )
        for each in given
    ]
    of_type: Any = kind
    precision = boxes.average_precision(images, role, of_type)
    intervals = boxes.bootstrap_average_precision(images, role, of_type)
    if precision.ap50 is None or precision.ap70 is None:
        return None
    return Estimated.of(precision.ap50, intervals[0]), Estimated.of(precision.ap70, intervals[1])


def _of(place: int, role: str, kind: str | None = None) -> list[Aggregator]:
    def estimate(found: tuple[tuple, ...]) -> Estimated | None:
        both = _precision(found, kind)
        return None if both is None else both[place]

    return aggregators(estimate, f"mAP{(50, 70)[place]}_{role}" + (f"_{kind}" if kind else ""))


map50_primary, map50_primary_ci_low, map50_primary_ci_high = _of(0, "primary")
map50_primary_explicit, map50_primary_explicit_ci_low, map50_primary_explicit_ci_high = _of(0, "primary", "explicit")
map50_primary_contextual, map50_primary_contextual_ci_low, map50_primary_contextual_ci_high = _of(
    0, "primary", "contextual"
)
map50_primary_logo, map50_primary_logo_ci_low, map50_primary_logo_ci_high = _of(0, "primary", "logo")
map50_primary_text, map50_primary_text_ci_low, map50_primary_text_ci_high = _of(0, "primary", "text")
map50_secondary, map50_secondary_ci_low, map50_secondary_ci_high = _of(0, "secondary")
map50_secondary_explicit, map50_secondary_explicit_ci_low, map50_secondary_explicit_ci_high = _of(
    0, "secondary", "explicit"
)
map50_secondary_contextual, map50_secondary_contextual_ci_low, map50_secondary_contextual_ci_high = _of(
    0, "secondary", "contextual"
)
map50_secondary_logo, map50_secondary_logo_ci_low, map50_secondary_logo_ci_high = _of(0, "secondary", "logo")
map50_secondary_text, map50_secondary_text_ci_low, map50_secondary_text_ci_high = _of(0, "secondary", "text")
map70_primary, map70_primary_ci_low, map70_primary_ci_high = _of(1, "primary")
map70_primary_explicit, map70_primary_explicit_ci_low, map70_primary_explicit_ci_high = _of(1, "primary", "explicit")
map70_primary_contextual, map70_primary_contextual_ci_low, map70_primary_contextual_ci_high = _of(
    1, "primary", "contextual"
)
map70_primary_logo, map70_primary_logo_ci_low, map70_primary_logo_ci_high = _of(1, "primary", "logo")
map70_primary_text, map70_primary_text_ci_low, map70_primary_text_ci_high = _of(1, "primary", "text")
map70_secondary, map70_secondary_ci_low, map70_secondary_ci_high = _of(1, "secondary")
map70_secondary_explicit, map70_secondary_explicit_ci_low, map70_secondary_explicit_ci_high = _of(
    1, "secondary", "explicit"
)
map70_secondary_contextual, map70_secondary_contextual_ci_low, map70_secondary_contextual_ci_high = _of(
    1, "secondary", "contextual"
)
map70_secondary_logo, map70_secondary_logo_ci_low, map70_secondary_logo_ci_high = _of(1, "secondary", "logo")
map70_secondary_text, map70_secondary_text_ci_low, map70_secondary_text_ci_high = _of(1, "secondary", "text")
