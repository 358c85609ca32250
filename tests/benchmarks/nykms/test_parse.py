"""An annotation of NYK-MS loses its mark, or one that breaks the rules passes, if this fails."""

from __future__ import annotations

from typing import Any

import pytest

from figlang_tasks.benchmarks.nykms.parse import Annotation, read_annotation
from figlang_tasks.core.errors import DataError


@pytest.mark.parametrize(
    ("raw", "field", "text", "referent"),
    [
        ("flat", "MW", "flat", "word"),
        ("[I] horse", "MW", "horse", "object"),
        ("[I]horse", "ST", "horse", "object"),
        (" [I] ", "SW", "the whole image", "image"),
        ("[S] office life", "ST", "office life", "free"),
        ("[I] is not read here", "ME", "[I] is not read here", "word"),
        ("word [sic]", "MW", "word [sic]", "word"),
    ],
)
def test_a_mark_says_what_an_annotation_names(
    raw: str, field: str, text: str, referent: Any
) -> None:
    assert read_annotation(raw, field) == Annotation(text, referent)


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
def test_annotations_that_break_the_rules_are_refused(raw: str, field: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_annotation(raw, field)
