"""All readers on the corpus of model outputs, and what they promise of any text."""

from __future__ import annotations

import re

import corpus
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.option import option
from figlang_tasks.answers.text import Answer, span
from figlang_tasks.answers.yes_no import yes_no

CASES = [(name, case) for name in corpus.READERS for case in corpus.cases(name)]
OUTPUTS = [case["output"] for _, case in CASES if case["output"]]


@pytest.mark.parametrize("name", corpus.READERS)
def test_each_output_is_read_as_a_careful_person_reads_it(name: str) -> None:
    wrong = {}
    for case in corpus.cases(name):
        read = corpus.read(name, case)
        if read != corpus.expected(case):
            wrong[case["output"]] = read, corpus.expected(case)
    assert not wrong


@pytest.mark.parametrize("name", corpus.READERS)
def test_what_is_read_otherwise_is_rare_and_nearly_never_a_value(name: str) -> None:
    known = [case for case in corpus.cases(name) if "reads" in case]
    assert all(tuple(case["reads"]) != (case["value"], case["status"]) for case in known)
    assert len(known) <= 0.08 * len(corpus.cases(name))
    assert sum(case["reads"][0] is not None for case in known) <= 1


LETTERS = re.compile(r"(?<![\w'])[BCD](?![\w'])")
OTHER_NAMES = re.compile(r"\d|first|second|third|fourth|last|top|bottom|[\uff21-\uff3a\u24b6-\u24cf]", re.I)


def test_no_letter_is_preferred() -> None:
    """Where B, C and D change places in an output, they do in what is read."""
    other = dict(zip("BCD", "CDB", strict=True))
    asked = 0
    for case in corpus.cases("option"):
        if case["options"] == "ABCD" and case["value"] in other and not OTHER_NAMES.search(case["output"]):
            if "reads" not in case and LETTERS.search(case["output"]):
                asked += 1
                changed = LETTERS.sub(lambda letter: other[letter[0]], case["output"])
                assert corpus.read("option", {**case, "output": changed}) == (other[case["value"]], "read"), changed
    assert asked > 50


# --- any text --------------------------------------------------------------------------------------------------------

PIECES = st.one_of(
    st.sampled_from(OUTPUTS), st.text(max_size=30), st.sampled_from(["<think>", "</think>", "\n", "not "])
)
TEXTS = st.lists(PIECES, max_size=5).map("".join)


@given(TEXTS)
def test_an_answer_is_a_part_of_the_output(text: str) -> None:
    answer = Answer.of(text)
    assert len(answer.text) == len(answer.raw)
    raw, start, end = span(text)
    assert len(raw) == len(text) and answer.raw == raw[start:end].strip()
    assert all(sign in (own, "\n") for sign, own in zip(raw, text, strict=True))  # a thought is line ends


@pytest.mark.parametrize("size", [40_000, 70_000, 200_000])
def test_of_a_long_answer_both_ends_are_read(size: int) -> None:
    filler = "word " * (size // 5)
    for output in (f"The answer is B. {filler}", f"{filler} The answer is B."):
        assert option(output, 4).value == 1


def test_a_thought_is_no_answer() -> None:
    for thought in ("<think>The answer is A.</think>", "The answer is A.</think>", "<think>The answer is A."):
        assert (option(thought, 4).status, option(thought, 4).rule) == ("empty", "thought")
        assert option(f"{thought}</think>B", 4).value == 1


@pytest.mark.parametrize("read", [yes_no, entailment, lambda output: option(output, 4)])
def test_what_is_no_output(read: object) -> None:
    assert callable(read)
    assert (read(None).status, read(" \n").rule) == ("missing", "empty")
    with pytest.raises(TypeError, match="got int"):
        read(3)
