"""An invented question in another wording of V-FLUTE is read as an answer if this fails."""

from __future__ import annotations

import re

import pytest

from figlang_tasks.answers.prompt_question import LINE_START, PromptQuestion
from figlang_tasks.answers.wordings import Wordings, match_lines, word_lines
from figlang_tasks.benchmarks.vflute import tasks as vflute

TEXTS = (
    "The boss is a shark.",
    "A cat sleeps. It dreams on the roof.",
    "it",
    "claim",  # stands in the questions too
    '"? Explain',  # and so do these signs after the text
    'a" a',
    "Two lines.\n\nThe second has an image.",
    " blanks around it ",
    "...",  # no word
    "word " * 200,  # a prompt of more than 800 signs
    "word " * 400 + "end",  # and of more than 400 words
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("next_text", ("The boss is a shark.", "A man walks.", "claim"))
def test_no_opening_of_a_wording_is_overlooked(text: str, next_text: str) -> None:
    wordings = vflute.other_wordings()
    questions = [PromptQuestion(question, [text]) for question in wordings.questions(text)]
    for next_question in wordings.questions(next_text):
        for lead in ("Entailment.\n", "B\n\nThe next one:\n2. ", "Entailment. "):
            output = f"{lead}{next_question}\nLABEL: entailment"
            if wordings.questions_in(output, word_lines(output, 0), text):
                continue
            for question in questions:
                assert not any(opening.pattern.search(output) for opening in question.openings)


def test_an_output_without_a_question_needs_none_of_the_wordings() -> None:
    output = "The shark has a tie.\n\nIt is a metaphor.\nLABEL: entailment"
    starts = word_lines(output, 0)
    assert vflute.other_wordings().questions_in(output, starts, "The boss is a shark.") == []


def test_a_text_may_not_stand_within_a_word() -> None:
    with pytest.raises(ValueError, match="within a word"):
        Wordings((("Is it un", "?"),))


@pytest.mark.parametrize("start", (0, 1, 6, 7, 30))
def test_lines_are_matched_as_finditer_does(start: int) -> None:
    text = "Q: a\n> Q: b\n\n\n2. Q: c Q: d\n - \nQ:\n\nQ: e\nno\n Q: f"
    for pattern in (rf"{LINE_START}(?:\d\. )?Q:", rf"{LINE_START}Q:\W*\w?[^:]*"):
        line_pattern = re.compile(pattern)
        expected = [match.span() for match in line_pattern.finditer(text, start)]
        matches = match_lines(line_pattern, text, word_lines(text, start))
        assert [match.span() for match in matches] == expected
