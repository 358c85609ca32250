"""The tags in which models think or answer, and where they stand in an output.

In "<think>A boat?</think><answer>B</answer>" they are ``<think>``, which opens a thought,
``</think>``, which closes it, and ``<answer>``. The tag ``</answer>`` is none of them: it tells
nothing of thoughts.

This is the one list of such tags. They are those of reasoning models, as the parsers of vLLM,
SGLang and llama.cpp and the models' own chat templates have them, and those of prompts that ask for
the reasoning and the answer in tags.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, TypeAlias

# --- the list ---

EXPLAINING: Final = ("reason", "reasoning", "rationale", "analysis", "reflection")
"""Names of thoughts that are meant for a reader: where an explanation is asked for, one of them may
hold it.
"""

NAMES: Final = (
    *EXPLAINING,
    "think",
    "thinking",
    "thought",
    "thoughts",
    "thought_process",
    "thinking_process",
    "thinking_steps",
    "reasoning_process",
    "reasoning_steps",
    "reasoning_chain",
    "think_fast",
    "think_faster",
    "longcat_think",
    "ant_thinking",
    "redacted_thinking",
    "self_reflection",
    "cot",
    "chain_of_thought",
    "chain_of_thoughts",
    "scratch",
    "scratchpad",
    "internal",
    "monologue",
    "inner_thought",
    "inner_thoughts",
    "inner_monologue",
    "internal_thought",
    "internal_thoughts",
    "internal_monologue",
    "internal_reasoning",
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
    "answer",
    "final_answer",
    "final",
    "final_response",
    "response",
    "conclusion",
    "solution",
    "verdict",
    "decision",
    "label",
    "output",
    "result",
)
"""Names of tags around an answer: they end a thought that has no closing tag. In bars they work as
`FINALS` do.
"""

# --- tags in an output ---

Role: TypeAlias = Literal["opens", "closes", "empty", "final", "answer"]
"""What a tag does.

- opens: it opens a thought: ``<think>``.
- closes: it closes one: ``</think>``.
- empty: both at once: ``<think/>``.
- final: it begins the answer and ends all thoughts: ``<|answer|>`` or "assistantfinal".
- answer: a plain ``<answer>``, which may also be a word of a thought: "in <answer> tags I write".
"""


class Tag(NamedTuple):
    """A tag in an output.

    Attributes:
        role: what it does.
        name: one of `NAMES` or `ANSWERS`, the opening token of a pair of `TOKENS`, or one of
            `FINALS`.
        start: where it begins in the output.
        end: where it ends.
    """

    role: Role
    name: str
    start: int
    end: int


def _letters(text: str) -> str:
    """The small letters of a text alone: "endofthink" for "end_of_think"."""
    return re.sub(r"[^a-z]", "", text.casefold())


_NAME_OF: Final = {_letters(name): name for name in (*NAMES, *ANSWERS)}
_CHANNEL: Final = TOKENS[0][0]  # the name of gpt-oss's thoughts, "<|channel|>analysis<|message|>"
# Role and name of each token that is found as it stands. Of those that are in `FINALS` too, the
# last entry counts: they begin the answer.
_LITERALS: Final[dict[str, tuple[Role, str]]] = {
    **{opening.casefold(): ("opens", opening) for opening, _ in TOKENS},
    **{closing.casefold(): ("closes", opening) for opening, closing in TOKENS},
    **{token.casefold(): ("final", token) for token in FINALS},
}
_ANY_LITERAL: Final = "|".join(map(re.escape, sorted(_LITERALS, key=len, reverse=True)))
# What may be a tag; `_tag` tells whether it is one. Each alternative sets one group.
_CANDIDATE: Final = re.compile(
    rf"(?=[<\[\u25c1\ufffda])(?:(?P<literal>{_ANY_LITERAL})"  # an entry of `_LITERALS`
    # "<|channel|>commentary": `channel` is "commentary". Headers of gpt-oss may say more:
    # "<|channel|>commentary to=functions.look <|constrain|>json<|message|>".
    r"|<\|channel\|>(?P<channel>\w{1,12})(?:[^<\n]{0,80}(?:<\|constrain\|>\w{0,16})?<\|message\|>)?"
    r"|\A(?P<bare>analysis)(?-i:(?=[A-Z]))"  # "analysisThe image": gpt-oss without special tokens
    # "<|end_of_think|>": `angle` is "|end_of_think|". "[/think]": `square` is "/think".
    r"|<(?P<angle>[^<>\n]{1,300})(?:>|\Z)|\[(?P<square>/?[a-z_ -]{3,30})\])",
    re.I,
)
_WORDS: Final = r"[a-z]{1,32}(?:[_\u2581 -][a-z]{1,32}){0,4}"
_ATTRIBUTE: Final = r"""\s{1,4}[\w:-]{1,32}=(?:"[^"]{0,200}"|'[^']{0,200}'|[^\s"'/]{1,64})"""
# What stands between the brackets of a tag:
#   "/think", "|think|", "|/think|"    `sign` is "/", "|", "|/"; `words` is "think"
#   "seed:think", "think:opensource"   `words` and `more_words`; one of the two is the name
#   "thought 1", 'think time="3"'      a number, attributes
#   "think/"                           `slash`: a tag that closes itself
_INSIDE: Final = re.compile(
    rf"\s?(?P<sign>[/|\uff5c]{{0,2}})\s?(?P<words>{_WORDS})(?:[:|](?P<more_words>{_WORDS}))?"
    rf"(?:[_ -]?\d{{1,2}})?(?:{_ATTRIBUTE}){{0,8}}\s?(?P<slash>/?)[|\uff5c]?",
    re.I,
)
# The letters of the words: "endofthink" has `before` "end", "thinkstart" has `after` "start".
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


