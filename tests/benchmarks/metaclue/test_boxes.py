# ruff: noqa: E501 (what models write stays on one line)
"""What holds of boxes beside the cases of ``tests/answers``."""

from __future__ import annotations

import json
import time
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from figlang_tasks.answers.verdict import Read, Status
from figlang_tasks.benchmarks.metaclue.boxes import Boxes, Convention, Role, parse_boxes

A = (10.0, 20.0, 110.0, 220.0)
B = (200.0, 100.0, 300.0, 180.0)
NAMES: dict[str, Role] = {"The shoe": "primary", "feathers": "secondary"}


# Pixels of an image of 400 x 300, nobody's without a label.
@pytest.mark.parametrize(
    ("output", "primary", "secondary"),
    [
        # a label before the box or behind it, in its object
        ('{"primary": [10, 20, 110, 220], "secondary": [200, 100, 300, 180]}', (A,), (B,)),
        ('{"primary": [[10, 20, 110, 220]], "secondary": [[200, 100, 300, 180], [10, 20, 110, 220]]}', (A,), (B, A)),
        (
            '{"primary concept": {"box": [10, 20, 110, 220]}, "secondary concept": {"boxes": [[200, 100, 300, 180]]}}',
            (A,),
            (B,),
        ),
        (
            '[{"bbox_2d": [10, 20, 110, 220], "label": "The Shoe"}, {"label": "Feathers", "bbox_2d": [200, 100, 300, 180]}]',
            (A,),
            (B,),
        ),
        ('[{"bbox_2d": [10, 20, 110, 220], "label": "primary"}, {"bbox_2d": [200, 100, 300', (A,), ()),
        ("{'primary': [10, 20, 110, 220], 'secondary': [200, 100, 300, 180],}", (A,), (B,)),
        (
            "The primary concept (the shoe) is at [10, 20, 110, 220] and the feathers are at [200, 100, 300, 180].",
            (A,),
            (B,),
        ),
        # a box right behind another
        ("<ref>primary</ref><box>(10,20),(110,220)</box><box>(200,100),(300,180)</box>", (A, B), ()),
        ("primary: [10, 20, 110, 220; 200, 100, 300, 180]", (A, B), ()),
        # two points
        ('{"primary": [[10, 20], [110, 220]]}', (A,), ()),
        # none
        ('{"primary": [], "secondary": [200, 100, 300, 180]}', (), (B,)),
        ("[ ]", (), ()),
    ],
)
def test_boxes(output: str, primary: tuple[Any, ...], secondary: tuple[Any, ...]) -> None:
    found = parse_boxes(output, "pixel", 400, 300, names=NAMES)
    rule = "brackets" if primary or secondary else "empty-list"
    assert found == Read(Boxes(primary, secondary), "read", rule)


@pytest.mark.parametrize(
    ("output", "status", "rule"),
    [
        (None, "missing", "missing"),
        (" \n", "empty", "empty"),
        ("<think>[10, 20, 110, 220]", "empty", "thought"),
        ("I cannot tell.", "refused", "refusal"),
        *(
            (text, "unreadable", "nothing")
            for text in ("I see a shoe.", "[10, 20, 110", "[" * 30_000, "Primary: 10, 20")
        ),
        *(
            (f'{{"primary": {text}}}', "unreadable", "nothing")
            for text in ("[10, 20, 110]", "[1, 2, 3, 4, 5]", "[10, 20, NaN, 220]")
        ),
        *((text, "unreadable", "unlabelled") for text in ("[[10, 20, 110, 220]]", "car <box>10,20,110,220</box>")),
        *(
            (f'{{"primary": {text}}}', "unreadable", "degenerate")
            for text in ("[10, 20, 10, 220]", "[110, 220, 10, 20]", "[0, 0, 0, 0]")
        ),
        *(
            (f'{{"primary": {text}}}', "out_of_range", "brackets")
            for text in ("[10, 20, 110, 301]", "[10, 20, 401, 220]", "[-1, 20, 110, 220]")
        ),
        *((f'{{"primary": {text}}}', "out_of_range", "brackets") for text in ("[0.1, 0.2, 0.5, 0.6]", "[0, 0, 1, 1]")),
        ('{"primary": [10, 20, 110, 220], "secondary": [500, 100, 900, 180]}', "out_of_range", "brackets"),
        ('[{"box_2d": [20, 10, 220, 110], "label": "primary"}]', "out_of_range", "box_2d"),
        ("<loc0100><loc0200><loc0300><loc0400> primary", "out_of_range", "loc"),
        ("primary<loc_100><loc_200><loc_300><loc_300>", "out_of_range", "florence"),
    ],
)
def test_no_boxes(output: str | None, status: Status, rule: str) -> None:
    assert parse_boxes(output, "pixel", 400, 300, names=NAMES) == Read(None, status, rule)


