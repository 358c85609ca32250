"""Batches that fit into memory, and threads that decode pictures while the model computes.

Not torch's ``DataLoader``, which forks: a process that uses a GPU must not be forked. Threads do,
because Pillow lets other threads run while it decodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from loguru import logger

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 4
"""Threads that read documents and decode their pictures."""


def results_ahead(
    submit: Callable[[Item], Future[Result]], items: Iterable[Item], limit: int
) -> Generator[tuple[Item, Result]]:
    """Yield each item with the result of its work, in order, while work on later items goes on.

    Work that has not begun is cancelled when the generator is closed.

    Args:
        submit: hands the work on an item to a pool of threads.
        items: what is worked on; each is taken just before it is submitted.
        limit: how many later items are submitted, at most, when an item is yielded.
    """
    submitted: deque[tuple[Item, Future[Result]]] = deque()
    try:
        for item in items:
            submitted.append((item, submit(item)))
            if len(submitted) > limit:
                first_item, future = submitted.popleft()
                yield first_item, future.result()
        # No more items are to come: the last ones follow.
        while submitted:
            first_item, future = submitted.popleft()
            yield first_item, future.result()
    finally:
        for _, future in submitted:
            future.cancel()


@contextmanager
def threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads; wait at the end for work that has begun, and cancel the rest.

    Work that has begun must end first, because the next pool uses the same tokenizer, which only
    one thread may use at a time.
    """
    pool = ThreadPoolExecutor(count)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class BatchRunner:
    """Runs batches, and halves their size for good whenever one of them runs out of memory.

    Not accelerate's ``find_executable_batch_size``, which begins again from the first item.

    Attributes:
        size: items of a batch.
    """

    def __init__(self, size: int, item_name: str) -> None:
        """Begin with this size; `item_name` says in messages what an item is ("request")."""
        self.size = size
        self._item_name = item_name

    def run(
        self, items: Sequence[Item], step: Callable[[Sequence[Item]], Result]
    ) -> Iterator[tuple[Sequence[Item], Result]]:
        """Yield each batch with what `step` returns for it.

        A batch that runs out of memory is tried again at half its size, which later batches keep.

        Args:
            items: all items; a batch is the next `size` of them.
            step: works on a batch. It must not return None, which stands for "out of memory" here.

        Raises:
            MemoryError: there is not enough memory for a single item.
        """
        # Imported late, as it imports torch, which takes seconds.
        from figlang_tasks.metrics.explanation.compute import attempt

        start = 0
        while start < len(items):
            batch = items[start : start + self.size]
            result = attempt(partial(step, batch))  # None if memory ran out
            if result is not None:
                yield batch, result
                start += len(batch)
                continue
            if len(batch) == 1:
                raise MemoryError(f"not enough memory for one {self._item_name}")
            self.size = len(batch) // 2
            logger.warning(
                f"out of memory with a batch of {len(batch)} ({self._item_name});"
                f" going on with {self.size}"
            )
