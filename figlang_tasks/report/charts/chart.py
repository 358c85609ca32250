"""What a chart is: an SVG for the page, its data as CSV, and the same in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from figlang_tasks.scoring import Estimate


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title: what it shows, for its caption.
        alt: what it shows and what is to be seen in it, in words and numbers.
        svg: an ``<svg>`` element; every id in it begins with `id`. At its own size its text has 12 px or more.
        csv: its data, a header line first.
        wide: whether it takes the whole width of the page; two others fit beside each other.
    """

    id: str
    title: str
    alt: str
    svg: str
    csv: str
    wide: bool = False


class Reference(NamedTuple):
    """What runs are read beside.

    Attributes:
        name: whose value it is.
        value: on the scale of the chart.
        kind: ``model``, ``people`` or ``chance``.
    """

    name: str
    value: float
    kind: str = "model"

    @property
    def csv_kind(self) -> str:
        """What a table of the chart's data says."""
        return "chance" if self.kind == "chance" else f"published {self.kind}"


Panels = Mapping[str, Mapping[str, Mapping[str, Estimate]]]
"""Values by panel, category and series."""

References = Mapping[tuple[str, str], Sequence[Reference]]
"""What to read values beside, by panel and category."""


def numbered(groups: Iterable[Iterable[str]], order: Sequence[str]) -> dict[str, int]:
    """The series of all groups, each with the number of its style: its place in `order`, where it stands there.

    Raises:
        ValueError: there are none.
    """
    names = list(dict.fromkeys(name for group in groups for name in group))
    if not names:
        raise ValueError("there is nothing to draw")
    everyone = dict.fromkeys([*order, *names])
    return {name: number for number, name in enumerate(everyone) if name in names}
