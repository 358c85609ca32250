"""If these fail, threads change a judgement, or an evaluation shows the numbers of another."""

from __future__ import annotations

from typing import Any

import pytest
from demo_runs import estimates, evaluate, task_manager
from lmms_eval.evaluator import evaluate as evaluate_tasks
from lmms_eval.tasks import get_task_dict

from figlang_tasks.models.baselines import Majority, Random

TASKS = ("figlang_mini", "figlang_mini_irfl_detect_idiom", "figlang_mini_irfl_retrieve_metaphor")


@pytest.mark.parametrize("task", TASKS)
def test_eight_threads_judge_as_one(task: str) -> None:
    """lmms-eval calls ``process_results`` in several threads (``process_docs_parallel``)."""
    in_one_thread = evaluate(task, "figlang_random", process_docs_parallel=1)
    in_eight_threads = evaluate(task, "figlang_random", process_docs_parallel=8)
    assert records(in_one_thread, task) == records(in_eight_threads, task)
    assert len(records(in_one_thread, task)) > 4
    assert estimates(in_one_thread, task) == estimates(in_eight_threads, task)


def records(results: dict[str, Any], task: str) -> list[dict[str, Any]]:
    return [sample["sample"] for sample in results["samples"][task]]


def test_a_task_that_is_evaluated_again_has_numbers_of_its_own_and_its_own_methods() -> None:
    """Another model answers the same task object."""
    task = "figlang_mini_irfl_detect_idiom"
    tasks: dict[str, Any] = get_task_dict([task], task_manager())
    methods = (tasks[task].process_results, tasks[task].aggregation)
    choices_by_model: list[list[int | None]] = []
    for model in (Random(), Majority()):
        model.task_dict = {}
        results = evaluate_tasks(lm=model, task_dict=tasks, bootstrap_iters=0)
        hits = [record["chosen"] == record["answer"] for record in records(results, task)]
        assert results["results"][task]["acc,none"] == sum(hits) / len(hits)
        choices_by_model.append([record["chosen"] for record in records(results, task)])
    assert choices_by_model[0] != choices_by_model[1]
    assert (tasks[task].process_results, tasks[task].aggregation) == methods