def may_have_tags(output: str) -> bool:
    """Whether an output has what a tag begins with; most have nothing of it.

    All that `_CANDIDATE` finds begins with one of four signs, or is "analysis" at the start of the
    output or "assistantfinal".
    """
    if "<" in output or "[" in output or "\u25c1" in output or "\ufffd" in output:
        return True
    return output[:2].casefold() == "an" or "assistantfinal" in output.casefold()


def find_tags(output: str) -> list[Tag]:
    """The tags of thoughts and answers in an output, in their order.

    Without those that are spoken of ("in `<think>` tags") and headings ("[Reasoning]").
    """
    tags = []
    last_closings: dict[str, int] = {}  # where the last closing tag of a name begins
    for candidate in _CANDIDATE.finditer(output):
        tag = _tag(candidate)
        if tag is None or _is_quoted(output, tag):
            continue
        tags.append(tag)
        if tag.role == "closes":
            last_closings[tag.name] = tag.start
    return [tag for tag in tags if not _is_heading(output, tag, last_closings.get(tag.name, -1))]


def _tag(candidate: re.Match[str]) -> Tag | None:
    """The tag that a match of `_CANDIDATE` is; None if it is none: "<b>", "[see above]"."""
    start, end = candidate.span()
    if candidate["literal"]:
        # Without a role for letters such as a dotted capital I, which re.I takes for an "i".
        role_and_name = _LITERALS.get(candidate["literal"].casefold())
        return Tag(*role_and_name, start, end) if role_and_name else None
    if candidate["bare"]:
        return Tag("opens", _CHANNEL, start, end)
    if candidate["channel"]:
        channel = candidate["channel"].casefold()
        if channel in ("analysis", "commentary", "thought"):
            return Tag("opens", _CHANNEL, start, end)
        return Tag("final", channel, start, end) if channel == "final" else None
    inside = _INSIDE.fullmatch(candidate["angle"] or candidate["square"])
    return _named_tag(inside, start, end) if inside else None


def _named_tag(inside: re.Match[str], start: int, end: int) -> Tag | None:
    """The tag with these words between its brackets; None if they have no name of the list.

    None for the closing tag of an answer too.

    Args:
        inside: the match of `_INSIDE`.
        start: where the tag begins.
        end: where it ends.
    """
    # In "think:opensource" the second words are no name, in "seed:think" they are.
    name, is_end = _name_and_end(inside["more_words"] or "")
    if not name:
        name, is_end = _name_and_end(inside["words"])
    if not name:
        return None

    closes = is_end or "/" in inside["sign"]
    if name in ANSWERS:
        if closes:
            return None
        has_bars = inside["sign"] != ""  # "<|answer|>": a special token is no word of a thought.
        return Tag("final" if has_bars else "answer", name, start, end)
    if closes:
        return Tag("closes", name, start, end)
    return Tag("empty" if inside["slash"] else "opens", name, start, end)


def _name_and_end(words: str) -> tuple[str, bool]:
    """The name in the words of a tag, and whether they say that it ends.

    "end_of_think" gives "think" and True; words without a name of the list give "" for it.
    """
    parts = _NAME.fullmatch(_letters(words))
    if parts is None:
        return "", False
    return _NAME_OF.get(parts["name"], ""), "end" in (parts["before"], parts["after"])


def _is_quoted(output: str, tag: Tag) -> bool:
    """Whether a tag is spoken of: "I think in `<think>` tags"."""
    sign_before = output[tag.start - 1 : tag.start]  # "" at the start of the output
    closing_quote = _CLOSING_QUOTE.get(sign_before)
    if closing_quote is None or not output.startswith(closing_quote, tag.end):
        return False
    # The sign opens a quotation at a word's start only. It ends another one in 'A'</think>'B'.
    sign_before_quote = output[max(0, tag.start - 2) : tag.start - 1]
    return not sign_before_quote or sign_before_quote.isspace() or sign_before_quote in "(["


def _is_heading(output: str, tag: Tag, last_closing: int) -> bool:
    """Whether a tag in square brackets is a heading: "[Reasoning]" that no later tag closes.

    "[think]" is always a tag.

    Args:
        output: the output.
        tag: one of its tags.
        last_closing: where the last closing tag of this name begins; -1 if there is none.
    """
    is_square = tag.role == "opens" and output[tag.start] == "[" and tag.name in NAMES
    return is_square and tag.name != "think" and last_closing < tag.start
