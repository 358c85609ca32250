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
    """What happens to the first `times` requests that ask for `part` of a path; GET alone unless `any_method`."""

    part: str
    spoil: Spoil
    times: int = 1_000_000
    any_method: bool = False

    def hits(self, request: Request) -> bool:
        if self.times <= 0 or self.part not in request.path or not (self.any_method or request.method == "GET"):
            return False
        self.times -= 1
        return True


class FaultyHub(HubServer):
    """Spoils the answers of the hub and of its CDN by the first of `faults` that hits."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__()
        self.faults = list(faults)

    def __enter__(self) -> FaultyHub:
        super().__enter__()
        return self

    def answer(self, request: Request) -> Response:
        return self._spoiled(request, super().answer(request))

    def answer_cdn(self, request: Request) -> Response:
        return self._spoiled(request, super().answer_cdn(request))

    def _spoiled(self, request: Request, response: Response) -> Response:
        for fault in self.faults:
            if fault.hits(request):
                return fault.spoil(response)
        return response


def status(code: int, **headers: str) -> Spoil:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda response: Response(code, named, b"sorry")


@dataclass(frozen=True)
class Streamed(Response):
    """A body that comes as `stream` lets it."""

    stream: Callable[[Iterator[bytes]], Iterator[bytes]] | None = None

    def chunks(self) -> Iterator[bytes]:
        assert self.stream is not None
        return self.stream(super().chunks())


def _streamed(stream: Callable[[Iterator[bytes]], Iterator[bytes]]) -> Spoil:
    return lambda response: Streamed(**vars(response), stream=stream)


def cut() -> Spoil:
    """The connection ends after half of the body."""

    def stream(chunks: Iterator[bytes]) -> Iterator[bytes]:
        whole = b"".join(chunks)
        yield whole[: len(whole) // 2]
        raise ConnectionAbortedError

    return _streamed(stream)


def drip(pieces: int = 40, seconds: float = 0.05) -> Spoil:
    """Little by little."""

    def stream(chunks: Iterator[bytes]) -> Iterator[bytes]:
        whole = b"".join(chunks)
        step = len(whole) // pieces + 1
        for start in range(0, len(whole), step):
            yield whole[start : start + step]
            time.sleep(seconds)

    return _streamed(stream)


def stall(seconds: float = 3) -> Spoil:
    """Half of the body, and then nothing for longer than the client waits."""

    def stream(chunks: Iterator[bytes]) -> Iterator[bytes]:
        whole = b"".join(chunks)
        yield whole[: len(whole) // 2]
        time.sleep(seconds)
        raise ConnectionAbortedError

    return _streamed(stream)


def shorter() -> Spoil:
    """Ten bytes less than the hub has announced, as if that were all."""
    return lambda response: replace(response, body=b"".join(response.chunks())[:-10])


def blobs(home: Path) -> list[Path]:
    """The files of the hub's cache that count as whole."""
    return [path for path in home.glob("huggingface/hub/*/blobs/*") if not path.name.endswith(".incomplete")]
