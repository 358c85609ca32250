"""From a figure of matplotlib to SVG that may stand inside a page, or be a file."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from figlang_tasks.core.text import well_formed
from figlang_tasks.report.charts import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT_SIZE = 12.0
BAR = "bar-of-series-"
"""Begins the gid of a bar, before the number of its series."""

_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_FONT = re.compile(r"(?:(?P<weight>bold|[1-9]00) )?(?P<size>[\d.]+px) ")


def of(figure: Figure, chart_id: str, title: str, alt: str) -> str:
    """Save a figure and make of it what may stand inside a page (see `Chart.svg`)."""
    saved = io.BytesIO()
    figure.savefig(saved, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    root = ElementTree.fromstring(saved.getvalue())  # without its comments, which repeat texts
    known = {element.get("id"): element for element in root.iter() if element.get("id")}
    hatched = {name.removeprefix(BAR) for name in known if name and name.startswith(BAR)}
    parts = [_pattern(chart_id, int(number)) for number in sorted(hatched) if style.of_series(int(number))["hatch"]]
    parts += [part for element in root for part in _cleaned(element, known, chart_id)]
    names = (("title", title), ("desc", alt))
    width, height = _rounded(root.attrib["viewBox"]).split()[2:]
    image = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "chart",
            "role": "img",
            "aria-labelledby": " ".join(f"{chart_id}-{name}" for name, _ in names),
            "viewBox": f"0 0 {width} {height}",
            "width": width,
            "height": height,
            "fill": "currentColor",
            "font-family": "sans-serif",  # of a file; the page has its own
            "font-size": f"{FONT_SIZE:g}px",
            "stroke-linejoin": "round",
        },
    )
    for name, text in names:
        ElementTree.SubElement(image, name, {"id": f"{chart_id}-{name}"}).text = well_formed(text)
    image.extend(parts)
    return ElementTree.tostring(image, encoding="unicode")


def _pattern(chart_id: str, number: int) -> ElementTree.Element:
    """The hatch of the bars of a series."""
    own = style.of_series(number)
    side = str(style.TILE)
    pattern = ElementTree.Element(
        "pattern",
        {"id": f"{chart_id}-hatch-{number}", "width": side, "height": side, "patternUnits": "userSpaceOnUse"},
    )
    stroke = {"stroke": _colour(own["color"]), "stroke-width": "1.2", "stroke-linecap": "round", "fill": "none"}
    ElementTree.SubElement(pattern, "path", {"d": own["hatch"], **stroke})
    return pattern


def _cleaned(
    element: ElementTree.Element, known: Mapping[str | None, ElementTree.Element], chart_id: str
) -> list[ElementTree.Element]:
    """What an element becomes: nothing, itself with attributes of ours, or (of groups) its parts."""
    tag = element.tag.removeprefix(_SVG)
    if tag in ("metadata", "style", "defs"):
        return []
    attributes = _attributes(element)
    if tag == "use":  # a marker: its shape, at its place
        place = f"translate({attributes.pop('x')} {attributes.pop('y')})"
        shape = _attributes(known[element.attrib[_LINK][1:]])
        return [ElementTree.Element("path", {**shape, **attributes, "transform": place})]
    parts = [part for child in element for part in _cleaned(child, known, chart_id)]
    name = element.get("id", "")
    if tag == "g" and name.startswith(BAR):
        number = int(name.removeprefix(BAR))
        return [each for part in parts for each in _filled(part, chart_id, number)]
    if tag == "g" and (not attributes or not parts):
        return parts
    made = ElementTree.Element(tag, attributes)
    made.text = element.text if tag in ("text", "tspan") else None
    made.extend(parts)
    return [made]


def _filled(outline: ElementTree.Element, chart_id: str, number: int) -> list[ElementTree.Element]:
    """The outline of a bar as two shapes: a light one, and one with the hatch."""
    own = style.of_series(number)
    shape = {name: value for name, value in outline.attrib.items() if name in _GEOMETRY}
    fill = shape | {"fill": _colour(own["color"]), "fill-opacity": "0.45"}
    if own["hatch"]:
        outline.set("fill", f"url(#{chart_id}-hatch-{number})")
    return [ElementTree.Element(outline.tag, fill), outline]


_GEOMETRY = ("d", "x", "y", "width", "height", "transform")
_STYLES = (
    *("fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray"),
    *("opacity", "font-size", "font-weight", "text-anchor"),
)
_INHERITED = (("opacity", "1"), ("font-size", f"{FONT_SIZE:g}px"))


def _attributes(element: ElementTree.Element) -> dict[str, str]:
    """Geometry, and every style as an attribute of its own, in the page's colours and its font."""
    found = {name: _rounded(element.attrib[name]) for name in _GEOMETRY if name in element.attrib}
    if found.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
        del found["transform"]
    for declaration in filter(str.strip, element.get("style", "").split(";")):
        name, value = (part.strip() for part in declaration.split(":", 1))
        if name == "font" and (font := _FONT.match(value)):  # before matplotlib 3.11
            found["font-size"] = font["size"]
            if font["weight"]:
                found["font-weight"] = font["weight"]
        elif name in _STYLES and (name, value) not in _INHERITED:
            found[name] = _colour(value) if name in ("fill", "stroke") else value
    return found


def _colour(value: str) -> str:
    if value in style.SENTINELS:
        return f"var({style.SENTINELS[value]}, {style.COLOURS[style.SENTINELS[value]][0]})"
    return "currentColor" if value in (style.TEXT, "#000000") else value


def _rounded(text: str) -> str:
    """Numbers with one decimal: a tenth of a pixel."""
    return _NUMBER.sub(lambda found: f"{round(float(found[0]), 1):g}", " ".join(text.split()))
