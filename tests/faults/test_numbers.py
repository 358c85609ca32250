"""A wrong number is seen: metrics that failed, and runs of a part of the data."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from faulty_runs import TASK, Runs

from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.results import runs as saved_runs
from figlang_tasks.submit import SubmissionError, check_answers


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


MINE = """\
from dataclasses import replace

from figlang_tasks.benchmarks.vflute.tasks import VFLUTE
from figlang_tasks.scoring import BOOTSTRAP, Measure, Measures


def broken(records):
    return 1 / 0


MEASURES = Measures.of(
    Measure("acc", "A share.", "this test", statistic=broken),
    Measure(
        "length",
        "Mean length of the references.",
        "this test",
        value_of_record=lambda record: float(len(record["reference"])),
        interval=BOOTSTRAP,
    ),
)
TASK = replace(VFLUTE, measures=MEASURES)
METRICS = TASK.metric_list


def process_results(doc, results):
    return TASK.values(doc, TASK.record(doc, results[0]))
"""


def broken_task(folder: Path) -> Path:
    """figlang_mini with measures of a user's own: one that fails, and one that works."""
    folder.mkdir()
    (folder / "mine.py").write_text(MINE)
    (folder / "broken.yaml").write_text(
        f"include: {tasks_dir()}/mini/figlang_mini.yaml\ntask: broken\n"
        "process_results: !function mine.process_results\nmetric_list: !function mine.METRICS\n"
    )
    return folder


@pytest.mark.slow
def test_a_metric_that_fails_is_in_the_table_and_in_the_status(runs: Runs) -> None:
    folder = broken_task(runs.folder / "tasks")
    done = runs.by_command("--include_path", str(folder), "--limit", "4", task="broken")
    assert done.returncode == 1
    # The harness has taken the log to where it wants it
    assert "ZeroDivisionError" in done.stdout + done.stderr
    assert done.stderr.splitlines()[-1] == "lmms_eval: acc failed; its value is NaN, see the log"
    assert "failed, see the log" in done.stdout
    (path,) = runs.files("*_results.json")
    reported = json.loads(path.read_text(encoding="utf-8"))["results"]["broken"]
    (samples,) = runs.files("*_samples_broken.jsonl")
    lines = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    assert math.isnan(reported["acc,none"])
    lengths = [len(line["sample"]["reference"]) for line in lines]
    assert reported["length,none"] == pytest.approx(sum(lengths) / 4)
    assert [line["length"] for line in lines] == lengths


def test_a_part_of_the_data_and_settings_of_sampling_are_in_the_files(runs: Runs) -> None:
    """And such answers are kept in the cache by the seed, and never submitted."""
    folder = runs.folder / "saved"
    for number, seed in enumerate((1, 1, 2)):
        settings = "do_sample=True,temperature=0.7"
        runs.here(
            saved=folder / str(number),
            limit=2,
            offset=5,
            gen_kwargs=settings,
            torch_random_seed=seed,
        )
    assert [len(rows) for rows in runs.asked] == [2, 0, 2]
    assert saved_runs.read(str(folder / "0")).partial == "limit 2, offset 5"
    (path,) = (folder / "0").rglob("*_results.json")
    settings = json.loads(path.read_text(encoding="utf-8"))["configs"][TASK]["generation_kwargs"]
    assert (settings["do_sample"], settings["temperature"]) == (True, 0.7)
    with pytest.raises(SubmissionError, match=r"answers were sampled \(temperature 0.7\)"):
        check_answers(saved_runs.read(str(folder / "0")).tasks[TASK])
