"""If this fails, words around a caption are scored with it. Other cases: ``tests/answers``."""

from __future__ import annotations

import pytest

from figlang_tasks.answers.verdict import Read
from figlang_tasks.benchmarks.metaclue.captions import Statement, parse_caption


def parts_of(reading: Read[Statement]) -> tuple[str, str, str] | None:
    """The three parts of the statement that was read; None if there is none."""
    statement = reading.value
    if statement is None:
        return None
    return statement.primary, statement.relationship, statement.secondary


AFTERTHOUGHTS = [
    "",
    ", suggesting speed",
    ", clearly showing speed",
    " (with flames)",
    " because of fire",
]


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
@pytest.mark.parametrize("afterthought", AFTERTHOUGHTS)
def test_words_around_the_statement_are_left_out(output: str, afterthought: str, rule: str) -> None:
    statement = f"This phone is as fast as a rocket{afterthought}."
    reading = parse_caption(output.format(statement))
    assert [part.lower() for part in parts_of(reading) or ()] == ["this phone", "fast", "a rocket"]
    assert reading.rule == rule


def test_a_list_of_activities_is_no_afterthought() -> None:
    reading = parse_caption("Spring is as good as running, swimming and cycling.")
    assert parts_of(reading) == ("Spring", "good", "running, swimming and cycling")
