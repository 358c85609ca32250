"""A wrong number is seen: metrics that failed, and runs of a part of the data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from faults.faulty_runs import TASK, Runs
from lmms_eval.utils import load_yaml_config

from figlang_tasks import failures
from figlang_tasks import runs as saved_runs
from figlang_tasks.metrics.explanation import Scorer
from figlang_tasks.plugin import tasks_dir
from figlang_tasks.submit import SubmissionError, answered


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


@pytest.fixture(autouse=True)
def forget_failures() -> Iterator[None]:
    failures.noted()
    yield
    failures.noted()


def broken_task(folder: Path) -> Path:
    """figlang_mini with an aggregator of ours that fails, and one of a user's own, without a guard, that works."""
    folder.mkdir()
    (folder / "mine.py").write_text(
        "from figlang_tasks.aggregate import aggregator\n\n\n"
        "@aggregator\ndef broken(records):\n    return sum(records) / 0\n\n\n"
        "def count(records):\n    return float(len(records))\n"
    )
    metrics = [
        {"metric": f"acc{end}", "aggregation": f"!function mine.{function}", "higher_is_better": True}
        for end, function in (("", "broken"), ("_ci_low", "count"), ("_ci_high", "count"))
    ]
    metrics.append({"metric": "parse_rate", "aggregation": "!function mine.count", "higher_is_better": True})
    text = yaml.safe_dump(
        {"include": f"{tasks_dir()}/mini/figlang_mini.yaml", "task": "broken", "metric_list": metrics}
    )
    (folder / "broken.yaml").write_text(text.replace("'!function ", "!function ").replace("'\n", "\n"))
    return folder


def test_a_metric_that_fails_is_in_the_table_and_in_the_status(runs: Runs) -> None:
    folder = broken_task(runs.folder / "tasks")
    done = runs.by_command("--include_path", str(folder), "--limit", "4", task="broken")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout + done.stderr  # the harness has taken the log to where it wants it
    assert done.stderr.splitlines()[-1] == "lmms_eval: aggregation broken failed; its value is NaN, see the log"
    assert "failed, see the log" in done.stdout
    (path,) = runs.files("*_results.json")
    reported = json.loads(path.read_text(encoding="utf-8"))["results"]["broken"]
    assert math.isnan(reported["acc,none"]) and reported["parse_rate,none"] == 4
    (samples,) = runs.files("*_samples_broken.jsonl")
    assert len(samples.read_text(encoding="utf-8").splitlines()) == 4


def aggregators() -> dict[str, Any]:
    """All functions that the task files name under ``aggregation``."""
    found = {}
    for path in tasks_dir().rglob("*.yaml"):
        for metric in load_yaml_config(str(path)).get("metric_list") or []:
            function = metric["aggregation"]
            found[f"{function.__module__}.{function.__name__}"] = function
    return found


def test_no_aggregator_lets_an_error_out() -> None:
    """The harness would lose the outputs of the whole run."""
    found = aggregators()
    assert len(found) > 50
    for name, function in found.items():
        value = function([object(), None, "x"])
        assert value is None or math.isnan(value), name
    assert len(failures.noted()) > 50


NOT_SCORED = "explanations were not scored, so that f1@53, f1@60, explanation_score are missing"


@pytest.mark.parametrize("error", [MemoryError("no room"), RuntimeError("CUDA error")])
def test_explanations_that_cannot_be_scored_are_a_failure(
    error: Exception, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Scorer, *texts: object) -> None:
        raise error

    monkeypatch.setattr(Scorer, "score", fail)
    results = runs.here(limit=2, fault={"figlang_scorer": "embedded"})
    assert "f1@60,none" not in results["results"][TASK]
    assert failures.noted() == [NOT_SCORED]


def test_missing_weights_are_a_failure_too(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    results = runs.here(limit=2, fault={"figlang_scorer": "vflute25"})
    assert "f1@60,none" not in results["results"][TASK]
    assert failures.noted() == [NOT_SCORED]


def test_scores_that_nobody_asked_for_are_no_failure(runs: Runs) -> None:
    results = runs.here(limit=2, fault={"figlang_scorer": "off"})
    assert "f1@60,none" not in results["results"][TASK]
    assert failures.noted() == []


PARTS = [({"limit": 3}, "limit 3"), ({"offset": 70}, "offset 70"), ({"limit": 2, "offset": 5}, "limit 2, offset 5")]


@pytest.mark.parametrize(("options", "mark"), PARTS)
def test_a_part_of_the_data_is_marked_in_the_files(options: dict[str, int], mark: str, runs: Runs) -> None:
    folder = runs.folder / "saved"
    runs.here(saved=folder, **options)  # type: ignore[arg-type]
    (path,) = folder.rglob("*_results.json")
    results = json.loads(path.read_text(encoding="utf-8"))
    for name in ("limit", "offset"):
        assert (results["config"][name] or 0) == options.get(name, 0)
    assert results["n-samples"][TASK]["original"] == 76
    cut = saved_runs.limited(saved_runs.read(str(folder)))
    assert cut == mark


def test_the_whole_data_is_not_marked(runs: Runs) -> None:
    runs.here(saved=runs.folder / "saved")
    assert saved_runs.limited(saved_runs.read(str(runs.folder / "saved"))) is None


def test_settings_of_sampling_are_in_the_files(runs: Runs) -> None:
    """And such answers are never kept in the cache, and never submitted."""
    folder = runs.folder / "saved"
    for number in range(2):
        runs.here(saved=folder / str(number), limit=2, gen_kwargs="do_sample=True,temperature=0.7")
    assert [len(asked) for asked in runs.asked] == [2, 2]
    (path,) = (folder / "0").rglob("*_results.json")
    settings = json.loads(path.read_text(encoding="utf-8"))["configs"][TASK]["generation_kwargs"]
    assert (settings["do_sample"], settings["temperature"]) == (True, 0.7)
    with pytest.raises(SubmissionError, match=r"drawn at random \(temperature 0.7\)"):
        answered(saved_runs.read(str(folder / "0")).tasks[TASK])
