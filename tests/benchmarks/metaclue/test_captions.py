"""Words around a caption are scored with it if this fails; other cases: ``tests/answers``."""

from __future__ import annotations

import pytest

from figlang_tasks.answers.verdict import Read
from figlang_tasks.benchmarks.metaclue.captions import Statement, parse_caption


def parts(found: Read[Statement]) -> tuple[str, str, str] | None:
    value = found.value
    return None if value is None else (value.primary, value.relationship, value.secondary)


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
    "behind",
    ["", ", suggesting speed", ", clearly showing speed", " (with flames)", " because of fire"],
)
def test_what_stands_around_is_left_out(output: str, behind: str, rule: str) -> None:
    found = parse_caption(output.format(f"This phone is as fast as a rocket{behind}."))
    assert [part.lower() for part in parts(found) or ()] == list(PHONE)
    assert found.rule == rule


def test_lists_are_no_afterthoughts() -> None:
    found = parse_caption("Spring is as good as running, swimming and cycling.")
    assert parts(found) == ("Spring", "good", "running, swimming and cycling")
