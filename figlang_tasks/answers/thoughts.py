"""The tags in which models think, and what of an output stands outside of them.

This is the one list of such tags. They are those of reasoning models, as the parsers of vLLM,
SGLang and llama.cpp and the models' own chat templates have them, and those of prompts that ask for
the reasoning and the answer in tags.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, Literal, NamedTuple, TypeAlias

# --- the list ---

EXPLAINING: Final = ("reason", "reasoning", "rationale", "analysis", "reflection")
"""Names of thoughts that are meant for a reader: where an explanation is asked for, one of them may
hold it.
"""

NAMES: Final = (
    *EXPLAINING,
    *(
        "think",
        "thinking",
        "thought",
        "thoughts",
        "thought_process",
        "thinking_process",
        "thinking_steps",
    ),
    *("reasoning_process", "reasoning_steps", "reasoning_chain"),
    *(
        "think_fast",
        "think_faster",
        "longcat_think",
        "ant_thinking",
        "redacted_thinking",
        "self_reflection",
    ),
    *(
        "cot",
        "chain_of_thought",
        "chain_of_thoughts",
        "scratch",
        "scratchpad",
        "internal",
        "monologue",
    ),
    *(
        "inner_thought",
        "inner_thoughts",
        "inner_monologue",
        "internal_thought",
        "internal_thoughts",
    ),
    *("internal_monologue", "internal_reasoning"),
)
"""Names of thoughts, in every form of tag: ``<think>``, ``<|think|>``, ``<|end_of_think|>``,
``[think]``.

Where ``_`` stands, models also write ``-``, a space, or nothing.
"""

TOKENS: Final = (
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),  # gpt-oss
    ("<|channel>thought", "<channel|>"),  # Gemma 4
    ("<unused94>thought", "<unused95>"),  # MedGemma
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),  # Kimi-VL
    # The same from a server that cuts the triangles into bytes
    ("\ufffdthink\ufffd", "\ufffd/think\ufffd"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),  # Kimi K3
    ("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    ("<|content_thinking|>", "<|content_text|>"),  # Inkling
    ("[unused16]", "[unused17]"),  # openPangu
    ("<|im_start|>think", "<|im_start|>answer"),  # s1
)
"""What opens and what closes a thought in special tokens of one model."""

FINALS: Final = (
    *("<|channel|>final<|message|>", "<|open|>response<|sep|>", "<|content_text|>"),
    "<|content|>",  # Solar Open
    "<|start_text|>",  # Command A Vision
    "[BEGIN FINAL RESPONSE]",  # Apriel, which thinks without a tag
    "assistantfinal",  # gpt-oss without its special tokens
)
"""What begins the answer: all that stands before it is thought, even if nothing opened one."""

ANSWERS: Final = (
    *(
        "answer",
        "final_answer",
        "final",
        "final_response",
        "response",
        "conclusion",
        "solution",
        "verdict",
    ),
    *("decision", "label", "output", "result"),
)
"""Names of tags around an answer: they end a thought that has no closing tag. In bars they work as
`FINALS` do.
"""

EXPLAINED: Final = "reasoning"
"""The rule of a reading that is an explanation in a thought (`explanation_in_thought`)."""

# --- tags in an output ---

_Kind: TypeAlias = Literal["opens", "closes", "empty", "final", "answer"]


class _Tag(NamedTuple):
    """A tag in an output.

    Attributes:
        kind: what it does. An ``empty`` one opens and closes; a ``final`` or an ``answer`` one
            begins the answer.
        name: of `NAMES` or `ANSWERS`, or the first of a pair of `TOKENS`.
        start: where it begins in the output.
        end: where it ends.
    """

    kind: _Kind
    name: str
    start: int
    end: int


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.casefold())


_NAME_OF: Final = {_letters(name): name for name in (*NAMES, *ANSWERS)}
_CHANNEL: Final = TOKENS[0][0]
_LITERALS: Final[dict[str, tuple[_Kind, str]]] = {
    **{opening.casefold(): ("opens", opening) for opening, _ in TOKENS},
    **{closing.casefold(): ("closes", opening) for opening, closing in TOKENS},
    **{token.casefold(): ("final", token) for token in FINALS},
}
_ANY_LITERAL: Final = "|".join(map(re.escape, sorted(_LITERALS, key=len, reverse=True)))
_MARK: Final = re.compile(
    rf"(?=[<\[\u25c1\ufffda])(?:(?P<literal>{_ANY_LITERAL})"
    # Headers of gpt-oss may say more: "<|channel|>commentary to=functions.look
    # <|constrain|>json<|message|>".
    r"|<\|channel\|>(?P<channel>\w{1,12})(?:[^<\n]{0,80}(?:<\|constrain\|>\w{0,16})?<\|message\|>)?"
    r"|\A(?P<bare>analysis)(?-i:(?=[A-Z]))"  # gpt-oss without its special tokens
    r"|<(?P<angle>[^<>\n]{1,300})(?:>|\Z)|\[(?P<square>/?[a-z_ -]{3,30})\])",
    re.I,
)
_WORDS: Final = r"[a-z]{1,32}(?:[_\u2581 -][a-z]{1,32}){0,4}"
_ATTRIBUTE: Final = r"""\s{1,4}[\w:-]{1,32}=(?:"[^"]{0,200}"|'[^']{0,200}'|[^\s"'/]{1,64})"""
_INSIDE: Final = re.compile(
    # /think, |think|, |/think|, seed:think, ifm|think, think:opensource, thought 1, think time="3",
    # think/
    rf"\s?(?P<sign>[/|\uff5c]{{0,2}})\s?(?P<words>{_WORDS})(?:[:|](?P<more_words>{_WORDS}))?"
    rf"(?:[_ -]?\d{{1,2}})?(?:{_ATTRIBUTE}){{0,8}}\s?(?P<slash>/?)[|\uff5c]?",
    re.I,
)
_NAME: Final = re.compile(
    r"(?P<before>start|begin|end)?(?:(?<!\A)of)?(?P<name>[a-z]+?)(?P<after>start|begin|end)?"
)
_CLOSING_QUOTE: Final = {
    "`": "`",
    '"': '"',
    "'": "'",
    "\u201c": "\u201d",
    "\u2018": "\u2019",
    "\u00ab": "\u00bb",
}


