"""The last question of a prompt: the words by which a repetition of it, or a question about another
row, is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple

from figlang_tasks.answers.text import BLANK_LINE

WORD: Final = re.compile(r"\w+")
LINE_START: Final = r"(?<=\n)[^\w\n]*"
COLON: Final = r"[^\w\n:\uff1a]{0,4}[:\uff1a]"
"""A colon after a word; marks of emphasis may stand between."""

_FEWEST_WORDS: Final = 3
"""So many words begin a question; fewer begin many lines of answers."""
_MOST_WORDS: Final = 400
_QUOTES: Final = "\"'\u201c\u2018\u00ab"

_PICTURES = re.compile(r"\A\s*(?:<image>\s*)+")
_SAME_LENGTH = str.maketrans({"_": " ", "\r": "\n", "\u2028": "\n", "\u2029": "\n", "\u2019": "'"})
_ANSWER = re.compile(r"\W*(?:the |final )*answer\b", re.I)
_SENTENCE_END = re.compile(r"[.!?] (?=[A-Z])")
_NUMBERED = re.compile(r"\bquestion \d", re.I)
_ENTAILMENT = re.compile(r"entail|contradict", re.I)
_NAME = re.compile(r"((?:[a-z]+ ){0,2}[a-z]{3,20}):", re.I)
_TEXT_ENDS = re.compile(r"""["'\u201d\u2019\u00bb)\].?!:;\n]""")
_ELLIPSIS = re.compile(r"\.\.\.|\u2026")
_ABOUT_TEXTS = re.compile(
    r"\b(?:the|this)"
    r" (?:image|picture|photo|cartoon|claim|statement|premise|hypothesis|sentence|caption"
    r"|idiom)s?\b"
    r"|\b(?:entail|contradict|support|refut)\w*",
    re.I,
)
_SMALL_WORDS = frozenset(
    "a an and are as at be been by for from has have he her his i in is it its my no not of on or"
    " our she so that the their they this to was we were what when who will with you your".split()
)

OpeningKind = Literal["repetition", "other", "fixed", "unknown"]
"""What stands after an opening: the row's own texts; those of another row; none, since the prompt
shows none; or words that may belong to another row, or to an answer."""


def plain(text: str) -> str:
    """A text of the same length, in which lines end in one way and words have no marks of
    emphasis.
    """
    return text.translate(_SAME_LENGTH)


class _PromptWord(NamedTuple):
    word: str
    is_of_row: bool  # whether it stands in a text of the row


@dataclass(frozen=True)
class Opening:
    """The words with which a question begins.

    Attributes:
        pattern: finds them at the start of a line; its group ``words`` begins with the first of
            them.
        rest: the words after them, from the row's first text on; none if the question shows no
            text of the row.
        is_short: whether they are so few that they begin many lines of answers ("Idiom: ...") too.
        asks: whether the row's first text is a question itself.
    """

    pattern: re.Pattern[str]
    rest: Sequence[_PromptWord] = ()
    is_short: bool = False
    asks: bool = False

    def compare(self, output: str, start: int) -> tuple[OpeningKind, int]:
        """What stands after this opening in an output, from `start` on, and where it ceases to be
        the prompt's.
        """
        end = start
        is_in_text = is_in_first_text = True
        for expected, word in zip(self.rest, WORD.finditer(output, start), strict=False):
            if word[0].casefold() == expected.word:
                end = word.end()
                is_in_text = expected.is_of_row
                is_in_first_text &= is_in_text
                continue
            gap = output[end : word.start()]
            if expected.is_of_row:
                is_other = _ELLIPSIS.search(gap) is None
            else:  # a longer text that begins as the row's does is another one
                is_other = is_in_text and _TEXT_ENDS.search(gap) is None
            if is_other and self.is_short and is_in_first_text:
                return "unknown", end
            return "other" if is_other else "repetition", end
        return "repetition" if self.rest else "fixed", end


