"""Colours, dashes, markers and hatches of charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COLOURS: Mapping[str, tuple[str, str]] = {
    # Okabe and Ito 2008, "Color Universal Design"; darkened for light pages, and lightened for dark ones, where a
    # colour of theirs has less than 3:1 contrast to the page (WCAG 2.1, 1.4.11).
    "--series-1": ("#0072b2", "#3d9cd6"),
    "--series-2": ("#d55e00", "#e8772e"),
    "--series-3": ("#008a64", "#1cb88b"),
    "--series-4": ("#b45a8e", "#cc79a7"),
    "--series-5": ("#a87400", "#e69f00"),
    "--series-6": ("#2f86bb", "#56b4e9"),
    "--series-7": ("#7d7500", "#f0e442"),
    "--series-8": ("#555555", "#bbbbbb"),
    "--grid": ("#d9dce0", "#3d434b"),
    "--quiet": ("#59616b", "#a4adb8"),
    "--better": ("#0072b2", "#3d9cd6"),
    "--worse": ("#d55e00", "#e8772e"),
}
"""CSS variables that charts use, each with its colour on a light and on a dark page; text has the page's own colour."""

_SERIES = tuple(name for name in COLOURS if name.startswith("--series"))
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# What is drawn into each tile of a bar; matplotlib's own hatches take 20 KB each.
_HATCHES = (
    "",
    "M-1 1l2-2M0 6l6-6M5 7l2-2",
    "M1.5 1.5h0M4.5 4.5h0",
    "M-1 5l2 2M0 0l6 6M5-1l2 2",
    "M0 3h6",
    "M3 0v6",
    "M0 3h6M3 0v6",
)
TILE = 6
TEXT = "#000001"
SENTINELS = {f"#0000{number:02x}": name for number, name in enumerate(COLOURS, start=16)}
"""Colours that matplotlib writes, and what they become in the page."""
_SENTINEL_OF = {name: sentinel for sentinel, name in SENTINELS.items()}


def colour(name: str) -> str:
    """The colour to give matplotlib for a variable of `COLOURS`."""
    return _SENTINEL_OF[name]


def of_series(number: int) -> dict[str, Any]:
    """Colour, dashes, marker and hatch of a series.

    Of the first 35 lines any two differ in dashes or marker; of bars any seven in a row differ in their hatch.
    """
    return {
        "color": colour(_SERIES[number % len(_SERIES)]),
        "linestyle": _DASHES[number % len(_DASHES)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "hatch": _HATCHES[number % len(_HATCHES)],
    }


def line(number: int) -> dict[str, Any]:
    """The style of a series as a line."""
    style = of_series(number)
    return {"color": style["color"], "linestyle": style["linestyle"], "linewidth": 1.8}


def marks(number: int, hollow: bool = False) -> dict[str, Any]:
    """The style of a series as marks."""
    style = of_series(number)
    return {
        "color": style["color"],
        "linestyle": "none",
        "marker": style["marker"],
        "markersize": 7,
        "markeredgewidth": 1.4 if hollow else 0,
        "markerfacecolor": "none" if hollow else style["color"],
    }


PEOPLE: dict[str, Any] = {
    "color": TEXT,
    "linestyle": "none",
    "marker": "D",
    "markersize": 6.5,
    "markerfacecolor": "none",
    "markeredgewidth": 1.3,
}
CHANCE: dict[str, Any] = {"color": TEXT, "linewidth": 1.2, "dashes": (3, 2)}
MODEL: dict[str, Any] = {"color": TEXT, "linewidth": 1.5}
GRID: dict[str, Any] = {"color": colour("--grid"), "linewidth": 0.8, "zorder": 0.5}  # behind all else
