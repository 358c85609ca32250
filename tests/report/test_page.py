"""If these fail, a text of a run leaves its place in the report, a secret is in it, or a number is lost."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import lines_of, run_of, write_run
from results_files import measures_of

from figlang_tasks.core import redaction
from figlang_tasks.report import page
from figlang_tasks.report.charts import Chart
from figlang_tasks.report.gallery import Gallery, build
from figlang_tasks.report.page import render
from figlang_tasks.report.sections import Group, Section, Table
from figlang_tasks.results.runs import Run, read

FOLDER = Path(page.__file__).parent
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg/onload=alert(3)>{{7*7}}\u2028<!--"
HARMLESS = {"meta", "link", "br", "img", "input", "hr", "path"}


class Parsed(HTMLParser):
    """Elements with attributes, and the text within each script and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.contents: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self._in: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in self.contents:
            self._in = tag
            self.contents[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._in = None if tag == self._in else self._in

    def handle_data(self, data: str) -> None:
        if self._in:
            self.contents[self._in][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def group(text: str = "a text") -> Group:
    chart = Chart("some-chart", text, '<svg class="chart" viewBox="0 0 1 1"><title>t</title></svg>', f"x\n{text}\n")
    table = Table(text, pd.DataFrame({"model": [text], text: [text]}), text)
    section = Section("one", text, text, (table,), (chart,), (text,), (text,))
    return Group("all", text, (section,))


def text_of(run: Run, *groups: Group, title: str = "A report", gallery: Gallery | None = None) -> str:
    shown = build([run], pictures=False) if gallery is None else gallery
    return render([run], groups, shown, title).content.decode("utf-8")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return run_of(tmp_path / "run", "figlang_mini", count=4)


# --- one file, and nothing that runs ---------------------------------------------------------------------------------


def test_the_policy_allows_the_own_script_and_style_alone(run: Run) -> None:
    parsed = Parsed(text_of(run, group()))
    (policy,) = [each["content"] for each in parsed.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "data:"

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules["script-src"] == digest(parsed.contents["script"][-1])
    assert rules["style-src"] == digest(parsed.contents["style"][0])
    assert "unsafe" not in policy
    assert not any(
        "style" in attributes or any(name.startswith("on") for name in attributes) for _, attributes in parsed.elements
    )


def test_the_script_makes_no_markup_of_texts() -> None:
    script = (FOLDER / "page.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|DOMParser|\beval\b|new Function", script)
    assert "</script" not in script and "<!--" not in script


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    lines = lines_of("figlang_mini", 3)
    lines[0]["sample"] |= {"explanation": EVIL, "reference": EVIL, "rule": EVIL, "status": EVIL}
    lines[1]["sample"]["id"] = EVIL
    lines[2] |= {"input": EVIL, "filtered_resps": EVIL}
    folder = write_run(
        tmp_path / "run", {"figlang_mini": lines}, {"model": EVIL, "model_args": EVIL, "limit": EVIL}, git_hash=EVIL
    )
    evil = read(f"x={folder}")
    evil = Run(EVIL, evil.path, evil.tasks, evil.results)
    gallery = build([evil], pictures=False)
    gallery.cards[0]["source"] = EVIL
    gallery = Gallery(gallery.cards, gallery.pictures, [EVIL])
    text = text_of(evil, group(EVIL), title=EVIL, gallery=gallery)
    parsed, plain = (
        Parsed(text),
        Parsed(text_of(evil, group("x"), title="x", gallery=Gallery(gallery.cards, [], ["x"]))),
    )
    assert [tag for tag, _ in parsed.elements] == [tag for tag, _ in plain.elements]
    assert len(parsed.contents["script"]) == 3 and "alert(1)" not in parsed.contents["script"][-1]
    for attributes in parsed.all("script")[:2]:
        assert attributes["type"] == "application/json"
    assert parsed.contents["title"][0] == EVIL
    shown = json.loads(parsed.contents["script"][0])
    assert shown["runs"] == [EVIL] and shown["cards"][0]["answers"][0]["explanation"] == EVIL
    assert shown["cards"][1]["id"] == EVIL and shown["cards"][2]["prompt"] == EVIL


def test_half_a_character_is_no_crash(tmp_path: Path) -> None:
    lines = lines_of("figlang_mini", 1)
    lines[0]["sample"]["explanation"] = "half \ud83e"
    found = read(str(write_run(tmp_path / "run", {"figlang_mini": lines}, {"model": "half \ud83e"})))
    shown = json.loads(Parsed(text_of(found, title="\udc00")).contents["script"][0])
    assert shown["cards"][0]["answers"][0]["explanation"] == "half \ud83e"


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(_values)
def test_json_in_a_script_block_comes_back_and_cannot_end_it(value: Any) -> None:
    text = str(page._json(value))
    assert not re.search("[<>&\u2028\u2029]", text)
    finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
    assert json.loads(text) == finite


# --- content ---------------------------------------------------------------------------------------------------------


def test_the_data_and_the_drawing_of_a_chart_come_back(run: Run) -> None:
    named = '"50 %" &amp; #1 é var(--no) currentColor'  # a run may have any name
    svg = f"<svg><text>{named}</text></svg>"
    made = Chart("some-chart", "t", svg, 'a,"b"\n#1 % ü&<')
    text = text_of(run, Group("all", "all", (Section("one", "t", "", charts=(made,)),)))
    links = {str(each["download"]): str(each["href"]) for each in Parsed(text).all("a") if "download" in each}
    for name, kind, content in (("csv", "text/csv", made.csv), ("svg", "image/svg+xml", svg)):
        head, _, found = links[f"some-chart.{name}"].partition(",")
        assert head == f"data:{kind};charset=utf-8" and unquote(found) == content


def test_a_cell_is_a_text_in_its_whole_length() -> None:
    shown = pd.DataFrame({"model": [EVIL], "f1": ["1.0 [0.5, 1.5]"], "x": ["y" * 500]})
    parsed = Parsed(text := page._html(shown))
    assert {tag for tag, _ in parsed.elements} == {"table", "thead", "tbody", "tr", "th", "td"}
    assert "1.0 [0.5,\u00a01.5]" in text and "y" * 500 in text


def test_a_report_knows_itself(tmp_path: Path, run: Run) -> None:
    (tmp_path / "report.html").write_text(text_of(run), encoding="utf-8")
    (tmp_path / "other.html").write_text("<html><title>figlang_tasks</title>", encoding="utf-8")
    assert page.is_report(tmp_path / "report.html") and not page.is_report(tmp_path / "other.html")


def test_a_cut_run_is_told_at_the_top(tmp_path: Path) -> None:
    lines = {"figlang_mini": lines_of("figlang_mini", 8)}
    counts = {"figlang_mini": {"original": 76, "effective": 8}}
    cut = read(str(write_run(tmp_path / "cut", lines, {"limit": 8.0}, **{"n-samples": counts})))
    whole = read(str(write_run(tmp_path / "whole", lines)))
    assert "Not a whole run." in text_of(cut) and "limit 8" in text_of(cut)
    assert "Not a whole run." not in text_of(whole)


def test_results_that_the_samples_contradict_are_told_at_the_top(tmp_path: Path) -> None:
    lines = lines_of("figlang_mini", 8)
    right = sum(line["acc"] for line in lines) / 8
    for name, acc in (("wrong", right + 0.125), ("right", right)):
        configs = {"figlang_mini": {"metadata": {"measures": measures_of({"acc": acc})}}}
        run = read(str(write_run(tmp_path / name, {"figlang_mini": lines}, configs=configs)))
        made = page.render([run], [], Gallery([], [], []), "A title")
        told = f"{name}, results of figlang_mini: acc {acc:.6f} (its samples: {right:.6f})"
        assert made.notices == ([told] if name == "wrong" else [])
        assert (f"contradict each other.</strong> {told}</p>" in made.content.decode()) == (name == "wrong")


# --- secrets ---------------------------------------------------------------------------------------------------------

SECRET = "s3cr3t-Value.42"


@given(
    st.sampled_from(["api_key", "apikey", "token", "HF_TOKEN", "secret", "password", "auth", "access-key"]),
    st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=",;&\"'{}\\"), min_size=1).filter(
        lambda text: not re.fullmatch(r"(?i)[+-]?\d+(\.\d+)?|true|false|none|null", text)
    ),
)
def test_no_part_of_a_secret_is_left(name: str, secret: str) -> None:
    assert redaction.redacted(f"x=a,{name}={secret},revision=b") == f"x=a,{name}={redaction.HIDDEN},revision=b"


def test_no_secret_of_a_run_is_in_the_page(tmp_path: Path) -> None:
    arguments = f"model=m,api_key={SECRET}"
    folder = write_run(
        tmp_path / "run",
        {"figlang_mini": lines_of("figlang_mini", 2)},
        {
            "model_args": arguments,
            "resolved_cli_args": {"model": "m", "model_args": arguments, "tasks": "figlang_mini"},
        },
    )
    run = read(str(folder))
    made = render([run], [], build([run], pictures=False), "t", f"figlang report x --token {SECRET}")
    assert SECRET.encode() not in made.content and made.content.count(redaction.HIDDEN.encode()) == 2
