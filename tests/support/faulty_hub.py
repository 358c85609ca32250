"""The hub stand-in with faults: answers that are refused, cut off, wrong or slow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hub_server import HubServer, Request, Response

Spoil = Callable[[Response], Response]


@dataclass
class Fault:
    """What happens to the first `times` requests that ask for `part` of a path."""

    part: str
    spoil: Spoil
    times: int = 1_000_000

    def hits(self, request: Request) -> bool:
        if self.times <= 0 or self.part not in request.path:
            return False
        self.times -= 1
        return True


class FaultyHub(HubServer):
    """Spoils answers by the first of `faults` that hits."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__()
        self.faults = list(faults)

    def answer(self, request: Request) -> Response:
        response = super().answer(request)
        fault = next((fault for fault in self.faults if fault.hits(request)), None)
        return fault.spoil(response) if fault else response


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
