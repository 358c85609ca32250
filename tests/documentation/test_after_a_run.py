"""docs/after_a_run.md: its commands, in its order, in a shell, with two annotators in between."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas
import pytest
from documents import ROOT, blocks, shell
from published_runs import WRITES_EVAL_RESULTS

DOCUMENT = (ROOT / "docs" / "after_a_run.md").read_text(encoding="utf-8")


def fill_in(sheet: Path, key: Path) -> None:
    """What an annotator does who finds an explanation adequate if its label is right."""
    gold = {
        item["number"]: item["gold"]
        for item in json.loads(key.read_text(encoding="utf-8"))["items"]
    }
    frame = pandas.read_csv(sheet)
    frame["label"] = [("contradiction", "entailment")[gold[number]] for number in frame["item"]]
    frame["adequate"] = [("yes", "no")[number % 2] for number in range(len(frame))]
    frame["error"] = [("", "incomplete")[number % 2] for number in range(len(frame))]
    frame["preferred"] = "A"
    frame.to_csv(sheet, index=False)


def f1_at_60(text: str) -> list[float]:
    row, *_ = re.findall(r"^\| f1@60 ↑ \| all +\|(.*)\|$", text, re.MULTILINE)
    return [float(number) for number in re.findall(r"-?\d+\.\d+", row)[:3]]


@pytest.mark.long
def test_the_commands_of_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    monkeypatch.delenv("FIGLANG_SCORER")
    scripts = [block.text for block in blocks(DOCUMENT) if block.language == "sh"]
    assert len(scripts) == 8
    shown = []
    for script in scripts:
        if not WRITES_EVAL_RESULTS:
            script = re.sub(r"^figlang submit hub .*$", "", script, flags=re.MULTILINE)
        if "judge agree" in script:
            for number in (1, 2):
                fill_in(tmp_path / f"human/annotator{number}.csv", tmp_path / "human/key.json")
        shown.append(shell(tmp_path, script, ROOT))
    assert shown[0].count("figlang tasks, shares in percent") == 2
    assert "blind against seeing" in shown[2]
    # Seeing, blind and difference as the document shows them, but for what another version of torch
    # may change.
    assert f1_at_60(shown[2]) == pytest.approx(f1_at_60(DOCUMENT), abs=3)
    differences = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))[
        "differences"
    ]
    (f1,) = (each for each in differences if each["name"] == "f1@0")
    # The demo model does look at the picture
    assert f1["difference"] < 0 and f1["p_randomization"] < 0.05
    assert {each["task"] for each in differences} == {
        "figlang_mini",
        "figlang_mini_irfl_match_idiom",
    }
    assert (tmp_path / "report.html").stat().st_size > 100_000
    if WRITES_EVAL_RESULTS:
        assert "figlang_mini" in (tmp_path / "card/README.md").read_text(encoding="utf-8")
    assert list((tmp_path / "eee").rglob("*_samples.jsonl"))
    assert "kappa" in shown[7] and "| seeing" in shown[7]
