"""The answers of a run: given from a file where they are known, asked of the model otherwise.

The harness hands all requests to the method ``execute`` of an object that ``evaluate`` is given as
its cache of responses; ours is :class:`Answers`. What a model answers to our tasks becomes a text
that can be stored, and with ``--use_cache`` it is stored batch by batch. The requests of other
tasks go to the harness's own cache.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from loguru import logger
from PIL import Image
from tqdm import tqdm

from figlang_tasks import models
from figlang_tasks.core import notes, score_requests, status
from figlang_tasks.core.chat_reply import ModelNames
from figlang_tasks.core.text import is_blank, whole_characters
from figlang_tasks.harness.answer_store import Store, StoredAnswer
from figlang_tasks.harness.api_replies import checked_replies, is_api
from figlang_tasks.models.ahead import THREADS, threads

if TYPE_CHECKING:
    from lmms_eval.api.instance import GenerationResult, Instance
    from lmms_eval.caching.response_cache import ResponseCache

BATCHES = 16
"""Batches that a class gets in one call if it tells each answer: it makes the next while it works
on one.
"""

IN_ROUNDS = "generate_until_agentic"
"""The harness's output type of tasks that ask again after an answer, row by row."""

OWN_EVENT_LOOP = (
    "lmms_eval.models.chat.aero_realtime_vllm",
    "lmms_eval.models.chat.async_openai",
    "lmms_eval.models.simple.srt_api",
    "lmms_eval.models.whisper_tt",
)
"""Modules of lmms-eval 0.7.3 whose class begins an event loop in each call of
``generate_until``.
"""

_SUMMARIES = (  # logs a line for each call; its sums stand in the results
    "lmms_eval.models.model_utils.gen_metrics"
)


class Answers:
    """Answers the requests of a run.

    Args:
        tasks: ours, by name.
        store: where their answers are kept; None without ``--use_cache``.
        others: the harness's cache, for other tasks; None asks the model.
    """

    def __init__(
        self, tasks: Mapping[str, Any], store: Store | None, others: ResponseCache | None
    ) -> None:
        self._tasks = tasks
        self._store = store
        self._others = others
        self._bar: tqdm | None = None
        self._answered = 0  # requests of our tasks
        self._from_store = 0  # of these
        self._times_asked: Counter[str] = Counter()  # in this run, by the digest of a request
        self._model_names = ModelNames()
        self.padded_pictures: dict[
            str, set[Any]
        ] = {}  # by task, the documents of which a picture was padded
        logger.disable(_SUMMARIES)

    def close(self) -> None:
        """End the bar, and tell how many answers were stored."""
        logger.enable(_SUMMARIES)
        if self._bar is not None:
            self._bar.close()
        if self._store:
            status.tell(f"{self._from_store:,} of {self._answered:,} answers are from the cache")

    def execute(self, lm: Any, kind: str, requests: Sequence[Instance]) -> list[Any]:
        """Answer requests in order; called by the harness."""
        answers: list[Any] = []
        for is_ours, group in groupby(
            requests, key=lambda request: request.task_name in self._tasks
        ):
            members = list(group)
            if is_ours:
                answers += self._answer(lm, kind, members)
            elif self._others:
                answers += self._others.execute(lm, kind, members)
            else:
                answers += getattr(lm, kind)(members)
        self._gather_padded_pictures(lm, requests)
        return answers

    def _gather_padded_pictures(self, lm: Any, requests: Sequence[Instance]) -> None:
        """Remember of which documents the model has padded a picture.

        After each call, because then the processes wait for each other, and later one of them may
        end by Ctrl-C. Rounds are not equally many in all processes, so of tasks in rounds the
        pictures of this process alone are known.
        """
        is_in_rounds = any(
            self._is_in_rounds(request) for request in requests if request.task_name in self._tasks
        )
        documents_by_task = models.padded_pictures(lm, of_all_processes=not is_in_rounds)
        for task, documents in documents_by_task.items():
            self.padded_pictures.setdefault(task, set()).update(documents)

    def _answer(self, lm: Any, kind: str, requests: Sequence[Instance]) -> list[GenerationResult]:
        """The answers to requests of our tasks: those that are stored, and those of the model to
        all others.

        The requests are cut into calls by place, so that a run that goes on has the same batches.
        """
        keys = [""] * len(requests)
        answers: dict[int, GenerationResult] = {}
        if self._store is not None:
            keys = self._keys(lm, requests, self._store.seed)
            answers = self._store.look_up(keys)
            self._from_store += len(answers)
            self._advance(len(answers))

        if len(answers) < len(requests):
            most = self._most_in_a_call(lm)
            if most is None:  # the class shows a bar of its own, if that takes time
                most = len(requests)
                needs_bar = self._is_in_rounds(requests[0])
            else:
                needs_bar = True
            if needs_bar and self._bar is None:
                self._bar = self._new_bar()
            for start in range(0, len(requests), most):
                places = range(start, min(start + most, len(requests)))
                missing = [place for place in places if place not in answers]
                if missing:
                    asked = [requests[place] for place in missing]
                    new_answers = self._ask(lm, kind, asked, [keys[place] for place in missing])
                    answers.update(zip(missing, new_answers, strict=True))

        return [answers[place] for place in range(len(requests))]

    def _most_in_a_call(self, lm: Any) -> int | None:
        """How many requests a model gets in one call; None for all.

        Several batches if it tells each answer. If it does not, one batch where answers are stored,
        so that no more than that is lost.
        """
        if answers_at_once(lm):
            return None
        if hasattr(type(lm), "on_answer"):
            return batch_size(lm) * BATCHES
        return None if self._store is None else batch_size(lm)

    def _is_in_rounds(self, request: Instance) -> bool:
        is_in_rounds: bool = self._tasks[request.task_name].OUTPUT_TYPE == IN_ROUNDS
        return is_in_rounds

    def _new_bar(self) -> tqdm:
        """A bar for all requests of the run, where those of the model would be of one call each."""
        total = 0
        for task in self._tasks.values():
            rounds = (task.config.generation_kwargs or {}).get("max_agentic_steps", 1)
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

    def _advance(self, count: int) -> None:
        """Count answers, in the bar too."""
        self._answered += count
        if self._bar is not None:
            self._bar.update(count)

    def _ask(
        self, lm: Any, kind: str, requests: Sequence[Instance], keys: Sequence[str]
    ) -> list[GenerationResult]:
        """The model's answers to requests of one call, with a store kept batch by batch as it tells
        them.
        """
        answers: dict[int, GenerationResult] = {}
        unsaved: list[StoredAnswer] = []
        store = self._store
        size = batch_size(lm)
        # Asked again by the next run, whose results must tell of the padding, too.
        padded: Mapping[str, Collection[Any]] = getattr(lm, "padded_pictures", {})

        def save() -> None:
            if store:
                store.keep(unsaved)
            unsaved.clear()

        def take(number: int, raw_answer: Any) -> None:
            request = requests[number]
            answer = _text(raw_answer, lm)
            answers[number] = answer
            self._advance(1)
            if request.doc_id not in padded.get(request.task_name, ()):
                unsaved.append(
                    StoredAnswer(keys[number], request.task_name, request.doc_id, answer.text)
                )
            if len(unsaved) >= size:
                save()

        lm.on_answer = take
        try:
            with checked_replies(lm, self._model_names):
                raw_answers: list[Any] = getattr(lm, kind)(list(requests))
        finally:
            lm.on_answer = None  # what it is asked next may not be for us
            save()  # also where the next request has ended the run
        for number, raw_answer in enumerate(
            raw_answers[: len(requests)]
        ):  # some classes give one too many
            if number not in answers:
                take(number, raw_answer)
        save()
        return [answers[number] for number in range(len(requests))]

    def _keys(self, lm: Any, requests: Sequence[Instance], seed: Any) -> list[str]:
        """What each request is known by: what it shows, its settings, and how often it was asked
        before.

        Taken before the model is asked: some classes write into the settings.
        """
        # Repeats of a request are one object
        distinct = {id(request): request for request in requests}
        with threads(THREADS) as pool:  # pictures are decoded for this
            digests = pool.map(lambda request: digest(lm, request, seed), distinct.values())
            digest_by_request = dict(zip(distinct, digests, strict=True))

        keys = []
        for request in requests:
            request_digest = digest_by_request[id(request)]
            if _is_padding(request):
                keys.append(f"{request_digest}-0")
                continue
            row = f"{request.task_name} {request.doc_id} {request_digest}"
            keys.append(f"{request_digest}-{self._times_asked[row]}")
            self._times_asked[row] += 1
        return keys


