"""Several processes score together: each takes the next part of a plan when it is done with its last.

They talk through a key-value store of torch.distributed, in JSON. A store needs no collectives, which would have to be
called in the same order by all: a process that fails, or is interrupted, writes so, and all stop at their next part.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import torch
from loguru import logger
from torch.distributed import FileStore, Store

from .weights import WeightsError

if TYPE_CHECKING:
    from .scorers import Scorer

Pair: TypeAlias = tuple[str, str]
Advance: TypeAlias = Callable[[int], object]

_BLOCK = 4 << 20  # characters of a value, in ASCII: torch's TCP store refuses more than 8 MiB
_ERRORS = (WeightsError, ValueError, ArithmeticError, MemoryError, KeyboardInterrupt)


class Model(Protocol):
    """What is shared out: `BertScore`, `Bleurt`."""

    def cached(self, pairs: Iterable[Pair]) -> dict[Pair, float]: ...

    def plan(self, pairs: Iterable[Pair]) -> list[list[Pair]]: ...

    def load(self) -> str: ...

    def score(self, pairs: Sequence[Pair], advance: Advance = ...) -> dict[Pair, float]: ...


class Sharing:
    """The orders of a first process, and their execution by all.

    Args:
        store: one for all processes; nobody else uses its keys.
        process: 0 for the first.
        check: called before each part and while this process waits; raises if it would wait in vain.
    """

    def __init__(self, store: Store, process: int, check: Callable[[], None] = lambda: None) -> None:
        self._store = store
        self.process = process
        self._check = check
        self._orders = 0

    # --- the first process -------------------------------------------------------------------------------------------

    def lead(
        self, scorer: str, models: Sequence[Model], missing: Sequence[Collection[Pair]], advance: Advance
    ) -> list[dict[Pair, float]]:
        """Score pairs with all processes.

        Args:
            scorer: what the others know the scorer by.
            models: its models.
            missing: distinct pairs for each model.
            advance: called with the number of pairs that came to an end.

        Raises:
            WeightsError, ValueError, ArithmeticError, MemoryError, KeyboardInterrupt: in whatever process.
            RuntimeError: another error in another process.
        """
        order = {"scorer": scorer, "models": [index for index, pairs in enumerate(missing) if pairs]}
        try:
            self._put("order", order)
            scores = [self._lead(*each, advance) for each in zip(range(len(models)), models, missing, strict=True)]
            self._put("done", True)
            return scores
        except BaseException as error:
            self._fail(error)
            self._put("order", order)  # should the interrupt have come before it
            raise
        finally:
            self._orders += 1

    def dismiss(self) -> None:
        """Let the others go on with their own work."""
        self._put("order", None)
        self._orders += 1

    def _lead(self, index: int, model: Model, missing: Collection[Pair], advance: Advance) -> dict[Pair, float]:
        if not missing:
            return {}
        parts = model.plan(missing)
        for number, part in enumerate(parts):
            self._put(f"{index}/part/{number}", part)
        self._put(f"{index}/parts", {"count": len(parts), "device": model.load()})
        scores: dict[Pair, float] = {}
        elsewhere: list[int] = []  # parts that others have taken, as far as is known
        last = -1

        def collect(number: int) -> None:
            scores.update(zip(parts[number], self._get(f"{index}/scores/{number}"), strict=True))
            advance(len(parts[number]))

        for number in self._claimed(index, len(parts)):
            elsewhere += range(last + 1, number)
            last = number
            scores |= model.score(parts[number], advance)
            for other in [other for other in elsewhere if self._has(f"{index}/scores/{other}")]:
                elsewhere.remove(other)
                collect(other)
        for other in [*elsewhere, *range(last + 1, len(parts))]:
            self._await(f"{index}/scores/{other}")
            collect(other)
        return scores

    # --- the others --------------------------------------------------------------------------------------------------

    def order(self) -> str | None:
        """Wait for an order of the first process; returns its scorer, None where the others may go."""
        order = self._await("order")
        if order is None:
            self._orders += 1
            return None
        return str(order["scorer"])

    def help(self, models: Callable[[], Sequence[Model]]) -> None:
        """Execute the order that came. An error while it scores, or an interrupt, goes to the first process.

        A process that cannot load a model, or not on such a device as the first, leaves its parts to the others.

        Args:
            models: returns those of the scorer.
        """
        try:
            self._stop_if_failed()
            for index in self._get("order")["models"]:
                if (model := self._ready(models, index)) is None:
                    continue
                for number in self._claimed(index, self._await(f"{index}/parts")["count"]):
                    part = [(reference, candidate) for reference, candidate in self._get(f"{index}/part/{number}")]
                    scores = model.score(part)
                    self._put(f"{index}/scores/{number}", [scores[pair] for pair in part])
            self._await("done")  # an interrupt while others score is one of the scoring
        except _Stopped:
            pass
        except (Exception, KeyboardInterrupt) as error:
            self._fail(error)
        finally:
            self._orders += 1

    def _ready(self, models: Callable[[], Sequence[Model]], index: int) -> Model | None:
        try:
            model = models()[index]
            device = model.load()
        except Exception as error:  # whatever it is, the first process can do without this one
            logger.warning(f"figlang: process {self.process} does not help to score explanations: {error}")
            return None
        if device == (first := self._await(f"{index}/parts")["device"]):
            return model
        logger.warning(
            f"figlang: process {self.process} does not help to score explanations: its model is on {device}, "
            f"that of the first process on {first}"
        )
        return None

    # --- both --------------------------------------------------------------------------------------------------------

    def _claimed(self, index: int, count: int) -> Iterator[int]:
        """The parts that this process gets: each time the next that nobody has."""
        while True:
            self._stop_if_failed()
            self._check()
            number = self._store.add(self._key(f"{index}/next"), 1) - 1
            if number >= count:
                return
            yield number

    def _fail(self, error: BaseException) -> None:
        if not self._has("failed"):
            kind = next((each.__name__ for each in _ERRORS if isinstance(error, each)), None)
            message = str(error) if kind else f"{type(error).__name__}: {error}"
            self._put("failed", {"process": self.process, "kind": kind, "message": message})

    def _stop_if_failed(self) -> None:
        """Raise what another process has failed with."""
        if not self._has("failed"):
            return
        failed = self._get("failed")
        if self.process:
            raise _Stopped
        errors: Mapping[str, type[BaseException]] = {each.__name__: each for each in _ERRORS}
        raise errors.get(failed["kind"], RuntimeError)(f"process {failed['process']}: {failed['message']}")

    def _await(self, name: str) -> Any:
        pause = 0.005
        while not self._has(name):
            self._stop_if_failed()
            self._check()
            time.sleep(pause)
            pause = min(0.1, 2 * pause)
        return self._get(name)

    def _has(self, name: str) -> bool:
        return bool(self._store.check([self._key(name)]))

    def _get(self, name: str) -> Any:
        key = self._key(name)
        blocks = range(int(self._store.get(key)))
        return json.loads(b"".join(self._store.get(f"{key}.{block}") for block in blocks))

    def _put(self, name: str, value: Any) -> None:
        key, data = self._key(name), json.dumps(value)
        starts = range(0, len(data), _BLOCK)
        for block, start in enumerate(starts):
            self._store.set(f"{key}.{block}", data[start : start + _BLOCK])
        self._store.set(key, str(len(starts)))

    def _key(self, name: str) -> str:
        return f"{self._orders}/{name}"


class _Stopped(Exception):
    """Another process has failed, and the first will say so."""


class Workers:
    """Processes of this machine that score together with this one; they start with the first order.

    Args:
        count: processes, this one included. The threads that torch takes here are shared out.
        settings: arguments of ``get_scorer``, by which the others make the same scorer.
    """

    def __init__(self, count: int, settings: Mapping[str, Any]) -> None:
        self._count = count
        self._settings = settings
        self._children: list[subprocess.Popen[bytes]] = []
        self._sharing: Sharing | None = None
        self._folder = ""

    def lead(
        self, models: Sequence[Model], missing: Sequence[Collection[Pair]], advance: Advance
    ) -> list[dict[Pair, float]]:
        """As in `Sharing`. After an error the other processes are ended."""
        before = torch.get_num_threads()
        threads = max(1, before // self._count)
        try:
            if self._sharing is None:
                self._start(threads)
            torch.set_num_threads(threads)
            assert self._sharing is not None
            return self._sharing.lead("", models, missing, advance)
        except BaseException:
            self.close()
            raise
        finally:
            torch.set_num_threads(before)

    def close(self) -> None:
        """End the other processes."""
        if not self._sharing:
            return
        for child in self._children:
            assert child.stdin is not None
            with suppress(OSError):  # it has ended before it read all
                child.stdin.close()
        for child in self._children:
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._children.clear()
        self._sharing = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, threads: int) -> None:
        self._folder = folder = tempfile.mkdtemp(prefix="figlang-workers-")
        self._sharing = Sharing(_store(folder, self._count), 0, self._check)
        for process in range(1, self._count):
            _mark(folder, process).touch()
            child = subprocess.Popen(
                _command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "OMP_NUM_THREADS": str(threads)},
            )
            self._children.append(child)
            assert child.stdin is not None
            given = {"folder": folder, "count": self._count, "process": process, "settings": self._settings}
            child.stdin.write(json.dumps(given).encode("ascii") + b"\n")
            child.stdin.flush()

    def _check(self) -> None:
        for number, child in enumerate(self._children, 1):
            if (status := child.poll()) is not None:
                raise ChildProcessError(
                    f"worker {number} ended with status {status}; the most frequent cause is too little memory: take "
                    f"fewer workers"
                )


def work() -> None:
    """The main function of a worker: helps until its standard input ends, as it does when the first process ends."""
    given = json.loads(sys.stdin.buffer.readline())
    folder, process = given["folder"], given["process"]
    opening = threading.Lock()

    def end_with_the_first() -> None:
        sys.stdin.buffer.read()
        # Here as well: the first may have been killed. A store that is opened where its folder is gone waits for 300
        # seconds and lets no thread run: so no worker opens one any more, and the last removes the folder.
        opening.acquire()
        _mark(folder, process).unlink(missing_ok=True)
        if not any(_mark(folder, other).exists() for other in range(1, given["count"])):
            with suppress(OSError):  # by another name: this process may write to its store now
                shutil.rmtree(Path(folder).rename(f"{folder}-removed"))
        os._exit(0)

    threading.Thread(target=end_with_the_first, daemon=True).start()
    from .scorers import get_scorer

    with opening:
        sharing = Sharing(_store(folder, given["count"]), process)
    scorers: list[Scorer] = []

    def models() -> Sequence[Model]:
        if not scorers:
            scorers.append(get_scorer(**given["settings"]))
        return scorers[0].models

    while sharing.order() is not None:
        sharing.help(models)


def _command() -> list[str]:
    """What starts a worker."""
    # A terminal sends an interrupt to all processes; the others end when the first does.
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        f"from {__name__} import work; work()"
    )
    return [sys.executable, "-c", code]


def _mark(folder: str, process: int) -> Path:
    """A file that is there until the worker has ended."""
    return Path(folder) / f"worker-{process}"


def _store(folder: str, count: int) -> Store:
    return FileStore(str(Path(folder) / "store"), count)
