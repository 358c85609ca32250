"""Our readers of foreign text, texts that are hard for them, and options to choose from."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, get_args

import pytest

from figlang_tasks.answers.any_case import AnyCase
from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option

Reader = Callable[[str], Any]

# --- every parser of model text ---

PICTURE_WIDTH = 640
PICTURE_HEIGHT = 480


def box_readers() -> dict[str, Reader]:
    """The parsers of MetaCLUE's boxes, in a picture of `PICTURE_WIDTH` and `PICTURE_HEIGHT`."""
    from figlang_tasks.benchmarks.metaclue import boxes

    names: dict[str, boxes.Role] = {"car": "primary", "Storm": "secondary"}
    readers: dict[str, Reader] = {}
    for convention in get_args(boxes.Convention):
        readers[f"metaclue.boxes, {convention}"] = partial(
            boxes.parse_boxes,
            convention=convention,
            width=PICTURE_WIDTH,
            height=PICTURE_HEIGHT,
            names=names,
        )
    return readers


def answer_readers() -> dict[str, Reader]:
    """Every parser of model text, by its module and what it is given beside the text."""
    from figlang_tasks.answers.entailment import entailment
    from figlang_tasks.answers.yes_no import yes_no
    from figlang_tasks.benchmarks.admire import parse as admire
    from figlang_tasks.benchmarks.flute import parse as flute
    from figlang_tasks.benchmarks.irfl import tasks as irfl
    from figlang_tasks.benchmarks.metaclue import captions
    from figlang_tasks.benchmarks.nykms import parse as nykms
    from figlang_tasks.benchmarks.vflute import parse as vflute

    readers: dict[str, Reader] = {
        "answers.yes no": partial(yes_no, about=irfl.FIGURATIVE),
        "answers.option": partial(option, options=4),
        "answers.option, grid": partial(option, options=4, places=irfl.PLACES),
        "answers.option, numbers": partial(option, options=50, letters=False),
        "answers.entailment": partial(entailment, prompt_texts=("The claim.", "a b a b")),
        "admire": partial(admire.ranking, count=5),
        "vflute": vflute.parse_official,
        "vflute, scene graph": partial(vflute.parse_official, scene_graph=True),
        "metaclue.official": captions.parse_official,
        "metaclue.caption": captions.parse_caption,
    }
    for prompt in get_args(flute.Prompt):
        readers[f"flute, {prompt}"] = partial(flute.parse_official, prompt=prompt)
    for question in ("metaphor", "sarcasm", "mw", "st"):
        readers[f"nykms, {question}"] = partial(nykms.parse_official, question=question)
    for question in ("metaphor", "sarcasm"):
        readers[f"nykms.first, {question}"] = partial(nykms.first_answer, question=question)
    return readers | box_readers()


def text_makers() -> dict[str, Callable[[str], str]]:
    """Every function that makes a text of a model's text."""
    from figlang_tasks.answers.next_question import before_next_question
    from figlang_tasks.benchmarks.metaclue import captions
    from figlang_tasks.benchmarks.nykms import parse as nykms
    from figlang_tasks.benchmarks.vflute import parse as vflute

    return {
        "answers.next question": partial(
            before_next_question,
            prompt='Does the image entail the claim "a b"?',
            shown_texts=("a b",),
        ),
        "vflute.scene graph talk": vflute.rewrite_scene_graph_talk,
        "nykms.place": nykms.named_whole_image,
        "metaclue.in one line": captions.in_one_line,
    }


# fmt: off
HOSTILE_PIECES = (
    "entails", "contradiction", "neither", "LABEL:", "answer is ", "not ", "yes ", "No, ", "A",
    "(C)", "last one", "is as ", "[I]", "primary", "<think>", "</think>", "<answer>", "</box>",
    "<loc0012>", "```json", "**", "1. ", "\\boxed{",
    "{{", "{%", "{", "}", "[", "]", "(", '"', ":", ", ", ". ", "?", "-", "\\", "999999999", "1e999",
    "NaN", "\u0663", "\u00b2", "\n", "\r", "\x1c", "\u2028", "\u00a0", "\ufeff", "\x00", "\x1b[31m",
    "\u202e", "e\u0301", "\u0130", "\ufb03", "\ud800",
    "\U0001d400", "\uff21", "\u4e0d", "Therefore,", '{"scores": [', '"label": ', "[[1, 2, 3, 4]]",
    '{"bbox_2d": [1, 2, 3, 4',
    '{"x1": 1, ', '"w": 20', "left: ", "12%, ", "(1, 2) to ", "top-left ", "x, y, w, h", "@",
    "image ", "B > ", "\u227b", '{"B": 1, ', "1. B ", "B is best. ", "Then D, ",
)
# fmt: on
"""Pieces of hostile texts."""

# --- texts that make an expression slow if one of its repeats takes more than linear time ---

# Python 3.10 has it under another name.
_parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

_READING = ("answers", "benchmarks", "core", "judge", "results", "scoring", "submit")
_CHARACTERS = "a A1_-.,:;!?'\"()[]{}<>/\\|*#@=+%&~`$^\n\t\ufffcé不"
_MANY = 8  # repeats up to fewer are no danger
_VARIANTS = 4  # characters of a class, or alternatives, that are tried
_LONGEST = 100

Piece = Any
"""A node of a parsed expression: its name and its arguments."""


