"""Charts are sound SVG that says names as they are, tell the same numbers as CSV, and read without
colours.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from itertools import combinations
from xml.etree import ElementTree

import pytest

from figlang_tasks.report import charts
from figlang_tasks.report.charts import COLOURS, HALF, WHOLE, Chart, Reference, of_series
from figlang_tasks.scoring import Estimate

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "</svg><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "$x$ & \\$y $\\frac{1}{2}$",
    "_hidden",
)
NO_XML = "half\ud800 \x00\x1b[31m\uffff"
LONG = "a model with a name that is far too long to stand in any chart, tuned twice"
X = [i / 100 for i in range(101)]


def curves(*names: str, order: tuple[str, ...] = ()) -> Chart:
    lines = {name: [90 - 80 * x * (1 + i) / 9 for x in X] for i, name in enumerate(names)}
    whole = {
        name: [Estimate(value, value - 4, value + 4) for value in y] for name, y in lines.items()
    }
    panels = {"all": whole} | {
        panel: {name: list(map(Estimate, y)) for name, y in lines.items()} for panel in "bc"
    }
    marks = (0.53, 0.6)
    return charts.curves(
        "curves", "Title", X, panels, y_label="F1@t", marks=marks, order=order or names
    )


BESIDE = (Reference("CLIP", 40.0), Reference("BLIP", 60.0), Reference("Humans", 97.0, "people"))
CHANCE = Reference("chance", 25.0, "chance")


def bars(*names: str, order: tuple[str, ...] = (), whole: bool = False) -> Chart:
    group = {
        name: Estimate(12.5 * (i + 1), 10.0 * i, 14.0 * (i + 1)) for i, name in enumerate(names)
    }
    panels = {
        "one": {"A": group, names[0]: group},
        "two": {"A": group | {names[0]: Estimate(float("nan"))}},
    }
    return charts.bars(
        "bars",
        "Title",
        panels,
        label="share",
        references={("one", "A"): [CHANCE, *BESIDE]},
        order=order or names,
        whole=whole,
    )


def forest(*names: str) -> Chart:
    lines = []
    for i, name in enumerate(names):
        label, moved = charts.wrapped(name, 28), 3 * i
        winner = False if i == 1 else None
        lines.append(
            charts.difference(label, 1.5 - moved, -1.0 - moved, 4.0 - moved, ".012", winner)
        )
    return charts.forest("forest", "Title", {"a": lines, names[0]: lines}, "name\n")


def texts(svg: str) -> str:
    """What is to be read in a chart, blanks left out."""
    return "".join(
        "".join(each.itertext()) for each in ElementTree.fromstring(svg).iter(f"{SVG}text")
    ).replace(" ", "")


def rows(chart: Chart) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(chart.csv, newline="")))


@pytest.mark.parametrize("draw", [curves, bars, forest])
def test_a_chart_is_an_svg_of_its_own_size_with_names_as_text_and_nothing_else(
    draw: Callable[..., Chart],
) -> None:
    chart = draw(*HOSTILE, NO_XML, LONG)
    root = ElementTree.fromstring(chart.svg)
    assert root.tag == f"{SVG}svg" and float(root.attrib["width"]) == (
        WHOLE if chart.wide else HALF
    )
    assert 50 < float(root.attrib["height"]) < 2_000
    assert float(ElementTree.fromstring(chart.narrow).attrib["width"]) <= 358, (
        "without scrolling on a telephone"
    )
    elements = list(root.iter())
    assert not {each.tag.removeprefix(SVG) for each in elements} & {
        "script",
        "image",
        "a",
        "foreignObject",
        "animate",
    }
    assert not [name for each in elements for name in each.attrib if name.startswith("on")]
    for name in HOSTILE:  # no formula, and not taken for hidden
        assert name.replace(" ", "")[:13] in texts(chart.svg)


def test_csv_gives_the_numbers_back() -> None:
    found = rows(curves("A", "B"))
    assert len(found) == 3 * 2 * 101 and list(found[0]) == [
        "panel",
        "run",
        "threshold t",
        "F1@t",
        "low",
        "high",
    ]
    assert [float(row["F1@t"]) for row in found[:101]] == [90 - 80 * x / 9 for x in X]
    assert [float(row["threshold t"]) for row in found[:101]] == X
    assert (found[0]["low"], found[0]["high"], found[-1]["low"]) == ("86.0", "94.0", "")
    first, *others = rows(bars("A", "B"))
    assert first == dict(
        panel="one", category="A", kind="run", name="A", value="12.5", low="0.0", high="14.0"
    )
    # NaN is no number
    assert [row["value"] for row in others if row["panel"] == "two"] == ["", "25.0"]
    beside = [(row["kind"], row["name"], row["value"]) for row in others if row["kind"] != "run"]
    assert beside == [
        ("chance", "chance", "25.0"),
        *(("published model", "CLIP", "40.0"), ("published model", "BLIP", "60.0")),
        ("published people", "Humans", "97.0"),
    ]


def test_values_stand_in_the_chart_and_what_is_significant_is_bold() -> None:
    read = texts(bars("A", "B").svg)
    assert "12.5" in read and "chance" in read and "best:BLIP60.0" in read
    read = texts(curves("A").svg)
    assert ".53" in read and ".60" in read
    drawn = ElementTree.fromstring(forest("A", "B").svg).iter(f"{SVG}text")
    styles = {"".join(each.itertext()): each.get("style", "") for each in drawn}
    bold = {text for text, style in styles.items() if re.search("700|bold", style)}
    assert "\N{MINUS SIGN}1.5 (.012)" in bold and "+1.5 (.012)" in styles.keys() - bold
    assert (
        ">figlang_mini_irfl_detect_idiom acc, a<"
        in forest("figlang_mini_irfl_detect_idiom acc").narrow
    )


def test_the_overview_is_drawn_for_wide_and_for_narrow_pages() -> None:
    chart = bars("A", whole=True)
    assert chart.wide and texts(chart.svg) == texts(chart.narrow)


def test_a_run_looks_alike_in_every_chart_of_a_page() -> None:
    for draw in (bars, curves):
        assert (
            COLOURS[1] in draw("B", order=("A", "B", "C")).svg
            and COLOURS[0] not in draw("B", order=("A", "B")).svg
        )


def test_two_series_differ_in_more_than_their_colour() -> None:
    styles = [of_series(number, line=True) for number in range(30)]
    for one, other in combinations(styles, 2):
        assert (one["linestyle"], one["marker"]) != (other["linestyle"], other["marker"])
