"""``figlang_random`` and ``figlang_majority``: a task's chance level, on the path of a model.

A task says what may be answered: the module that holds its ``process_results`` (or ``doc_to_text``)
has a function ``chance_answers(doc)``, see `ChanceAnswers`. A score request
(`figlang_tasks.core.score_requests`) needs none, since it holds what is scored.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from lmms_eval.api.instance import Instance

from figlang_tasks.core import score_requests
from figlang_tasks.core.deferred_pictures import deferred
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.models.base import Offline
from figlang_tasks.models.requests import Document, SimpleArguments

ChanceAnswers: TypeAlias = Callable[[Document], tuple[Mapping[str, str], str]]
"""``(document) -> ({label: text of the answer}, the right label)``.

For example ``({"A": "(A) cat", "B": "(B) dog"}, "B")``.
"""


class Random(Offline):
    """Answers with each possible answer equally often; scores are uniform in 0 to 1.

    Args:
        seed: seeds the answers. An answer depends on the seed, the task's name and the document's
            number alone.
        command_line: see `Offline`.
    """

    answers_score_requests = score_requests.KINDS

    def __init__(self, seed: int = 0, **command_line: Any) -> None:
        super().__init__(**command_line)
        self._seed = seed

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer the requests, in their order."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Instance) -> str:
        """A random answer, or random scores if the request asks for scores."""
        _, generation_kwargs, doc_to_visual, doc_id, name, split = SimpleArguments.of(request)
        task = self.task(request)
        doc = task.dataset_no_image[split][doc_id]  # without pictures, which take time to decode
        generator = random.Random(f"{self._seed}/{name}/{doc_id}")
        score_request = score_requests.score_request(generation_kwargs, doc)
        if score_request is None:
            answer_by_label, _ = chance_answers_of(task)(doc)
            return answer_by_label[generator.choice(sorted(answer_by_label))]

        count = len(score_request.candidates)
        if not count:  # a request of kind match: it has one score for each picture
            doc_with_pictures = self.task_dict[name][split][doc_id]
            with deferred():  # They are only counted.
                count = len(doc_to_visual(doc_with_pictures) or ())
        return score_requests.answer([generator.random() for _ in range(count)])


class Majority(Offline):
    """Always answers with the label that most documents of the split have.

    Of several such labels, it is the first in alphabetical order.

    Args:
        command_line: see `Offline`.
    """

    def __init__(self, **command_line: Any) -> None:
        super().__init__(**command_line)
        self._majority_labels: dict[tuple[object, str], str] = {}  # by task and split

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer the requests, in their order."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Instance) -> str:
        """This document's answer under the label that most documents of the split have."""
        arguments = SimpleArguments.of(request)
        split = arguments.split
        task = self.task(request)
        docs = task.dataset_no_image[split]
        chance_answers = chance_answers_of(task)
        if (task, split) not in self._majority_labels:  # counted once for each split
            label_counts = Counter(_right_label(chance_answers, doc) for doc in docs)
            # max takes the first of several: sorted puts them in alphabetical order
            majority_label = max(sorted(label_counts), key=label_counts.__getitem__)
            self._majority_labels[task, split] = majority_label
        answer_by_label, _ = chance_answers(docs[arguments.doc_id])
        return answer_by_label[self._majority_labels[task, split]]


def _right_label(chance_answers: ChanceAnswers, doc: Document) -> str:
    _, label = chance_answers(doc)
    return label


def chance_answers_of(task: Any) -> ChanceAnswers:
    """The function ``chance_answers`` of the module that holds the functions of a task.

    It is looked for in the module of ``process_results``, then in that of ``doc_to_text``.

    Args:
        task: a task object of lmms-eval.

    Raises:
        FigLangError: no such module has such a function.
    """
    # --predict_only of lmms-eval 0.7.3 takes process_results away from a task; doc_to_text stays.
    modules: list[str] = []
    for function in (task.config.process_results, task.config.doc_to_text):
        module = getattr(function, "__module__", None)
        if module:
            modules.append(module)
    for module in modules:
        chance_answers: ChanceAnswers | None
        chance_answers = getattr(sys.modules.get(module), "chance_answers", None)
        if chance_answers is not None:
            return chance_answers
    module_of_scoring = modules[0] if modules else "the module of its scoring"
    raise FigLangError(
        f"figlang_tasks: task {task.config.task} does not declare its possible answers:"
        f" {module_of_scoring} has no function"
        " chance_answers(doc) (see figlang_tasks.models.baselines)"
    )
