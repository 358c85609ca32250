"""The question of a benchmark in several wordings, and whether one of them begins in an output.

V-FLUTE asks of each row in one of 21 wordings. A model that invents a next question may take
another one than that of its prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from figlang_tasks.answers.first_words import first_words
from figlang_tasks.answers.prompt_question import MOST_WORDS, WORD, PromptQuestion, plain

_LINE_WITH_WORD = re.compile(r"\n(?=[^\w\n]*\w)")
_ANY_TEXT = "zqx"  # stands for the text of a row, and is no word of a question


def word_lines(text: str, start: int) -> list[int]:
    """Where the lines of a text start that have a word; without its first line.

    Args:
        text: the text.
        start: the first place where a line may start.
    """
    return [line.end() for line in _LINE_WITH_WORD.finditer(text, max(0, start - 1))]


def match_lines(
    pattern: re.Pattern[str], text: str, line_starts: Sequence[int]
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern at the starts of lines, without those that overlap.

    They are those of ``pattern.finditer`` for a pattern that begins with `LINE_START` and has a
    word in its first line, which would try it at each character.
    """
    end_of_last = 0
    for start in line_starts:
        if start < end_of_last:
            continue
        match = pattern.match(text, start)
        if match is not None:
            end_of_last = match.end()
            yield match


@dataclass(frozen=True)
class Wordings:
    """A question in several wordings, each of which shows the one text of a row.

    Attributes:
        frames: what stands before and after the text, by wording. Neither ends or begins with a
            letter beside the text.
    """

    frames: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        """Refuse a frame with a letter or digit beside the text."""
        for before, after in self.frames:
            if before[-1:].isalnum() or after[:1].isalnum():
                raise ValueError(f"the text is within a word of {before!r} and {after!r}")

    def questions(self, text: str) -> list[str]:
        """The question about a row with this text, in all wordings."""
        return [f"{before}{text}{after}" for before, after in self.frames]

    def questions_in(
        self, output: str, line_starts: Sequence[int], text: str
    ) -> list[PromptQuestion]:
        """The question about a row in all wordings; none if no wording can begin in the output.

        Args:
            output: the output, in plain signs (`plain`).
            line_starts: where its lines start (`word_lines`).
            text: the text of the row.
        """
        # Most outputs have none, and to make the questions of a row takes ten times as long.
        if self._has_plain_place(plain(text)):
            if not any(self._openings.match(output, start) for start in line_starts):
                return []
        return [PromptQuestion(question, [text]) for question in self.questions(text)]

    @cached_property
    def first_words(self) -> frozenset[str]:
        """The words with which the question may begin, but for those of its text."""
        words: frozenset[str] = frozenset()
        for before, after in self.frames:
            words |= first_words(plain(before)) | first_words(plain(after))
        return words

    @cached_property
    def _openings(self) -> re.Pattern[str]:
        """A pattern of all words with which a wording begins (`PromptQuestion.openings`).

        It is the same for all texts that have a plain place.
        """
        patterns: list[str] = []
        for question in self.questions(_ANY_TEXT):
            for opening in PromptQuestion(question, [_ANY_TEXT]).openings:
                patterns.append(opening.pattern.pattern.replace("(?P<words>", "(?:"))
        return re.compile("|".join(dict.fromkeys(patterns)), re.I)

    def _has_plain_place(self, text: str) -> bool:
        """Whether the words before a text in a question are those before `_ANY_TEXT` in its place.

        Not if the text has several lines, or stands again or farther on in the question, or if the
        question is so long that its first line alone may begin it.

        Args:
            text: in plain signs.
        """
        if "\n" in text or text != text.strip() or not WORD.search(text):
            return False
        if len(text) + self._longest_frame >= 2 * MOST_WORDS:  # a word and a blank are two signs
            return False
        return all((text + after).rfind(text) == 0 for after in self._plain_ends)

    @cached_property
    def _longest_frame(self) -> int:
        """The most characters before and after the text together."""
        return max(len(before) + len(after) for before, after in self.frames)

    @cached_property
    def _plain_ends(self) -> list[str]:
        """What stands after the text, in plain signs, each once."""
        return list(dict.fromkeys(plain(after) for _, after in self.frames))
