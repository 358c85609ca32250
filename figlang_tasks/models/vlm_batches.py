"""Batches for ``figlang_vlm``, made by threads while the model works on earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from itertools import chain
from typing import TypeAlias

from lmms_eval.api.instance import Instance

from .ahead import THREADS, BatchRunner, results_ahead, threads
from .vlm_conversations import Conversation, RequestsByIndex
from .vlm_inputs import Batch, InputMakers

BATCHES_AHEAD = 2
"""Batches that are made, or wait for the model, while it works on another one."""

MAKERS = 2
"""Threads that make tensors: all batches ahead at once.

A picture of Qwen2.5-VL takes one thread 50 ms (timings/vlm_requests.py), longer than a GPU takes
for a short answer.
"""

ConversationsOf: TypeAlias = Callable[[int, Instance], list[Conversation]]
"""``(index of a request, request) -> its conversations``."""


def batches_ahead(
    requests: RequestsByIndex,
    conversations_of: ConversationsOf,
    input_makers: InputMakers,
    batch_runner: BatchRunner,
) -> Generator[Batch]:
    """Yield batches with their tensors on the CPU, while threads make the next ones.

    Several threads decode the pictures of requests, and `MAKERS` threads make tensors. Batches come
    as `_grouped` fills them, so that the conversations of a request may come after those of later
    requests.

    Args:
        requests: those to be answered; they have equal ``generation_kwargs``.
        conversations_of: reads a request, with its pictures.
        input_makers: make the tensors.
        batch_runner: its size is looked up for each batch, since it falls when memory runs out.
    """
    with threads(THREADS) as readers, threads(MAKERS) as makers:

        def read(indexed_request: tuple[int, Instance]) -> Future[list[Conversation]]:
            """Begin to read a request."""
            index, request = indexed_request
            return readers.submit(conversations_of, index, request)

        requests_ahead = max(THREADS, batch_runner.size)
        read_requests = results_ahead(read, requests.items(), requests_ahead)
        conversations = chain.from_iterable(result for _, result in read_requests)

        def make(batch: list[Conversation]) -> Future[Batch]:
            """Begin to make the tensors of a batch."""
            return makers.submit(input_makers.make, batch)

        grouped = _grouped(conversations, batch_runner)
        for _, batch in results_ahead(make, grouped, BATCHES_AHEAD):
            yield batch


def _grouped(
    conversations: Iterable[Conversation], batch_runner: BatchRunner
) -> Iterator[list[Conversation]]:
    """Yield batches, each of conversations with the same number of images, as they are filled.

    Where candidates are scored, each conversation is a batch of its own: its candidates are what
    runs together.
    """
    waiting: dict[int, list[Conversation]] = {}  # batches that are not full, by number of images
    for conversation in conversations:
        image_count = len(conversation.images)
        batch = waiting.setdefault(image_count, [])
        batch.append(conversation)
        score_request = conversation.score_request
        scores_candidates = score_request is not None and score_request.kind == "candidates"
        if scores_candidates or len(batch) >= batch_runner.size:
            yield waiting.pop(image_count)
    yield from waiting.values()  # no more conversations are to come