def expressions() -> dict[str, re.Pattern[str]]:
    """The regular expressions of all modules that read foreign texts, by module and name."""
    patterns: dict[str, re.Pattern[str]] = {}
    for package_name in _READING:
        package = importlib.import_module(f"figlang_tasks.{package_name}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(info.name)).items():
                if isinstance(value, AnyCase):
                    value = value.pattern
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    patterns[f"{info.name}.{name}"] = value
    return patterns


def repeated_texts(pattern: re.Pattern[str]) -> set[str]:
    """Texts that make a long text slow for an expression when they are repeated.

    They are the parts that the expression repeats, the texts before them, both together, and
    matches of the whole expression.
    """
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    texts = {_match(parsed, variant) for variant in range(_VARIANTS)}
    for before, repeated in _repeats(parsed, ""):
        texts |= {before, repeated, before + repeated}
    return {text for text in texts if 0 < len(text) <= _LONGEST}


def matching_texts(pattern: re.Pattern[str], variants: int) -> list[str]:
    """Texts that an expression matches, leaving out its conditions; as many as `variants`."""
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    return [_match(parsed, variant) for variant in range(variants)]


def _repeats(pieces: Piece, before: str) -> Iterator[tuple[str, str]]:
    """Yield a text before each repeat in a parsed expression, and one that it repeats."""
    for piece in pieces:
        for part in _parts(piece):
            yield from _repeats(part, before)
        if str(piece[0]).endswith("_REPEAT") and piece[1][1] >= _MANY:
            for variant in range(_VARIANTS):
                yield before, _match(piece[1][2], variant)
        before += _match([piece], 0)


def _parts(piece: Piece) -> list[Piece]:
    """The parsed expressions inside a node."""
    name, arguments = str(piece[0]), piece[1]
    if name.endswith("_REPEAT"):
        return [arguments[2]]
    if name == "SUBPATTERN":
        return [arguments[-1]]
    if name == "BRANCH":
        return list(arguments[1])
    if name in ("ASSERT", "ASSERT_NOT"):
        return [arguments[1]]
    return []


def _match(pieces: Piece, variant: int) -> str:
    """A text that a parsed expression matches, leaving out its conditions.

    Args:
        pieces: the parsed expression.
        variant: the number of the text, where there are several.
    """
    text = ""
    for piece in pieces:
        name, arguments = str(piece[0]), piece[1]
        if name.endswith("_REPEAT"):
            text += _match(arguments[2], variant) * arguments[0]
        elif name == "SUBPATTERN":
            text += _match(arguments[-1], variant)
        elif name == "BRANCH":
            text += _match(arguments[1][variant % len(arguments[1])], variant)
        elif name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            characters = _characters(piece)
            text += characters[variant % len(characters)]
    return text


def _characters(piece: Piece) -> str:
    """Characters that a node of one character matches."""
    if str(piece[0]) == "LITERAL":
        return chr(piece[1])
    one_character = re.compile(_class(piece), re.DOTALL)
    matching = "".join(filter(one_character.fullmatch, _CHARACTERS))
    return matching or "x"


def _class(piece: Piece) -> str:
    """A node of one character as an expression."""
    name, arguments = str(piece[0]), piece[1]
    if name == "ANY":
        return "."
    if name == "NOT_LITERAL":
        return f"[^{re.escape(chr(arguments))}]"
    parts = ""
    for kind, value in arguments:
        if str(kind) == "NEGATE":
            parts = "^" + parts
        elif str(kind) == "LITERAL":
            parts += re.escape(chr(value))
        elif str(kind) == "RANGE":
            parts += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            parts += _CATEGORIES[str(value)]
    return f"[{parts}]"


_CATEGORIES = {
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
}


# --- options to choose from, and how answers about them are read ---

TWO = Choices(2)
THREE = Choices(3)
FOUR = Choices(4)
FIVE = Choices(5)
NINE = Choices(9)
TEN = Choices(10)
TWELVE = Choices(12)
PICTURES = Choices(4, are_pictures=True)
TWO_PICTURES = Choices(2, are_pictures=True)
NUMBERS = Choices(4, "numbers")
THREE_NUMBERS = Choices(3, "numbers")
FIVE_NUMBERS = Choices(5, "numbers")
PLATE = Choices(
    4, texts=("a lot on my plate", "platelayer", "step up to the plate", "a bit too much")
)
STORM = Choices(4, texts=("storm off", "perfect storm", "after the storm", "weather the storm"))
IRONY = Choices(
    4,
    texts=(
        "He is being ironic.",
        "He is really happy.",
        "He is tired of waiting.",
        "He does not know what to say.",
    ),
)
CAPTIONS = Choices(
    4,
    texts=(
        "Sorry, I thought it was casual Friday.",
        "You should see the other guy.",
        "I'm here about the position.",
        "It's not you, it's the gravity.",
    ),
)
ANGLES = Choices(4, texts=("50°", "60°", "70°", "80°"))


UNREAD = pytest.mark.xfail(strict=True, reason="our reader leaves it unread")
INVENTED = pytest.mark.xfail(strict=True, reason="our reader takes it for an answer")


def name_read(output: str, choices: Choices) -> str | None:
    """The name of the option that our reader takes from an output: "B", or "2" if options are
    numbered.
    """
    value = option(output, choices).value
    if value is None:
        return None
    return str(value + 1) if choices.names == "numbers" else "ABCDEFGHIJKL"[value]
