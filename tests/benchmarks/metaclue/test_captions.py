"""What holds of captions beside the cases of ``tests/answers``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from figlang_tasks.answers.verdict import Read, Status
from figlang_tasks.benchmarks.metaclue.captions import Statement, in_one_line, parse_caption, parse_official

PARSERS: tuple[Callable[[str | None], Read[Statement]], ...] = (parse_official, parse_caption)


def parts(found: Read[Statement]) -> tuple[str, str, str] | None:
    value = found.value
    return None if value is None else (value.primary, value.relationship, value.secondary)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        # examples of the paper, figures 1 and 2
        (
            "Killing trees is as harmful as killing wildlife.",
            ("Killing trees", "harmful", "killing wildlife"),
        ),
        (
            "Birds is as much a part of our world as used cans.",
            ("Birds", "much a part of our world", "used cans"),
        ),
        ("This car is as made for the beach as a crab.", ("This car", "made for the beach", "a crab")),
        (
            "Getting two ice creams is as exciting as getting two movie tickets for one.",
            ("Getting two ice creams", "exciting", "getting two movie tickets for one"),
        ),
        (
            "This car is as out of this world as three dimensional.",
            ("This car", "out of this world", "three dimensional"),
        ),
        # the first "as" counts
        ("The pill is as safe as as talking people", ("The pill", "safe", "as talking people")),
        ("A is as b as c as d", ("A", "b", "c as d")),
        ("The road is as long as it is as wide as a sea", ("The road", "long", "it is as wide as a sea")),
        # whatever stands around belongs to the parts, but no thought
        ("Metaphor: This phone IS AS fast AS a rocket", ("Metaphor: This phone", "fast", "a rocket")),
        ("  This phone  is as fast\nas a rocket.  ", ("This phone", "fast", "a rocket")),
        ("<think>A is as b as c.</think>This phone is as fast as a rocket", ("This phone", "fast", "a rocket")),
        # no such form
        ("These donuts are as unique as talking people", None),
        ("This phone is as fast", None),
        ("is as fast as a rocket", None),
        (" is as fast as a rocket", None),
        ("This phone is as fast as .", None),
        ("This phone is as  as a rocket", None),
        ("This phone is asfast as a rocket", None),
    ],
)
def test_official(output: str, expected: tuple[str, str, str] | None) -> None:
    found = parse_official(output)
    assert parts(found) == expected
    assert (found.status, found.rule) == (("read", "statement") if expected else ("unreadable", "nothing"))
    assert found.value is None or found.value.text == in_one_line(output)


@pytest.mark.parametrize(
    ("output", "status", "rule"),
    [
        (None, "missing", "missing"),
        (" \n", "empty", "empty"),
        ("<think>A is as b as c", "empty", "thought"),
    ],
)
def test_nothing_said(output: str | None, status: Status, rule: str) -> None:
    for parser in PARSERS:
        assert parser(output) == Read(None, status, rule)
    assert in_one_line(output) == ""


PHONE = ("this phone", "fast", "a rocket")


@pytest.mark.parametrize(
    ("output", "rule"),
    [
        ("{}", "statement"),
        ("**Metaphor:** {}", "heading"),
        ("1. {}", "statement"),
        ("I see flames. {}", "statement"),
        ("The image implies that {}", "statement"),
        ("This advertisement conveys the message that {}", "statement"),
        ("In this poster, {}", "statement"),
        ("{} That is a metaphor.", "statement"),
        ("A is as b as c.\nAnswer: {}", "heading"),
        ("Primary: This phone\nRelationship: fast\nSecondary: a rocket", "named"),
    ],
)
@pytest.mark.parametrize(
    "behind", ["", ", suggesting speed", ", clearly showing speed", " (with flames)", " because of fire"]
)
def test_what_stands_around_is_left_out(output: str, behind: str, rule: str) -> None:
    found = parse_caption(output.format(f"This phone is as fast as a rocket{behind}."))
    assert [part.lower() for part in parts(found) or ()] == list(PHONE)
    assert found.rule == rule


@pytest.mark.parametrize(
    ("output", "status", "rule"),
    [
        ("A is as b as c.\nD is as e as f.", "ambiguous", "conflict"),
        ("Answer: A is as b as c.\nFinal answer: D is as e as f.", "ambiguous", "conflict"),
        ("____ is as ____ as ____", "unreadable", "nothing"),
        ("Primary: ?\nRelationship: fast\nSecondary: a rocket", "unreadable", "nothing"),
        ("I cannot tell.", "refused", "refusal"),
    ],
)
def test_no_statement(output: str, status: Status, rule: str) -> None:
    assert parse_caption(output) == Read(None, status, rule)


def test_lists_are_no_afterthoughts() -> None:
    found = parse_caption("Spring is as good as running, swimming and cycling.")
    assert parts(found) == ("Spring", "good", "running, swimming and cycling")


concepts = st.lists(
    st.sampled_from("the phone car smoking tree ice gold red sea fire his".split()), min_size=1, max_size=4
).map(" ".join)


@given(concepts, concepts, concepts)
def test_every_statement_comes_back(primary: str, relationship: str, secondary: str) -> None:
    statement = f"{primary} is as {relationship} as {secondary}"
    expected = Statement(primary, relationship, secondary, statement)
    assert parse_official(statement) == Read(expected, "read", "statement")
    for output in (statement, f"{statement}.", f'"{statement}"', f"Metaphor: {statement}.", f"- **{statement}**"):
        assert parse_caption(output).value == expected


pieces = st.sampled_from(
    " is as | as |phone|. |\n|: |, or that |that |The ad says |(|[|{|\"|'|primary|relationship: |secondary|\u0130"
    "|\ud800|**|</think>|<think>|<answer>|\u201c|\u2014|because".split("|")
)


@given(st.one_of(st.text(), st.lists(pieces, max_size=40).map("".join)))
@example("\u0130 is as \u0130 as \u0130")
@example("\x00")
@settings(max_examples=300)
def test_no_text_raises(text: str) -> None:
    for parser in PARSERS:
        found = parser(text)
        assert found.status in get_args(Status) and found.status != "missing"
        assert (found.value is not None) == (found.status == "read")
        assert all(parts(found) or (True,))
        # NUL is no white space to the readers, and a blank in a line.
        assert (found.status == "empty") == (not in_one_line(text)) or "\x00" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *(" is as ", "is as as ", "a is as b as c. ", "Metaphor: ", "\n", '"', "?! "),
        *("The image i that ", "primary: a\nrelationship: ", ", because", ", aly ", " \u2014", "\n1."),
    ],
)
def test_a_long_answer_takes_little_time(piece: str) -> None:
    for text in (piece * (300_000 // len(piece)), f"a is as b as c{piece * (60_000 // len(piece))}a"):
        for parser in PARSERS:
            start = time.process_time()
            parser(text)
            assert time.process_time() - start < 10
