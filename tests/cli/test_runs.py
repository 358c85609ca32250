"""``figlang runs`` lists every run below a folder that can be read, and names each that cannot."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import commands
import pytest
from demo_runs import evaluate

TASK = "figlang_mini_irfl_match_idiom"


figlang = partial(commands.figlang, "runs")


def test_runs_are_listed_and_the_damaged_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    for name, limit in (("whole", None), ("cut", 8), ("damaged", 8)):
        evaluate(TASK, "figlang_random", "seed=1", tmp_path / name, limit=limit)
    (damaged,) = (tmp_path / "damaged").rglob("*_results.json")
    damaged.write_text('{"results": ')
    shown = figlang(tmp_path)
    assert shown.exit_code == 1 and shown.stderr.startswith(f"figlang: {damaged}: ")
    assert shown.stderr.count("\n") == 1
    *_, cut, whole = commands.cells(shown.stdout)
    assert "/cut" in cut[0] and "/whole" in whole[0]
    assert cut[1:4] == whole[1:4] == ["figlang_random", TASK, "acc"]
    assert re.fullmatch(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", whole[4])
    assert (cut[5], cut[7], whole[7]) == ("8", "no: limit 8", "yes")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", whole[6])

    told = figlang(tmp_path, "--json")
    report = json.loads(told.stdout)
    assert told.exit_code == 1 and list(report["unreadable"]) == [str(damaged)]
    for line in report["runs"]:
        saved = json.loads(Path(line["path"]).read_text())["results"][TASK]
        assert (line["metric"], line["value"]) == ("acc", saved["acc,none"])
    assert [(line["complete"], line["cut"]) for line in report["runs"]] == [
        (False, "limit 8"),
        (True, None),
    ]

    (results,) = (tmp_path / "whole").rglob("*_results.json")
    content = json.loads(results.read_text())
    content["configs"][TASK]["metadata"]["measures"]["values"]["acc"]["all"]["value"] = 0.99
    results.write_text(json.dumps(content))
    for command in ("runs", "cite"):
        assert (
            f"results of {TASK}: acc 0.990000 (its samples: "
            in commands.figlang(command, tmp_path / "whole").stderr
        )
    results.unlink()
    alone = figlang(tmp_path / "whole")
    assert (
        alone.exit_code == 0
        and alone.stdout.count("\n") == 3
        and "unknown: no results file" in alone.stdout
    )


def test_a_folder_without_runs(tmp_path: Path) -> None:
    assert commands.refused("runs", tmp_path).startswith(
        f"figlang: no run in {tmp_path}: evaluate with --output"
    )
