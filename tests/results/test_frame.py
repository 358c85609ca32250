"""Runs as tables of pandas: every number of a file stands in them as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import demo_runs
import pandas as pd
import pytest
from published_runs import estimates_of, records, results, write_run
from saved_runs import saved_run

import figlang_tasks
from figlang_tasks import RunError
from figlang_tasks.results import comparison, runs

COLUMNS = ["run", "task", "metric", "scope", "value", "low", "high", "n"]


NumbersByLabels = dict[tuple[str, str, str], tuple[Any, ...]]
"""Value, low, high and n by task, metric and scope."""


def numbers_of_file(path: Path) -> NumbersByLabels:
    """Every number of a results file, read by hand."""
    content = json.loads(path.read_text(encoding="utf-8"))
    numbers: NumbersByLabels = {}
    for task, config in content["configs"].items():
        for metric, scopes in config["metadata"]["measures"]["values"].items():
            for scope, estimate in scopes.items():
                keys = ("value", "low", "high", "rows")
                numbers[task, metric, scope] = tuple(estimate.get(key) for key in keys)
    return numbers


def numbers_of_frame(frame: pd.DataFrame) -> NumbersByLabels:
    """Every number of a frame; None where a cell is empty."""
    assert list(frame.columns) == COLUMNS
    numbers: NumbersByLabels = {}
    for row in frame.itertuples(index=False):
        numbers[row[1:4]] = tuple(None if pd.isna(cell) else cell for cell in row[4:])
    assert len(numbers) == len(frame)
    return numbers


def test_a_folder_whose_files_contradict_each_other_is_refused(tmp_path: Path) -> None:
    """Of 8 records 6 are right; the file says a little less."""
    eight_records = records()[:8]
    estimates = estimates_of(eight_records)
    unchanged = write_run(tmp_path / "unchanged", eight_records, results(estimates=estimates))
    assert len(figlang_tasks.table(unchanged)) > 0
    lower_acc = {**estimates["acc"], "all": estimates["acc"]["all"]._replace(value=0.749)}
    lower_results = results(estimates={**estimates, "acc": lower_acc})
    folder = write_run(tmp_path / "lower", eight_records, lower_results)
    for path in (folder, next(folder.glob("*.jsonl"))):
        with pytest.raises(RunError, match=r"acc 0.749000 .its samples: 0.750000"):
            figlang_tasks.table(path)


def test_a_results_file_its_content_and_the_folder_have_the_same_table() -> None:
    folder = demo_runs.weak_run()
    (file,) = folder.rglob("*_results.json")
    expected = numbers_of_file(file)
    assert len(expected) > 200 and {task for task, _, _ in expected} == set(demo_runs.VARIED_TASKS)
    frame = figlang_tasks.table(file)
    assert numbers_of_frame(frame) == expected
    in_order = frame.sort_values(COLUMNS[:4], ignore_index=True)
    for same_results in (json.loads(file.read_text(encoding="utf-8")), str(folder)):
        same_frame = figlang_tasks.table(same_results)
        same_in_order = same_frame.sort_values(COLUMNS[:4], ignore_index=True)
        pd.testing.assert_frame_equal(in_order, same_in_order)
    assert set(frame.dtypes[["value", "low", "high"]].astype(str)) == {"float64"}
    assert str(frame.dtypes["n"]) == "Int64"


def test_a_measure_whose_computation_failed_is_there_without_a_value() -> None:
    measures = {"format": 1, "failed": ["f1@60"], "values": {"acc": {"all": {"value": 0.5}}}}
    frame = figlang_tasks.table({"configs": {"vflute": {"metadata": {"measures": measures}}}})
    assert numbers_of_frame(frame) == {
        ("vflute", "acc", "all"): (0.5, None, None, None),
        ("vflute", "f1@60", "all"): (None, None, None, None),
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"configs": {"mme": {"metadata": {"version": 0.0}}}},
            "no metrics of a task of figlang_tasks",
        ),
        (
            {"configs": {"vflute": {"metadata": {"measures": {"format": 2}}}}},
            "results of vflute are damaged.*format 1",
        ),
    ],
)
def test_what_holds_no_numbers_of_ours_is_refused(
    content: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "a_results.json"
    path.write_text(json.dumps(content))
    for saved_results in (content, path):
        with pytest.raises(RunError, match=message):
            figlang_tasks.table(saved_results)


def test_compare_gives_what_the_command_does() -> None:
    weak = demo_runs.weak_run()
    strong = demo_runs.strong_run()
    options: dict[str, Any] = {
        "metrics": ["acc"],
        "tasks": ["figlang_mini"],
        "resamples": 200,
    }
    frame = figlang_tasks.compare(f"weak={weak}", f"strong={strong}", overall=True, **options)
    saved_runs = runs.read_all([f"weak={weak}", f"strong={strong}"])
    (difference,) = comparison.compare(saved_runs, only_overall=True, **options)
    known_fields = {name: value for name, value in vars(difference).items() if value is not None}
    assert dict(frame.iloc[0].dropna()) == known_fields and len(frame) == 1
    is_significant = frame.p_repeats < 0.05
    assert not is_significant.any(), "the column of a test that was not made holds numbers too"
    options |= {"metrics": "acc", "tasks": "figlang_mini"}
    again = figlang_tasks.compare(f"weak={weak}", f"strong={strong}", overall=True, **options)
    assert again.equals(frame)


def test_runs_stand_below_each_other_under_their_names(tmp_path: Path) -> None:
    weak = saved_run(tmp_path / "weak", "figlang_mini_flute").path
    (file,) = demo_runs.strong_run().rglob("*_results.json")
    both = figlang_tasks.table([f"weak={weak}", f"strong={file}"])
    assert list(both.columns) == COLUMNS and list(both["run"].unique()) == ["weak", "strong"]
    for name, path in (("weak", weak), ("strong", file)):
        alone = figlang_tasks.table(f"{name}={path}")
        of_both = both[both["run"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(of_both, alone)


def test_a_run_has_the_same_table_as_its_path(tmp_path: Path) -> None:
    tasks = ("figlang_mini_flute", "figlang_mini_irfl_detect_idiom")
    run = saved_run(tmp_path / "run", *tasks, name="a")
    pd.testing.assert_frame_equal(run.table(), figlang_tasks.table(f"a={run.path}"))
    pd.testing.assert_frame_equal(run.table(), figlang_tasks.table([run]))
    assert list(run.table()["task"].unique()) == list(tasks)


def test_results_that_share_the_name_of_the_model_are_named_by_the_class() -> None:
    measures = {"format": 1, "failed": [], "values": {"acc": {"all": {"value": 0.5}}}}
    content = {"model_name": "m", "configs": {"vflute": {"metadata": {"measures": measures}}}}
    both = [{**content, "config": {"model": name}} for name in ("figlang_vlm", "figlang_blind")]
    assert list(figlang_tasks.table(both)["run"]) == ["figlang_vlm", "figlang_blind"]
    assert list(figlang_tasks.table(content)["run"]) == ["m"]
