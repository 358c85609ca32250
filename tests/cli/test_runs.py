"""``figlang runs`` lists every run below a folder that can be read, and names each that cannot."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from demo_runs import evaluate
from typer.testing import CliRunner

from figlang_tasks.cli.figlang import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A whole run, a partial one, and one whose results file is damaged."""
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    for name, limit in (("whole", None), ("cut", 8), ("damaged", 8)):
        evaluate("figlang_mini_irfl_match_simile", "figlang_random", "seed=1", tmp_path / name, limit=limit)
    (damaged,) = (tmp_path / "damaged").rglob("*_results.json")
    damaged.write_text('{"results": ')
    return tmp_path


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["runs", *map(str, arguments)])
    return done.exit_code, done.stdout, done.stderr


def test_runs_are_listed_and_the_damaged_one_is_named(folder: Path) -> None:
    status, table, said = run(folder)
    assert status == 1 and "damaged" in said and len(said.splitlines()) == 1 and "_results.json" in said
    cut, whole = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    assert "/cut" in cut[0] and "/whole" in whole[0]
    assert cut[2:4] == whole[2:4] == ["figlang_mini_irfl_match_simile", "acc"]
    assert re.fullmatch(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", whole[4])
    assert (cut[5], cut[7], whole[7]) == ("8", "no: limit 8", "yes")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", whole[6])


def test_json_tells_the_numbers_of_the_results_file(folder: Path) -> None:
    status, content, _ = run(folder, "--json")
    report = json.loads(content)
    assert status == 1 and list(report["unreadable"]) == list(map(str, folder.glob("damaged/**/*_results.json")))
    for line in report["runs"]:
        saved = json.loads(Path(line["path"]).read_text())["results"]["figlang_mini_irfl_match_simile"]
        assert (line["metric"], line["value"]) == ("acc", saved["acc,none"])
    assert [(line["complete"], line["cut"]) for line in report["runs"]] == [(False, "limit 8"), (True, None)]


def test_samples_without_their_results_file_and_a_folder_without_runs(folder: Path, tmp_path: Path) -> None:
    for path in folder.rglob("*_results.json"):
        path.unlink()
    status, table, _ = run(folder / "whole")
    assert status == 0 and len(table.splitlines()) == 3 and "unknown: no results file" in table
    (tmp_path / "empty").mkdir()
    status, table, said = run(tmp_path / "empty")
    assert (status, table) == (1, "") and "no run in" in said and "--log_samples" in said
    assert run(tmp_path / "missing")[0] == 2
