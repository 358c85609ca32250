"""If these fail, a run is submitted that is partial, unanswered or contradicted by its file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
from published_runs import NAME, WRITES_EVAL_RESULTS, records, results, write_run

from figlang_tasks import table
from figlang_tasks.core.errors import RunError
from figlang_tasks.results import runs
from figlang_tasks.scoring import Estimate
from figlang_tasks.submit import SubmissionError, reported_values

refused: Callable[..., str] = partial(commands.refused, "submit")
EEE = ("--organization", "My Lab", "--relationship", "other")


@pytest.mark.parametrize(
    ("reported", "contradiction"),
    [
        ({"acc": 0.9}, "acc 0.900000 (its samples: 0.749654)"),
        # 181 of the records are wrong
        ({"acc": 542 / 723, "f1@60": 0.5}, "f1@60 0.500000 (its samples: none)"),
    ],
)
def test_results_and_samples_that_contradict_each_other(
    reported: dict[str, float], contradiction: str, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "run", records(), results(reported))
    message = (
        f"samples_vflute.jsonl: the results file says {contradiction}. Are these files of two runs"
    )
    assert message in refused("every-eval-ever", run, "-o", tmp_path / "eee", *EEE)
    assert message in refused("figlang2024", run, "-o", tmp_path / "a.zip")
    assert message in commands.refused("score", run, "--scorer", "embedded")
    if WRITES_EVAL_RESULTS:
        assert message in refused("hub", run, "--repo", "a/b", "-o", tmp_path / "hub")
    with pytest.raises(RunError, match=re.escape(contradiction)):
        table(run)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def fail_a_request(folder: Path) -> None:
    """Write what lmms-eval writes in place of an answer."""
    samples = (folder / NAME).read_text(encoding="utf-8")
    failed = '"filtered_resps": ["[LMMS_EVAL_REQUEST_FAILED after 5 retries] Connection error."]'
    (folder / NAME).write_text(samples.replace('"filtered_resps": ""', failed, 1), encoding="utf-8")


LIMITED: dict[str, Any] = {
    "config": {"limit": 8},
    "n-samples": {"vflute": {"original": 723, "effective": 8}},
}


@pytest.mark.parametrize(
    ("rows", "saved", "damage", "message"),
    [
        (8, results(**LIMITED), None, "the run was cut short (limit 8)"),
        (723, results(), fail_a_request, "1 of 723 rows got no answer"),
        (8, None, None, "8 of the 723 rows of test: evaluate all rows"),
        (723, None, None, "no metrics: the results file of the run is not next to it"),
    ],
)
def test_what_is_no_result(
    rows: int,
    saved: dict[str, Any] | None,
    damage: Callable[[Path], None] | None,
    message: str,
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path / "run", records()[:rows], saved)
    if damage:
        damage(run)
    assert message in refused(
        "every-eval-ever", run, "-o", tmp_path / "eee", "--model", "a/b", *EEE
    )
    assert not (tmp_path / "eee").exists()


def test_a_value_out_of_bounds(tmp_path: Path) -> None:
    task = runs.read(str(write_run(tmp_path / "run", records(), results()))).tasks["vflute"]
    for wrong in (Estimate(75.0), Estimate(0.5, 5.0, 0.6)):
        task.__dict__["estimates"] = {"acc": {"all": wrong}}
        message = "acc is .*, must be 0 to 1 and in its interval: restore"
        with pytest.raises(SubmissionError, match=message):
            list(reported_values(task))


def test_a_metric_that_failed_is_not_submitted(tmp_path: Path) -> None:
    """Its value is NaN, for which neither a registry nor the hub has a place."""
    task = runs.read(str(write_run(tmp_path / "run", records(), results()))).tasks["vflute"]
    task.__dict__["estimates"] = {
        "acc": {"all": Estimate(math.nan)},
        "f1@0": {"all": Estimate(0.5)},
    }
    assert [value.name for value in reported_values(task)] == ["f1@0"]
