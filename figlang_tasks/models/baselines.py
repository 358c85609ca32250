"""``figlang_random`` and ``figlang_majority``: a task's chance level, through the path that a model
takes.

What may be answered is said by the task: the module that holds its ``process_results`` (or
``doc_to_text``) has a function ``chance_answers(doc)`` that returns the possible answers by label,
and the label that is right. A score request (``figlang_tasks.core.score_requests``) needs none: its
candidates or images are what is scored.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from lmms_eval.api.instance import Instance

from figlang_tasks.core import score_requests
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.models.base import Offline

ChanceAnswers: TypeAlias = Callable[[Mapping[str, Any]], tuple[Mapping[str, str], str]]


class Random(Offline):
    """Every possible answer is as likely; scores are uniform in 0 to 1.

    Args:
        seed: of the answers, which depend on it, the task's name and the document's number alone.
        harness: see :class:`Offline`.
    """

    answers_score_requests = score_requests.KINDS

    def __init__(self, seed: int = 0, **harness: Any) -> None:
        super().__init__(**harness)
        self._seed = seed

    def generate_until(self, requests: list[Instance]) -> list[str]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Instance) -> str:
        _, settings, doc_to_visual, doc_id, name, split = request.args
        task = self.task(request)
        doc = task.dataset_no_image[split][doc_id]
        draw = random.Random(f"{self._seed}/{name}/{doc_id}")
        wanted = score_requests.score_request(settings, doc)
        if wanted is None:
            answers, _ = chance_answers_of(task)(doc)
            return answers[draw.choice(sorted(answers))]
        count = len(wanted.candidates) or len(doc_to_visual(self.task_dict[name][split][doc_id]))
        return score_requests.answer([draw.random() for _ in range(count)])


class Majority(Offline):
    """Always the label that most documents of the split have; of several, the first in alphabetical
    order.

    Args:
        harness: see :class:`Offline`.
    """

    def __init__(self, **harness: Any) -> None:
        super().__init__(**harness)
        self._labels: dict[tuple[Any, str], str] = {}

    def generate_until(self, requests: list[Instance]) -> list[str]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Instance) -> str:
        *_, doc_id, _, split = request.args
        task = self.task(request)
        docs, chance_answers = task.dataset_no_image[split], chance_answers_of(task)
        if (task, split) not in self._labels:
            counts = Counter(chance_answers(doc)[1] for doc in docs)
            self._labels[task, split] = max(sorted(counts), key=lambda label: counts[label])
        return chance_answers(docs[doc_id])[0][self._labels[task, split]]


def chance_answers_of(task: Any) -> ChanceAnswers:
    # --predict_only takes the scoring of a task away.
    functions = (task.config.process_results, task.config.doc_to_text)
    modules = [
        module
        for module in (getattr(function, "__module__", None) for function in functions)
        if module
    ]
    for module in modules:
        found: ChanceAnswers | None = getattr(sys.modules.get(module), "chance_answers", None)
        if found is not None:
            return found
    raise FigLangError(
        f"figlang_tasks: task {task.config.task} does not declare its possible answers:"
        f" {modules[0] if modules else 'the module of its scoring'} has no function"
        " chance_answers(doc) (see figlang_tasks.models.baselines)"
    )
