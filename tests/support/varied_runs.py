"""Saved runs of models that are right, nearly right or wrong at random, on every kind of mini
task.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from unittest.mock import patch

from demo_runs import evaluate, mini_tasks
from filelock import FileLock
from lmms_eval.api.instance import Instance

from figlang_tasks.core.score_requests import KEY, answer, read_answer
from figlang_tasks.models.baselines import Random

TASKS = (
    "figlang_mini",
    "figlang_mini_flute",
    "mini_flute_v1",
    "figlang_mini_irfl_detect_idiom",
    "mini_irfl_detect_idiom_circular",
    "mini_irfl_match_simile",
    "mini_irfl_random4_metaphor",
    "figlang_mini_irfl_retrieve_metaphor",
    "figlang_mini_metaclue_caption",
    "figlang_mini_metaclue_classify_literal",
    "figlang_mini_metaclue_localize",
    "figlang_mini_metaclue_retrieve_swap",
    "mini_metaclue_vqa_best",
    "figlang_mini_nykms_metaphor",
    "mini_nykms_mw",
)
"""One of each kind."""


class Varied(Random):
    """Gives the target of its own document or of another one, whole, cut off or not at all."""

    def __init__(self, seed: int, skill: float) -> None:
        super().__init__(seed)
        self._skill = skill

    def _answer(self, request: Instance) -> str:
        *_, doc_id, name, split = request.args
        if KEY in request.args[1]:
            return answer(
                [round(score, 1) for score in read_answer(super()._answer(request)) or []]
            )
        generator = random.Random(f"{self._seed}/{name}/{doc_id}")
        task = self.task(request)
        docs = task.dataset_no_image[split]
        chosen = docs[
            doc_id if generator.random() < self._skill else generator.randrange(len(docs))
        ]
        words = str(task.doc_to_target(chosen)).split("\n")[0 if "caption" in name else slice(None)]
        text = words if isinstance(words, str) else "\n".join(words)
        return generator.choice([*[text] * 9, text[: len(text) * 2 // 3], f"{text} <b>&", ""])


def saved(seed: int, skill: float) -> Path:
    """The folder of a run of all :data:`TASKS`, as the command leaves it; explanations are scored
    by `embedded`.

    It is made once for all processes of the tests, and is not to be changed.
    """
    folder = Path(os.environ["FIGLANG_TEST_RUNS"]) / f"varied_{seed}_{skill}"
    with FileLock(f"{folder}.lock"):
        # METEOR starts Java for each part of the captions: most of the time that this would take.
        if not list(folder.rglob("*_results.json")):
            with patch.dict(os.environ, {"PATH": str(Path(sys.executable).parent)}):
                evaluate(TASKS, Varied(seed, skill), None, folder, mini_tasks(), "figlang_random")
    return folder


def weak() -> Path:
    return saved(1, 0.3)


def strong() -> Path:
    return saved(2, 0.75)
