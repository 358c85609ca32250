"""Batches that fit into memory, and work that threads do ahead: pictures are decoded while the
model computes.

Not torch's ``DataLoader``: Pillow lets other threads run, and a process that uses a GPU must not be
forked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from loguru import logger

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 4
"""That read documents and decode their pictures."""


def ahead(
    submit: Callable[[Item], Future[Result]], items: Iterable[Item], most: int
) -> Generator[tuple[Item, Result]]:
    """Yield each item with the result of its work, in order; at most `most` later ones are begun or
    wait meanwhile.
    """
    started: deque[tuple[Item, Future[Result]]] = deque()
    try:
        for item in items:
            started.append((item, submit(item)))
            if len(started) > most:
                item, work = started.popleft()
                yield item, work.result()
        while started:
            item, work = started.popleft()
            yield item, work.result()
    finally:
        for _, work in started:
            work.cancel()


@contextmanager
def threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads; at the end what has begun is awaited: a tokenizer is for one pool at
    a time.
    """
    pool = ThreadPoolExecutor(count)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class Batches:
    """Runs batches, and halves them for good once one of them runs out of memory.

    Not accelerate's ``find_executable_batch_size``: it begins again from the first item.
    """

    def __init__(self, size: int, what: str) -> None:
        self.size, self.what = size, what

    def run(
        self, items: Sequence[Item], step: Callable[[Sequence[Item]], Result]
    ) -> Iterator[tuple[Sequence[Item], Result]]:
        """Yield each batch with what `step` returns for it."""
        from figlang_tasks.metrics.explanation.compute import attempt  # here: torch takes seconds

        start = 0
        while start < len(items):
            batch = items[start : start + self.size]
            result = attempt(lambda batch=batch: step(batch))
            if result is not None:
                yield batch, result
                start += len(batch)
                continue
            if len(batch) == 1:
                raise MemoryError(f"not enough memory for one {self.what}")
            self.size = len(batch) // 2
            logger.warning(
                f"out of memory with a batch of {len(batch)} ({self.what}); going on with"
                f" {self.size}"
            )
