"""Faults of the hub's stand-in: answers that are refused, cut off, wrong or slow."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hub_server import Response, Spoil


def status(code: int, **headers: str) -> Spoil:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda response: Response(code, named, b"sorry")


def cut(seconds: float = 0) -> Spoil:
    """The connection ends after half of the body, and so many seconds in which nothing comes."""

    def sent(body: bytes) -> Iterator[bytes]:
        yield body[: len(body) // 2]
        time.sleep(seconds)
        raise ConnectionAbortedError

    return lambda response: replace(response, sent=sent)


def stall() -> Spoil:
    """Half of the body, and then nothing for longer than the client waits."""
    return cut(seconds=3)


def shorter() -> Spoil:
    """Ten bytes less than the hub has announced, as if that were all."""
    return lambda response: replace(response, body=response.body[:-10])


def blobs(home: Path) -> list[Path]:
    """The files of the hub's cache that count as whole."""
    return [path for path in home.glob("huggingface/hub/*/blobs/*") if not path.name.endswith(".incomplete")]
