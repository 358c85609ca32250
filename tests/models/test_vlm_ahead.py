"""What threads do ahead of the model: answers, order, errors and memory are those of work done when
it is due.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
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
from figlang_tasks.models import vlm
from figlang_tasks.models.ahead import Batches, ahead, threads


def documents(
    count: int, read: Callable[[int], list[dict]], settings: dict[str, Any] = GREEDY
) -> tuple[list[Instance], list[int]]:
    """Requests, and the numbers of the documents that threads read for them."""
    seen: list[int] = []

    def messages(number: int, doc: Any) -> list[dict]:
        assert threading.current_thread() is not threading.main_thread()
        seen.append(number)
        return read(number)

    return [instance(functools.partial(messages, i), dict(settings), i) for i in range(count)], seen


def test_a_batch_that_runs_out_of_memory_is_halved_for_good(warnings_of_loguru: list[str]) -> None:
    tried: list[int] = []

    def step(items: Sequence[int], most: int = 3) -> int:
        tried.append(len(items))
        if len(items) > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return sum(items)

    batches = Batches(6, "request")
    assert [(list(items), found) for items, found in batches.run(range(7), step)] == [
        ([0, 1, 2], 3), ([3, 4, 5], 12), ([6], 6)
    ]  # fmt: skip
    list(batches.run(range(4), step))
    assert tried == [6, 3, 3, 1, 3, 1] and batches.size == 3
    (told,) = warnings_of_loguru
    assert "out of memory with a batch of 6 (request); going on with 3" in told
    with pytest.raises(MemoryError, match="not enough memory for one request"):
        list(batches.run(range(4), functools.partial(step, most=0)))


def test_results_come_in_order_and_only_so_much_is_done_ahead() -> None:
    begun: list[int] = []
    with threads(3) as pool:

        def submit(number: int) -> Any:
            begun.append(number)
            return pool.submit(pow, number, 2)

        for number, result in ahead(submit, range(10), 2):
            assert result == number**2 and len(begun) <= number + 3
        assert begun == list(range(10))
        assert list(ahead(submit, [], 2)) == []


def test_answers_are_those_of_work_done_when_it_is_due_and_no_prompt_is_made_twice(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_images = [
        each
        for each in CONVERSATIONS
        if any(part["type"] == "image" for part in each[-1]["content"])
    ]
    lm = build(batch_size=3)
    scores: tuple[Any, ...] = ({"kind": "candidates", "candidates": CANDIDATES}, {"kind": "match"})
    for asks in ({"until": ["never said"]}, *({KEY: each} for each in scores)):
        found = []
        for batches in (2, 0, 2):
            monkeypatch.setattr(vlm, "BATCHES_AHEAD", batches)
            requests, seen = documents(
                12, lambda number: with_images[number % len(with_images)], GREEDY | asks
            )
            found.append(answers(lm, requests))
            assert sorted(seen) == list(range(12))
        assert found[0] == found[1] == found[2], "to the last bit"
        assert len(set(found[0])) >= len(with_images)


def test_an_interrupt_ends_the_reading(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = build(batch_size=2)
    generate, calls = lm.model.generate, []

    def interrupted(**options: Any) -> Any:
        calls.append(options)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return generate(**options)

    monkeypatch.setattr(lm.model, "generate", interrupted)
    requests, seen = documents(40, lambda number: [user(image(number), text("What is it?"))])
    with pytest.raises(KeyboardInterrupt):
        answers(lm, requests)
    # Of the batches of two two have run, two are made, and one waits with what threads read ahead.
    assert len(seen) <= 2 * (3 + vlm.BATCHES_AHEAD) + vlm.THREADS
