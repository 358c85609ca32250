"""Threads work ahead of the model; answers, order, errors and memory stay as without them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import pytest
import torch
from lmms_eval.api.instance import Instance
from vlm_requests import (
    CANDIDATES,
    CONVERSATIONS,
    GREEDY,
    Build,
    answers,
    image,
    instance,
    text,
    user,
)

from figlang_tasks.core.score_requests import KEY
from figlang_tasks.models import vlm_batches
from figlang_tasks.models.ahead import THREADS, BatchRunner, results_ahead, threads
from figlang_tasks.models.vlm_conversations import Conversation
from figlang_tasks.models.vlm_inputs import InputMaker, InputMakers


def documents(
    count: int, read: Callable[[int], list[dict]], settings: dict[str, Any] = GREEDY
) -> tuple[list[Instance], list[int]]:
    """Requests, and a list that gets the numbers of the documents that threads read for them."""
    numbers_read: list[int] = []

    def messages(number: int, doc: object) -> list[dict]:
        assert threading.current_thread() is not threading.main_thread()
        numbers_read.append(number)
        return read(number)

    requests = []
    for number in range(count):
        read_number = functools.partial(messages, number)
        requests.append(instance(read_number, dict(settings), number))
    return requests, numbers_read


def test_a_batch_that_runs_out_of_memory_is_halved_for_good(warnings_of_loguru: list[str]) -> None:
    sizes_tried: list[int] = []

    def step(items: Sequence[int], most: int = 3) -> int:
        sizes_tried.append(len(items))
        if len(items) > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return sum(items)

    runner = BatchRunner(6, "request")
    sums = [(list(items), total) for items, total in runner.run(range(7), step)]
    assert sums == [([0, 1, 2], 3), ([3, 4, 5], 12), ([6], 6)]
    list(runner.run(range(4), step))
    assert sizes_tried == [6, 3, 3, 1, 3, 1]
    assert runner.size == 3
    (warning,) = warnings_of_loguru
    assert "out of memory with a batch of 6 (request); going on with 3" in warning
    with pytest.raises(MemoryError, match="not enough memory for one request"):
        list(runner.run(range(4), functools.partial(step, most=0)))


def test_results_come_in_order_and_only_so_much_is_done_ahead() -> None:
    begun: list[int] = []
    with threads(3) as pool:

        def submit(number: int) -> Future[int]:
            begun.append(number)
            return pool.submit(pow, number, 2)

        for number, result in results_ahead(submit, range(10), 2):
            assert result == number**2 and len(begun) <= number + 3
        assert begun == list(range(10))
        assert list(results_ahead(submit, [], 2)) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"until": ["never said"]},
        {KEY: {"kind": "candidates", "candidates": CANDIDATES}},
        {KEY: {"kind": "match"}},
    ],
    ids=["words", "candidates", "match"],
)
def test_answers_are_those_of_work_done_when_it_is_due_and_no_prompt_is_made_twice(
    settings: dict[str, Any], build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversations_with_images = []
    for conversation in CONVERSATIONS:
        if any(part["type"] == "image" for part in conversation[-1]["content"]):
            conversations_with_images.append(conversation)
    count = len(conversations_with_images)

    def read(number: int) -> list[dict]:
        return conversations_with_images[number % count]

    lm = build(batch_size=3)
    answers_of_runs = []
    for batches_ahead in (2, 0, 2):
        monkeypatch.setattr(vlm_batches, "BATCHES_AHEAD", batches_ahead)
        requests, numbers_read = documents(12, read, GREEDY | settings)
        answers_of_runs.append(answers(lm, requests))
        assert sorted(numbers_read) == list(range(12))
    assert answers_of_runs[0] == answers_of_runs[1] == answers_of_runs[2], "to the last bit"
    # Most conversations have an answer of their own, so that an exchange would be seen.
    assert len(set(answers_of_runs[0])) > count / 2


def test_batches_are_made_at_once_each_with_a_processor_of_its_own(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = InputMaker.process
    two_batches_are_made = threading.Barrier(2)
    processors: list[int] = []

    def process_beside_another(maker: InputMaker, conversations: Sequence[Conversation]) -> Any:
        two_batches_are_made.wait(timeout=120)
        processors.append(id(maker._processor))
        return process(maker, conversations)

    lm = build(batch_size=2)
    requests, _ = documents(8, lambda number: CONVERSATIONS[0])
    expected = answers(lm, requests)
    monkeypatch.setattr(InputMaker, "process", process_beside_another)
    assert answers(lm, requests) == expected
    assert len(processors) == 4 and len(set(processors)) == 2
    assert id(lm.processor) in processors


def test_a_processor_that_cannot_be_copied_makes_one_batch_at_a_time(
    build: Build, warnings_of_loguru: list[str]
) -> None:
    lm = build(batch_size=2)
    requests, _ = documents(8, lambda number: CONVERSATIONS[0])
    expected = answers(lm, requests)
    lm.processor.lock = threading.Lock()  # as code of a checkpoint may have
    lm._input_makers = InputMakers(lm.input_maker, count=2)
    assert answers(lm, requests) == expected
    assert "the processor cannot be copied" in "".join(warnings_of_loguru)


def test_pictures_that_any_thread_pads_are_reported(build: Build) -> None:
    lm = build()
    maker = lm.input_maker.for_another_thread()
    maker.padded_pictures["irfl"] = {3}
    assert lm.padded_pictures == {"irfl": {3}}


def test_an_interrupt_ends_the_reading(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = build(batch_size=2)
    generate = lm.model.generate
    calls: list[dict[str, object]] = []

    def interrupt_second_call(**options: object) -> torch.Tensor:
        calls.append(options)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return generate(**options)

    monkeypatch.setattr(lm.model, "generate", interrupt_second_call)

    def read(number: int) -> list[dict]:
        return [user(image(number), text("What is it?"))]

    requests, numbers_read = documents(40, read)
    with pytest.raises(KeyboardInterrupt):
        answers(lm, requests)
    # Two batches of two have run, two are made, and one waits with what threads read ahead.
    assert len(numbers_read) <= 2 * (3 + vlm_batches.BATCHES_AHEAD) + THREADS
