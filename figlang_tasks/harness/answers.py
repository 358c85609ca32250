"""The answers of a run: given from a file where they are known, asked of the model otherwise.

lmms-eval 0.7.3 hands all requests to the method ``execute`` of the object that ``evaluate`` gets as
its cache of responses, and has no other place where one can stand between it and the model. That
object is our `Answers`. It makes of each answer to our tasks a text that can be stored, and with
``--use_cache`` stores it batch by batch. The requests of other tasks go to the harness's own cache.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from loguru import logger
from tqdm import tqdm

from figlang_tasks import models
from figlang_tasks.core import notes, status
from figlang_tasks.core.chat_reply import ModelNames
from figlang_tasks.core.text import is_blank, whole_characters
from figlang_tasks.harness.answer_keys import AnswerKeys
from figlang_tasks.harness.answer_store import Store, StoredAnswer
from figlang_tasks.harness.api_replies import checked_replies, is_api
from figlang_tasks.harness.harness_types import HarnessTask, Model

if TYPE_CHECKING:
    from lmms_eval.api.instance import GenerationResult, Instance
    from lmms_eval.caching.response_cache import ResponseCache

BATCHES = 16
"""Batches in one call of a class that tells each answer: it makes the next while it works on one.
"""

IN_ROUNDS = "generate_until_agentic"
"""The harness's output type of tasks that ask again after an answer, row by row."""

OWN_EVENT_LOOP = (
    "lmms_eval.models.chat.aero_realtime_vllm",
    "lmms_eval.models.chat.async_openai",
    "lmms_eval.models.simple.srt_api",
    "lmms_eval.models.whisper_tt",
)
"""Modules of lmms-eval 0.7.3 whose class begins an event loop in each ``generate_until``."""

_SUMMARIES = "lmms_eval.models.model_utils.gen_metrics"
"""A module of lmms-eval 0.7.3 that logs a line for each call. Its sums stand in the results."""


