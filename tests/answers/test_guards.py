"""If these fail, a quick look at an answer misses what the long pattern behind it would find."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from text_readers import expressions, matching_texts

from figlang_tasks.answers import (
    entailment,
    labels,
    next_question,
    output,
    text,
    thought_tags,
    verdict,
    words,
)
from figlang_tasks.answers.any_case import AnyCase
from figlang_tasks.answers.first_words import first_words, may_begin_question
from figlang_tasks.answers.prompt_question import PromptQuestion, plain
from figlang_tasks.answers.wordings import word_lines
from figlang_tasks.benchmarks.vflute import tasks as vflute
from figlang_tasks.core import row_files

FIRST_LETTERS = re.compile(r"\(\?=\[[^\]]+\]\)(?=\(\?)")
"""The letters that a group of words may begin with, before the group."""
LETTERS_TAKEN_FOR = str.maketrans("skiI", "\u017f\u212a\u0131\u0130")
"""Letters beyond ASCII that patterns take for s, k and i if they ignore case."""


def spellings(pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield texts that a pattern matches, in several spellings if it ignores case."""
    for spelling in matching_texts(pattern, variants=60):
        yield spelling
        if pattern.flags & re.IGNORECASE:
            yield spelling.upper()
            yield spelling.translate(LETTERS_TAKEN_FOR)


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
    for spelling in spellings(without_letters):
        spans = [match.span() for match in without_letters.finditer(spelling)]
        assert [match.span() for match in pattern.finditer(spelling)] == spans, spelling
        matches += len(spans)
    assert matches > 20


def test_each_affirming_phrase_has_a_word_that_is_looked_for() -> None:
    texts = [text for text in spellings(words._AFFIRMING) if words._AFFIRMING.search(text)]
    assert len(texts) > 20
    assert [text for text in texts if not words._MAY_AFFIRM.search(text)] == []


@pytest.mark.parametrize(
    "name", [name for name, value in vars(words).items() if isinstance(value, AnyCase)]
)
def test_patterns_find_the_same_in_small_letters(name: str) -> None:
    any_case = getattr(words, name)
    matches = 0
    for spelling in spellings(any_case.pattern):
        for answer in (spelling, f"So {spelling}", f"{spelling}ly, not {spelling}"):
            spans = [match.span() for match in any_case.pattern.finditer(answer)]
            first = any_case.search(answer)
            assert (None if first is None else first.span()) == (spans[0] if spans else None)
            assert any_case.count(answer) == len(spans)
            matches += len(spans)
    assert matches > 20


def test_each_announced_neither_has_a_word_that_is_looked_for() -> None:
    pattern = entailment._ANNOUNCED_NEITHER
    texts = [spelling for spelling in spellings(pattern) if pattern.search(spelling)]
    assert len(texts) > 20
    assert [spelling for spelling in texts if not entailment._may_say_neither(spelling)] == []


def test_no_name_of_a_label_is_passed_over() -> None:
    mentions = 0
    for spelling in spellings(labels._LABEL):
        for output_text in (
            spelling,
            f"It is non-{spelling}",
            f"mental NON {spelling}. {spelling}",
        ):
            answer = text.Answer.of(output_text)
            spans = [match.span() for match in labels._LABEL.finditer(answer.text)]
            assert [mention.word.span() for mention in labels.find_mentions(answer)] == spans
            mentions += len(spans)
    assert mentions > 100


def test_each_marked_part_has_a_sign_that_is_looked_for() -> None:
    for pattern, signs in ((verdict._JSON_VALUE, "\"'"), (verdict._BOX, "\\")):
        texts = [spelling for spelling in spellings(pattern) if pattern.search(spelling)]
        assert len(texts) > 20
        assert [spelling for spelling in texts if not set(signs) & set(spelling)] == []


