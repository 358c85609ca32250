"""The last question of a prompt: how to tell its repetition from one about another row.

The prompt "Does the image entail the claim?\\nClaim: The boat is red.\\nAnswer:" has one text of
the row, "The boat is red." Where an output has "Does the image entail the claim?\\nClaim:" again,
the words after it tell: "The boat is red" repeats the question, "A man walks" is another row's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from typing import Final, Literal, NamedTuple

from figlang_tasks.answers.text import BLANK_LINE

WORD: Final = re.compile(r"\w+")
LINE_START: Final = r"(?<=\n)[^\w\n]*"
COLON: Final = r"[^\w\n:\uff1a]{0,4}[:\uff1a]"
"""A colon after a word; marks of emphasis may stand between."""

_FEWEST_WORDS: Final = 3
"""So many words begin a question; fewer also begin lines of answers."""
MOST_WORDS: Final = 400
"""So many words of a prompt at most begin its question."""
_QUOTES: Final = "\"'\u201c\u2018\u00ab"

_PICTURES = re.compile(r"\A\s*(?:<image>\s*)+")
_SAME_LENGTH = str.maketrans({"_": " ", "\r": "\n", "\u2028": "\n", "\u2029": "\n", "\u2019": "'"})
_ANSWER = re.compile(r"\W*(?:the |final )*answer\b", re.I)  # "Answer:" at the head of a paragraph
_SENTENCE_END = re.compile(r"[.!?] (?=[A-Z])")
_NUMBERED = re.compile(r"\bquestion \d", re.I)
_ENTAILMENT = re.compile(r"entail|contradict", re.I)
_NAME = re.compile(r"((?:[a-z]+ ){0,2}[a-z]{3,20}):", re.I)  # "Claim:", "The second sentence:"
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
"""What follows an opening.

