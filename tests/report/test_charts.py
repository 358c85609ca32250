"""If these fail, a chart is no sound SVG, changes a name, or tells other numbers than its CSV.

Some also ask that a chart can be read without colours.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from itertools import combinations
from typing import Literal
from xml.etree import ElementTree

import pytest

from figlang_tasks.report.charts import (
    Chart,
    IntervalGroup,
    Reference,
    curve_chart,
    difference_row,
    forest_plot,
    interval_chart,
)
from figlang_tasks.report.charts.figure import COLOURS, FULL_WIDTH, HALF_WIDTH, line_style, wrap
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
THRESHOLDS = [i / 100 for i in range(101)]

CHANCE = Reference("chance", 25.0, "chance")
PUBLISHED = (Reference("CLIP", 40.0), Reference("BLIP", 60.0), Reference("Humans", 97.0, "people"))


def curves(*names: str, order: tuple[str, ...] = ()) -> Chart:
    """Curves of these runs: in the first panel with intervals, in two others without."""
    with_intervals: dict[str, list[Estimate]] = {}
    without_intervals: dict[str, list[Estimate]] = {}
    for i, name in enumerate(names):
        values = [90 - 80 * threshold * (1 + i) / 9 for threshold in THRESHOLDS]
        with_intervals[name] = [Estimate(value, value - 4, value + 4) for value in values]
        without_intervals[name] = [Estimate(value) for value in values]
    panels = {"all": with_intervals, "b": without_intervals, "c": without_intervals}
    return curve_chart(
        "curves",
        "Title",
        THRESHOLDS,
        panels,
        axis_label="F1@t",
        marked_thresholds=(0.53, 0.6),
        run_order=order or names,
    )


def intervals(*names: str, order: tuple[str, ...] = (), full_width: bool = False) -> Chart:
    """ChartCategory of these runs in two panels; in the second the first run has no value."""
    estimates: dict[str, Estimate] = {}
    for number, name in enumerate(names):
        estimates[name] = Estimate(12.5 * (number + 1), 10.0 * number, 14.0 * (number + 1))
    panels = {
        "one": {
            names[0]: IntervalGroup(estimates),
            "A": IntervalGroup(estimates, [CHANCE, *PUBLISHED]),
        },
        "two": {"A": IntervalGroup({**estimates, names[0]: Estimate(float("nan"))})},
    }
    return interval_chart(
        "intervals",
        "Title",
        panels,
        axis_label="share",
        run_order=order or names,
        full_width=full_width,
    )


def forest(*names: str) -> Chart:
    """A difference for each name, in two panels; the second difference is worse, others not."""
    rows = []
    for number, name in enumerate(names):
        shift = 3 * number
        difference = Estimate(1.5 - shift, -1.0 - shift, 4.0 - shift)
        verdict: Literal["worse"] | None = "worse" if number == 1 else None
        rows.append(difference_row(wrap(name, 28), difference, ".012", verdict))
    return forest_plot("forest", "Title", {"a": rows, names[0]: rows}, "name\n")


def texts(svg: str) -> str:
    """All text in a chart, without blanks."""
    elements = ElementTree.fromstring(svg).iter(f"{SVG}text")
    return "".join("".join(element.itertext()) for element in elements).replace(" ", "")


def csv_rows(chart: Chart) -> list[dict[str, str]]:
    """The data of a chart, a dictionary for each line."""
    return list(csv.DictReader(io.StringIO(chart.csv, newline="")))


def width_of(svg: str) -> float:
    """The width of a drawing in pixels."""
    return float(ElementTree.fromstring(svg).attrib["width"])


@pytest.mark.parametrize("draw", [curves, intervals, forest])
def test_a_chart_is_an_svg_of_its_own_size_with_names_as_text_and_nothing_else(
    draw: Callable[..., Chart],
) -> None:
    chart = draw(*HOSTILE, NO_XML, LONG)
    root = ElementTree.fromstring(chart.svg)
    assert root.tag == f"{SVG}svg"
    assert width_of(chart.svg) == (FULL_WIDTH if chart.is_wide else HALF_WIDTH)
    assert 50 < float(root.attrib["height"]) < 2_000
    assert width_of(chart.phone_svg) <= 358, "without scrolling on a telephone"
    elements = list(root.iter())
    tags = {element.tag.removeprefix(SVG) for element in elements}
    assert tags.isdisjoint({"script", "image", "a", "foreignObject", "animate"})
    for element in elements:
        assert not [name for name in element.attrib if name.startswith("on")]
    for name in HOSTILE:  # neither taken for a formula nor for a hidden series
        assert name.replace(" ", "")[:13] in texts(chart.svg)


def test_csv_gives_the_numbers_of_curves_back() -> None:
    rows = csv_rows(curves("A", "B"))
    assert len(rows) == 3 * 2 * 101
    assert list(rows[0]) == ["panel", "run", "threshold t", "F1@t", "low", "high"]
    first_curve = rows[:101]
    assert [float(row["threshold t"]) for row in first_curve] == THRESHOLDS
    assert [float(row["F1@t"]) for row in first_curve] == [90 - 80 * t / 9 for t in THRESHOLDS]
    assert (rows[0]["low"], rows[0]["high"]) == ("86.0", "94.0")
    assert rows[-1]["low"] == ""


def test_csv_gives_the_numbers_of_intervals_back() -> None:
    rows = csv_rows(intervals("A", "B"))
    assert rows[0] == {
        "panel": "one",
        "category": "A",
        "kind": "run",
        "name": "A",
        "value": "12.5",
        "low": "0.0",
        "high": "14.0",
    }
    # NaN is left empty
    assert [row["value"] for row in rows[1:] if row["panel"] == "two"] == ["", "25.0"]
    references = [row for row in rows[1:] if row["kind"] != "run"]
    assert [(row["kind"], row["name"], row["value"]) for row in references] == [
        ("chance", "chance", "25.0"),
        ("published model", "CLIP", "40.0"),
        ("published model", "BLIP", "60.0"),
        ("published people", "Humans", "97.0"),
    ]


def test_values_stand_in_the_chart() -> None:
    text = texts(intervals("A", "B").svg)
    assert "12.5" in text and "chance" in text and "best:BLIP60.0" in text
    text = texts(curves("A").svg)
    assert ".53" in text and ".60" in text


def test_what_is_significant_is_bold() -> None:
    style_by_text = {}
    for element in ElementTree.fromstring(forest("A", "B").svg).iter(f"{SVG}text"):
        style_by_text["".join(element.itertext())] = element.get("style", "")
    bold = {text for text, style in style_by_text.items() if re.search("700|bold", style)}
    assert "\N{MINUS SIGN}1.5 (.012)" in bold
    assert "+1.5 (.012)" in style_by_text.keys() - bold


def test_a_telephone_has_the_labels_of_a_forest_plot_above_its_rows() -> None:
    chart = forest("figlang_mini_irfl_detect_idiom acc")
    assert ">figlang_mini_irfl_detect_idiom acc, a<" in chart.phone_svg


def test_the_overview_is_drawn_for_wide_and_for_narrow_pages() -> None:
    chart = intervals("A", full_width=True)
    assert chart.is_wide
    assert texts(chart.svg) == texts(chart.phone_svg)


@pytest.mark.parametrize("draw", [intervals, curves])
def test_a_run_looks_alike_in_every_chart_of_a_page(draw: Callable[..., Chart]) -> None:
    assert COLOURS[1] in draw("B", order=("A", "B", "C")).svg
    assert COLOURS[0] not in draw("B", order=("A", "B")).svg


def test_two_series_differ_in_more_than_their_colour() -> None:
    styles = [line_style(number) for number in range(30)]
    for first, second in combinations(styles, 2):
        assert (first["linestyle"], first["marker"]) != (second["linestyle"], second["marker"])