class Answers:
    """Answers the requests of a run.

    Args:
        tasks: ours, by name.
        store: where their answers are kept; None without ``--use_cache``.
        cache_of_others: the harness's cache, for the tasks of others; None asks the model.

    Attributes:
        padded_pictures: by task, the documents of which a picture was padded, because the model's
            processor refuses its shape.
    """

    def __init__(
        self,
        tasks: Mapping[str, HarnessTask],
        store: Store | None,
        cache_of_others: ResponseCache | None,
    ) -> None:
        self._tasks = tasks
        self._store = store
        self._answer_keys = AnswerKeys(store.seed if store is not None else None)
        self._cache_of_others = cache_of_others
        self._bar: tqdm | None = None
        self._answered = 0  # requests of our tasks
        self._from_store = 0  # of those
        self._model_names = ModelNames()
        self.padded_pictures: dict[str, set[int]] = {}
        logger.disable(_SUMMARIES)

    def close(self) -> None:
        """End the bar, and tell how many answers were stored."""
        logger.enable(_SUMMARIES)
        if self._bar is not None:
            self._bar.close()
        if self._store is not None:
            status.tell(f"{self._from_store:,} of {self._answered:,} answers are from the cache")

    def execute(self, lm: Model, request_type: str, requests: Sequence[Instance]) -> list[object]:
        """The answers to requests, in their order; the harness calls this in place of its cache.

        Args:
            lm: the model.
            request_type: the name of its method, ``generate_until`` for our tasks.
            requests: of any tasks, ours or others.
        """

        def is_ours(request: Instance) -> bool:
            return request.task_name in self._tasks

        answers: list[object] = []
        for are_ours, group in groupby(requests, key=is_ours):
            neighbours = list(group)
            if are_ours:
                answers += self._answer(lm, request_type, neighbours)
            elif self._cache_of_others is not None:
                answers += self._cache_of_others.execute(lm, request_type, neighbours)
            else:
                answers += getattr(lm, request_type)(neighbours)
        self._gather_padded_pictures(lm, filter(is_ours, requests))
        return answers

    def _gather_padded_pictures(self, lm: Model, our_requests: Iterable[Instance]) -> None:
        """Add the documents of which the model has padded a picture to `padded_pictures`.

        This is done after each call, because then the processes wait for each other, and later one
        of them may end by Ctrl-C. A task in rounds (`IN_ROUNDS`) asks again after an answer, not
        equally often in all processes. The processes then do not wait for each other, and the
        pictures of this process alone are known.
        """
        has_rounds = any(self._is_in_rounds(request) for request in our_requests)
        documents_by_task = models.padded_pictures(lm, of_all_processes=not has_rounds)
        for task_name, documents in documents_by_task.items():
            self.padded_pictures.setdefault(task_name, set()).update(documents)

    def _answer(
        self, lm: Model, request_type: str, requests: Sequence[Instance]
    ) -> list[GenerationResult]:
        """The answers to requests of our tasks, in their order: from the store, or of the model."""
        keys = [""] * len(requests)  # without a store nobody reads them
        answers: dict[int, GenerationResult] = {}  # by the index of the request
        if self._store is not None:
            keys = self._answer_keys.keys_of(lm, requests)
            answers = self._store.look_up(keys)
            self._from_store += len(answers)
            self._count(len(answers))
        if len(answers) < len(requests):
            self._add_missing(answers, lm, request_type, requests, keys)
        return [answers[index] for index in range(len(requests))]

    def _add_missing(
        self,
        answers: dict[int, GenerationResult],
        lm: Model,
        request_type: str,
        requests: Sequence[Instance],
        keys: Sequence[str],
    ) -> None:
        """Ask the model for the answers that are missing, and add them to `answers`.

        The requests are divided into calls as if no answer was stored, and a call then leaves out
        those that are. So a run that goes on has the batches of one that was not interrupted.

        Args:
            answers: by the index of the request; is changed.
            lm: the model.
            request_type: the name of its method.
            requests: all requests, also those whose answer is stored.
            keys: of all requests, in the store.
        """
        call_size = self._call_size(lm)
        # A class that gets all requests at once shows a bar of its own, if they take time. But the
        # harness asks for a task in rounds request by request, which would show as many bars.
        needs_bar = call_size is not None or self._is_in_rounds(requests[0])
        if needs_bar and self._bar is None:
            self._bar = self._new_bar()
        if call_size is None:
            call_size = len(requests)

        for start in range(0, len(requests), call_size):
            end = min(start + call_size, len(requests))
            missing = [index for index in range(start, end) if index not in answers]
            if not missing:
                continue
            requests_of_call = [requests[index] for index in missing]
            keys_of_call = [keys[index] for index in missing]
            new_answers = self._ask(lm, request_type, requests_of_call, keys_of_call)
            answers.update(zip(missing, new_answers, strict=True))

    def _call_size(self, lm: Model) -> int | None:
        """How many requests a model gets in one call; None for all.

        Answers are stored when a call returns, so with a store a call is one batch: an interrupt
        costs no more than that. A class that hands over each answer as soon as it is there
        (``on_answer``) gets several batches.
        """
        if answers_at_once(lm):
            return None
        if hasattr(type(lm), "on_answer"):
            return batch_size(lm) * BATCHES
        if self._store is not None:
            return batch_size(lm)
        return None

    def _is_in_rounds(self, request: Instance) -> bool:
        """Whether the task of a request asks again after an answer (`IN_ROUNDS`)."""
        task = self._tasks[request.task_name]
        return bool(task.OUTPUT_TYPE == IN_ROUNDS)

    def _new_bar(self) -> tqdm:
        """A bar for all requests of the run; the model's own bars would be of one call each."""
        total = 0
        for task in self._tasks.values():
            settings = task.config.generation_kwargs or {}
            rounds = settings.get("max_agentic_steps", 1)  # the most rounds of a task in rounds
            total += sum(request.repeats * rounds for request in task.instances)
        is_hidden = not status.in_first_process()
        return tqdm(
            total=total,
            initial=self._answered,
            desc="answers",
            delay=0,
            leave=True,
            disable=is_hidden,
        )

    def _count(self, answered: int) -> None:
        """Count requests that have been answered, in the bar too."""
        self._answered += answered
        if self._bar is not None:
            self._bar.update(answered)

    def _ask(
        self, lm: Model, request_type: str, requests: Sequence[Instance], keys: Sequence[str]
    ) -> list[GenerationResult]:
        """The answers of the model to the requests of one call; stores them batch by batch."""
        call = _Call(lm, requests, keys, self._store, self._count)
        lm.on_answer = call.take  # A class that knows it hands over each answer while it works.
        try:
            with checked_replies(lm, self._model_names):
                raw_answers: list[object] = getattr(lm, request_type)(list(requests))
        finally:
            lm.on_answer = None  # What it is asked next may not be for us.
            call.save()  # Also where a later request has ended the run.
        return call.complete(raw_answers)


