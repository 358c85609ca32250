"""If these fail, the text tasks have other numbers or samples in a newer lm-eval than in this one.

``make upstream-newest`` puts the newest lm-eval on PYTHONPATH; without one there, they are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import lm_eval
import pytest
import rows_with_images
from tasks_without_harness import measures_of

from figlang_tasks.benchmarks.nycc import configurations, counts
from figlang_tasks.results.results_file import lm_eval_facts
from figlang_tasks.scoring import evaluate

ROOT = Path(__file__).resolve().parents[2]
OTHER_FOLDER = str(Path(lm_eval.__file__).parents[1])
"""Where the lm-eval of these tests is; another than the installed one if PYTHONPATH names it."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        OTHER_FOLDER not in os.environ.get("PYTHONPATH", "").split(os.pathsep),
        reason="no second lm-eval on PYTHONPATH; make upstream-newest has one",
    ),
]

GROUP = "both_mini_text_tasks"
MINI_TASKS = ["figlang_mini_flute", "figlang_mini_nykms_metaphor_text"]
NYCC_TASKS = ["nycc_match_description", "nycc_rank_description", "nycc_explain_description"]
TASKS = [*MINI_TASKS, *NYCC_TASKS]
PROGRAM = """
import json, sys
from importlib.metadata import version
import lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from figlang_tasks.core.task_files import folder

ANSWERS = [
    "Entails. A storm is near.", "Contradicts. Fins do not fly.", "A", "B", "C", "D", "E",
    "Yes. metaphor: storm. The sky is a mood.", "No.", "", "I would not say which it is.",
]

class AnswersInTurn(LM):
    loglikelihood = loglikelihood_rolling = None

    def generate_until(self, requests, disable_tqdm=False):
        return [ANSWERS[request.doc_id % len(ANSWERS)] for request in requests]

target, own_folder, *tasks = sys.argv[1:]
manager = TaskManager(include_path=[str(folder("lm_eval")), own_folder], include_defaults=False)
results = lm_eval.simple_evaluate(AnswersInTurn(), tasks=tasks, task_manager=manager)
results["version"] = version("lm_eval")
with open(target, "w") as file:
    json.dump(results, file, default=str)
"""


@pytest.fixture(scope="module")
def results_by_version(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The results of the installed lm-eval, then those of the other one, for the same answers."""
    folder = tmp_path_factory.mktemp("versions")
    (folder / "group.yaml").write_text(f"group: {GROUP}\ntask: [{', '.join(MINI_TASKS)}]\n")
    for config in ("matching", "ranking", "explanation"):
        for fold in configurations.fold_names({"config": config, "fold": "all"}):
            test_rows = None if fold in counts.SEEN else 3
            rows_with_images.write_nycc(folder / "NYCC", fold, test=test_rows)
    results: list[dict[str, Any]] = []
    for name in ("installed", "other"):
        target = folder / f"{name}.json"
        arguments = [sys.executable, "-c", PROGRAM, str(target), str(folder), GROUP, *NYCC_TASKS]
        variables = environment(folder, with_other=name == "other")
        run = subprocess.run(arguments, env=variables, cwd=ROOT, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[-3000:]
        results.append(json.loads(target.read_text()))
    return results


def environment(data_folder: Path, with_other: bool) -> dict[str, str]:
    """The variables of a process that imports the one or the other lm-eval."""
    folders = os.environ["PYTHONPATH"].split(os.pathsep)
    if not with_other:
        folders = [folder for folder in folders if folder != OTHER_FOLDER]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(folders),
        "FIGLANG_DATA_DIR": str(data_folder),
        "FIGLANG_SCORER": "embedded",
        "HF_HUB_OFFLINE": "1",
    }


def test_two_versions_are_compared(results_by_version: list[dict[str, Any]]) -> None:
    installed, other = results_by_version
    assert installed["version"] != other["version"]
    assert GROUP in installed["group_subtasks"]
    assert GROUP in other["group_subtasks"]


@pytest.mark.parametrize("task", TASKS)
def test_values_and_directions_are_equal(
    task: str, results_by_version: list[dict[str, Any]]
) -> None:
    installed, other = (
        {name: value for name, value in results["results"][task].items() if "_stderr" not in name}
        for results in results_by_version
    )
    assert other == installed
    assert sum(isinstance(value, float) for value in installed.values()) >= 3
    directions = [results["higher_is_better"][task] for results in results_by_version]
    assert directions[0] == directions[1]


@pytest.mark.parametrize("task", TASKS)
def test_samples_are_equal(task: str, results_by_version: list[dict[str, Any]]) -> None:
    installed, other = (results["samples"][task] for results in results_by_version)
    assert len(installed) == len(other) >= 6
    for sample, other_sample in zip(installed, other, strict=True):
        # 0.5 has a list of outputs where 0.4.13 has the first one.
        assert other_sample.pop("filtered_resps") in (
            [sample["filtered_resps"]],
            sample.pop("filtered_resps"),
        )
        assert other_sample == sample


@pytest.mark.parametrize("task", TASKS)
def test_results_say_which_data_and_readings_they_are_of(
    task: str, results_by_version: list[dict[str, Any]]
) -> None:
    facts = [dict(lm_eval_facts(results["configs"][task])) for results in results_by_version]
    assert facts[0] == facts[1]
    assert facts[0]["data"]


@pytest.mark.parametrize("task", TASKS)
def test_standard_errors_are_ours(task: str, results_by_version: list[dict[str, Any]]) -> None:
    """Those of lm-eval would count dependent rows as independent ones."""
    _, results = results_by_version
    records = [sample["sample"] for sample in results["samples"][task]]
    estimates = evaluate(records, measures_of(records).recomputable)
    compared = 0
    for metric, estimates_by_scope in estimates.items():
        error = results["results"][task].get(f"{metric}_stderr,none")
        if isinstance(error, float):
            assert error == pytest.approx(estimates_by_scope["all"].stderr, rel=1e-9), metric
            compared += 1
    assert compared >= 3
