"""Runs of the harness with the model classes of this package, and the files that they leave."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import lmms_eval.models
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
    """Our tasks, with those of a folder; `model`: the name by which they find settings meant for one."""
    return figlang_tasks.task_manager(include_defaults=False, include_path=include_path, model_name=model)


def evaluate(
    task: str | Sequence[str],
    model: str | lmms,
    model_args: str | None = None,
    saved: Path | None = None,
    include_path: str | None = None,
    as_model: str | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """Evaluate a task, or several; with `saved`, write the files of results and samples there as the command does.

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
        samples = {name: [dict(sample) for sample in found] for name, found in results["samples"].items()}
        without = {key: value for key, value in results.items() if key != "samples"}
        tracker.save_results_aggregated(without, samples, "2026-01-02T03-04-05")
        for name, found in samples.items():
            tracker.save_results_samples(name, found)
    return results


def metrics(results: dict[str, Any], task: str) -> dict[str, Any]:
    """Return the metrics of a task, without the harness's own standard errors."""
    return {name: value for name, value in results["results"][task].items() if "_stderr" not in name}


def estimates(results: dict[str, Any], task: str) -> dict[str, Estimate]:
    """Return the estimates of a task, of the whole and of every scope, by full name (``f1@60_muse``)."""
    found = from_json(results["configs"][task]["metadata"]["measures"])
    return {full_name(measure, scope): estimate for measure, scope, estimate in flat(found)}


def answers(results: dict[str, Any], task: str) -> dict[int, str]:
    """Return what was answered, by document id."""
    return {sample["doc_id"]: sample["resps"][0][0] for sample in results["samples"][task]}


@lru_cache(maxsize=1)
def mini_tasks() -> str:
    """Return a folder, for `include_path`, with V-FLUTE's other kinds of task on figlang_mini: mini_sg, mini_2shot."""
    folder, tasks = mkdtemp(prefix="tasks-", dir=os.environ["FIGLANG_TEST_RUNS"]), tasks_dir()
    for name, includes, options in (("mini_sg", "vflute_sg.yaml", ""), ("mini_2shot", "vflute.yaml", ", num_shots: 2")):
        (Path(folder) / f"{name}.yaml").write_text(
            f"include: {tasks}/vflute/{includes}\ntask: {name}\n"
            "dataset_name: figlang_mini,split=test\n"
            f"lmms_eval_specific_kwargs: {{default: {{scorer: 'off'{options}}}}}\n"
        )
    return folder