class PromptQuestion:
    """The last question of a prompt.

    Args:
        prompt: all of it.
        shown_texts: the row's texts in the question, in the order in which they stand there; others
            are left out.
    """

    def __init__(self, prompt: str, shown_texts: Sequence[str]) -> None:
        self._prompt = plain(prompt)
        self._text_spans = _text_spans(self._prompt, [plain(text).strip() for text in shown_texts])
        self._paragraphs = [
            0,
            *(blank.end() for blank in BLANK_LINE.finditer(self._prompt.rstrip())),
        ]

    def end_of_echo(self, output: str, start: int) -> int:
        """Where the answer in an output starts that repeats the whole prompt first; `start` in any
        other output.
        """
        end = start
        output_words = WORD.finditer(output.replace("<image>", " " * len("<image>")), start)
        for expected in WORD.findall(self._prompt.replace("<image>", " ")):
            word = next(output_words, None)
            if word is None or word[0] != expected:
                return start
            end = word.end()
        return end

    @cached_property
    def openings(self) -> list[Opening]:
        """The words that may begin the question: those of the prompt, and of each paragraph with a
        text of the row.
        """
        starts = self._paragraphs_with_texts() or self._paragraphs[-1:]
        sentences = [self._last_sentence(start) for start in starts]
        starts += [*sentences, *self._lead(starts[0]), 0]
        openings = [self._opening(start) for start in dict.fromkeys(starts)]
        return [opening for opening in [*openings, self._first_line()] if opening is not None]

    def _paragraphs_with_texts(self) -> list[int]:
        """Where the paragraphs start in which a text of the row begins."""
        starts = []
        ends = [*self._paragraphs[1:], len(self._prompt)]
        for start, end in zip(self._paragraphs, ends, strict=True):
            if any(start <= text_start < end for text_start, _ in self._text_spans):
                starts.append(start)
        return starts

    def _lead(self, paragraph: int) -> list[int]:
        """Where the paragraph before another one starts, if it is one line that leads to it ("How
        about this one?").
        """
        earlier = [start for start in self._paragraphs if start < paragraph][-1:]
        text = "".join(self._prompt[start:paragraph] for start in earlier).strip()
        return [] if "\n" in text or _ANSWER.match(text) else earlier

    def _last_sentence(self, paragraph: int) -> int:
        """Where the sentence of a paragraph starts that leads to its first text of the row, or else
        the paragraph.
        """
        texts = [text_start for text_start, _ in self._text_spans if text_start >= paragraph]
        ends = [
            sentence.end()
            for sentence in _SENTENCE_END.finditer(self._prompt, paragraph, *texts[:1])
        ]
        return ends[-1] if texts and ends else paragraph

    def _opening(self, start: int) -> Opening | None:
        """The opening that starts here, up to the next text of the row; None if it has no words, or
        too many.
        """
        texts = [text_span for text_span in self._text_spans if text_span[0] >= start]
        fixed = self._prompt[start : texts[0][0]] if texts else self._prompt[start:].rstrip() + "\n"
        fixed = _PICTURES.sub("", fixed)
        count = len(WORD.findall(fixed))
        is_short = count < _FEWEST_WORDS
        if not 0 < count <= _MOST_WORDS or (is_short and not texts):
            return None
        if not texts:
            return Opening(_opening_pattern(fixed))
        text_start, text_end = texts[0]
        asks = self._prompt[text_start:text_end].endswith("?")
        return Opening(_opening_pattern(fixed), self._words_from(text_start), is_short, asks)

    def _first_line(self) -> Opening | None:
        """The first line of the prompt as an opening, where no text of the row stands in it."""
        start = len(self._prompt) - len(self._prompt.lstrip())
        line = self._prompt[start:].partition("\n")[0]
        is_of_row = any(text_start <= start + len(line) for text_start, _ in self._text_spans)
        if (
            is_of_row
            or not _MOST_WORDS < len(WORD.findall(self._prompt))
            or len(WORD.findall(line)) < _FEWEST_WORDS
        ):
            return None
        return Opening(_opening_pattern(line + "\n"))

    def _words_from(self, start: int) -> list[_PromptWord]:
        """The words of the prompt from here on."""
        words = []
        text_spans = iter([*self._text_spans, (len(self._prompt), len(self._prompt))])
        text_start, text_end = next(text_spans)
        for word in WORD.finditer(self._prompt, start):
            while word.start() >= text_end:
                text_start, text_end = next(text_spans)
            words.append(_PromptWord(word[0].casefold(), word.start() >= text_start))
        return words

    @cached_property
    def labels(self) -> re.Pattern[str] | None:
        """Finds a name of a text ("Claim:") at the start of a line; None where the prompt names
        none.
        """
        names = self._names_of_texts()
        if self._text_spans and _ENTAILMENT.search(self._prompt):
            names += ["claim", "statement", "premise", "hypothesis", "sentence [12AB]"]
        return _label_pattern(tuple(dict.fromkeys(names))) if names else None

    def _names_of_texts(self) -> list[str]:
        """The names before texts of the row; of several in one block the first, since answers name
        the parts of it.
        """
        names = []
        end_of_block = None
        for start, end in self._text_spans:
            head = self._prompt[:start].rstrip()
            line_start = head.rfind("\n") + 1
            name = _NAME.fullmatch(head[line_start:].strip())
            if name is None:
                continue
            if end_of_block is None or self._prompt[end_of_block:line_start].strip():
                names.append(name[1])
            end_of_block = end
        return names

    @cached_property
    def has_numbers(self) -> bool:
        """Whether the questions of the prompt have numbers, so that answers name them."""
        return _NUMBERED.search(self._prompt) is not None

    def is_new_text(self, text: str) -> bool:
        """Whether a text is that of another row: few of its words are the question's, and it is not
        about the texts.
        """
        words = _words(text)
        if len(words) < 2 or _ABOUT_TEXTS.search(text):
            return False
        said = f" {' '.join(words)} "
        for start, end in self._text_spans:
            if f" {' '.join(_words(self._prompt[start:end]))} " in said:
                return False
        telling = [word for word in words if word not in _SMALL_WORDS] or words
        known = [word for word in telling if word in self._known_words]
        return len(known) <= len(telling) / 2

    @cached_property
    def _known_words(self) -> frozenset[str]:
        """The words of the question."""
        start = (self._paragraphs_with_texts() or self._paragraphs[-1:])[0]
        return frozenset(_words(self._prompt[start:]))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in WORD.findall(text)]


