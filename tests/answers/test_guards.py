"""If these fail, a quick look at an answer misses what the long pattern behind it would find."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from text_readers import expressions, matching_texts

from figlang_tasks.answers import output, thought_tags, words

FIRST_LETTERS = re.compile(r"\(\?=\[[^\]]+\]\)(?=\(\?)")
"""The letters that a group of words may begin with, before the group."""
LETTERS_TAKEN_FOR = str.maketrans("skiI", "\u017f\u212a\u0131\u0130")
"""Letters beyond ASCII that patterns take for s, k and i if they ignore case."""


def spellings(pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield texts that a pattern matches, in several spellings if it ignores case."""
    for text in matching_texts(pattern, variants=60):
        yield text
        if pattern.flags & re.IGNORECASE:
            yield text.upper()
            yield text.translate(LETTERS_TAKEN_FOR)


def patterns_with_first_letters() -> dict[str, re.Pattern[str]]:
    """The patterns of readers that tell the first letters of their words, by name."""
    patterns: dict[str, re.Pattern[str]] = {}
    for name, pattern in expressions().items():
        if name.startswith("figlang_tasks.answers.") and FIRST_LETTERS.search(pattern.pattern):
            patterns[name] = pattern
    return patterns


@pytest.mark.parametrize("name", patterns_with_first_letters())
def test_first_letters_are_those_of_all_words(name: str) -> None:
    pattern = patterns_with_first_letters()[name]
    without_letters = re.compile(FIRST_LETTERS.sub("", pattern.pattern), pattern.flags)
    matches = 0
    for text in spellings(without_letters):
        spans = [match.span() for match in without_letters.finditer(text)]
        assert [match.span() for match in pattern.finditer(text)] == spans, text
        matches += len(spans)
    assert matches > 20


def test_each_affirming_phrase_has_a_word_that_is_looked_for() -> None:
    texts = [text for text in spellings(words._AFFIRMING) if words._AFFIRMING.search(text)]
    assert len(texts) > 20
    assert [text for text in texts if not words._MAY_AFFIRM.search(text)] == []


def test_each_tag_has_a_sign_that_is_looked_for() -> None:
    texts = [text for text in spellings(thought_tags._CANDIDATE) if thought_tags.find_tags(text)]
    assert len(texts) > 20
    texts.append("analysisThe image")  # The expression has its capital in a condition.
    assert [text for text in texts if not thought_tags.may_have_tags(text)] == []


def test_each_token_ends_the_turn() -> None:
    tokens = set(matching_texts(output._END_OF_TURN, variants=60))
    assert len(tokens) > 10
    for token in tokens:
        text, start, end = output.answer_span(f"A\n{token}B")
        assert text[start:end].strip() == "A", token


def test_each_tag_begins_or_ends_the_answer() -> None:
    tags = set(filter(output._ANSWER_TAG.fullmatch, spellings(output._ANSWER_TAG)))
    assert len(tags) > 10
    for tag in tags:
        text, start, end = output.answer_span(f"{tag}B")
        assert text[start:end].strip() == "B", tag
