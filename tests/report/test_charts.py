"""Charts are sound and harmless SVG, tell the same numbers as CSV, and read without colours."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.report import charts
from figlang_tasks.report.charts import Chart, Entry
from figlang_tasks.scoring import Estimate

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ("</svg><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "$x$ & \\$y $\\frac{1}{2}$", "_hidden")
X = [i / 100 for i in range(101)]


def curves(*names: str, chart_id: str = "curves", order: tuple[str, ...] = ()) -> Chart:
    panels = {panel: {name: [90 - 80 * x * (1 + i) / 9 for x in X] for i, name in enumerate(names)} for panel in "abc"}
    return charts.curves(chart_id, "Title", "What is seen.", X, panels, x_label="t", y_label="F1@t", order=order)


def bars(*names: str, chart_id: str = "bars", order: tuple[str, ...] = ()) -> Chart:
    group = {name: Estimate(12.5 * (i + 1), 10.0 * i, 14.0 * (i + 1)) for i, name in enumerate(names)}
    panels = {"one": {"A": group, names[0]: group}, "two": {"A": group | {names[0]: Estimate(float("nan"))}}}
    return charts.bars(
        chart_id, "Title", "What is seen.", panels, label="share", references={("one", "A"): 25.0}, order=order
    )


def dots(*names: str, chart_id: str = "dots", order: tuple[str, ...] = ()) -> Chart:
    series = {name: {place: Estimate(50.0 + place + i) for place in range(1, 22)} for i, name in enumerate(names)}
    return charts.dots(chart_id, "Title", "What is seen.", series, x_label="instruction", y_label="F1@0", order=order)


def matrix(*names: str, chart_id: str = "matrix") -> Chart:
    pairs = [(i, j) for i in range(len(names)) for j in range(len(names)) if i != j]
    entries = {(i, j): Entry(1.5 * (i - j), (f"{1.5 * (i - j):+.1f}", names[i]), strong=i > j) for i, j in pairs}
    data = [("row", "column", "difference"), *((names[i], names[j], 1.5 * (i - j)) for i, j in pairs)]
    return charts.matrix(chart_id, "Title", "What is seen.", names, names, entries, data)


KINDS: tuple[Callable[..., Chart], ...] = (curves, bars, dots, matrix)
each_kind = pytest.mark.parametrize("draw", KINDS, ids=lambda draw: draw.__name__)


def texts(chart: Chart) -> str:
    """What is to be read in a chart, blanks and line ends left out."""
    root = ElementTree.fromstring(chart.svg)
    return "".join("".join(element.itertext()) for element in root.iter(f"{SVG}text")).replace(" ", "")


def rows(chart: Chart) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(chart.csv, newline="")))


def fills(chart: Chart) -> list[str]:
    return re.findall(r'(?:fill|stroke)="var\((--series-\d)', chart.svg)


# --- SVG -------------------------------------------------------------------------------------------------------------


@each_kind
def test_a_chart_is_an_image_with_a_name_and_a_description_and_no_size(draw: Callable[..., Chart]) -> None:
    chart = draw("GPT-4", "LLaVA")
    root = ElementTree.fromstring(chart.svg)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    assert "width" not in root.attrib and "height" not in root.attrib
    x, y, width, height = map(float, root.attrib["viewBox"].split())
    assert (x, y, width) == (0, 0, charts.WIDTH) and height > 50
    named = {element.get("id"): element for element in root.iter() if element.get("id")}
    labels = [named[name] for name in root.attrib["aria-labelledby"].split()]
    assert [(label.tag, label.text) for label in labels] == [(f"{SVG}title", "Title"), (f"{SVG}desc", "What is seen.")]
    assert len(chart.svg) < 40_000


@each_kind
def test_names_are_text_and_nothing_else(draw: Callable[..., Chart]) -> None:
    chart = draw(*HOSTILE)
    root = ElementTree.fromstring(chart.svg)
    found = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert found <= {"svg", "g", "path", "text", "title", "desc", "pattern"}
    allowed = {"href", "style", "onload", "onerror"}
    assert not [name for element in root.iter() for name in element.attrib if name in allowed or "}" in name]
    assert "<script" not in chart.svg and "<img" not in chart.svg and "url(http" not in chart.svg
    for name in HOSTILE:
        assert name.replace(" ", "")[:15] in texts(chart)  # as it is: no formula, not taken for hidden


@each_kind
def test_the_page_is_left_alone(draw: Callable[..., Chart]) -> None:
    """No global style, no fixed colour of ours, no ids of another chart, nothing that points outside."""
    one, other = draw("A", "B", chart_id="one"), draw("A", "B", chart_id="another")
    ids = [re.findall(r'\bid="([^"]+)"', chart.svg) for chart in (one, other)]
    assert all(name.startswith("one-") for name in ids[0]) and len(set(ids[0] + ids[1])) == len(ids[0] + ids[1])
    for chart, own in zip((one, other), ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", chart.svg)) <= set(own)
    assert "<style" not in one.svg and "font-family" not in one.svg
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', one.svg))
    known = re.compile(r"none|currentColor|var\(--[a-z0-9-]+, #[0-9a-f]{6}\)|url\(#.+\)")
    assert all(known.fullmatch(each) for each in colours)
    assert {re.sub(r"var\((.+),.*", r"\1", each) for each in colours if each[:3] == "var"} <= set(charts.COLOURS)


@each_kind
def test_a_chart_is_the_same_each_time_in_every_thread(draw: Callable[..., Chart]) -> None:
    before = dict(matplotlib.rcParams)
    matplotlib.rcParams["font.size"] = 30  # settings of the program around us make no difference
    try:
        with ThreadPoolExecutor(4) as threads:
            found = set(threads.map(lambda _: draw("A", "B"), range(4)))
        assert matplotlib.rcParams["font.size"] == 30
    finally:
        matplotlib.rcParams.update(before)
    assert found == {draw("A", "B")}


@each_kind
@pytest.mark.parametrize("chart_id", ["", "a b", 'a"b', "1", "a_b"])
def test_an_id_that_is_none_is_refused(draw: Callable[..., Chart], chart_id: str) -> None:
    with pytest.raises(ValueError, match="chart id"):
        draw("A", "B", chart_id=chart_id)


def test_nothing_to_draw_is_refused() -> None:
    nothing: dict = {}
    for call in (
        lambda: charts.curves("a", "", "", X, nothing, x_label="", y_label=""),
        lambda: charts.bars("a", "", "", nothing, label=""),
        lambda: charts.dots("a", "", "", {"A": {1: Estimate(float("nan"))}}, x_label="", y_label=""),
        lambda: charts.matrix("a", "", "", [], [], nothing, [()]),
    ):
        with pytest.raises(ValueError, match="nothing to draw"):
            call()
    with pytest.raises(ValueError, match="a, A: 1 values for 101 places"):
        charts.curves("a", "", "", X, {"a": {"A": [1.0]}}, x_label="", y_label="")


@settings(deadline=None, max_examples=15)
@given(st.text(min_size=1, max_size=60))
def test_any_text_is_well_formed(name: str) -> None:
    chart = charts.matrix(
        "m", name, name, [name], [name], {(0, 0): Entry(1.0, (name,))}, [("name", "value"), (name, 1.5)]
    )
    ElementTree.fromstring(chart.svg.encode())
    (row,) = rows(chart)
    assert row["value"] == "1.5"
    if name.isprintable():
        assert row["name"] == (f"'{name}" if name[0] in "=+-@" else name)


# --- data ------------------------------------------------------------------------------------------------------------


def test_csv_gives_the_numbers_back() -> None:
    found = rows(curves("A", "B"))
    assert len(found) == 3 * 2 * 101 and list(found[0]) == ["panel", "run", "t", "F1@t"]
    assert [float(row["F1@t"]) for row in found[:101]] == [90 - 80 * x / 9 for x in X]
    assert [float(row["t"]) for row in found[:101]] == X
    first, *_, last = rows(bars("A", "B"))
    assert first == dict(panel="one", category="A", run="A", value="12.5", low="0.0", high="14.0", chance="25.0")
    assert (last["value"], last["chance"]) == ("25.0", "")
    assert [row["value"] for row in rows(bars("A", "B")) if row["panel"] == "two"] == ["", "25.0"]  # NaN is no number
    assert rows(dots("A"))[2] == {"run": "A", "instruction": "3", "F1@0": "53.0", "low": "", "high": ""}
    assert rows(matrix("A", "B")) == [
        {"row": "A", "column": "B", "difference": "-1.5"},
        {"row": "B", "column": "A", "difference": "1.5"},
    ]


@pytest.mark.parametrize("name", ['=HYPERLINK("http://x")', "+1", "-1", "@x"])
def test_a_name_is_no_formula_of_a_spreadsheet(name: str) -> None:
    assert rows(dots(name))[0]["run"] == f"'{name}"


# --- what is drawn ---------------------------------------------------------------------------------------------------


def test_a_bar_is_as_long_as_its_value() -> None:
    """Of a chart with bars of 25 and 75, the longer is three times as long; both begin at the same place."""
    panels = {"": {"A": {"one": Estimate(25.0)}, "B": {"one": Estimate(75.0)}}}
    root = ElementTree.fromstring(charts.bars("b", "", "", panels, label="").svg)
    paths = [path.attrib["d"] for path in root.iter(f"{SVG}path") if path.get("fill-opacity") == "0.45"]
    edges = [[float(x) for x in re.findall(r"[ML] ([\d.]+) ", path)] for path in paths]
    (left, right), (other_left, other_right) = [(min(x), max(x)) for x in edges if max(x) - min(x) > 30]
    assert left == other_left
    assert (other_right - other_left) / (right - left) == pytest.approx(3, abs=0.01)


def test_values_stand_in_the_chart() -> None:
    assert "12.5" in texts(bars("A", "B")) and "+1.5" in texts(matrix("A", "B")) and "chance" in texts(bars("A"))


@given(st.lists(st.sampled_from([0.0, 10.0, 20.0, 100.0, float("nan")]), min_size=2, max_size=60))
def test_points_left_out_of_a_curve_lie_on_it(y: list[float]) -> None:
    x = [i / 100 for i in range(len(y))]
    kept = charts._without_straights(x, y)
    if not np.isnan(y).any():
        assert np.interp(x, [x[i] for i in kept], [y[i] for i in kept]) == pytest.approx(np.array(y))
    assert {0, len(y) - 1} <= set(kept) and kept == sorted(set(kept))


@pytest.mark.parametrize("draw", KINDS[:3], ids=lambda draw: draw.__name__)
def test_a_run_looks_alike_in_every_chart_of_a_page(draw: Callable[..., Chart]) -> None:
    assert set(fills(draw("B", order=("A", "B", "C")))) == {"--series-2"}
    assert set(fills(draw("B"))) == {"--series-1"}


# --- reading without colours -----------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.1)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_series_stand_out_from_a_light_and_a_dark_page() -> None:
    for name, (light, dark) in charts.COLOURS.items():
        if name != "--grid":
            assert contrast(light, "#ffffff") >= 3, name
            assert contrast(dark, "#1e1e1e") >= 3, name


def test_two_series_differ_in_more_than_their_colour() -> None:
    styles = [charts._style(number) for number in range(30)]
    for one, other in combinations(styles, 2):
        assert (one["linestyle"], one["marker"]) != (other["linestyle"], other["marker"])
        assert (one["color"], one["hatch"]) != (other["color"], other["hatch"])
    assert len({style["hatch"] for style in styles[:7]}) == 7 and len({style["color"] for style in styles[:8]}) == 8
