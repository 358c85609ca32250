"""What is logged while tests run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from loguru import logger

if TYPE_CHECKING:
    from loguru import Message


@contextmanager
def logged_warnings() -> Iterator[list[str]]:
    """A list to which each message of level WARNING and above is added while the block runs."""
    messages: list[str] = []

    def add(message: Message) -> None:
        messages.append(message.record["message"])

    handler = logger.add(add, level="WARNING")
    try:
        yield messages
    finally:
        logger.remove(handler)
