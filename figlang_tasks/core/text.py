"""Texts and tables for terminals and documents, and files that are written whole or not at all."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence

# A surrogate without the other half of its pair is no character: UTF-8 has no bytes for it.
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# What a terminal would obey, what turns the direction of writing, halves of characters, and what
# XML forbids.
_CONTROL = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    r"\ud800-\udfff\ufffe\uffff"
)
_ONE_LINE = re.compile(f"[{_CONTROL}]+")
_LINES = re.compile(rf"(?![\n\t])[{_CONTROL}]")

_LATEX = str.maketrans(
    {
        **{each: f"\\{each}" for each in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
    }
)

# What spreadsheet programs take for a formula (the full-width forms too), and our own mark.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠']|[\t\r]")
_LONGEST = 500  # characters of one of a list
_PLAIN_SIGNS = str.maketrans("‘’ʼ“”„‐‑‒–—−", "'''\"\"\"------")  # noqa: RUF001
_NUMBER = re.compile(r"[*+-]*<?\s*\.?\d")
_BAR = re.compile(r"(?<!\\)\|")
# Behind =, a space, a bracket or a quote; an address has //.
_PATH = re.compile(
    r"""(?<![^\s,;:=|"'`\[({])(?!//)(?:file://|~|\.{1,2})?/[^\s,;|"'`\])}]+"""
    r"""|(?<![^\s,;=|"'`\[({])[\w.-]+(?:/[\w.-]+){2,}/?"""  # ORG/NAME is of a hub
)


LONGEST_NAME = 200
"""Characters of a model's name, or a run's, that are shown: tables and charts take a name of any
length.
"""


def shortened(text: str, limit: int) -> str:
    """A text, or the beginning of a longer one, in at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def printable(text: object, limit: int | None = None) -> str:
    """`text` in one line, without the characters that a terminal would obey: names of runs, ids and
    files hold any.
    """
    shown = _ONE_LINE.sub(" ", str(text))
    return shown if limit is None else shortened(shown, limit)


def is_blank(text: str) -> bool:
    """Whether nothing of a text can be seen: only white space, signs without width, and control
    characters.
    """
    return all(character.isspace() or not character.isprintable() for character in text)


def printable_lines(text: object) -> str:
    """`text` without the characters that a terminal would obey, its lines kept: for what is about
    to be printed.
    """
    return _LINES.sub(" ", str(text))


def folded(text: str) -> str:
    """`text` as comparisons of training with test rows take it: lower case, single spaces, plain
    quotes and dashes.
    """
    plain = unicodedata.normalize("NFKC", text).translate(_PLAIN_SIGNS)
    return " ".join(plain.casefold().split())


def whole_characters(text: str) -> str:
    """The text with U+FFFD in place of each half of a surrogate pair."""
    return LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def without_paths(text: str) -> str:
    """A text with paths of this machine cut down to the last name: ``[local]/model``."""
    return _PATH.sub(lambda path: "[local]/" + path[0].rstrip("/").rpartition("/")[2], text)


def latex(text: object) -> str:
    """`text` in one line of LaTeX, as it is: without meaning for TeX."""
    return printable(text).translate(_LATEX)


def no_formula(text: str) -> str:
    """A cell that no spreadsheet program takes for a formula; such a text, and one that begins with
    ', gets a '.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV; what is None or NaN is left empty."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(head), dtype=object)
    shown = frame.map(
        lambda value: no_formula(printable(value)) if isinstance(value, str) else value
    )
    return shown.to_csv(index=False, lineterminator="\n")


def listing(items: Iterable[object], most: int = 5, separator: str = ", ") -> str:
    """The first `most` of some names, ids or messages from outside, and how many more there are."""
    found = list(items)
    more = f"{separator}and {len(found) - most} more" if len(found) > most else ""
    return separator.join(printable(each, limit=_LONGEST) for each in found[:most]) + more


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The names that one may stand for, as a question in brackets; "" where none is close."""
    close = difflib.get_close_matches(name, set(known))
    return f" (did you mean {' or '.join(f'`{each}`' for each in close)}?)" if close else ""


def alignment(rows: Sequence[Sequence[str]]) -> str:
    """A letter for each column of a table, the head first: ``r`` of numbers, ``l`` of words and of
    the first.
    """
    _, *columns = zip(*rows, strict=True)
    texts = [list(filter(None, cells)) for _, *cells in columns]
    return "l" + "".join(
        "l" if found and not any(map(_NUMBER.match, found)) else "r" for found in texts
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, the head first, padded so that it reads well as plain text too."""
    sides = [{"l": "<", "r": ">"}[letter] for letter in alignment(rows)]
    rows = [[_BAR.sub(r"\\|", printable(cell)) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            f"{cell:{side}{width}}" for cell, side, width in zip(cells, sides, widths, strict=True)
        )
        return "| " + " | ".join(padded) + " |"

    ends = (
        ("-" if side == "<" else ":").rjust(width + 2, "-")
        for side, width in zip(sides, widths, strict=True)
    )
    rule = "|" + "|".join(ends) + "|"
    return "\n".join([line(rows[0]), rule, *map(line, rows[1:])])
