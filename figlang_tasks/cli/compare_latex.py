"""Tables of ``figlang compare`` for a paper: booktabs, the best value bold, superscripts for significance."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from figlang_tasks.core.text import latex


class Cell(NamedTuple):
    """A value of a run.

    Attributes:
        text: the value, an interval behind it.
        best: whether no run is better.
        above: names of the runs that it is significantly better than.
    """

    text: str
    best: bool = False
    above: Sequence[str] = ()


def table(
    caption: str,
    heads: Sequence[str],
    rows: Mapping[str, Sequence[Cell]],
    published: Sequence[tuple[str, Sequence[str]]] = (),
) -> str:
    """Return a table.

    Args:
        caption: plain text.
        heads: of the columns behind the names of the runs.
        rows: by name of the run a cell for each head. A run has a letter, by which superscripts name it.
        published: rows below a rule: label, and a text for each head.
    """
    letters = dict(zip(rows, _letters(len(rows)), strict=True))
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
        r"\toprule",
        _row(["", *map(latex, heads)]),
        r"\midrule",
        *(_row([f"{letters[name]}: {latex(name)}", *(_cell(cell, letters) for cell in rows[name])]) for name in rows),
        *[r"\midrule"] * bool(published),
        *(_row([latex(label), *map(latex, texts)]) for label, texts in published),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell, letters: Mapping[str, str]) -> str:
    value, _, interval = cell.text.partition(" ")
    shown = rf"\textbf{{{latex(value)}}}" if cell.best else latex(value)
    if cell.above:
        shown += rf"\textsuperscript{{{','.join(letters[name] for name in cell.above)}}}"
    return shown + (rf" {{\footnotesize{latex(f' {interval}')}}}" if interval else "")


def _letters(count: int) -> list[str]:
    """a, b ... z, aa, ab ..."""
    letters = list(string.ascii_lowercase)
    return (letters + [one + other for one in letters for other in letters])[:count]
