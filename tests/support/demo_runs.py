"""Runs of the harness with the model classes of this package, and the files that they leave."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import lmms_eval.models
import lmms_eval.tasks
from lmms_eval.api.model import lmms
from lmms_eval.evaluator import simple_evaluate
from lmms_eval.loggers import EvaluationTracker
from lmms_eval.tasks import TaskManager

import figlang_tasks
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models import manifests
from figlang_tasks.scoring import Estimate, flat, from_json, full_name

DEMO = f"pretrained={DEMO_MODEL_DIR}"
FOLDERS_OF_TASK_FILES = (f"{Path(lmms_eval.tasks.__file__).parent}/", str(tasks_dir()))
"""The harness's task files and ours, as a `TaskManager` names them."""


@cache  # so that calling it again wraps the method once
def read_task_files_once() -> None:
    """Have each process read the harness's 2,000 task files, and ours, once: it takes seconds, and
    each `TaskManager` does it.
    """
    find_in_folder = TaskManager._get_task_and_group
    index_by_folder: dict[str, Any] = {}

    def find_once(manager: TaskManager, folder: str) -> Any:
        if folder not in FOLDERS_OF_TASK_FILES:
            return find_in_folder(manager, folder)
        if folder not in index_by_folder:
            index_by_folder[folder] = find_in_folder(manager, folder)
        return copy.deepcopy(index_by_folder[folder])

    TaskManager._get_task_and_group = find_once


read_task_files_once()


class Says(lmms):
    """Gives the answers that it is told, in turn."""

    loglikelihood: Any = None
    generate_until_multi_round: Any = None

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = answers

    def generate_until(self, requests: list[Any]) -> list[str]:
        return [self.answers[place % len(self.answers)] for place in range(len(requests))]


def register() -> None:
    """Register the model classes again: another test may have put its own under their names."""
    for manifest in manifests():
        lmms_eval.models.MODEL_REGISTRY_V2.register_manifest(manifest, overwrite=True)


@lru_cache(maxsize=8)  # reading all task files takes two seconds
def task_manager(include_path: str | None = None, model: str | None = None) -> TaskManager:
    """Our tasks, with those of a folder; `model`: the name by which they find settings meant for
    one.
    """
    return figlang_tasks.task_manager(
        include_defaults=False, include_path=include_path, model_name=model
    )


def evaluate(
    task: str | Sequence[str],
    model: str | lmms,
    model_args: str | None = None,
    saved: Path | None = None,
    include_path: str | None = None,
    as_model: str | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """Evaluate a task, or several; with `saved`, write the files of results and samples there as
    the command does.

    `as_model`: the name by which a `model` that is an object finds settings meant for one.
    """
    register()
    tracker = EvaluationTracker(output_path=str(saved)) if saved else None
    results = simple_evaluate(
        model=model,
        model_args=model_args,
        tasks=[task] if isinstance(task, str) else list(task),
        batch_size=1,
        bootstrap_iters=0,
        evaluation_tracker=tracker,
        task_manager=task_manager(include_path, model if isinstance(model, str) else as_model),
        **arguments,
    )
    assert results is not None
    if tracker:
        samples = {
            name: [dict(sample) for sample in found] for name, found in results["samples"].items()
        }
        without = {key: value for key, value in results.items() if key != "samples"}
        tracker.save_results_aggregated(without, samples, "2026-01-02T03-04-05")
        for name, found in samples.items():
            tracker.save_results_samples(name, found)
    return results


def metrics(results: dict[str, Any], task: str) -> dict[str, Any]:
    """Return the metrics of a task, without the harness's own standard errors."""
    return {
        name: value for name, value in results["results"][task].items() if "_stderr" not in name
    }


def estimates(results: dict[str, Any], task: str) -> dict[str, Estimate]:
    """Return the estimates of a task, of the whole and of every scope, by full name
    (``f1@60_muse``).
    """
    found = from_json(results["configs"][task]["metadata"]["measures"])
    return {full_name(measure, scope): estimate for measure, scope, estimate in flat(found)}


def answers(results: dict[str, Any], task: str) -> dict[int, str]:
    """Return what was answered, by document id."""
    return {sample["doc_id"]: sample["resps"][0][0] for sample in results["samples"][task]}


OWN_TASKS = {
    "mini_sg": ("vflute/vflute_sg", "figlang_mini,split=test", {"scorer": "off"}),
    "mini_2shot": ("vflute/vflute", "figlang_mini,split=test", {"scorer": "off", "num_shots": 2}),
    "mini_flute_v1": (
        "flute/flute_v1",
        "figlang_mini_flute,part=train,prompt=v1,scorer=embedded",
        {},
    ),
    "mini_irfl_detect_idiom_circular": (
        "irfl/irfl_detect_idiom_circular",
        "figlang_mini_irfl,table=idiom-detection-task,rotations=true",
        {},
    ),
    "mini_irfl_match_simile": (
        "irfl/irfl_match_simile",
        "figlang_mini_irfl,table=simile-detection-task",
        {},
    ),
    "mini_irfl_random4_metaphor": (
        "irfl/irfl_random4_metaphor",
        "figlang_mini_irfl,table=random4-metaphor",
        {},
    ),
    "mini_nykms_mw": ("nykms/nykms_mw", "figlang_mini_nykms,question=mw,modality=image", {}),
    # With the questions of the best metaphor alone: all of them are three quarters of the rows of a
    # run.
    "mini_metaclue_vqa_best": (
        "metaclue/metaclue_vqa_best",
        "figlang_mini_metaclue,task=vqa_best",
        {},
    ),
}
"""Tasks of the benchmarks on data of the package, by name: file, data, options."""


@lru_cache(maxsize=1)
def mini_tasks() -> str:
    """Return a folder, for `include_path`, with the files of OWN_TASKS."""
    folder = mkdtemp(prefix="tasks-", dir=os.environ["FIGLANG_TEST_RUNS"])
    for name, (file, data, options) in OWN_TASKS.items():
        content: dict[str, Any] = {
            "include": f"{tasks_dir()}/{file}.yaml",
            "task": name,
            "dataset_name": data,
        }
        if options:
            content["lmms_eval_specific_kwargs"] = {"default": options}
        (Path(folder) / f"{name}.yaml").write_text(json.dumps(content))
    return folder
