"""The published post-processing, the line that the careful reader gets, and the marks of annotated answers."""

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

REFUSAL = "I'm sorry, but I can't provide assistance with that content."  # as the paper quotes it (section 3.5)

# --- the joint prompts ------------------------------------------------------------------------------------------------

FULL = '1. Yes\n2. The word "flat".\n3. Out of tune.\n4. A house has no pitch.'

METAPHOR: list[tuple[str | None, int, str, str, str, str]] = [
    # the answer in the form asked for
    (FULL, 1, "flat", "Out of tune. A house has no pitch.", "read", "yes"),
    ("1. No", 0, "", "", "read", "no"),
    ("Yes\nflat\ndull\nbecause", 1, "flat", "dull because", "read", "yes"),
    # rule 1: empty lines do not count; too few are padded; what follows the fourth is not looked at
    ("\n\n1. Yes\n\n2. flat\n \n3. dull\n\n4. because\n", 1, "flat", "dull because", "read", "yes"),
    ("Yes", 1, "", "", "read", "yes"),
    ("1. Yes\n2. flat", 1, "flat", "", "read", "yes"),
    ("1. Yes\n2. flat\n3. dull", 1, "flat", "dull", "read", "yes"),
    (f"{FULL}\nNote: more.\n", 1, "flat", "Out of tune. A house has no pitch.", "read", "yes"),
    ("1. Yes\r\n2. flat\r\n3. dull", 1, "flat", "dull", "read", "yes"),
    # rule 2: only question numbers go, and only one
    ("1.Yes\n2.flat\n3. 3.5 million\n4. 4. why", 1, "flat", "3.5 million 4. why", "read", "yes"),
    ("Yes\n3.5 million\n", 1, "3.5 million", "", "read", "yes"),
    # rule 3: Yes in this spelling, as the first word; all else is No, and the rest is emptied
    ("Yes.\nflat", 1, "flat", "", "read", "yes"),
    ("Yes, it does\nflat", 1, "flat", "", "read", "yes"),
    ("Yesterday\nflat", 0, "", "", "unreadable", "not-yes"),
    ("yes\nflat", 0, "", "", "unreadable", "not-yes"),
    ("**Yes**\nflat", 0, "", "", "unreadable", "not-yes"),
    ("1) Yes\nflat", 0, "", "", "unreadable", "not-yes"),
    ("It does.\nYes", 0, "", "", "unreadable", "not-yes"),
    ("No, it does not.\n2. flat\n3. dull", 0, "", "", "read", "no"),
    ("Nothing\nflat", 0, "", "", "unreadable", "not-yes"),
    # rule 4: what stands between quotation marks; single ones are apostrophes as often as not
    ('Yes\n"flat" and "house"', 1, "flat", "", "read", "yes"),
    ("Yes\nThe word \u201cflat\u201d", 1, "flat", "", "read", "yes"),
    ("Yes\nThe word \u00abflat\u00bb", 1, "flat", "", "read", "yes"),
    ('Yes\nThe word "flat', 1, 'The word "flat', "", "read", "yes"),
    ('Yes\nThe word ""', 1, 'The word ""', "", "read", "yes"),
    ("Yes\nThe piano's 'flat'", 1, "The piano's 'flat'", "", "read", "yes"),
    ('Yes\n" flat "', 1, "flat", "", "read", "yes"),
    # a refusal is a status of its own, and counts as No
    (REFUSAL, 0, "", "", "refused", "refusal"),
    (REFUSAL.replace("'", "\u2019"), 0, "", "", "refused", "refusal"),
    ("1. I cannot determine that.", 0, "", "", "refused", "refusal"),
    ("As an AI language model, I am unable to view images.", 0, "", "", "refused", "refusal"),
    ("1. Yes\n2. I'm sorry, but I can't say", 1, "I'm sorry, but I can't say", "", "read", "yes"),
    ("No\nI'm sorry, but I can't say", 0, "", "", "read", "no"),
    # thoughts are no part of the answer, special tokens neither
    (f"<think>1. No</think>\n{FULL}<|im_end|>", 1, "flat", "Out of tune. A house has no pitch.", "read", "yes"),
    ("Hm. No.</think>1. Yes\n2. flat", 1, "flat", "", "read", "yes"),
    ("<think>1. Yes\n2. flat", 0, "", "", "empty", "thought"),
    # nothing
    ("", 0, "", "", "empty", "empty"),
    (" \n\t\n", 0, "", "", "empty", "empty"),
    (None, 0, "", "", "missing", "missing"),
]


@pytest.mark.parametrize(("output", "label", "word", "explanation", "status", "rule"), METAPHOR)
def test_metaphor(output: str | None, label: int, word: str, explanation: str, status: str, rule: str) -> None:
    parsed = parse_official(output, "metaphor")
    assert (parsed.values, parsed.status, parsed.rule) == ({"MC": label, "MW": word, "ME": explanation}, status, rule)
    assert (parsed.value is None) == (status != "read")


@pytest.mark.parametrize(
    ("output", "answers"),
    [
        ("1. Yes\n2. cozy\n3. landlords\n4. it burns\n5. more", (1, "cozy", "landlords", "it burns")),
        ('Yes\nThe word "cozy"\nlandlords', (1, "cozy", "landlords", "")),
        ('Yes\ncozy\nthe "landlords"\nit "burns"', (1, "cozy", 'the "landlords"', 'it "burns"')),
        ("1. No\n2. cozy\n3. landlords\n4. it burns", (0, "", "", "")),
    ],
)
def test_sarcasm(output: str, answers: tuple[int, str, str, str]) -> None:
    assert tuple(parse_official(output, "sarcasm").values.values()) == answers