def _text_spans(prompt: str, shown_texts: Sequence[str]) -> list[tuple[int, int]]:
    """Where the texts of the row stand in the last question of a prompt; what it does not show is
    left out.
    """
    spans = []
    end = len(prompt)
    for text in reversed(shown_texts):
        start = next(_places(prompt, text, end), None) if WORD.search(text) else None
        if start is not None:
            spans.append((start, start + len(text)))
            end = start
    return spans[::-1]


def _places(prompt: str, text: str, end: int) -> Iterator[int]:
    """Yield where a text stands before `end`, the last place first; none where it is a part of a
    longer word.
    """
    start = prompt.rfind(text, 0, end)
    while start >= 0:
        before = prompt[start - 1 : start] + text[0]
        after = text[-1] + prompt[start + len(text) : start + len(text) + 1]
        if not (len(before) == 2 and before.isalnum()) and not (
            len(after) == 2 and after.isalnum()
        ):
            yield start
        start = prompt.rfind(text, 0, start + len(text) - 1)


@lru_cache(maxsize=256)
def _opening_pattern(fixed: str) -> re.Pattern[str]:
    """A pattern of these words with these line ends, at the start of a line, or after "2." or
    "Question 2:" there.
    """
    lines = [r"[^\w\n]+".join(WORD.findall(line)) for line in fixed.splitlines()]
    words = r"[^\w\n]*\n\W{0,80}".join(line for line in lines if line)
    signs_after = re.split(r"\w", fixed)[-1]
    if "\n" in signs_after:
        end = r"[^\w\n]*(?:\n|\Z)"
    elif any(quote in signs_after for quote in _QUOTES):
        end = rf"[^\w\n]*?[{_QUOTES}]"
    else:
        end = r"(?!\w)"
    number = r"(?:\w{1,9} ?#?\d{0,3}[:.)\uff1a][^\w\n]*)?"
    return re.compile(rf"{LINE_START}{number}(?P<words>{words}){end}", re.I)


@lru_cache(maxsize=64)
def _label_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"{LINE_START}(?:{'|'.join(names)})(?: ?\d{{1,3}})?{COLON}", re.I)
