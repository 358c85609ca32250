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

import pytest
import varied_runs
import warm
from demo_runs import estimates, mini_tasks

COUNTS = (1, 3)

# Those of two stages and with examples too; few have a number of rows that can be shared out evenly
# among three.
TASKS = (*varied_runs.TASKS, "mini_2shot", "mini_sg")

# Beside the harness's own models: right, wrong, cut off or silent by the row alone, with scores
# that tie.
PLUGIN = """
from datetime import timedelta
import torch
from torch import distributed
from figlang_tasks.metrics.explanation import compute
from lmms_eval.models.registry_v2 import ModelManifest
from varied_runs import Varied

class Model(Varied):
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
    """What a run left: the results file, the lines of each task's samples file, and what was
    printed.
    """

    results: dict[str, Any]
    samples: dict[str, list[dict[str, Any]]]
    printed: str

    def metrics(self, task: str) -> list[tuple[str, Any]]:
        """In their order; the harness's own CLT errors depend on the order of the rows in the last
        digit.
        """
        return [
            (name, value)
            for name, value in self.results["results"][task].items()
            if "_stderr_" not in name
        ]


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
    printed, errors = (
        "".join(texts) for texts in zip(*(rank.communicate() for rank in ranks), strict=True)
    )
    # Without Java
    missing = {"meteor", "spice"} if "figlang_mini_metaclue_caption" in tasks else set()
    told = {line for line in errors.splitlines() if line.startswith("lmms_eval: ")}
    assert told == {
        f"lmms_eval: {name} could not be computed and is missing, see the log" for name in missing
    }
    assert max(rank.wait() for rank in ranks) == bool(missing), printed[-3000:] + errors[-3000:]
    (results,) = home.rglob("*_results.json")
    samples = {}
    for task in tasks:
        (file,) = home.rglob(f"*_samples_{task}.jsonl")
        samples[task] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return Finished(json.loads(results.read_text(encoding="utf-8")), samples, printed)


@pytest.fixture(scope="module")
def runs(site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Finished]:
    def of(count: int) -> Finished:
        return run(count, site, tmp_path_factory.mktemp(f"processes_{count}"), TASKS)

    return {count: of(count) for count in COUNTS}


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_metrics_intervals_and_samples_do_not_depend_on_the_number_of_processes(
    task: str, runs: dict[int, Finished]
) -> None:
    one = runs[1]
    rows = one.results["n-samples"][task]["original"]
    assert (
        len(one.samples[task])
        == len({sample["sample"]["id"] for sample in one.samples[task]})
        == rows
    )
    assert any(estimate.low is not None for estimate in estimates(one.results, task).values())
    assert len({str(sample["filtered_resps"]) for sample in one.samples[task]}) > 1, (
        "answers differ from row to row"
    )
    for count in COUNTS[1:]:
        several = runs[count]
        assert several.metrics(task) == one.metrics(task), f"{count} processes"
        # And in the same order
        assert several.samples[task] == one.samples[task], f"{count} processes"
        for key in ("configs", "versions", "n-samples", "n-shot", "higher_is_better"):
            assert without_addresses(several.results[key][task]) == without_addresses(
                one.results[key][task]
            ), key


def without_addresses(value: Any) -> str:
    """As text, without where in memory a function was."""
    return re.sub(r" at 0x[0-9a-f]+", "", json.dumps(value))


@pytest.mark.slow
def test_the_table_is_printed_once_and_is_the_same(runs: dict[int, Finished]) -> None:
    head = "figlang tasks, shares in percent"
    tables = [finished.printed.partition(head) for finished in runs.values()]
    assert all(found and head not in after for _, found, after in tables)
    titles = re.findall(r"^\| (\w+) +\| +n \|", tables[0][2], re.MULTILINE)
    assert "figlang_mini_flute" in titles and len(set(titles)) == len(titles) < len(TASKS)
    shown = [after.partition("\nsaved to ") for _, _, after in tables]
    assert all(saved for _, saved, _ in shown) and len({table for table, _, _ in shown}) == 1


@pytest.mark.slow
def test_processes_without_a_row(site: Path, tmp_path: Path) -> None:
    """And rows with several answers."""
    tasks = ("figlang_mini", "mini_sg", "mini_nykms_mw")
    one, several = (
        run(count, site, tmp_path / str(count), tasks, "--limit", "2", "--repeats", "2")
        for count in (1, 3)
    )
    for task in tasks:
        assert several.metrics(task) == one.metrics(task)
        assert several.samples[task] == one.samples[task]