@pytest.mark.parametrize(
    ("question", "output", "value", "status", "rule"),
    [
        ("mc", "Yes", 1, "read", "yes"),
        ("sc", "1. Yes.", 1, "read", "yes"),
        ("sc", "No", 0, "read", "no"),
        ("mc", "Perhaps", 0, "unreadable", "not-yes"),
        ("mc", REFUSAL, 0, "refused", "refusal"),
        ("mw", "flat", "flat", "read", "line"),
        ("mw", '1. The word is "flat".\nBecause', "flat", "read", "quoted"),
        ("sw", "Sorry", "Sorry", "read", "line"),  # a word of a caption may be that
        ("sw", "I can't believe it", "I can't believe it", "read", "line"),
        ("sw", REFUSAL, "", "refused", "refusal"),
        ("me", "It means dull.\n\nA house has no pitch.", "It means dull. A house has no pitch.", "read", "lines"),
        ("st", "1. people", "people", "read", "lines"),
        ("se", "", "", "empty", "empty"),
        ("se", "1.", "", "empty", "lines"),
        ("st", None, "", "missing", "missing"),
    ],
)
def test_single_questions(question: Question, output: str | None, value: int | str, status: str, rule: str) -> None:
    parsed = parse_official(output, question)
    assert (parsed.values, parsed.status, parsed.rule) == ({question.upper(): value}, status, rule)


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


@pytest.mark.parametrize(
    ("question", "output", "label"),
    [
        *[("mc", output, 1) for output in ("Yes", "**1. Yes**", "Answer to question 1: **Yes**", "No doubt: yes.")],
        *[("metaphor", output, 1) for output in ("1. Yes\n2. No", "Answers:\n1. Yes\n2. no", "1.\nYes\nNo")],
        *[("sarcasm", output, 0) for output in ("1. Does it contain sarcasm?\nNo\nYes", "1. No\n2. Yes", "No.\nYes")],
        ("sc", "1. Does it contain sarcasm? Yes", 1),
        ("sc", "This is sarcastic.", 1),
        ("mc", "It does not contain metaphor.\nYes", 0),
        ("mc", "It contains sarcasm.", None),
        ("sc", "<think>No.</think>\n1. Yes", 1),
        ("sc", "<think>Yes.", None),
        ("mc", "Yes or No", None),
        ("mc", "It might contain a metaphor.", None),
        ("mc", REFUSAL, None),
        ("mc", "...\n", None),
        ("mc", "", None),
        ("mc", None, None),
    ],
)
def test_first_answer(question: Question, output: str | None, label: int | None) -> None:
    assert first_answer(output, question).value == label


@pytest.mark.parametrize(
    ("question", "output"),
    [
        ("me", "I can't help but think of the cage as the job."),
        ("me", "I'm afraid that it means death."),
        ("se", "I can't help laughing: it says the opposite."),
        ("se", "We can't see the bird, so it stands for freedom."),
        ("st", "I cannot identify with the rich: mocks them"),
        ("mw", "I can't make it"),
        ("mw", "I will not comply"),
    ],
)
def test_answers_in_words_that_begin_as_refusals_do(question: Question, output: str) -> None:
    parsed = parse_official(output, question)
    assert (parsed.status, parsed.values) == ("read", {question.upper(): output})


@pytest.mark.parametrize(
    "output",
    [
        "As a language model, I cannot view images",
        "I don't have the ability to view images",
        "There is no image provided.",
        "I can't assist with that.",
        "I cannot provide help with this request.",
        "I apologize, but I am unable to process this.",
        "I'm unable to analyze images.",
    ],
)
@pytest.mark.parametrize("question", ["mc", "me", "sarcasm"])
def test_refusals(question: Question, output: str) -> None:
    parsed = parse_official(output, question)
    assert parsed.status == "refused" and not any(parsed.values.values())
    if question != "me":
        assert first_answer(output, question).value is None


# --- marks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "field", "text", "kind"),
    [
        ("flat", "MW", "flat", "word"),
        (" flat ", "SW", "flat", "word"),
        ("[I] horse", "MW", "horse", "object"),
        ("[I]horse", "ST", "horse", "object"),
        ("[I]", "MW", "the whole image", "image"),
        (" [I] ", "SW", "the whole image", "image"),
        ("[S] office life", "ST", "office life", "free"),
        ("[S] power", "MW", "power", "free"),
        ("[I] is not read here", "ME", "[I] is not read here", "word"),
        ("word [sic]", "MW", "word [sic]", "word"),
        ("[I] is not read here [I]", "SE", "[I] is not read here [I]", "word"),
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
        ("[] horse", "SW", r"unknown mark \[\]"),
        ("[I][S] x", "MW", "two marks, or a mark that is not at the start"),
        ("[I] [I]", "MW", "two marks"),
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
        ("[S] power", "power", True),
        ("[S]", "", True),
        ("[X] horse", "[X] horse", False),
        ("", "", False),
    ],
)
def test_predictions_lose_their_mark(predicted: str, text: str, marked: bool) -> None:
    assert without_mark(predicted) == (text, marked)


@pytest.mark.parametrize(
    "text", ["the whole image", "The image.", "cartoon", "the entire picture itself", "This scene"]
)
def test_other_words_for_the_whole_image(text: str) -> None:
    assert same_place(text) == "the whole image"