class _Call:
    """One call of a model: takes its answers, and stores them batch by batch.

    An answer comes by `take` while the model works, if its class can do that, or else by `complete`
    when the call has returned.

    Args:
        lm: the model.
        requests: those of the call.
        keys: of the requests, in the store.
        store: None keeps nothing.
        count: is called with 1 for each answer.
    """

    def __init__(
        self,
        lm: Model,
        requests: Sequence[Instance],
        keys: Sequence[str],
        store: Store | None,
        count: Callable[[int], None],
    ) -> None:
        self._lm = lm
        self._requests = requests
        self._keys = keys
        self._store = store
        self._count = count
        self._batch_size = batch_size(lm)
        # The model adds to this while it answers.
        self._padded: Mapping[str, Collection[int]] = getattr(lm, "padded_pictures", {})
        self._answers: dict[int, GenerationResult] = {}  # by the index of the request
        self._unsaved: list[StoredAnswer] = []

    def take(self, index: int, raw_answer: object) -> None:
        """Take the answer to the request at an index, and store it with the rest of its batch."""
        request = self._requests[index]
        answer = answer_as_text(raw_answer, self._lm)
        self._answers[index] = answer
        self._count(1)
        # An answer to a padded picture is not stored: the next run asks again, because its results,
        # too, must tell of the padding.
        is_padded = request.doc_id in self._padded.get(request.task_name, ())
        if not is_padded:
            key = self._keys[index]
            stored_answer = StoredAnswer(key, request.task_name, request.doc_id, answer.text)
            self._unsaved.append(stored_answer)
        if len(self._unsaved) >= self._batch_size:
            self.save()

    def save(self) -> None:
        """Store the answers that are not stored yet."""
        if self._store is not None:
            self._store.keep(self._unsaved)
        self._unsaved.clear()

    def complete(self, raw_answers: Sequence[object]) -> list[GenerationResult]:
        """Take the answers that are still missing, and return all in the order of the requests.

        Args:
            raw_answers: what the model has returned, also the answers that `take` has got before.
        """
        # `simple/claude.py` of lmms-eval 0.7.3 returns one answer too many after a failed request.
        for index, raw_answer in enumerate(raw_answers[: len(self._requests)]):
            if index not in self._answers:
                self.take(index, raw_answer)
        self.save()
        return [self._answers[index] for index in range(len(self._requests))]


def answer_as_text(raw_answer: object, lm: object) -> GenerationResult:
    """What a model class gave, as a text that a file of UTF-8 can hold.

    What is no text becomes the text of a failed request, and so does an empty text of an API.
    """
    from lmms_eval.api.instance import GenerationResult, unwrap_generation_output

    content: object = None
    token_counts = None
    if raw_answer is not None:  # lmms-eval 0.7.3 would make the text "None" of it.
        content, token_counts = unwrap_generation_output(raw_answer)
    text = notes.text_of(content)
    if is_blank(text) and is_api(lm):
        text = notes.empty_answer()
    whole_text = whole_characters(text)
    if whole_text != text:
        # One such character would end lmms-eval 0.7.3's file of samples at its row.
        logger.warning(
            "figlang_tasks: in an answer U+FFFD stands for half of a surrogate pair, which is no"
            " character"
        )
    return GenerationResult(whole_text, token_counts)


def batch_size(lm: object) -> int:
    """How many requests a model works on at a time; 1 if it finds its batch size by itself."""
    largest = 1
    # lmms-eval's classes name it differently. Of several names in one class the largest counts.
    for name in ("batch_size", "batch_size_per_gpu", "num_concurrent"):
        size = getattr(lm, name, 1)
        if isinstance(size, int):  # "auto" is a text
            largest = max(largest, size)
    return largest


def answers_at_once(lm: Model) -> bool:
    """Whether a model is to get all requests in one call.

    Either it reuses work between requests, and its class says so (``answers_at_once``). Or it is a
    class of lmms-eval 0.7.3 that begins a new event loop in each call (`OWN_EVENT_LOOP`): the
    connections that its client keeps belong to the loop of the last call, and are closed.
    """
    if getattr(lm, "answers_at_once", False):
        return True
    return type(lm).generate_until.__module__ in OWN_EVENT_LOOP
