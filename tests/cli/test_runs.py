"""``figlang runs`` lists every run below a folder that can be read, and names each that cannot."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import commands
import pytest
from demo_runs import evaluate
from typer.testing import Result

TASK = "figlang_mini_irfl_match_idiom"

figlang = partial(commands.figlang, "runs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a whole run, a partial one, and one whose results file is damaged."""
    path = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("FIGLANG_SCORER", "off")
        evaluate(TASK, "figlang_random", "seed=1", path / "whole")
        evaluate(TASK, "figlang_random", "seed=1", path / "partial", limit=8)
        evaluate(TASK, "figlang_random", "seed=1", path / "damaged", limit=8)
    results_file(path / "damaged").write_text('{"results": ')
    return path


def results_file(run: Path) -> Path:
    (path,) = run.rglob("*_results.json")
    return path


@pytest.fixture(scope="module")
def listed(folder: Path) -> Result:
    """The result of the command for the folder."""
    return figlang(folder)


@pytest.fixture(scope="module")
def listed_rows(listed: Result) -> tuple[list[str], list[str]]:
    """The cells that the command prints of the partial run and of the whole one."""
    *_, partial_row, whole_row = commands.cells(listed.stdout)
    return partial_row, whole_row


def test_a_damaged_run_is_named_in_one_line(folder: Path, listed: Result) -> None:
    assert listed.exit_code == 1
    path = results_file(folder / "damaged")
    assert listed.stderr.startswith(f"figlang: {path} cannot be read")
    assert listed.stderr.count(path.name) == 1
    assert listed.stderr.count("\n") == 1


def test_each_run_has_a_row_with_its_model_task_and_metric(
    listed_rows: tuple[list[str], list[str]],
) -> None:
    partial_row, whole_row = listed_rows
    assert "/partial" in partial_row[0]
    assert "/whole" in whole_row[0]
    assert partial_row[1:4] == ["figlang_random", TASK, "acc"]
    assert whole_row[1:4] == ["figlang_random", TASK, "acc"]


def test_a_row_has_value_number_of_rows_and_date_and_says_whether_it_is_whole(
    listed_rows: tuple[list[str], list[str]],
) -> None:
    partial_row, whole_row = listed_rows
    assert re.fullmatch(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", whole_row[4])
    assert partial_row[5] == "8"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", whole_row[6])
    assert partial_row[7] == "no: limit 8"
    assert whole_row[7] == "yes"


def test_json_has_the_values_of_the_results_files(folder: Path) -> None:
    result = figlang(folder, "--json")
    assert result.exit_code == 1
    content = json.loads(result.stdout)
    assert list(content["unreadable"]) == [str(results_file(folder / "damaged"))]
    for listed_task in content["runs"]:
        saved = json.loads(Path(listed_task["path"]).read_text())["results"][TASK]
        assert listed_task["metric"] == "acc"
        assert listed_task["value"] == saved["acc,none"]
    partial_task, whole_task = content["runs"]
    assert (partial_task["complete"], partial_task["partial"]) == (False, "limit 8")
    assert (whole_task["complete"], whole_task["partial"]) == (True, None)


def test_a_results_file_that_contradicts_its_samples_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    evaluate(TASK, "figlang_random", "seed=1", tmp_path)
    path = results_file(tmp_path)
    content = json.loads(path.read_text())
    measures = content["configs"][TASK]["metadata"]["measures"]
    measures["values"]["acc"]["all"]["value"] = 0.99
    path.write_text(json.dumps(content))
    for command in ("runs", "cite"):
        warning = f"results of {TASK}: acc 0.990000 (its samples: "
        assert warning in commands.figlang(command, tmp_path).stderr

    path.unlink()
    result = figlang(tmp_path)
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 3
    assert "unknown: no results file" in result.stdout


def test_a_folder_without_runs(tmp_path: Path) -> None:
    message = commands.refused("runs", tmp_path)
    assert message.startswith(f"figlang: no run in {tmp_path}: evaluate with --output")