- repetition: the row's own texts.
- other: those of another row.
- fixed: no texts, since the prompt shows none.
- unknown: words that may belong to another row, or to an answer.
"""


def plain(text: str) -> str:
    """A text of the same length with plain line ends and apostrophes, and blanks for "_"."""
    return text.translate(_SAME_LENGTH)


class _PromptWord(NamedTuple):
    """A word of the prompt, without capitals, and whether it stands in a text of the row."""

    word: str
    is_of_row: bool


@dataclass(frozen=True)
class Opening:
    """The words with which a question begins, up to the row's first text: "Is it so?\\nClaim:".

    Attributes:
        pattern: finds them at the start of a line; its group ``words`` begins with the first of
            them.
        rest: gives the words of the prompt after them, from the row's first text to the prompt's
            end; none if the question shows no text of the row. Most outputs need none of them.
        is_short: whether they are so few that they begin many lines of answers ("Idiom: ...") too.
        asks: whether the row's first text is a question itself.
    """

    pattern: re.Pattern[str]
    rest: Callable[[], Sequence[_PromptWord]] = tuple
    is_short: bool = False
    asks: bool = False

    def compare(self, output: str, start: int) -> tuple[OpeningKind, int]:
        """What follows this opening in an output, and where the output stops repeating the prompt.

        The first word that is not the prompt's decides. Without one it is a repetition, also where
        the output ends before the prompt does.

        Args:
            output: the output.
            start: where the opening ends in it.
        """
        end = start  # of the last word that is the prompt's
        last_is_of_row = True  # whether that word stands in a text of the row
        is_in_first_text = True  # whether all words so far do
        rest = self.rest()
        for expected, word in zip(rest, WORD.finditer(output, start), strict=False):
            if word[0].casefold() == expected.word:
                end = word.end()
                last_is_of_row = expected.is_of_row
                is_in_first_text = is_in_first_text and last_is_of_row
                continue
            gap = output[end : word.start()]
            if expected.is_of_row:
                # "The boat is blue" for "The boat is red"; but "The boat ... Yes" shortens it.
                is_other_text = _ELLIPSIS.search(gap) is None
            else:
                # "The boat is red and big" goes on after the row's text without a sign that ends
                # it; "The boat is red. Yes" repeats it.
                is_other_text = last_is_of_row and _TEXT_ENDS.search(gap) is None
            if not is_other_text:
                return "repetition", end
            if self.is_short and is_in_first_text:
                return "unknown", end
            return "other", end
        return "repetition" if rest else "fixed", end


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
        # Where the paragraphs start
        self._paragraphs = [0]
        for blank_line in BLANK_LINE.finditer(self._prompt.rstrip()):
            self._paragraphs.append(blank_line.end())

    def end_of_echo(self, output: str, start: int) -> int:
        """Where the prompt ends in an output that repeats it from `start` on; else `start`."""
        end = start
        # "<image>" counts in neither text; blanks in its place keep the positions in the output.
        output_words = WORD.finditer(output.replace("<image>", " " * len("<image>")), start)
        for expected in WORD.finditer(self._prompt.replace("<image>", " ")):
            word = next(output_words, None)
            if word is None or word[0] != expected[0]:
                return start
            end = word.end()
        return end

    @cached_property
    def openings(self) -> list[Opening]:
        """The ways in which the question may begin in an output.

        It may begin with the prompt, with its first line, with each paragraph that has a text of
        the row, with the last sentence before that text, or with a line that leads to it.
        """
        paragraphs = self._paragraphs_with_texts() or self._paragraphs[-1:]
        sentences = [self._last_sentence(paragraph) for paragraph in paragraphs]
        starts = [*paragraphs, *sentences, *self._lead(paragraphs[0]), 0]
        openings = [self._opening(start) for start in dict.fromkeys(starts)]  # each start once
        openings.append(self._first_line())
        return [opening for opening in openings if opening is not None]

    def _paragraphs_with_texts(self) -> list[int]:
        """Where each paragraph starts in which a text of the row starts."""
        starts = []
        ends = [*self._paragraphs[1:], len(self._prompt)]
        for start, end in zip(self._paragraphs, ends, strict=True):
            if any(start <= text_start < end for text_start, _ in self._text_spans):
                starts.append(start)
        return starts

    def _lead(self, paragraph: int) -> list[int]:
        """Where the line starts that leads to a paragraph: "How about this one?"; [] without one.

        It is the paragraph before, if that is one line and does not begin with "Answer".
        """
        earlier = [start for start in self._paragraphs if start < paragraph]
        if not earlier:
            return []
        text = self._prompt[earlier[-1] : paragraph].strip()
        if "\n" in text or _ANSWER.match(text):
            return []
        return earlier[-1:]

    def _last_sentence(self, paragraph: int) -> int:
        """Where the sentence starts that leads to the first text of the row in a paragraph.

        It is the start of the paragraph if that has one sentence, or no text.
        """
        text_starts = [text_start for text_start, _ in self._text_spans if text_start >= paragraph]
        if not text_starts:
            return paragraph
        sentence_start = paragraph
        for sentence_end in _SENTENCE_END.finditer(self._prompt, paragraph, text_starts[0]):
            sentence_start = sentence_end.end()
        return sentence_start

    def _opening(self, start: int) -> Opening | None:
        """The opening from `start` to the next text of the row, or without one to the prompt's end.

        None if it has no word, more than 400, or without a text fewer than 3.
        """
        following_spans = [text_span for text_span in self._text_spans if text_span[0] >= start]
        if following_spans:
            fixed_words = self._prompt[start : following_spans[0][0]]
        else:
            fixed_words = self._prompt[start:].rstrip() + "\n"  # A line must end after them.
        fixed_words = _PICTURES.sub("", fixed_words)
        n_words = len(WORD.findall(fixed_words))
        if not 0 < n_words <= MOST_WORDS:
            return None
        is_short = n_words < _FEWEST_WORDS
        if not following_spans:
            return None if is_short else Opening(_opening_pattern(fixed_words))
        text_start, text_end = following_spans[0]
        asks = self._prompt[text_start:text_end].endswith("?")
        rest = cache(partial(self._words_from, text_start))
        return Opening(_opening_pattern(fixed_words), rest, is_short, asks)

    def _first_line(self) -> Opening | None:
        """The first line of a prompt of more than 400 words as an opening.

        None for a shorter prompt, and if the line has a text of the row or fewer than 3 words.
        """
        if len(WORD.findall(self._prompt)) <= MOST_WORDS:
            return None
        start = len(self._prompt) - len(self._prompt.lstrip())
        line = self._prompt[start:].partition("\n")[0]
        has_text = any(text_start <= start + len(line) for text_start, _ in self._text_spans)
        if has_text or len(WORD.findall(line)) < _FEWEST_WORDS:
            return None
        return Opening(_opening_pattern(line + "\n"))

    def _words_from(self, start: int) -> list[_PromptWord]:
        """The words of the prompt from `start` on, each with whether a text of the row has it."""
        words = []
        # The last span, at the prompt's end, is of no text: no word begins in it or after it.
        text_spans = iter([*self._text_spans, (len(self._prompt), len(self._prompt))])
        text_start, text_end = next(text_spans)
        for word in WORD.finditer(self._prompt, start):
            while word.start() >= text_end:  # go on to the text that has the word, or comes next
                text_start, text_end = next(text_spans)
            words.append(_PromptWord(word[0].casefold(), word.start() >= text_start))
        return words

    @cached_property
    def labels(self) -> re.Pattern[str] | None:
        """A pattern that finds names such as "Claim:" at line starts; None without such names."""
        names = self._names_of_texts()
        if self._text_spans and _ENTAILMENT.search(self._prompt):
            names += ["claim", "statement", "premise", "hypothesis", "sentence [12AB]"]
        if not names:
            return None
        return _label_pattern(tuple(dict.fromkeys(names)))

    def _names_of_texts(self) -> list[str]:
        """The names before texts of the row in the prompt, such as "Claim".

        Of several in one block ("Premise: ...\\nHypothesis: ...") it is the first alone, since
        answers name the parts of a block. A block is a run of lines with a name and a text.
        """
        names = []
        end_of_block = None
        for start, end in self._text_spans:
            head = self._prompt[:start].rstrip()
            line_start = head.rfind("\n") + 1
            name = _NAME.fullmatch(head[line_start:].strip())
            if name is None:
                continue
            # Words between the last text and this line begin a new block.
            if end_of_block is None or self._prompt[end_of_block:line_start].strip():
                names.append(name[1])
            end_of_block = end
        return names

    @cached_property
    def has_numbers(self) -> bool:
        """Whether the questions of the prompt have numbers, so that answers name them."""
        return _NUMBERED.search(self._prompt) is not None

    def is_new_text(self, text: str) -> bool:
        """Whether a text is another row's: at most half of its words are the question's.

        Words such as "the" do not count. A text about the image or the claim is an answer and no
        row's.
        """
        words = _words(text)
        if len(words) < 2 or _ABOUT_TEXTS.search(text):
            return False
        # Blanks at both ends, so that whole words are compared
        padded_words = f" {' '.join(words)} "
        for start, end in self._text_spans:
            if f" {' '.join(_words(self._prompt[start:end]))} " in padded_words:
                return False  # It has a text of this row.
        content_words = [word for word in words if word not in _SMALL_WORDS] or words
        known_words = [word for word in content_words if word in self._known_words]
        return len(known_words) <= len(content_words) / 2

    @cached_property
    def _known_words(self) -> frozenset[str]:
        """The words of the question, without capitals."""
        start = (self._paragraphs_with_texts() or self._paragraphs[-1:])[0]
        return frozenset(_words(self._prompt[start:]))


def _words(text: str) -> list[str]:
    """The words of a text, without capitals."""
    return [word.casefold() for word in WORD.findall(text)]


def _text_spans(prompt: str, shown_texts: Sequence[str]) -> list[tuple[int, int]]:
    """Start and end of each text of the row that the last question of a prompt shows, in order.

    They are looked for from the end: the last text first, and each other one before the next.
    """
    spans = []
    end = len(prompt)
    for text in reversed(shown_texts):
        start = _last_start(prompt, text, end) if WORD.search(text) else None
        if start is not None:
            spans.append((start, start + len(text)))
            end = start
    return spans[::-1]


def _last_start(prompt: str, text: str, end: int) -> int | None:
    """The last start of a text before `end`, and not as a part of a longer word; else None."""
    start = prompt.rfind(text, 0, end)
    while start >= 0:
        around_start = prompt[start - 1 : start] + text[0]
        around_end = text[-1] + prompt[start + len(text) : start + len(text) + 1]
        if not _is_within_word(around_start) and not _is_within_word(around_end):
            return start
        start = prompt.rfind(text, 0, start + len(text) - 1)  # the next one before this one
    return None


def _is_within_word(characters: str) -> bool:
    """Whether these are two characters of one word; False for one, at an end of the prompt."""
    return len(characters) == 2 and characters.isalnum()


@lru_cache(maxsize=256)
def _opening_pattern(fixed: str) -> re.Pattern[str]:
    """A pattern that finds the fixed words of a question at the start of a line.

    "2." or "Question 2:" may stand before them. The line ends must be those of `fixed`; other signs
    between its words may differ.

    Args:
        fixed: the words, with the signs between them and after them.
    """
    line_patterns = [r"[^\w\n]+".join(WORD.findall(line)) for line in fixed.splitlines()]
    words = r"[^\w\n]*\n\W{0,80}".join(pattern for pattern in line_patterns if pattern)
    signs_after = re.split(r"\w", fixed)[-1]
    if "\n" in signs_after:  # The text of the row begins a line: "Claim:\n".
        end = r"[^\w\n]*(?:\n|\Z)"
    elif any(quote in signs_after for quote in _QUOTES):  # or a quotation: 'Claim: "'
        end = rf"[^\w\n]*?[{_QUOTES}]"
    else:
        end = r"(?!\w)"
    number = r"(?:\w{1,9} ?#?\d{0,3}[:.)\uff1a][^\w\n]*)?"
    return re.compile(rf"{LINE_START}{number}(?P<words>{words}){end}", re.I)


@lru_cache(maxsize=64)
def _label_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds these names before a colon at the start of a line: "Claim 2:"."""
    return re.compile(rf"{LINE_START}(?:{'|'.join(names)})(?: ?\d{{1,3}})?{COLON}", re.I)