def _is_padding(request: Instance) -> bool:
    """Whether the harness drops the answer: it is asked so that all processes have equally many
    requests.
    """
    return bool((request.metadata or {}).get("__padding_only__"))


def _text(answer: Any, lm: Any) -> GenerationResult:
    """What a model class gave, as a text that a file of UTF-8 can hold; what is no text is a failed
    request.

    So is an empty text of an API.
    """
    from lmms_eval.api.instance import GenerationResult, unwrap_generation_output

    content, token_counts = (None, None) if answer is None else unwrap_generation_output(answer)
    text = notes.text_of(content)
    if is_blank(text) and is_api(lm):
        text = notes.empty_answer()
    whole_text = whole_characters(text)
    if whole_text != text:
        logger.warning(
            "figlang_tasks: in an answer U+FFFD stands for half of a surrogate pair, which is no"
            " character"
        )
    return GenerationResult(whole_text, token_counts)


def batch_size(lm: Any) -> int:
    """What a model works on at a time; one that finds its batch size by itself counts as 1."""
    sizes = [
        getattr(lm, name, 1) for name in ("batch_size", "batch_size_per_gpu", "num_concurrent")
    ]
    return max([1, *(size for size in sizes if isinstance(size, int))])


def answers_at_once(lm: Any) -> bool:
    """Whether a model is to get all requests in one call.

    Either it reuses work between requests, and its class says so (``answers_at_once``). Or each
    call begins an event loop of its own (:data:`OWN_EVENT_LOOP`), in which the connections that its
    client keeps from the last are closed.
    """
    return (
        getattr(lm, "answers_at_once", False)
        or type(lm).generate_until.__module__ in OWN_EVENT_LOOP
    )


# --- what a request is known by ---


def digest(lm: Any, request: Instance, seed: Any = None) -> str:
    """SHA-256 of what the model gets to see, of its settings, of the data, and of the seed where an
    answer is drawn.
    """
    from lmms_eval.caching.response_cache import is_deterministic

    first, second, doc_id, task, split = request.args[1:6]
    doc = lm.task_dict[task][split][doc_id]
    chat = callable(first)
    settings = second if chat else first
    shown = first(doc) if chat else [request.args[0], second(doc)]
    scored = settings.get(score_requests.KEY) and repr(score_requests.score_request(settings, doc))
    drawn = None if is_deterministic(request.request_type, settings) else [seed]
    return content_digest(
        ["chat" if chat else "simple", shown, settings, doc.get("data"), scored, drawn]
    )


def content_digest(value: Any) -> str:
    """SHA-256 of what JSON holds, and of pixels."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_pixels).encode()).hexdigest()


def _pixels(value: Any) -> Any:
    if isinstance(value, Image.Image):
        return ["image", value.mode, value.size, hashlib.sha256(value.tobytes()).hexdigest()]
    return repr(value)