def test_each_placeholder_has_a_sign_that_is_looked_for() -> None:
    texts = set(filter(row_files._PLACEHOLDER.search, spellings(row_files._PLACEHOLDER)))
    assert len(texts) > 10
    assert [
        placeholder for placeholder in texts if not row_files.placeholder_fault(placeholder)
    ] == []


def test_signs_of_ascii_are_the_same_in_bytes() -> None:
    signs = "".join(map(chr, range(128)))
    assert text.plain_signs(signs) == signs.translate(text._PLAIN)


PROMPTS: dict[str, list[str]] = {
    'Does the image entail the claim "It rains."? Explain why.': ["It rains."],
    "Premise: It rains.\nHypothesis: It is wet.\n\nIs it so?": ["It rains.", "It is wet."],
    "<image>\n<image>\nQuestion 1: What is funny here?\n\nAnswer:": [],
    "How about this one?\n\nThe caption:\nA boat. It sinks.\nWhat is it?": ["A boat. It sinks."],
    "\u212aind: So\u017ft\nIs it kind?": ["So\u017ft"],
}
LEADS = ("", "- ", "**", "2. ", "Question 2: ", "Q2) ", "Part #3: ", "a) ")
HEADS = (
    "Question:", "the follow-up question 3:", "Pergunta:", "USER:", "Human :", "<image>", "[INST]",
    "<|user|>", "Claim2: A man walks home.", "sentence A: A man walks.", "premise: A man walks.",
    "Caption: A man walks.", "The caption: A man walks home.", "Kind: a man walks home.",
)  # fmt: skip


@pytest.mark.parametrize("prompt", PROMPTS)
def test_no_beginning_of_a_question_is_passed_over(prompt: str) -> None:
    question = PromptQuestion(prompt, PROMPTS[prompt])
    beginnings = 0
    for head in (*HEADS, prompt, *prompt.splitlines(), *re.split("(?<=[.?]) ", prompt)):
        for lead in LEADS:
            for begun in (head, head.upper(), head.lower()):
                output_text = plain(f"B.\n{lead}{begun}\nIt is.")
                starts = word_lines(output_text, 0)
                if next_question._beginnings(output_text, starts, [question]):
                    assert may_begin_question(output_text, starts, first_words(plain(prompt)))
                    beginnings += 1
    assert beginnings > 100


@pytest.mark.parametrize("claim", ("The boss is a shark.", "Two lines.\n\nIt is.", "..."))
def test_no_beginning_of_another_wording_is_passed_over(claim: str) -> None:
    wordings = vflute.other_wordings()
    question_words = wordings.first_words | first_words(claim)
    questions = [PromptQuestion(question, [claim]) for question in wordings.questions(claim)]
    beginnings = 0
    for begun in (*wordings.questions("A man walks."), *wordings.questions(claim)):
        for sentence in (begun, *re.split("(?<=[.?]) ", begun)):
            output_text = plain(f"B.\n2. {sentence}")
            starts = word_lines(output_text, 0)
            if next_question._beginnings(output_text, starts, questions):
                assert may_begin_question(output_text, starts, question_words)
                beginnings += 1
    assert beginnings > 10


def test_no_fixed_beginning_of_a_question_or_turn_is_passed_over() -> None:
    names_of_texts = PromptQuestion("Does it entail the claim?\nIt rains.", ["It rains."]).labels
    assert names_of_texts is not None
    for pattern in (next_question._QUESTION, next_question._TURN, names_of_texts):
        beginnings = 0
        for spelling in spellings(pattern):
            output_text = plain(f"B.\n{spelling.lstrip()}")
            if pattern.search(output_text):
                starts = word_lines(output_text, 0)
                assert may_begin_question(output_text, starts, frozenset()), output_text
                beginnings += 1
        assert beginnings > 10


def test_an_announced_label_begins_no_question() -> None:
    prompt = next(iter(PROMPTS))
    output_text = "The shark has a tie.\n\nLABEL: entailment"
    assert not may_begin_question(output_text, word_lines(output_text, 0), first_words(prompt))


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
