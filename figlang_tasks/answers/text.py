"""A model's answer in plain signs, its sentences and its quotations."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from figlang_tasks.answers.output import answer_span
from figlang_tasks.answers.words import ANNOUNCED, IN_LOOPS

QUOTED: Final = "\ufffc"
"""Stands for each sign of a quoted sentence (`Answer.without_quotations`).

The words in 'It says "No way out".' become such signs, so that no rule reads the "No".
In `Around` one such sign stands for the whole sentence.
"""

_LONGEST_END: Final = 1 << 15  # characters of a long answer that are read at each of its ends
_LEFT_OUT: Final = "\x00"  # stands for what is left out between them; it ends a sentence
# Characters that are looked at before and after a word, so that every reader takes linear time
_LOOK: Final = 160
_LOOK_RAW: Final = 4 * _LOOK  # the same, with quotations in full length

BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")
# Written so that it begins with one set of signs, by which the search passes over all others.
_SENTENCE_END = re.compile(r"""[\n?!;\x00.](?:(?<!\.)|(?=["')\]\s]|\Z))""")

_QUOTATION = re.compile(
    # "Straight double marks", also where the text is cut off before the closing one
    r"""(?<!\w)"(?=\S)[^"\n]+(?:(?<=\S)"(?!\w)|(?<=[.!?] )"(?=\s)|\Z)"""
    # 'Single marks': that of "isn't", between two letters, closes none
    r"""|(?<!\w)'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w))+(?<=\S)'(?!\w)"""
)
_MASKED_QUOTATION = re.compile(rf"{QUOTED}+")
_VALUE_OF_JSON = re.compile(r'":\s?\Z')  # '{"answer": ', and then a value in quotation marks
# After a quotation: "Stop." he says
_SENTENCE_GOES_ON = re.compile(r"""["' ,;:)]*[a-z]""")


# --- plain signs ---


class _Plain(dict[int, str]):
    """The plain sign for the code of each sign, for `str.translate`; it keeps the length.

    Signs that are not in it are looked up in Unicode once, and kept.
    """

    def __missing__(self, code: int) -> str:
        """Add a sign that is not in the table, and return its plain one.

        It is "B" for a wide, circled or mathematical "B"; for other signs it is the sign itself.
        """
        sign = plain_sign = chr(code)
        if unicodedata.decomposition(sign).startswith(("<wide>", "<circle>", "<font>")):
            plain = unicodedata.normalize("NFKC", sign)
            if len(plain) == 1 and plain.isascii():  # A circled 10 would be two signs.
                plain_sign = plain
        # It is stored once: other threads translate meanwhile, and take what they find.
        self[code] = plain_sign
        return plain_sign


_PLAIN = _Plain(
    str.maketrans(
        {
            # Marks of emphasis, GPT-2's sign for a blank, wide blanks, signs of no width
            **dict.fromkeys(
                QUOTED + "*`#~_$\u0120\u00a0\u2007\u202f\u200b\u200d\u200e\u200f\ufe0f\ufeff", " "
            ),
            **dict.fromkeys("\u2018\u2019\u02bc", "'"),
            **dict.fromkeys("\u201c\u201d\u00ab\u00bb\u300c\u300d", '"'),
            **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
            **dict.fromkeys("\u2192\u21d2\u2234", ":"),  # arrows, and the sign for "therefore"
            **dict.fromkeys("\r\u2028\u2029", "\n"),
            **dict.fromkeys("\u2014|", ";"),  # what stands after it is a clause of its own
            "\u3002": ".",
            "\u3001": ",",
            "\u3010": "[",
            "\u3011": "]",
        }
    )
)

_PLAIN_IN_ASCII: Final = bytes(ord(_PLAIN[code]) for code in range(128)) + bytes(128)
"""The plain sign for each sign of ASCII, for `bytes.translate`; other bytes do not occur."""


def plain_signs(text: str) -> str:
    """A text of the same length with plain signs for typographic ones, markup and wide letters."""
    if text.isascii():  # Bytes take a third of the time.
        return text.encode("ascii").translate(_PLAIN_IN_ASCII).decode("ascii")
    return text.translate(_PLAIN)


# --- an answer ---


class Around(NamedTuple):
    """The text before and after a word, at most 160 characters each.

    A quotation that `Answer.without_quotations` has masked counts as one character.

    Attributes:
        text_before: what stands before it, in this sentence and those before.
        sentence_before: of that, what belongs to its sentence.
        sentence_after: the rest of its sentence.
        is_in_question: whether its sentence ends in a question mark.
    """

    text_before: str
    sentence_before: str
    sentence_after: str
    is_in_question: bool


@dataclass(frozen=True)
class Answer:
    """A model's answer: its output without thoughts, special tokens and text around `<answer>`.

    The answer of "<think>A or B?</think>So <answer>**B**</answer>" is the text "  B  ".

    A thought stands in tags. A closing tag alone ends a thought that the prompt opened; an opening
    one alone begins a thought that never ended: what follows is no answer, nor is what follows the
    end of the model's turn. Of a long answer both ends are kept.

    Attributes:
        text: the answer in plain signs (`plain_signs`).
        raw: the same text in the model's own signs, "**B**"; a position in one is one in the other.
        has_thought: whether the output has a thought.
    """

    text: str
    raw: str
    has_thought: bool
    # The results of `around`, kept because several rules of a reader look at one word
    _around_by_span: dict[tuple[int, int], Around] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(cls, output: str) -> Answer:
        """The answer in a model's output."""
        without_thoughts, start, end = answer_span(output)
        raw = without_thoughts[start:end].strip()
        if len(raw) > 2 * _LONGEST_END:
            raw = raw[:_LONGEST_END] + _LEFT_OUT + raw[-_LONGEST_END:]
        return cls(plain_signs(raw), raw, has_thought=without_thoughts != output)

    def part(self, start: int, end: int) -> Answer:
        """``text[start:end]`` as an answer of its own."""
        return Answer(self.text[start:end], self.raw[start:end], self.has_thought)

    # --- quotations ---

    def without_quotations(self, prompt_texts: Sequence[str] = ()) -> Answer:
        """The answer with `QUOTED` for each sign of quoted sentences in its text.

        Quotations of several words are sentences, unless they are the answer: alone, announced, or
        a value of JSON.

        Args:
            prompt_texts: texts of the prompt, which are taken for quotations without quotation
                marks too.
        """
        spans = []
        if '"' in self.text or "'" in self.text:
            for match in _QUOTATION.finditer(self.text):
                if not self._may_answer(*match.span()):
                    spans.append(match.span())
        for text in prompt_texts:
            spans += self._repetitions_of(text)

        if not spans:
            return self
        pieces = []
        end_of_last = 0
        for start, end in sorted(spans):
            if end > end_of_last:  # else it lies in a span that is masked already
                start = max(start, end_of_last)
                pieces += [self.text[end_of_last:start], self._masked(start, end)]
                end_of_last = end
        pieces.append(self.text[end_of_last:])
        return Answer("".join(pieces), self.raw, self.has_thought)

    def _may_answer(self, start: int, end: int) -> bool:
        """Whether the quotation ``text[start:end]`` is, or may be, the answer."""
        is_one_word = len(self.text[start:end].split()) == 1
        is_all = start == 0 and end >= len(self.text) - 1  # A full stop may follow.
        return is_one_word or is_all or _announces(self.text[max(0, start - _LOOK) : start])

    def _repetitions_of(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each repetition of a text in the answer; [] for a single word."""
        words = plain_signs(text).strip(" \"'.,;:!?").split()
        if len(words) < 2:
            return []
        # Most answers do not have the text, and its pattern takes long to compile. Beyond ASCII,
        # patterns ignore case in their own way.
        if text.isascii() and self.text.isascii():
            answer_text = self.text.lower()
            if words[0].lower() not in answer_text:
                return []
            if " ".join(words).lower() not in " ".join(answer_text.split()):
                return []
        pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?: ?[.!?]|(?!\w))"
        return [match.span() for match in re.finditer(pattern, self.text, re.I)]

    def _masked(self, start: int, end: int) -> str:
        """The quotation ``text[start:end]`` with `QUOTED` for each sign between its marks.

        A full stop, "!" or "?" at its end becomes a full stop if it ends the sentence around it: it
        does in 'It says "Go home!"', but not in '"Go home!" he says'.
        """
        quotation = self.text[start:end]
        words = quotation.strip("\"'")
        end_of_words = start + quotation.rindex(words) + len(words)
        mask = QUOTED * len(words)
        if words[-1:] in (".", "!", "?") and not _SENTENCE_GOES_ON.match(self.text, end_of_words):
            mask = mask[:-1] + "."
        return quotation.replace(words, mask, 1)

    def quoted_beside(self, start: int, end: int) -> list[str]:
        """The masked quotations in the sentence of ``text[start:end]``, in the model's own words.

        `text` shows where they stand, and `raw` still has their words.
        """
        sentence_start, sentence_end = self._sentence(start, end)
        search_from = max(sentence_start, start - _LOOK_RAW)
        search_to = min(sentence_end, end + _LOOK_RAW)
        quotations = _MASKED_QUOTATION.finditer(self.text, search_from, search_to)
        return [self.raw[match.start() : match.end()].strip(" .") for match in quotations]

    # --- sentences ---

    def around(self, start: int, end: int) -> Around:
        """The text before and after ``text[start:end]``, with its sentence told apart."""
        around = self._around_by_span.get((start, end))
        if around is None:
            around = self._find_around(start, end)
            self._around_by_span[start, end] = around
        return around

    def _find_around(self, start: int, end: int) -> Around:
        """What `around` returns, worked out for a span that it was not asked for before."""
        # Masked quotations are shortened to one sign, so more is read than is kept in the end.
        sentence_start, sentence_end = self._sentence(start, end)
        text_start = max(0, start - _LOOK_RAW)
        before_start = max(sentence_start, text_start)
        after_end = min(sentence_end, end + _LOOK_RAW)
        return Around(
            text_before=_with_short_quotations(self.text[text_start:start])[-_LOOK:],
            sentence_before=_with_short_quotations(self.text[before_start:start])[-_LOOK:],
            sentence_after=_with_short_quotations(self.text[end:after_end])[:_LOOK],
            is_in_question=self.text[sentence_end : sentence_end + 1] == "?",
        )

    def mentions(
        self, word: re.Pattern[str], echo: re.Pattern[str] | None = None, start: int = 0
    ) -> Iterator[tuple[re.Match[str], Around]]:
        """Yield each match of a word with the text around it, but none in a question.

        Args:
            word: the pattern of the word.
            echo: the pattern of a repetition of the question, such as "yes or no": a word at its
                start or end is left out.
            start: where the first match may begin.
        """
        edges: set[int] = set()
        if echo is not None:
            for match in echo.finditer(self.text):
                edges.update(match.span())
        for match in word.finditer(self.text, start):
            around = self.around(*match.span())
            is_in_echo = not edges.isdisjoint(match.span())  # the "yes" or "no" of "yes or no"
            if not around.is_in_question and not is_in_echo:
                yield match, around

    @cached_property
    def sentence_ends(self) -> list[int]:
        """Where the sentences end, in their order; the last is the end of the text."""
        return [*(match.start() for match in _SENTENCE_END.finditer(self.text)), len(self.text)]

    def _sentence(self, start: int, end: int) -> tuple[int, int]:
        """Start and end of the sentence of ``text[start:end]``, without the sign that ends it."""
        ends = self.sentence_ends
        number = bisect_left(ends, start)  # how many sentences end before it
        sentence_start = ends[number - 1] + 1 if number else 0
        return sentence_start, ends[bisect_left(ends, end)]


@lru_cache(maxsize=IN_LOOPS)
def _announces(text_before: str) -> bool:
    """Whether a text announces the quotation after it as the answer, or as a value of JSON."""
    return bool(ANNOUNCED.search(text_before) or _VALUE_OF_JSON.search(text_before))


def _with_short_quotations(text: str) -> str:
    """A text with one `QUOTED` in place of each masked quotation."""
    return _MASKED_QUOTATION.sub(QUOTED, text) if QUOTED in text else text
