# ruff: noqa: E501 (what models write stays on one line)
"""What holds of boxes beside the cases of ``tests/answers``."""

from __future__ import annotations

import pytest

from figlang_tasks.answers.verdict import Read
from figlang_tasks.benchmarks.metaclue.boxes import Boxes, Role, parse_boxes

A = (10.0, 20.0, 110.0, 220.0)
B = (200.0, 100.0, 300.0, 180.0)
NAMES: dict[str, Role] = {"The shoe": "primary", "feathers": "secondary"}


def test_loc_with_labels_behind() -> None:
    output = (
        "<loc0512><loc0256><loc0600><loc0768> the shoe ; <loc0000><loc0000><loc0100><loc0100> feathers ;"
        " <loc0001><loc0001><loc0100><loc0100> car"
    )
    found = parse_boxes(output, "loc1024", 1024, 1024, names=NAMES)
    assert found == Read(Boxes(((256, 512, 768, 600),), ((0, 0, 100, 100),), dropped=1), "read", "loc")


@pytest.mark.parametrize("output", ["[10, 20, 110, 220]", '[{"bbox_2d": [10, 20, 110, 220], "label": "car"}]'])
def test_one_concept_asked_for(output: str) -> None:
    assert parse_boxes(output, "pixel", 400, 300, role="primary").value == Boxes((A,), ())
    assert parse_boxes(output, "pixel", 400, 300, role="secondary").value == Boxes((), (A,))
    other = parse_boxes(output + " secondary: [200, 100, 300, 180]", "pixel", 400, 300, role="primary")
    assert other.value == Boxes((A,), (B,))


def test_what_is_dropped_is_counted() -> None:
    output = '[{"box": [1,2,3,4], "label": "primary"}, {"box": [5,5,5,5], "label": "primary"}, {"box": [1,2,3,4], "label": "x"}]'
    assert parse_boxes(output, "pixel", 9, 9) == Read(Boxes(((1, 2, 3, 4),), (), dropped=2), "read", "brackets")
