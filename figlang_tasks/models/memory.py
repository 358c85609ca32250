"""What is done where memory runs out: batches are halved, and one that does not fit is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from loguru import logger

T = TypeVar("T")


def attempt(run: Callable[[], T]) -> T | None:
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


def halved(count: int, model: str, of: str) -> int:
    """Return how many to try after a batch of `count` ran out of memory.

    Raises:
        MemoryError: it was a batch of one.
    """
    if count == 1:
        raise MemoryError(f"{model}: not enough memory for one {of}")
    logger.warning(f"{model}: out of memory with a batch of {count} ({of}); going on with {count // 2}")
    return count // 2
