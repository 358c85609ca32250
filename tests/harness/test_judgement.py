"""Answers are judged otherwise in threads, or an evaluation shows the numbers of another, if this
fails.
"""

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
    runs = [evaluate(task, "figlang_random", process_docs_parallel=threads) for threads in (1, 8)]
    records = [[sample["sample"] for sample in run["samples"][task]] for run in runs]
    assert records[0] == records[1] and len(records[0]) > 4
    assert estimates(runs[0], task) == estimates(runs[1], task)


def test_a_task_that_is_evaluated_again_has_numbers_of_its_own_and_its_own_methods() -> None:
    """Another model answers the same task object."""
    task = "figlang_mini_irfl_detect_idiom"
    tasks: dict[str, Any] = get_task_dict([task], task_manager())
    methods = tasks[task].process_results, tasks[task].aggregation
    shares = []
    for model in (Random(), Majority()):
        model.task_dict = {}
        results = evaluate_tasks(lm=model, task_dict=tasks, bootstrap_iters=0)
        hits = [
            sample["sample"]["chosen"] == sample["sample"]["answer"]
            for sample in results["samples"][task]
        ]
        assert results["results"][task]["acc,none"] == sum(hits) / len(hits)
        shares.append([sample["sample"]["chosen"] for sample in results["samples"][task]])
    assert shares[0] != shares[1]
    assert (tasks[task].process_results, tasks[task].aggregation) == methods
