"""Promises on any text, beside the outputs of ``outputs.yaml``, and the marks of annotated answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.answers.text import Answer
from figlang_tasks.benchmarks.nykms.parse import (
    FIELDS,
    QUESTIONS,
    Annotation,
    AnnotationError,
    Question,
    first_answer,
    parse_official,
    read_annotation,
    same_place,
    without_mark,
)

PIECES = st.sampled_from(
    [
        *("Yes", "No", "yes", "1. ", "2. ", "3.", "\n", "\n\n", " ", '"', "\u201c", "\u201d", "flat", "[I] ", "[S]"),
        *("I'm sorry, but I can't", "**", "3.5", "Answer:", "</think>", "\u0130", "\ud800", "\x85", "does not contain"),
        *("metaphor", "sarcasm", " or ", "might "),
    ]
)
OUTPUTS = st.one_of(st.text(), st.lists(PIECES, max_size=25).map("".join))


def restated(output: str) -> tuple[int, str, str]:
    """The published rules once more, in another way: MC, MW and ME."""
    lines = [line for line in (line.strip() for line in output.splitlines()) if line]
    lines += ["", "", "", ""]
    for i, line in enumerate(lines):
        digits = len(line) - len(line.lstrip("0123456789"))
        ascii_digits = line[:digits].isascii() and 1 <= digits <= 2
        if ascii_digits and line[digits : digits + 1] == "." and not line[digits + 1 : digits + 2].isdecimal():
            lines[i] = line[digits + 1 :].strip()
    begins = lines[0][:3] == "Yes" and not (lines[0][3:4].isalnum() or lines[0][3:4] == "_")
    if not begins:
        return 0, "", ""
    word, marks = lines[1], '"\u201c\u201d\u201e\u00ab\u00bb'
    places = [i for i, character in enumerate(word) if character in marks]
    closing = [i for i in places if word[i] != "\u201e"]
    for first, second in zip(places, places[1:], strict=False):
        if second - first > 1:
            if second in closing and word[first + 1 : second].strip():
                word = word[first + 1 : second].strip()
            break
    return 1, word, f"{lines[2]} {lines[3]}".strip()


@given(OUTPUTS.filter(lambda text: not any(c.isdigit() and not c.isascii() for c in text) and "\u201e" not in text))
def test_the_rules_equal_their_restatement(output: str) -> None:
    assert tuple(parse_official(output, "metaphor").values.values()) == restated(Answer(output).raw)


@given(OUTPUTS, st.sampled_from(QUESTIONS))
def test_promises(output: str, question: Question) -> None:
    parsed = parse_official(output, question)
    assert tuple(parsed.values) == FIELDS[question]
    for field, value in parsed.values.items():
        assert value in (0, 1) and isinstance(value, int) if field in ("MC", "SC") else isinstance(value, str)
    assert (parsed.status == "read") == (parsed.value is not None)
    if parsed.status != "read":
        assert not any(parsed.values.values())
    assert first_answer(output, question).value in (True, False, None)
    without_mark(output), same_place(output)


# --- marks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "field", "text", "kind"),
    [
        ("flat", "MW", "flat", "word"),
        ("[I] horse", "MW", "horse", "object"),
        ("[I]horse", "ST", "horse", "object"),
        ("[I]", "MW", "the whole image", "image"),
        (" [I] ", "SW", "the whole image", "image"),
        ("[S] office life", "ST", "office life", "free"),
        ("[I] is not read here", "ME", "[I] is not read here", "word"),
        ("word [sic]", "MW", "word [sic]", "word"),
    ],
)
def test_annotations(raw: str, field: str, text: str, kind: Any) -> None:
    assert read_annotation(raw, field) == Annotation(text, kind)


@pytest.mark.parametrize(
    ("raw", "field", "message"),
    [
        ("", "MW", "is empty"),
        ("[S]", "MW", r"\[S\] without words"),
        ("[I]", "ST", "whole image is an answer to MW and SW only"),
        ("[X] horse", "SW", r"unknown mark \[X\]; known: \[I\] object"),
        ("[i] horse", "SW", r"unknown mark \[i\]"),
        ("[I][S] x", "MW", "two marks, or a mark that is not at the start"),
        ("horse [I]", "ST", "not at the start"),
        ("[I], horse", "SW", r"has ',' behind its mark \[I\]"),
    ],
)
def test_annotations_that_break_the_rules(raw: str, field: str, message: str) -> None:
    with pytest.raises(AnnotationError, match=message):
        read_annotation(raw, field)


@pytest.mark.parametrize(
    ("predicted", "text", "marked"),
    [
        ("horse", "horse", False),
        ("[I] horse", "horse", True),
        ("[I]", "the whole image", True),
        ("[S]", "", True),
        ("[X] horse", "[X] horse", False),
    ],
)
def test_predictions_lose_their_mark(predicted: str, text: str, marked: bool) -> None:
    assert without_mark(predicted) == (text, marked)