def _tags(output: str) -> list[_Tag]:
    """The tags of thoughts and answers in an output, in their order."""
    tags = []
    last_closings: dict[str, int] = {}
    for mark in _MARK.finditer(output):
        tag = _tag(mark)
        if tag is None or _is_quoted(output, tag):
            continue
        tags.append(tag)
        if tag.kind == "closes":
            last_closings[tag.name] = tag.start
    return [tag for tag in tags if not _is_heading(output, tag, last_closings.get(tag.name, -1))]


def _tag(mark: re.Match[str]) -> _Tag | None:
    """The tag that a mark is, if it is one of the list."""
    start, end = mark.span()
    if mark["literal"]:
        kind_and_name = _LITERALS.get(mark["literal"].casefold())
        return _Tag(*kind_and_name, start, end) if kind_and_name else None
    if mark["bare"]:
        return _Tag("opens", _CHANNEL, start, end)
    if mark["channel"]:
        channel = mark["channel"].casefold()
        if channel in ("analysis", "commentary", "thought"):
            return _Tag("opens", _CHANNEL, start, end)
        return _Tag("final", channel, start, end) if channel == "final" else None
    inside = _INSIDE.fullmatch(mark["angle"] or mark["square"])
    return _named_tag(inside, start, end) if inside else None


def _named_tag(inside: re.Match[str], start: int, end: int) -> _Tag | None:
    """The tag of which this stands between the brackets, if it has one of the names."""
    name, is_end = _name(inside["more_words"] or "")
    if not name:
        name, is_end = _name(inside["words"])
    closes = is_end or "/" in inside["sign"]
    if not name:
        return None

    kind: _Kind = "opens"
    if name in ANSWERS:
        kind = "final" if inside["sign"] else "answer"
        return None if closes else _Tag(kind, name, start, end)
    if closes:
        kind = "closes"
    elif inside["slash"]:
        kind = "empty"
    return _Tag(kind, name, start, end)


