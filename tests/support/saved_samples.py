"""A samples file as the harness writes it: figlang_mini, answered by a model that says something else each time."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from demo_runs import task_manager
from lmms_eval.api.model import lmms
from lmms_eval.evaluator import simple_evaluate
from lmms_eval.loggers import EvaluationTracker

NAME = "2026-01-02T03-04-05_samples_figlang_mini.jsonl"


class Answers(lmms):
    """Says in turn what is nearly right, what is wrong, what has no explanation, what no label, and nothing."""

    def generate_until(self, requests: list[Any]) -> list[str]:
        answers = []
        for number, request in enumerate(requests):
            doc = self.task_dict[request.args[4]][request.args[5]][request.args[3]]
            answers.append(
                (
                    f"{doc['explanation'][:-20]} picture.\n\nLABEL: {doc['label']}",
                    f"“{doc['claim']}” and a kettle\u2028🫖 number {number} of no meaning.\n\nLABEL: contradiction",
                    "LABEL: entailment",
                    f"{doc['explanation']} I would not say which it is.",
                    "",
                )[number % 5]
            )
        return answers

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        raise AssertionError("no task of ours asks for it")

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        raise AssertionError("no task of ours asks for it")


@lru_cache(maxsize=2)
def evaluated(scorer: str = "off") -> tuple[bytes, dict[str, Any]]:
    """The samples file of a run with that explanation scorer, and the run's metrics (without their filter)."""
    with TemporaryDirectory() as folder, patch.dict(os.environ, {"FIGLANG_SCORER": scorer}):
        tracker = EvaluationTracker(output_path=folder)
        results = simple_evaluate(
            model=Answers(),
            tasks=["figlang_mini"],
            log_samples=True,
            evaluation_tracker=tracker,
            bootstrap_iters=0,
            task_manager=task_manager(),
        )
        assert results is not None
        reported = {name.partition(",")[0]: value for name, value in results["results"]["figlang_mini"].items()}
        samples = results.pop("samples")
        tracker.save_results_aggregated(results, samples, "2026-01-02T03-04-05")
        tracker.save_results_samples("figlang_mini", samples["figlang_mini"])
        (file,) = Path(folder).rglob("*_samples_*.jsonl")
        assert file.name == NAME
        return file.read_bytes(), reported
