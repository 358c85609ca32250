"""``figlang_random`` and ``figlang_majority``: a task's chance level, through the path that a model takes.

What may be answered is said by the task: the module that holds its ``process_results`` (or ``doc_to_text``) has a
function ``chance_answers(doc)`` that returns the possible answers by label, and the label that is right. A score
request (``figlang_tasks.core.score_requests``) needs none: its candidates or images are what is scored.
"""

from __future__ import annotations

import random
import sys
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from lmms_eval.api.instance import Instance

from figlang_tasks.core import score_requests
from figlang_tasks.core.score_requests import ScoreRequest
from figlang_tasks.models.base import Offline

ChanceAnswers: TypeAlias = Callable[[Mapping[str, Any]], tuple[Mapping[str, str], str]]


class BaselineError(Exception):
    """A baseline cannot answer a task; the message says why."""


class _Baseline(Offline):
    def generate_until(self, requests: list[Instance]) -> list[str]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Instance) -> str:
        _, settings, doc_to_visual, doc_id, name, split = request.args
        task = self.task(request)
        doc = task.dataset_no_image[split][doc_id]
        wanted = score_requests.score_request(settings, doc)
        if wanted is None:
            return self._words(task, split, doc, f"{name}/{doc_id}")
        images = 0 if wanted.kind == "candidates" else len(doc_to_visual(self.task_dict[name][split][doc_id]))
        return score_requests.answer(self._scores(task, split, wanted, images, f"{name}/{doc_id}"))

    @abstractmethod
    def _words(self, task: Any, split: str, doc: Mapping[str, Any], key: str) -> str: ...

    @abstractmethod
    def _scores(self, task: Any, split: str, wanted: ScoreRequest, images: int, key: str) -> list[float]: ...


class Random(_Baseline):
    """Every possible answer is as likely; scores are uniform in 0 to 1.

    Args:
        seed: of the answers, which depend on it, the task's name and the document's number alone.
        harness: see :class:`Offline`.
    """

    answers_score_requests = score_requests.KINDS

    def __init__(self, seed: int = 0, **harness: Any) -> None:
        super().__init__(**harness)
        self._seed = seed

    def _generator(self, key: str) -> random.Random:
        return random.Random(f"{self._seed}/{key}")

    def _words(self, task: Any, split: str, doc: Mapping[str, Any], key: str) -> str:
        answers, _ = _chance_answers(task)(doc)
        return answers[self._generator(key).choice(sorted(answers))]

    def _scores(self, task: Any, split: str, wanted: ScoreRequest, images: int, key: str) -> list[float]:
        generator = self._generator(key)
        return [generator.random() for _ in range(len(wanted.candidates) or images)]


class Majority(_Baseline):
    """Always the label that most documents of the split have; of several, the first in alphabetical order.

    Among the candidates of a score request it gives 1 to the most frequent target and 0 to the others. Matching has no
    majority.

    Args:
        harness: see :class:`Offline`.
    """

    def __init__(self, **harness: Any) -> None:
        super().__init__(**harness)
        self._found: dict[tuple[Any, str], str] = {}

    def _words(self, task: Any, split: str, doc: Mapping[str, Any], key: str) -> str:
        chance_answers = _chance_answers(task)
        return chance_answers(doc)[0][self._most_frequent(task, split, lambda each: chance_answers(each)[1])]

    def _scores(self, task: Any, split: str, wanted: ScoreRequest, images: int, key: str) -> list[float]:
        target = self._most_frequent(task, split, task.doc_to_target)
        if target not in wanted.candidates:
            raise BaselineError(
                f"figlang_majority: {key}: the most frequent target {target!r} is not one of its candidates. Matching "
                "tasks, and tasks with other candidates for each document, have no majority: use figlang_random"
            )
        return [float(candidate == target) for candidate in wanted.candidates]

    def _most_frequent(self, task: Any, split: str, label: Callable[[Mapping[str, Any]], str]) -> str:
        key = (task, split)
        if key not in self._found:
            counts = Counter(label(doc) for doc in task.dataset_no_image[split])
            self._found[key] = max(sorted(counts), key=lambda name: counts[name])
        return self._found[key]


def _chance_answers(task: Any) -> ChanceAnswers:
    # --predict_only takes the scoring of a task away.
    functions = (task.config.process_results, task.config.doc_to_text)
    modules = [module for module in (getattr(function, "__module__", None) for function in functions) if module]
    for module in modules:
        found: ChanceAnswers | None = getattr(sys.modules.get(module), "chance_answers", None)
        if found is not None:
            return found
    raise BaselineError(
        f"the task {task.config.task} does not declare its possible answers: "
        f"{modules[0] if modules else 'the module of its scoring'} has no function chance_answers(doc) (see "
        "figlang_tasks.models.baselines)"
    )
