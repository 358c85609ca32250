"""If these fail, threads change a judgement, or an evaluation shows the numbers of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from demo_runs import estimates, evaluate, task_manager
from lmms_eval.evaluator import evaluate as evaluate_tasks
from lmms_eval.tasks import get_task_dict

from figlang_tasks.core import task_files
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


def test_a_task_with_rows_chosen_by_the_user_has_values(tmp_path: Path) -> None:
    """Its function makes the documents; ours still judges their answers."""
    (tmp_path / "first_rows.py").write_text(
        "from figlang_tasks.core.benchmark import process_docs\n\n\n"
        "def first_rows(stub):\n    return process_docs(stub).select(range(5))\n"
    )
    task_file = task_files.files("lmms_eval")["figlang_mini_flute"]
    (tmp_path / "mine.yaml").write_text(
        f"include: {task_file}\ntask: mine\nprocess_docs: !function first_rows.first_rows\n"
    )
    results = evaluate("mine", "figlang_majority", include_path=str(tmp_path))
    measures = results["configs"]["mine"]["metadata"]["measures"]
    assert measures["values"]["acc"]["all"]["rows"] == 5
