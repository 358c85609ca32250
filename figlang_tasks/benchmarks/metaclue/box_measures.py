"""The measures of localization: mAP50 and mAP70 of each concept (section 3.3, Table 4).

One value per concept, as in Table 4, and one per type of box ("Explicitly present, Contextually
present, Logo or a Text"). `figlang_tasks.metrics.boxes` computes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import cast

from figlang_tasks.benchmarks.metaclue.annotations import BOX_TYPES, ROLES
from figlang_tasks.benchmarks.metaclue.estimates import PAPER, no_interval
from figlang_tasks.benchmarks.metaclue.records import BoxesRecord, image_of
from figlang_tasks.metrics.box_images import (
    BoxImage,
    BoxType,
    PredictedBox,
    Role,
    TrueBox,
    Xyxy,
)
from figlang_tasks.metrics.boxes import average_precision
from figlang_tasks.scoring import OVERALL, Estimate, IntervalMethod, Measure, Scopes

_RESAMPLES = 1_000  # Fewer than elsewhere: each computes average precision anew.
# `_average_precision` makes the interval itself. This says how.
_INTERVAL = IntervalMethod(
    "bootstrap over images, percentiles with tails of t", no_interval, _RESAMPLES
)

_THRESHOLDS = (50, 70)
"""Overlap of a hit in percent, in the order in which `average_precision` returns values."""


def _box_image(record: BoxesRecord) -> BoxImage:
    """The annotated and the predicted boxes of a record, as average precision takes them.

    Models give no scores. The prompt asks for the most certain box first, so that the first boxes
    of all images have the score 1 and rank before the second ones, which have 1/2.
    """
    role = cast("Role", record["role"])
    true_boxes: list[TrueBox] = []
    for edges, box_type in zip(record["truth"], record["types"], strict=True):
        true_boxes.append(TrueBox(_xyxy(edges), role, cast("BoxType", box_type)))
    predicted_boxes: list[PredictedBox] = []
    for index, edges in enumerate(record["predicted"]):
        predicted_boxes.append(PredictedBox(_xyxy(edges), role, score=1 / (1 + index)))
    return BoxImage(image_of(record), tuple(true_boxes), tuple(predicted_boxes))


def _xyxy(edges: Sequence[float]) -> Xyxy:
    """Left, top, right and bottom of a box as a tuple."""
    left, top, right, bottom = edges
    return left, top, right, bottom


# `LOCALIZE_MEASURES` ask for both thresholds of both roles, in each scope.
@lru_cache(maxsize=2 * (1 + len(BOX_TYPES)))
def _average_precisions(
    images: tuple[BoxImage, ...], role: Role, box_type: BoxType | None
) -> tuple[Estimate, ...] | None:
    """Average precision of one role at each of `_THRESHOLDS`; None without a box to find.

    Args:
        box_type: the only type of box that counts; None for all types.
    """
    precisions = average_precision(images, role, box_type, _RESAMPLES)  # one for each threshold
    if precisions is None:
        return None
    estimates: list[Estimate] = []
    for value, interval, stderr in precisions:
        estimates.append(Estimate.of(value, interval, stderr))
    return tuple(estimates)


def _average_precision(
    records: Sequence[BoxesRecord], scope: str, threshold: int, role: Role
) -> Estimate | None:
    """Average precision of one role at one threshold; None without a box to find.

    Args:
        records: those of the role.
        scope: a type of box, or ``all`` for boxes of all types.
    """
    images = tuple(_box_image(record) for record in records)
    box_type = None if scope == OVERALL else cast("BoxType", scope)
    estimates = _average_precisions(images, role, box_type)
    if estimates is None:
        return None
    return estimates[_THRESHOLDS.index(threshold)]


def _is_of_role(record: BoxesRecord, role: Role) -> bool:
    """Whether a record is about the primary or the secondary concept, whichever `role` says."""
    return record["role"] == role


def _all_box_types(record: BoxesRecord) -> tuple[str, ...]:
    """The scopes of a record: an image counts for every type of box.

    Boxes of other types are ignored, and a predicted box that finds nothing is wrong for each type.
    """
    return BOX_TYPES


def _average_precision_measure(threshold: int, role: Role) -> Measure:
    """The measure ``mAP50_primary``, or another of the four in Table 4."""
    return Measure(
        f"mAP{threshold}_{role}",
        description=(
            f"Average precision of the boxes of the {role} concept; a hit overlaps by at least"
            f" {threshold} %."
        ),
        source=f"{PAPER}, section 3.3 and Table 4",
        estimate_of=partial(_average_precision, threshold=threshold, role=role),
        interval=_INTERVAL,
        applies=partial(_is_of_role, role=role),
        scopes=Scopes(BOX_TYPES, _all_box_types),
    )


def _localize_measures() -> tuple[Measure, ...]:
    """The four measures of Table 4: both thresholds of both concepts."""
    measures: list[Measure] = []
    for threshold in _THRESHOLDS:
        for role in ROLES:
            measures.append(_average_precision_measure(threshold, role))
    return tuple(measures)


LOCALIZE_MEASURES = _localize_measures()
