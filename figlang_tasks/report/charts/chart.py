"""A finished chart, and the published values that stand in one beside runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias


@dataclass(frozen=True)
class Chart:
    """A finished chart, as the page shows it and offers it for download.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title: its caption.
        svg: the drawing, an SVG file; the page shows it as a picture, so nothing in it can run.
        phone_svg: the drawing for the narrow screen of a telephone.
        csv: the numbers of the chart, below a header line.
        is_wide: whether it takes the full width of the page; two others fit side by side.
    """

    id: str
    title: str
    svg: str
    phone_svg: str
    csv: str
    is_wide: bool = False


ReferenceKind: TypeAlias = Literal["model", "people", "chance"]


class Reference(NamedTuple):
    """A published value, or the level of chance, to read runs against; 0 to 100."""

    name: str
    value: float
    kind: ReferenceKind = "model"
