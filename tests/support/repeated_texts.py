"""Texts that make an expression slow if one of its repeats takes more than linear time."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from typing import Any

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
    """The expressions that the modules hold which read foreign texts, by module and name."""
    patterns = {}
    for package_name in _READING:
        package = importlib.import_module(f"figlang_tasks.{package_name}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(info.name)).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    patterns[f"{info.name}.{name}"] = value
    return patterns


def repeated_texts(pattern: re.Pattern[str]) -> set[str]:
    """What to repeat: each part that the expression repeats, what stands before it, both together,
    and a match.
    """
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    texts = {_match(parsed, variant) for variant in range(_VARIANTS)}
    for before, repeated in _repeats(parsed, ""):
        texts |= {before, repeated, before + repeated}
    return {text for text in texts if 0 < len(text) <= _LONGEST}


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
    """A text that a parsed expression matches, but for its conditions: of several the one of this
    number.
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
