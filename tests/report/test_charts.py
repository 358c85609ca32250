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
from figlang_tasks.report.charts import Chart, Curve, Effect, Ends, Reference, Row, style
from figlang_tasks.report.charts.curves import columns_of, without_straights
from figlang_tasks.report.charts.sheet import HALF, WHOLE, Scale, drawing, text_width, wrapped
from figlang_tasks.scoring import Estimate

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ("</svg><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "$x$ & \\$y $\\frac{1}{2}$", "_hidden")
X = [i / 100 for i in range(101)]


def curves(*names: str, chart_id: str = "curves", order: tuple[str, ...] = ()) -> Chart:
    lines = {name: [90 - 80 * x * (1 + i) / 9 for x in X] for i, name in enumerate(names)}
    whole = {name: Curve(y, [value - 4 for value in y], [value + 4 for value in y]) for name, y in lines.items()}
    panels = {"all": whole} | {panel: {name: Curve(y) for name, y in lines.items()} for panel in "bc"}
    marks = (0.53, 0.6)
    return charts.curves(
        chart_id, "Title", "What is seen.", X, panels, x_label="t", y_label="F1@t", marks=marks, order=order
    )


BESIDE = (Reference("CLIP", 40.0), Reference("BLIP", 60.0), Reference("Humans", 97.0, "people"))
CHANCE = Reference("chance", 25.0, "chance")


def bars(*names: str, chart_id: str = "bars", order: tuple[str, ...] = (), side_by_side: bool = False) -> Chart:
    group = {name: Estimate(12.5 * (i + 1), 10.0 * i, 14.0 * (i + 1)) for i, name in enumerate(names)}
    panels = {"one": {"A": group, names[0]: group}, "two": {"A": group | {names[0]: Estimate(float("nan"))}}}
    return charts.bars(
        chart_id,
        "Title",
        "What is seen.",
        panels,
        label="share",
        references={("one", "A"): [CHANCE, *BESIDE]},
        order=order,
        side_by_side=side_by_side,
    )


def dots(*names: str, chart_id: str = "dots", order: tuple[str, ...] = ()) -> Chart:
    series = {name: {place: Estimate(50.0 + place + i) for place in range(1, 22)} for i, name in enumerate(names)}
    return charts.dots(chart_id, "Title", "What is seen.", series, x_label="instruction", y_label="F1@0", order=order)


def dumbbells(*names: str, chart_id: str = "dumbbells", order: tuple[str, ...] = ()) -> Chart:
    group = {name: Ends(Estimate(80.0 - i, 70.0, 90.0), Estimate(50.0)) for i, name in enumerate(names)}
    groups = {"all": group, names[0]: {names[0]: Ends(Estimate(80.0), Estimate(float("nan")))}}
    return charts.dumbbells(
        chart_id, "Title", "What is seen.", groups, names=("F1@0", "F1@60"), label="F1", order=order
    )


def overview(*names: str, chart_id: str = "overview", order: tuple[str, ...] = (), tasks: int = 2) -> Chart:
    values = {name: Estimate(10.0 + 7 * i, 5.0, 60.0) for i, name in enumerate(names)}
    rows = [
        Row(f"task_{n}", f"irfl_task_{n}", "accuracy", values, [CHANCE, *BESIDE] if n else []) for n in range(tasks)
    ]
    return charts.overview(
        chart_id, "Title", "What is seen.", {"IRFL": rows, names[0]: rows[:1]}, label="percent", order=order
    )


def forest(*names: str, chart_id: str = "forest") -> Chart:
    effects = [
        Effect(name, 1.5 - 3 * i, -1.0 - 3 * i, 4.0 - 3 * i, ".012", i == 1, i == 0, names[0])
        for i, name in enumerate(names)
    ]
    data = [("name", "difference"), *((each.label, each.value) for each in effects)]
    return charts.forest(
        chart_id, "Title", "What is seen.", {"a": effects, names[0]: effects}, data, label="difference"
    )


WITH_SERIES: tuple[Callable[..., Chart], ...] = (curves, bars, dots, dumbbells, overview)
KINDS = (*WITH_SERIES, forest)
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
def test_a_chart_is_an_image_with_a_name_a_description_and_its_own_size(draw: Callable[..., Chart]) -> None:
    chart = draw("GPT-4", "LLaVA")
    root = ElementTree.fromstring(chart.svg)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    x, y, width, height = map(float, root.attrib["viewBox"].split())
    assert (x, y, width) == (0, 0, WHOLE if chart.wide else HALF) and height > 50
    assert (float(root.attrib["width"]), float(root.attrib["height"])) == (width, height)
    named = {element.get("id"): element for element in root.iter() if element.get("id")}
    labels = [named[name] for name in root.attrib["aria-labelledby"].split()]
    assert [(label.tag, label.text) for label in labels] == [(f"{SVG}title", "Title"), (f"{SVG}desc", "What is seen.")]
    assert len(chart.svg) < 40_000


@each_kind
def test_text_has_12_pixels_or_more_and_stays_inside(draw: Callable[..., Chart]) -> None:
    chart = draw("GPT-4", "a model with a name that is far too long to stand in any chart beside its bars, tuned twice")
    root = ElementTree.fromstring(chart.svg)
    sizes = {float(each.get("font-size", "12px").removesuffix("px")) for each in (root, *root.iter(f"{SVG}text"))}
    assert min(sizes) >= 12
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for each in root.iter(f"{SVG}text"):
        found = re.search(r"translate\(([-\d.]+) ([-\d.]+)\)", each.get("transform", ""))
        x, y = map(float, found.groups() if found else (each.attrib["x"], each.attrib["y"]))
        assert -1 <= x <= width + 1 and 0 <= y <= height, each.text


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
        assert name.replace(" ", "")[:13] in texts(chart)  # as it is: no formula, not taken for hidden


@each_kind
def test_the_page_is_left_alone(draw: Callable[..., Chart]) -> None:
    """No global style, no fixed colour of ours, no ids of another chart, nothing that points outside."""
    one, other = draw("A", "B", chart_id="one"), draw("A", "B", chart_id="another")
    ids = [re.findall(r'\bid="([^"]+)"', chart.svg) for chart in (one, other)]
    assert all(name.startswith("one-") for name in ids[0]) and len(set(ids[0] + ids[1])) == len(ids[0] + ids[1])
    for chart, own in zip((one, other), ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", chart.svg)) <= set(own)
    assert "<style" not in one.svg and one.svg.count("font-family") == 1  # of the whole: a page has its own
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
        lambda: charts.dumbbells("a", "", "", nothing, names=("", ""), label=""),
        lambda: charts.overview("a", "", "", nothing, label=""),
        lambda: charts.forest("a", "", "", nothing, [()], label=""),
    ):
        with pytest.raises(ValueError, match="nothing to draw"):
            call()
    with pytest.raises(ValueError, match="a, A: 1 values for 101 places"):
        charts.curves("a", "", "", X, {"a": {"A": Curve([1.0])}}, x_label="", y_label="")


@settings(max_examples=15)
@given(st.text(min_size=1, max_size=60))
def test_any_text_is_well_formed(name: str) -> None:
    effect = Effect(name, 1.5, None, None, name, strong=True, better=True)
    chart = charts.forest("m", name, name, {name: [effect]}, [("name", "value"), (name, 1.5)], label=name)
    ElementTree.fromstring(chart.svg.encode())
    (row,) = rows(chart)
    assert row["value"] == "1.5"
    if name.isprintable():
        assert row["name"] == (f"'{name}" if name[0] in "=+-@" else name)


# --- data ------------------------------------------------------------------------------------------------------------


def test_csv_gives_the_numbers_back() -> None:
    found = rows(curves("A", "B"))
    assert len(found) == 3 * 2 * 101 and list(found[0]) == ["panel", "run", "t", "F1@t", "low", "high"]
    assert [float(row["F1@t"]) for row in found[:101]] == [90 - 80 * x / 9 for x in X]
    assert [float(row["t"]) for row in found[:101]] == X
    assert (found[0]["low"], found[0]["high"], found[-1]["low"]) == ("86.0", "94.0", "")
    first, *others = rows(bars("A", "B"))
    assert first == dict(panel="one", category="A", kind="run", name="A", value="12.5", low="0.0", high="14.0")
    assert [row["value"] for row in others if row["panel"] == "two"] == ["", "25.0"]  # NaN is no number
    beside = [(row["kind"], row["name"], row["value"]) for row in others if row["kind"] != "run"]
    assert beside == [
        ("chance", "chance", "25.0"),
        *(("published model", "CLIP", "40.0"), ("published model", "BLIP", "60.0")),
        ("published people", "Humans", "97.0"),
    ]
    assert rows(dots("A"))[2] == {"run": "A", "instruction": "3", "F1@0": "53.0", "low": "", "high": ""}
    (fell, *_) = rows(dumbbells("A"))
    assert (fell["F1@0"], fell["F1@0 low"], fell["F1@60"], fell["points"]) == ("80.0", "70.0", "50.0", "-30.0")
    (run, *_, people) = [row for row in rows(overview("A")) if row["task"] == "irfl_task_1"]
    assert (run["dataset"], run["metric"], run["kind"], run["value"]) == ("IRFL", "accuracy", "run", "10.0")
    assert (people["kind"], people["name"]) == ("published people", "Humans")
    assert rows(forest("A", "B")) == [{"name": "A", "difference": "1.5"}, {"name": "B", "difference": "-1.5"}]


@pytest.mark.parametrize("name", ['=HYPERLINK("http://x")', "+1", "-1", "@x", " =1", "＝1"])
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
    assert "12.5" in texts(bars("A", "B")) and "chance" in texts(bars("A")) and "best:BLIP60.0" in texts(bars("A"))
    assert "+1.5" in texts(forest("A", "B")) and "−1.5" in texts(forest("A", "B")) and ".012" in texts(forest("A"))
    assert "−30.0" in texts(dumbbells("A")) and "points" in texts(dumbbells("A"))
    assert ".53" in texts(curves("A")) and ".60" in texts(curves("A"))
    assert "10.0" in texts(overview("A")) and "accuracy" in texts(overview("A"))
    assert "10.0" not in texts(overview(*"ABCDE"))  # there is no room: the table has them


def test_bars_side_by_side_have_the_same_categories() -> None:
    chart = bars("A", "B", side_by_side=True)
    assert chart.wide and not bars("A", "B").wide
    assert rows(chart) == rows(bars("A", "B")) and texts(chart).count("share") == 2


def test_many_tasks_take_two_columns_and_a_dataset_that_is_cut_is_named_again() -> None:
    assert not overview("A", tasks=3).wide
    many = overview("A", tasks=29)
    assert many.wide and "IRFL(continued)" in texts(many)
    assert texts(many).count("accuracy") == 30


@pytest.mark.parametrize("count, columns", [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (6, 3), (7, 3), (8, 2), (9, 3)])
def test_a_grid_of_small_panels_is_full_where_it_can_be(count: int, columns: int) -> None:
    assert columns_of(count) == columns


def test_a_band_is_of_the_interval() -> None:
    """The curve falls by 80/9 over the panel; its band, of 4 on both sides, is the first panel's alone."""
    paths = list(ElementTree.fromstring(curves("A").svg).iter(f"{SVG}path"))
    (band,) = [path.attrib["d"] for path in paths if path.get("opacity") == "0.16"]
    lines = [path.attrib["d"] for path in paths if path.get("stroke", "").startswith("var(--series-1")]
    line = lines[1]  # after that of the legend
    assert line.split()[:2] == band.split()[:2]  # both begin at the same x
    (top, bottom), (highest, lowest) = (
        (min(y), max(y)) for y in ([float(each) for each in re.findall(r"[ML] \S+ (\S+)", d)] for d in (line, band))
    )
    point = (bottom - top) / (80 / 9)
    assert (top - highest, lowest - bottom) == pytest.approx((4 * point, 4 * point), abs=0.2)


@given(st.text(max_size=80), st.integers(30, 300))
def test_wrapped_text_fits(text: str, width: int) -> None:
    with drawing("a"):
        lines = wrapped(text, width)
        assert len(lines) <= 2 and all(text_width(line) <= width for line in lines)


def test_a_scale_maps_its_ends() -> None:
    scale = Scale(0, 100, 50, 250)
    assert (scale(0), scale(25), scale(100)) == (50, 100, 250)


@given(st.lists(st.sampled_from([0.0, 10.0, 20.0, 100.0, float("nan")]), min_size=2, max_size=60))
def test_points_left_out_of_a_curve_lie_on_it(y: list[float]) -> None:
    x = [i / 100 for i in range(len(y))]
    kept = without_straights(x, y)
    if not np.isnan(y).any():
        assert np.interp(x, [x[i] for i in kept], [y[i] for i in kept]) == pytest.approx(np.array(y))
    assert {0, len(y) - 1} <= set(kept) and kept == sorted(set(kept))


@pytest.mark.parametrize("draw", WITH_SERIES, ids=lambda draw: draw.__name__)
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
    styles = [style.of_series(number) for number in range(30)]
    for one, other in combinations(styles, 2):
        assert (one["linestyle"], one["marker"]) != (other["linestyle"], other["marker"])
        assert (one["color"], one["hatch"]) != (other["color"], other["hatch"])
    assert len({style["hatch"] for style in styles[:7]}) == 7 and len({style["color"] for style in styles[:8]}) == 8
