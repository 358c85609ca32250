"""What is done where memory runs out: batches are halved, and a single item that does not fit is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import torch
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from loguru import logger

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batches:
    """Runs batches, and halves them for good once one of them runs out of memory.

    Not accelerate's ``find_executable_batch_size``: it begins again from the first item.

    Attributes:
        size: items of a batch.
        what: what an item is, for messages.
    """

    def __init__(self, size: int, what: str) -> None:
        self.size, self.what = size, what

    def run(
        self, items: Sequence[Item], step: Callable[[Sequence[Item]], Result]
    ) -> Iterator[tuple[Sequence[Item], Result]]:
        """Yield each batch with what `step` returns for it."""
        start = 0
        while start < len(items):
            batch = items[start : start + self.size]
            result = attempt(lambda batch=batch: step(batch))  # type: ignore[misc]
            if result is not None:
                yield batch, result
                start += len(batch)
                continue
            if len(batch) == 1:
                raise MemoryError(f"not enough memory for one {self.what}")
            self.size = len(batch) // 2
            logger.warning(f"out of memory with a batch of {len(batch)} ({self.what}); going on with {self.size}")


def attempt(run: Callable[[], Result]) -> Result | None:
    """Return what `run` returns; None if it ran out of memory, with that memory free again."""
    try:
        return run()
    except (MemoryError, RuntimeError) as error:
        known = isinstance(error, MemoryError | torch.OutOfMemoryError)
        if not known and not should_reduce_batch_size(error):
            raise
        logger.info(f"out of memory: {' '.join(str(error).split())[:300]}")
    # Only here: as long as the exception is handled, its traceback holds the tensors.
    clear_device_cache(garbage_collection=True)
    return None
