"""Options that boxes of LaTeX hold: ``\\boxed{B}``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from figlang_tasks.answers.option_analysis import OptionAnalysis
from figlang_tasks.answers.verdict import Evidence

# "\boxed{", with the group `brace`, and then what `_IN_BOX` reads; "\boxed B", with `name`
_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s?(?:(?P<brace>\{)|(?P<name>[A-Z])(?!\w))", re.I)
# What stands in the braces, up to the name and the sign after it: "B", "\text{(B)}", "option 2."
_IN_BOX = re.compile(
    r"(?:\s|\\(?:text|math|bf|rm|large)\w{0,8}|[{(\[\"'])*"
    r"(?:answer:\s|(?:option|image|picture|caption|choice|statement)\s)?(?P<name>[A-Z]|\d{1,4})"
    r"(?:[)\]}\"'\s]*\Z|[)}\]]|\s?[:.,;-]|\s(?:and|or)\b|\\)",
    re.I,
)
# After the first name in a box: ", C" or " and C"
_NEXT_IN_BOX = re.compile(
    r"[)\]}\"'\s]{0,4}(?:,|;|\band\b|\bor\b)[({\[\"'\s]{0,4}(?P<name>[A-Z]|\d{1,4})(?!\w)"
)
_LONGEST_BOX = 200


def option_boxes(analysis: OptionAnalysis) -> Iterator[Evidence]:
    """Yield the options that boxes of LaTeX hold: ``\\boxed{B}``; none for a formula.

    A box with two names, ``\\boxed{A, B}``, gives two with one place: that of the head of the box.
    """
    has_numbers = analysis.choices.names == "numbers"
    for box in _BOX.finditer(analysis.text):
        if box["name"]:
            names = [box["name"]]
        else:
            content = analysis.text[box.end() : box.end() + _LONGEST_BOX]
            names = _names_in_box(_up_to_closing_brace(content))
        for name in names:
            if name.isdigit() != has_numbers:
                continue  # a number where letters are offered, or the reverse
            value = int(name) - 1 if has_numbers else ord(name.upper()) - ord("A")
            yield Evidence(value, box.start(), box.end(), "announced")


def _names_in_box(content: str) -> list[str]:
    """The names of options in a box, at most two: ["A", "B"] for "A, B"."""
    first = _IN_BOX.match(content)
    if first is None:
        return []
    following = _NEXT_IN_BOX.match(content, first.end("name"))
    names = [first["name"]]
    if following:
        names.append(following["name"])
    return names


def _up_to_closing_brace(text: str) -> str:
    r"""The text up to the "}" that closes a box, or all: "\text{B}" of "\text{B}} and"."""
    depth = 1
    for position, sign in enumerate(text):
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
        if depth == 0:
            return text[:position]
    return text
