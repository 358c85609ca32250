"""1 and 3 processes give the same metrics, intervals and samples, on every kind of task."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import demo_runs
import pytest
import warm
from demo_runs import estimates, mini_tasks

COUNTS = (1, 3)

# Those of two stages and with examples too; few have a number of rows that can be shared out evenly
# among three.
TASKS = (*demo_runs.VARIED_TASKS, "mini_2shot", "mini_sg")

# Beside the harness's own models: right, wrong, cut off or silent by the row alone, with scores
# that tie.
PLUGIN = """
from datetime import timedelta
import torch
from torch import distributed
from figlang_tasks.metrics.explanation import compute
from lmms_eval.models.registry_v2 import ModelManifest
from demo_runs import PartlyRight

class Model(PartlyRight):
    def __init__(self, batch_size=1, max_batch_size=None, device=None):
        if distributed.is_initialized():  # time for the first process to score explanations on a CPU
            assert distributed.group.WORLD._get_backend(torch.device("cpu")).options._timeout > timedelta(hours=12)
        super().__init__(seed=3, skill=0.5)

compute.CPU_TOKENS = 96  # several batches
compute.choose = lambda dtype: "torch"  # two libraries that are about as quick would be chosen by chance

def manifests():
    return [ModelManifest("varied", simple_class_path="varied_plugin.Model")]
"""  # noqa: E501


class Finished(NamedTuple):
    """What a run left: its results, the samples by task, and what it printed."""

    results: dict[str, Any]
    samples: dict[str, list[dict[str, Any]]]
    printed: str

    def metrics(self, task: str) -> list[tuple[str, Any]]:
        """Names and values in their order, without the harness's own standard errors.

        Their last digit depends on the order of the rows.
        """
        metrics: list[tuple[str, Any]] = []
        for name, value in self.results["results"][task].items():
            if "_stderr_" not in name:
                metrics.append((name, value))
        return metrics


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH that brings the model class, and task files for it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "varied_plugin.py").write_text(PLUGIN)
    info = folder / "varied_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: varied_plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lmms_eval.models]\nvaried = varied_plugin:manifests\n")
    shutil.copytree(mini_tasks(), folder / "tasks")
    return folder


def run(processes: int, site: Path, home: Path, tasks: Iterable[str], *options: str) -> Finished:
    """Evaluate in so many processes."""
    command = ["lmms_eval", "--model", "varied", *options]
    command += ["--tasks", ",".join(tasks), "--include_path", str(site / "tasks")]
    command += ["--log_samples", "--output_path", str(home / "output")]
    environment = os.environ | {
        "ACCELERATE_USE_CPU": "true",
        "FIGLANG_CACHE": str(home / "cache"),  # nothing that another run has computed
        "HF_HUB_OFFLINE": "1",
        "PATH": str(Path(sys.executable).parent),  # no Java: METEOR would take most of the time
        "PYTHONPATH": f"{site}{os.pathsep}{Path(__file__).parent / 'support'}",
    }
    home.mkdir(exist_ok=True)
    ranks = warm.run_ranks(processes, command, env=environment, cwd=home)
    printed = ""
    errors = ""
    for rank in ranks:
        printed_by_rank, errors_of_rank = rank.communicate()
        printed += printed_by_rank
        errors += errors_of_rank
    # Two metrics of captions need Java.
    missing = {"meteor", "spice"} if "figlang_mini_metaclue_caption" in tasks else set()
    messages = {line for line in errors.splitlines() if line.startswith("lmms_eval: ")}
    assert messages == {
        f"lmms_eval: {name} could not be computed and is missing, see the log" for name in missing
    }
    exit_status = max(rank.wait() for rank in ranks)
    assert exit_status == bool(missing), printed[-3000:] + errors[-3000:]
    (results_file,) = home.rglob("*_results.json")
    samples: dict[str, list[dict[str, Any]]] = {}
    for task in tasks:
        (file,) = home.rglob(f"*_samples_{task}.jsonl")
        samples[task] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return Finished(json.loads(results_file.read_text(encoding="utf-8")), samples, printed)


@pytest.fixture(scope="module")
def runs(site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Finished]:
    """A run by the number of its processes."""
    runs_by_count: dict[int, Finished] = {}
    for count in COUNTS:
        home = tmp_path_factory.mktemp(f"processes_{count}")
        runs_by_count[count] = run(count, site, home, TASKS)
    return runs_by_count


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_metrics_intervals_and_samples_do_not_depend_on_the_number_of_processes(
    task: str, runs: dict[int, Finished]
) -> None:
    one = runs[1]
    for count in COUNTS[1:]:
        several = runs[count]
        assert several.metrics(task) == one.metrics(task), f"{count} processes"
        # And in the same order
        assert several.samples[task] == one.samples[task], f"{count} processes"
        for key in ("configs", "versions", "n-samples", "n-shot", "higher_is_better"):
            several_text = without_addresses(several.results[key][task])
            assert several_text == without_addresses(one.results[key][task]), key


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_compared_runs_have_all_rows_intervals_and_various_answers(
    task: str, runs: dict[int, Finished]
) -> None:
    one = runs[1]
    ids = [sample["sample"]["id"] for sample in one.samples[task]]
    rows = one.results["n-samples"][task]["original"]
    assert len(ids) == len(set(ids)) == rows
    assert any(estimate.low is not None for estimate in estimates(one.results, task).values())
    answers = {str(sample["filtered_resps"]) for sample in one.samples[task]}
    assert len(answers) > 1, "answers differ from row to row"


def without_addresses(value: Any) -> str:
    """JSON of the value, without the addresses of functions in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", json.dumps(value))


@pytest.mark.slow
def test_the_table_is_printed_once_and_is_the_same(runs: dict[int, Finished]) -> None:
    title = "figlang tasks, shares in percent"
    end = "\nsaved to "
    tables: set[str] = set()
    for finished in runs.values():
        assert finished.printed.count(title) == 1
        behind_title = finished.printed.partition(title)[2]
        assert end in behind_title
        tables.add(behind_title.partition(end)[0])
    (table,) = tables
    tasks = re.findall(r"^\| (\w+) +\| +n \|", table, re.MULTILINE)
    assert "figlang_mini_flute" in tasks
    assert len(set(tasks)) == len(tasks) < len(TASKS)


@pytest.mark.slow
def test_processes_without_a_row(site: Path, tmp_path: Path) -> None:
    """And rows with several answers."""
    tasks = ("figlang_mini", "mini_sg", "mini_nykms_mw")
    options = ("--limit", "2", "--repeats", "2")
    one = run(1, site, tmp_path / "1", tasks, *options)
    several = run(3, site, tmp_path / "3", tasks, *options)
    for task in tasks:
        assert several.metrics(task) == one.metrics(task)
        assert several.samples[task] == one.samples[task]
