"""Work that threads do ahead of the one that takes the results: pictures are decoded while the model computes.

Threads rather than processes, so rather than torch's ``DataLoader``: Pillow and torch let other threads run while they
work, pictures need not be copied from one process to another, and a process that uses a GPU must not be forked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 4
"""That read documents and decode their pictures."""


def ahead(submit: Callable[[Item], Future[Result]], items: Iterable[Item], most: int) -> Generator[tuple[Item, Result]]:
    """Yield each item with the result of its work, in order.

    Args:
        submit: starts the work on an item.
        most: items that are worked on, or whose results wait, while the caller has an earlier one.
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
    """Yield a pool of threads; at the end what has not begun is dropped, and what has is awaited.

    So a processor or a tokenizer, which is for one thread, is never in the hands of two pools.
    """
    pool = ThreadPoolExecutor(count)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
