# ruff: noqa: E501 (what models write stays on one line)
"""What holds of boxes beside the cases of ``tests/answers``."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


place, side = st.integers(0, 998), st.integers(2, 1000)
corners = st.tuples(place, place, side, side).map(
    lambda c: (c[0], c[1], min(1000, c[0] + c[2]), min(1000, c[1] + c[3]))
)


@given(
    st.lists(corners, min_size=1, max_size=3), st.lists(corners, max_size=3), st.integers(1, 3000), st.integers(1, 3000)
)
def test_every_box_in_every_form(primary: list[Any], secondary: list[Any], width: int, height: int) -> None:
    pairs = [("primary", box) for box in primary] + [("secondary", box) for box in secondary]
    as_list = [{"bbox_2d": box, "label": role} for role, box in pairs]
    as_dict: dict[str, Any] = {"primary": primary, "secondary": secondary}
    forms = [
        json.dumps(as_list),
        f"```json\n{json.dumps(as_list, indent=2)}\n```",
        json.dumps(as_dict),
        "\n".join(json.dumps(item) for item in as_list),
        "".join(f"<ref>{role}</ref><box>{a},{b},{c},{d}</box>" for role, (a, b, c, d) in pairs),
        "".join(f"<|object_ref_start|>{role}<|object_ref_end|><|box_start|>({a},{b}),({c},{d})<|box_end|>" for role, (a, b, c, d) in pairs),
        "\n".join(f"{role}: [[{a},{b},{c},{d}]]" for role, (a, b, c, d) in pairs),
    ]  # fmt: skip
    expected = [
        tuple((a / 1000 * width, b / 1000 * height, c / 1000 * width, d / 1000 * height) for a, b, c, d in side)
        for side in (primary, secondary)
    ]
    for form in forms:
        found = parse_boxes(form, "thousand", width, height).value
        assert found is not None and found.dropped == 0
        for whose, boxes in zip((found.primary, found.secondary), expected, strict=True):
            assert len(whose) == len(boxes) and all(
                box == pytest.approx(other) for box, other in zip(whose, boxes, strict=True)
            )
            assert all(0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height for x0, y0, x1, y1 in whose)
