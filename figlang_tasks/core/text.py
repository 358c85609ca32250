"""Texts and tables for terminals and documents: shortened, cleaned, or escaped."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""A surrogate without the other half of its pair, which is no character: UTF-8 cannot hold it."""
# What a terminal would obey, what turns the direction of writing, halves of characters, and what
# XML forbids.
_CONTROL = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    r"\ud800-\udfff\ufffe\uffff"
)
_CONTROL_RUN = re.compile(f"[{_CONTROL}]+")
_CONTROL_IN_LINES = re.compile(rf"(?![\n\t])[{_CONTROL}]")

_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        # In the encoding that LaTeX begins with, these three have the places of other signs.
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)

# How a cell begins that spreadsheet programs take for a formula (the full-width forms too), and the
# mark ' that `no_formula` writes.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠']|[\t\r]")
_LONGEST_ITEM = 500  # characters of an item of a `listing`
_PLAIN_SIGNS = str.maketrans("‘’ʼ“”„‐‑‒–—−", "'''\"\"\"------")
_NUMBER = re.compile(r"[*+-]*<?\s*\.?\d")  # also **0.5** in bold, and "< 0.001"
_BAR = re.compile(r"(?<!\\)\|")
# A path stands behind =, a space, a bracket or a quote. An address has // and is none.
_PATH = re.compile(
    r"""(?<![^\s,;:=|"'`\[({])(?!//)(?:file://|~|\.{1,2})?/[^\s,;|"'`\])}]+"""
    r"""|(?<![^\s,;=|"'`\[({])[\w.-]+(?:/[\w.-]+){2,}/?"""  # ORG/NAME is of a hub
)

LONGEST_NAME = 200
"""Characters that are shown of the name of a model or a run, which may have any length."""


def shortened(text: str, limit: int) -> str:
    """A text in at most `limit` characters: a longer one ends in "..."."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def printable(text: object, limit: int | None = None) -> str:
    """A text in one line, without control characters, which a terminal would obey.

    Names of runs, ids and files come from outside and may hold any character.

    Args:
        text: the text, or anything with a ``str``.
        limit: the most characters of the line; None for no limit.
    """
    line = _CONTROL_RUN.sub(" ", str(text))
    return line if limit is None else shortened(line, limit)


def is_blank(text: str) -> bool:
    """Whether a text has only white space, characters without width, and control characters."""
    return all(character.isspace() or not character.isprintable() for character in text)


def printable_lines(text: object) -> str:
    """A text of one or more lines without control characters, which a terminal would obey."""
    return _CONTROL_IN_LINES.sub(" ", str(text))


def folded(text: str) -> str:
    """A text in lower case, with single spaces and plain quotes and dashes.

    Texts of training and test rows are the same if they are equal in this form.
    """
    plain = unicodedata.normalize("NFKC", text).translate(_PLAIN_SIGNS)
    return " ".join(plain.casefold().split())


def whole_characters(text: str) -> str:
    """A text with U+FFFD in place of each half of a surrogate pair."""
    return LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def without_paths(text: str) -> str:
    """A text in which each path of this machine is reduced to its last name: ``[local]/model``."""
    return _PATH.sub(_without_folders, text)


def _without_folders(path: re.Match[str]) -> str:
    last_name = path[0].rstrip("/").rpartition("/")[2]
    return f"[local]/{last_name}"


def latex(text: object) -> str:
    """A text in one line of LaTeX, with the signs escaped that have a meaning in TeX."""
    return printable(text).translate(_LATEX)


def latex_line_head(code: str) -> str:
    """Code of LaTeX that can begin a line of a table, from a cell that is escaped already."""
    # A bracket or a star would be read as an argument of the \\, or of the rule, above the line.
    return "{}" + code if code.startswith(("[", "*")) else code


def latex_label(name: str) -> str:
    """The label of a table in LaTeX, by a name: ``tab:vflute-tuned-against-base``."""
    words = re.findall(r"[A-Za-z0-9.]+", name)
    return "tab:" + "-".join(words)


def no_formula(text: str) -> str:
    """The text of a cell that no spreadsheet program takes for a formula.

    A text that would be one gets a ' in front. So does a text that begins with ', so that the first
    ' can be removed again from all.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV; cells that are None or NaN are empty."""
    import pandas as pd

    names = [no_formula(printable(name)) for name in head]
    frame = pd.DataFrame(list(rows), columns=names, dtype=object)
    return frame.map(_csv_cell).to_csv(index=False, lineterminator="\n")


def _csv_cell(value: object) -> object:
    return no_formula(printable(value)) if isinstance(value, str) else value


def listing(items: Iterable[object], most: int = 5, separator: str = ", ") -> str:
    """The first `most` items and how many more there are: ``a, b, c, d, e, and 3 more``.

    Args:
        items: names, ids or messages from outside; control characters are left out.
        most: the most items to list.
        separator: what stands between items.
    """
    all_items = list(items)
    texts = [printable(item, limit=_LONGEST_ITEM) for item in all_items[:most]]
    if len(all_items) > most:
        texts.append(f"and {len(all_items) - most} more")
    return separator.join(texts)


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """A question with the names that are like a wrong one: `` (did you mean `vflute`?)``.

    Returns:
        "" if no known name is like it.
    """
    similar_names = difflib.get_close_matches(name, set(known_names))
    if not similar_names:
        return ""
    quoted_names = " or ".join(f"`{similar_name}`" for similar_name in similar_names)
    return f" (did you mean {quoted_names}?)"


# --- tables ---


def alignment(rows: Sequence[Sequence[str]]) -> str:
    """The alignment of a table's columns, a letter each: ``r`` for numbers, ``l`` for words.

    The first column is always ``l``. A column is one of numbers if at least one of its cells is a
    number, or if all of them are empty.

    Args:
        rows: the head of the table and its rows.
    """
    _, *columns = zip(*rows, strict=True)  # without the first column
    letters = ["l"]
    for _, *cells in columns:  # without the head of each
        filled_cells = [cell for cell in cells if cell]
        has_numbers = any(_NUMBER.match(cell) for cell in filled_cells)
        letters.append("l" if filled_cells and not has_numbers else "r")
    return "".join(letters)


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, padded so that it reads well as plain text too.

    Args:
        rows: the head of the table and its rows.
    """
    column_alignments = alignment(rows)
    # A line break or a bar in a text would end its cell.
    rows = [[_BAR.sub(r"\\|", printable(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    lines: list[str] = []
    for row in rows:
        cells: list[str] = []
        for cell, letter, width in zip(row, column_alignments, widths, strict=True):
            cells.append(cell.ljust(width) if letter == "l" else cell.rjust(width))
        lines.append(f"| {' | '.join(cells)} |")

    dashes: list[str] = []
    for letter, width in zip(column_alignments, widths, strict=True):
        # A colon at the end aligns a column to the right.
        dashes.append("-" * (width + 2) if letter == "l" else "-" * (width + 1) + ":")
    rule = f"|{'|'.join(dashes)}|"
    return "\n".join([lines[0], rule, *lines[1:]])