@pytest.mark.parametrize(
    ("convention", "output", "expected"),
    [
        ("pixel", "primary: [0, 0, 400, 300]", (0, 0, 400, 300)),
        ("unit", '{"primary": [0.25, 0.5, 0.75, 1.0]}', (100, 150, 300, 300)),
        ("unit", '{"primary": [0, 0, 1, 1]}', (0, 0, 400, 300)),
        ("unit", '{"primary": [0.25, 0.5, 0.75, 1.01]}', None),
        ("thousand", '{"primary": [250, 500, 750, 1000]}', (100, 150, 300, 300)),
        ("thousand", '{"primary": [250, 500, 750, 1001]}', None),
        ("thousand", '{"primary": [0.25, 0.5, 0.75, 1.0]}', None),
        ("thousand", "primary <loc_250><loc_500><loc_750><loc_999>", (100, 150, 300, 299.7)),
        ("thousand_yx", '[{"box_2d": [500, 250, 1000, 750], "label": "primary"}]', (100, 150, 300, 300)),
        (
            "thousand_yx",
            '[{"label": "primary", "x_min": 250, "y_min": 500, "x_max": 750, "y_max": 1000}]',
            (100, 150, 300, 300),
        ),
        ("thousand_yx", "primary: [0.1, 0.2, 0.3, 0.4]", None),
        ("loc1024", "<loc0512><loc0256><loc1023><loc0768> primary", (100, 150, 300, 1023 / 1024 * 300)),
        ("loc1024", "<loc0512><loc0256><loc1024><loc0768> primary", None),
        ("loc1024", '{"primary": [250, 500, 750, 1000]}', None),
    ],
)
def test_conventions(convention: Convention, output: str, expected: tuple[float, ...] | None) -> None:
    found = parse_boxes(output, convention, 400, 300)
    if expected is None:
        assert (found.value, found.status) == (None, "out_of_range")
    else:
        assert found.value is not None and found.value.primary == (pytest.approx(expected),)


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


pieces = st.sampled_from(
    ". |\n|: |(|)|[|]|{|}|\"|'|<box>|</box>|<loc0123>|<loc_12>|,|0.5|-1|12|primary|secondary|label|bbox_2d|box_2d|x_min"
    "|```json|\u0130|\u017fecondary|\ud800|</think>|<answer>|NaN|1e999|[]".split("|")
)


@given(st.one_of(st.text(), st.lists(pieces, max_size=40).map("".join)), st.sampled_from(get_args(Convention)))
@example("\u017fecondary [1, 2, 3, 4]", "pixel")
@example('{"primary": [1e999, 0, 1, 1]}', "pixel")
@settings(max_examples=300)
def test_no_text_raises(text: str, convention: Convention) -> None:
    for role in ("primary", None):
        found = parse_boxes(text, convention, 400, 300, role=role, names=NAMES)
        assert found.status in get_args(Status) and found.status != "missing"
        assert (found.value is not None) == (found.status == "read")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "[[1,2,3,4],",
        "[1 ",
        "<box>1,2,3,4</box>",
        "<loc0123>",
        "primary: [1, 2, 3, 4] ",
        '{"a":',
        '"x_min": 1, ',
    ],
)
def test_a_long_answer_takes_little_time(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    # Every form is a box by one of the two; a convention plays no part in looking for forms.
    for convention in ("loc1024", "thousand"):
        start = time.process_time()
        parse_boxes(text, convention, 400, 300, names=NAMES)
        assert time.process_time() - start < 10