def _name(words: str) -> tuple[str, bool]:
    """The name of the list that words are, "" if they are none, and whether they speak of its end:
    "end_of_think".
    """
    parts = _NAME.fullmatch(_letters(words))
    if parts is None:
        return "", False
    return _NAME_OF.get(parts["name"], ""), "end" in (parts["before"], parts["after"])


def _is_quoted(output: str, tag: _Tag) -> bool:
    """Whether a tag is spoken of: "I think in `<think>` tags"."""
    closing_quote = _CLOSING_QUOTE.get(output[tag.start - 1 : tag.start])
    if closing_quote is None or not output.startswith(closing_quote, tag.end):
        return False
    # Not so if the mark ends another quotation: 'A'</think>'B'.
    before = output[max(0, tag.start - 2) : tag.start - 1]
    return not before or before.isspace() or before in "(["


def _is_heading(output: str, tag: _Tag, last_closing: int) -> bool:
    """Whether a tag in square brackets is none: "[Reasoning]" may be a heading, if nothing after
    closes it.
    """
    is_square = tag.kind == "opens" and output[tag.start] == "[" and tag.name in NAMES
    return is_square and tag.name != "think" and last_closing < tag.start


# --- what stands outside ---

_Span: TypeAlias = tuple[int, int]
_STRAY_WORDS: Final = 2
"""So few words are no thought but an answer: "B</reason>", "Answer: B</reason>"."""
_INDENT: Final = 9  # characters before an answer tag that may be white space of its line
_LAST_CHARACTERS: Final = 300  # of an output: an answer tag among them may be its last word
_OTHER_TAG: Final = re.compile(r"<[^<>\n]{1,40}>")
_HAS_WORD: Final = re.compile(r"\w")


class _Thoughts:
    """Tells what of an output is thought, from its first tag to its last.

    Attributes:
        outside: the stretches of the output that are no thought.
        explaining: those of closed thoughts that are `EXPLAINING`, without thoughts of other names
            in them.
    """

    def __init__(self, output: str) -> None:
        self.outside: list[_Span] = []
        self.explaining: list[_Span] = []
        self._output = output
        self._start = 0  # of the present stretch
        self._names: list[
            str
        ] = []  # of the thoughts around it, from the outermost to the innermost
        self._explained: list[
            _Span
        ] = []  # the stretches of these thoughts that explain, until they are closed
        self._answer: int | None = None  # where an answer begins if these thoughts are never closed
        self._counts: Counter[tuple[str, str]] = Counter()  # of the tags so far, by kind and name
        self._read()

    def _read(self) -> None:
        tags = _tags(self._output)
        for number, tag in enumerate(tags, start=1):
            if tag.kind == "opens":
                self._open(tag)
            elif tag.kind == "closes":
                self._close(tag, is_last=number == len(tags))
            elif tag.kind == "final":
                self._begin_answer(tag)
            elif tag.kind == "empty":
                self._end_stretch(tag)
            elif self._names and self._answer is None and _is_answer(self._output, tag):
                self._answer = tag.start
            self._counts[tag.kind, tag.name] += 1

        last_start = self._answer if self._names else self._start
        if last_start is not None:
            self.outside.append((last_start, len(self._output)))

    def _open(self, tag: _Tag) -> None:
        """Begin a thought, perhaps in another one."""
        if self._answer is not None:  # the thought before had no end, and then came the answer
            self._start = self._answer
            self._leave(is_closed=False)
        self._end_stretch(tag)
        if tag.name not in self._names:  # models open a thought twice and close it once
            self._names.append(tag.name)

    def _close(self, tag: _Tag, *, is_last: bool) -> None:
        """End the thought of this name and those in it; of a tag that closes nothing, see
        `_is_stray`.
        """
        is_stray = not self._names and is_last and self._is_stray(tag)
        self._end_stretch(tag)
        if is_stray:
            return
        if not self._names:  # the prompt opened the thought
            if tag.name in EXPLAINING:
                self.explaining += self.outside
            self.outside = []
        elif tag.name in self._names[1:]:
            del self._names[self._names.index(tag.name) :]
            self._answer = None  # it stood in the thought that ends here
        else:  # the outermost thought, or by a slip another name: <think>...</thinking>
            self._leave(is_closed=True)

    def _begin_answer(self, tag: _Tag) -> None:
        """End all thoughts; before the first such tag all is thought."""
        is_first = not any(kind == "final" for kind, _ in self._counts)
        self._end_stretch(tag)
        if self._names:
            self._leave(is_closed=True)
        elif is_first:
            self.outside = []

    def _end_stretch(self, tag: _Tag) -> None:
        """Put the stretch before a tag where it belongs, and begin the next one after the tag."""
        stretch = self._start, tag.start
        if not self._names:
            self.outside.append(stretch)
        elif all(name in EXPLAINING for name in self._names):
            self._explained.append(stretch)
        self._start = tag.end

    def _leave(self, *, is_closed: bool) -> None:
        """Leave all thoughts; those that were not closed explain nothing."""
        if is_closed:
            self.explaining += self._explained
        self._names, self._explained, self._answer = [], [], None

    def _is_stray(self, tag: _Tag) -> bool:
        """Whether a last closing tag that closes nothing stands after the answer, not after a
        thought.

        So it is if its thought was closed before, or after a word or two, which are no reason.
        Else the prompt opened the thought, and nothing follows it.
        """
        if _HAS_WORD.search(_OTHER_TAG.sub("", self._output[tag.end :])):
            return False
        n_opened, n_closed = self._counts["opens", tag.name], self._counts["closes", tag.name]
        if n_closed:
            return n_closed >= n_opened
        if n_opened or tag.name not in EXPLAINING:
            return False
        stretches = [*self.outside, (self._start, tag.start)]
        words = " ".join(self._output[start:end] for start, end in stretches).split()
        return len(words) <= _STRAY_WORDS


