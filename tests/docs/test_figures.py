"""README has the published rows and all benchmarks, and appendices are cited by their letter in the paper."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from documents import ROOT

from figlang_tasks.core.benchmark import names


def text_of(name: str) -> str:
    """A file of the repository, its lines joined."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("shared_file", ["papers/vflute.txt"], indirect=True)
@pytest.mark.parametrize(
    ("words", "named_in"),
    [
        (
            "we looked at the sample outputs of each model and designed rules",
            "figlang_tasks/benchmarks/vflute/parse.py",
        ),
        ("All models are evaluated using beam search", "task_yamls/lmms_eval/vflute/_base.yaml"),
        ("All models are evaluated using beam search", "docs/cards/vflute.md"),
        ("Model Name: gemini-pro-vision", "docs/cards/vflute.md"),
    ],
)
def test_v_flute_says_so_in_the_appendix_that_is_named(shared_file: Path, words: str, named_in: str) -> None:
    paper = shared_file.read_text(encoding="utf-8")
    letter = re.findall(r"^Appendix ([A-K]) ", paper[: paper.index(words)], re.MULTILINE)[-1]
    assert f"Appendix {letter}" in text_of(named_in)
    lines = (ROOT / named_in).read_text(encoding="utf-8").splitlines()
    if named_in.endswith(".py"):
        assert {each for line in lines for each in re.findall(r"Appendix ([A-K])", line)} == {letter}


def test_published_rows_in_the_readme() -> None:
    published = json.loads((ROOT / "figlang_tasks/benchmarks/vflute/published.json").read_text(encoding="utf-8"))
    models: dict[str, dict[str, str]] = {}
    for record in published["records"]:
        if record["table"] in ("Table 4", "Table 18") and "vflute" in (record["task"], *record["task"]):
            models.setdefault(record["model"], {})[record["metric"]] = f"{100 * record['value']:.2f}"
    rows = {tuple(values.get(name, "–") for name in ("f1@0", "f1@53", "f1@60")) for values in models.values()}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| .+? \| ([\d.]+) \| ([\d.–]+) \| ([\d.–]+) \| published \|$", readme, re.MULTILINE)
    assert len(shown) == readme.count("| published |") == 8
    assert set(shown) <= rows


def test_the_readme_counts_the_benchmarks() -> None:
    readme, words = text_of("README.md"), ("five", "six", "seven", "eight", "nine", "ten")
    assert f"{words[len(names()) - 5]} published benchmarks" in readme
    assert all(f"](docs/cards/{name}.md)" in readme for name in names())
