"""A samples file as the harness writes it: figlang_mini, answered by a model that says something
else each time.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from demo_runs import evaluate, metrics

from figlang_tasks.models.base import Offline

NAME = "2026-01-02T03-04-05_samples_figlang_mini.jsonl"


class Answers(Offline):
    """Says in turn what is nearly right, what is wrong, what has no explanation, what no label, and
    nothing.
    """

    def generate_until(self, requests: list[Any]) -> list[str]:
        answers = []
        for number, request in enumerate(requests):
            doc = self.task_dict[request.args[4]][request.args[5]][request.args[3]]
            answers.append(
                (
                    f"{doc['explanation'][:-20]} picture.\n\nLABEL: {doc['label']}",
                    (
                        f"“{doc['claim']}” and a kettle\u2028🫖 number {number} of no"
                        " meaning.\n\nLABEL: contradiction"
                    ),
                    "LABEL: entailment",
                    f"{doc['explanation']} I would not say which it is.",
                    "",
                )[number % 5]
            )
        return answers


@lru_cache(maxsize=2)
def evaluated(scorer: str = "off") -> tuple[bytes, dict[str, Any]]:
    """The samples file of a run with that explanation scorer, and the run's metrics (without their
    filter).
    """
    with TemporaryDirectory() as folder, patch.dict(os.environ, {"FIGLANG_SCORER": scorer}):
        results = evaluate("figlang_mini", Answers(), saved=Path(folder))
        (file,) = Path(folder).rglob(NAME)
        reported = {
            name.partition(",")[0]: value
            for name, value in metrics(results, "figlang_mini").items()
        }
        return file.read_bytes(), reported
