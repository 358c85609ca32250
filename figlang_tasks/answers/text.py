"""The part of an output that answers, made plain, and the words that every reader knows."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

from figlang_tasks.answers.thoughts import without_thoughts
from figlang_tasks.answers.words import ANNOUNCED, CORRECTION, NEUTRAL, NONE_OF, REFUSAL, is_said  # noqa: F401

QUOTED: Final = "\ufffc"
"""Stands for each sign of a quoted sentence (`Answer.without_quotations`); in `Around` for all of it."""

# --- the answer in an output ---

_READ: Final = 1 << 15  # characters read at each end of a long answer
_LOOK: Final = 160  # characters looked at before and behind a word, so that every reader takes linear time
_LOOK_RAW: Final = 4 * _LOOK  # the same with quotations in full length
_GAP: Final = "\x00"  # what was left out in the middle; it ends a sentence

_QUOTES = re.compile(
    # straight double ones, also of a text that is cut off; single ones, of which apostrophes are none
    r"""(?<!\w)"(?=\S)[^"\n]+(?:(?<=\S)"(?!\w)|(?<=[.!?] )"(?=\s)|\Z)"""
    r"""|(?<!\w)'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w))+(?<=\S)'(?!\w)"""
)
_IN_JSON = re.compile(r'":\s?\Z')
_QUOTED_RUN = re.compile(rf"{QUOTED}+")
_GOES_ON = re.compile(r"""["' ,;:)]*[a-z]""")

_TURN_END = re.compile(
    r"</?s>|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|(?:im_|end(?!_of_box)|return)\w*\|>|(?<![^\n])<image>|\n(?:USER|Human):|<end_of_(?:utterance|turn)>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>"
)
_ANSWER_TAG = re.compile(
    r"<(?P<end>/?)(?:answer|response|conclusion)>|(?P<box_end><\|end_of_box\|>)|<\|begin_of_box\|>|\[/INST\]"
    r"|\A(?-i:USER:)[^\x00]{0,20000}?(?-i:ASSISTANT:)|\(here (?:begins|(?P<stage_end>ends)) the conclusion stage\)",
    re.I,
)
_SENTENCE_END = re.compile(r"""[\n?!;\x00]|\.(?=["')\]\s]|\Z)""")


class _Plain(dict[int, str]):
    """The plain sign of each sign, for `str.translate`; it keeps the length."""

    def __missing__(self, code: int) -> str:
        sign = plain = chr(code)
        if unicodedata.decomposition(sign).startswith(("<wide>", "<circle>", "<font>")):
            plain = unicodedata.normalize("NFKC", sign)
        self[code] = plain if len(plain) == 1 and plain.isascii() else sign
        return self[code]


_PLAIN = _Plain(
    str.maketrans(
        {
            **dict.fromkeys(QUOTED + "*`#~_$\u0120\u00a0\u2007\u202f\u200b\u200d\u200e\u200f\ufe0f\ufeff", " "),
            **dict.fromkeys("\u2018\u2019\u02bc", "'"),
            **dict.fromkeys("\u201c\u201d\u00ab\u00bb\u300c\u300d", '"'),
            **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
            **dict.fromkeys("\u2192\u21d2\u2234", ":"),
            **dict.fromkeys("\r\u2028\u2029", "\n"),
            **dict.fromkeys("\u2014|", ";"),  # what stands behind it is a clause of its own
            "\u3002": ".",
            "\u3001": ",",
            "\u3010": "[",
            "\u3011": "]",
        }
    )
)


class Around(NamedTuple):
    """The text before and after a word, at most 160 characters each; a quotation counts as one (`without_quotations`).

    Attributes:
        back: what stands before it.
        before: of that, what belongs to its sentence.
        behind: the rest of its sentence.
        asked: its sentence ends in a question mark.
    """

    back: str
    before: str
    behind: str
    asked: bool