def _is_answer(output: str, tag: _Tag) -> bool:
    """Whether an answer tag in a thought is no mention: it begins a line, or the output ends with
    it.
    """
    before = (
        "\n" + output[: tag.start]
        if tag.start < _INDENT
        else output[tag.start - _INDENT : tag.start]
    )
    _, line_end, indent = before.rpartition("\n")
    if line_end and not indent.strip():
        return True
    if len(output) - tag.end > _LAST_CHARACTERS:
        return False
    answer, closing, after = output[tag.end :].partition("</")
    if "<" in answer:
        return False
    if closing:
        return not _HAS_WORD.search(_OTHER_TAG.sub("", f"<{after}"))
    return len(answer.split()) <= _STRAY_WORDS


def without_thoughts(output: str) -> str:
    """An output with line ends in place of each character of thoughts and their tags.

    A closing tag alone ends a thought that the prompt opened: all before it is thought. An opening
    tag alone begins a thought that was cut off: all after it is thought, unless an answer tag ends
    it.
    """
    characters = ["\n"] * len(output)
    for start, end in _Thoughts(output).outside:
        characters[start:end] = output[start:end]
    return "".join(characters)


def explanation_in_thought(output: str) -> str | None:
    """What stands in the closed tags of an output that are `EXPLAINING`; None if that is nothing.

    For tasks that ask for an explanation, where none stands outside of thoughts. Labels in it are
    not read.
    """
    parts = [output[start:end].strip() for start, end in _Thoughts(output).explaining]
    return "\n".join(filter(None, parts)) or None


def open_thought(prompt: str) -> str:
    """The tag with which a prompt ends and opens a thought; "" if it opens none."""
    last_characters = prompt.rstrip()[-2 * _LAST_CHARACTERS :]
    tags = _tags(last_characters)
    if not tags or tags[-1].kind != "opens" or tags[-1].end < len(last_characters):
        return ""
    return last_characters[tags[-1].start :]