@dataclass(frozen=True)
class Answer:
    """A model's answer: its output without thoughts and special tokens, and without the text around `<answer>`.

    A thought stands in tags. A closing tag alone ends a thought that the prompt opened; an opening one alone begins a
    thought that never ended: what follows is no answer, nor is what follows the end of the model's turn. Of a long
    answer both ends are kept.

    Attributes:
        text: the answer with typographic signs, markup, wide and circled letters as plain ones.
        raw: the same stretch in the model's own signs; both have one length.
        has_thought: whether the output has a thought.
    """

    text: str
    raw: str
    has_thought: bool

    @classmethod
    def of(cls, output: str) -> Answer:
        """The answer in a model's output."""
        whole, start, end = span(output)
        raw = whole[start:end].strip()
        if len(raw) > 2 * _READ:
            raw = f"{raw[:_READ]}{_GAP}{raw[-_READ:]}"
        return cls(raw.translate(_PLAIN), raw, whole != output)

    def part(self, start: int, end: int) -> Answer:
        """``text[start:end]`` as an answer of its own."""
        return replace(self, text=self.text[start:end], raw=self.raw[start:end])

    def without_quotations(self, own: Sequence[str] = ()) -> Answer:
        """The same answer, in the text of which signs `QUOTED` stand in place of quoted sentences.

        A quotation of several words is one, unless it is the answer: alone, announced, or a value of JSON.

        Args:
            own: texts of the prompt, which are taken for quotations without quotation marks too.
        """
        text = self.text
        spans = [found.span() for found in _QUOTES.finditer(text) if not self._answers(*found.span())]
        for each in own:
            words = each.translate(_PLAIN).strip(" \"'.,;:!?").split()
            if len(words) > 1:
                pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?: ?[.!?]|(?!\w))"
                spans += [found.span() for found in re.finditer(pattern, text, re.I)]
        parts, at = [], 0
        for start, end in sorted(spans):
            if end > at:
                start = max(start, at)
                inner = text[start:end]
                body = inner.strip("\"'")
                after = start + inner.rindex(body) + len(body)
                ends = body[-1:] in (".", "!", "?") and not _GOES_ON.match(text, after)
                masked = QUOTED * (len(body) - 1) + "." if ends else QUOTED * len(body)
                parts += [text[at:start], inner.replace(body, masked, 1)]
                at = end
        return replace(self, text="".join([*parts, text[at:]]))

    def _answers(self, start: int, end: int) -> bool:
        """Whether a quotation is, or may be, the answer."""
        back = self.text[max(0, start - _LOOK) : start]
        is_one_word = len(self.text[start:end].split()) == 1
        is_all = start == 0 and end >= len(self.text) - 1
        return is_one_word or is_all or bool(ANNOUNCED.search(back) or _IN_JSON.search(back))

    def around(self, start: int, end: int) -> Around:
        """What stands around ``text[start:end]`` in its sentence."""
        first, stop = self._sentence(start, end)
        back = max(0, start - _LOOK_RAW)
        behind = self.text[end : min(stop, end + _LOOK_RAW)]
        return Around(
            _short(self.text[back:start])[-_LOOK:],
            _short(self.text[max(first, back) : start])[-_LOOK:],
            _short(behind)[:_LOOK],
            self.text[stop : stop + 1] == "?",
        )

    def quoted_beside(self, start: int, end: int) -> list[str]:
        """The quotations in the sentence of ``text[start:end]``, in the model's own words."""
        first, stop = self._sentence(start, end)
        return [
            self.raw[found.start() : found.end()].strip(" .")
            for found in _QUOTED_RUN.finditer(self.text, max(first, start - _LOOK_RAW), min(stop, end + _LOOK_RAW))
        ]

    def mentions(
        self, word: re.Pattern[str], echo: re.Pattern[str] | None = None
    ) -> Iterator[tuple[re.Match[str], Around]]:
        """Yield each place of a word and what stands around it; none in questions or at an edge of `echo`."""
        edges = {edge for found in echo.finditer(self.text) for edge in found.span()} if echo else set()
        for found in word.finditer(self.text):
            around = self.around(*found.span())
            if not around.asked and edges.isdisjoint(found.span()):
                yield found, around

    @cached_property
    def sentence_ends(self) -> list[int]:
        return [*(found.start() for found in _SENTENCE_END.finditer(self.text)), len(self.text)]

    def _sentence(self, start: int, end: int) -> tuple[int, int]:
        ends = self.sentence_ends
        before = bisect_left(ends, start)
        return ends[before - 1] + 1 if before else 0, ends[bisect_left(ends, end)]


def span(output: str) -> tuple[str, int, int]:
    """The output with line ends in place of thoughts, and where the answer in it starts and ends."""
    raw = without_thoughts(output)
    return raw, *_tagged(raw, *_first_turn(raw))


def _short(text: str) -> str:
    return _QUOTED_RUN.sub(QUOTED, text) if QUOTED in text else text


def _first_turn(text: str) -> tuple[int, int]:
    """Where the first turn with words in it starts and ends."""
    start = 0
    for token in _TURN_END.finditer(text):
        if text[start : token.start()].strip():
            return start, token.start()
        start = token.end()
    return start, len(text)


def _tagged(text: str, start: int, end: int) -> tuple[int, int]:
    """The inside of the last answer tag with words in it; all of the text without one."""
    stop = end
    for tag in reversed(list(_ANSWER_TAG.finditer(text, start, end))):
        closes = any(tag.groupdict().values())
        if not closes and text[tag.end() : stop].strip():
            return tag.end(), stop
        stop = tag.start() if closes else end
    return start, end
