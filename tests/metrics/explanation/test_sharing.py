"""Several processes score together: the numbers of one process, and an end to it when one fails."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import warm
from loguru import logger
from torch.distributed import HashStore

from figlang_tasks.metrics.explanation import Scorer, WeightsError, get_scorer
from figlang_tasks.metrics.explanation import sharing as module
from figlang_tasks.metrics.explanation.sharing import Pair, Sharing

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
WORDS = "the a lawyer shark kettle cold slow bright is of on under like winter bridge says cruel never".split()


def pairs_of(count: int) -> list[Pair]:
    """References with one to ten candidates of all lengths, one with forty, and empty texts."""
    draw = random.Random(count)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 30))) for _ in range(5 * count)]
    pairs = [
        (text, candidate) for text in texts[:count] for candidate in draw.sample(texts, draw.choice((1, 1, 2, 10)))
    ]
    return [*pairs, *((texts[1], candidate) for candidate in texts[:40]), (texts[0], ""), ("", texts[0])]


def tiny(cache: Any = False, workers: int = 1, token_budget: int = 64) -> Scorer:
    return get_scorer(
        "vflute25",
        device="cpu",
        cache=cache,
        token_budget=token_budget,
        bertscore_model=str(FIXTURES / "deberta"),
        bertscore_layer=4,
        bleurt_model=str(FIXTURES / "bleurt"),
        workers=workers,
    )


def scores(scorer: Scorer, pairs: Sequence[Pair]) -> list[list[float]]:
    found = scorer.score([pair[0] for pair in pairs], [pair[1] for pair in pairs], progress=False)
    assert found.bleurt is not None
    return [found.bertscore.tolist(), found.bleurt.tolist()]


@pytest.mark.parametrize("cached", [pytest.param(False, marks=pytest.mark.slow), True])
def test_parts_in_any_order_get_the_numbers_of_the_whole(cached: bool, tmp_path: Path) -> None:
    """To the last bit, although the cache holds the references of parts that were scored before."""
    pairs = pairs_of(6)
    whole = dict(zip(pairs, zip(*scores(tiny(token_budget=24), pairs), strict=True), strict=True))
    for index, model in enumerate(tiny(tmp_path if cached else False, token_budget=24).models):
        parts = model.plan(set(pairs))
        assert len(parts) > 4 and sorted(pair for part in parts for pair in part) == sorted(set(pairs))
        if not index:  # BERTScore encodes a reference once
            references = [reference for part in parts for reference in {pair[0] for pair in part if all(pair)}]
            assert len(references) == len(set(references))
        random.Random(1).shuffle(parts)
        for part in parts:
            assert model.score(part) == {pair: whole[pair][index] for pair in part}


@pytest.mark.slow
def test_workers_give_the_numbers_of_one_process(tmp_path: Path) -> None:
    pairs = pairs_of(12)
    one, several = tiny(tmp_path / "one"), tiny(tmp_path / "several", workers=3)
    for some in (pairs[::2], pairs):  # the second time half of them are in the cache, where each has written its own
        assert scores(several, some) == scores(one, some)
    several.release()
    assert scores(tiny(tmp_path / "several"), pairs) == scores(one, pairs)


# --- the protocol, with processes that are threads here ---------------------------------------------------------------


class Part:
    """A model that scores a pair by its length, one pair a part."""

    def __init__(
        self, score: Callable[[Pair], float] = lambda pair: len(pair[0]) / 7, device: Callable[[], str] = lambda: "cpu"
    ) -> None:
        self._score = score
        self._device = device
        self.asked: list[Pair] = []

    def cached(self, pairs: Iterable[Pair]) -> dict[Pair, float]:
        return {}

    def plan(self, pairs: Iterable[Pair]) -> list[list[Pair]]:
        return [[pair] for pair in sorted(pairs)]

    def load(self) -> str:
        return self._device()

    def score(self, pairs: Sequence[Pair], advance: Callable[[int], object] = lambda done: None) -> dict[Pair, float]:
        self.asked += pairs
        advance(len(pairs))
        return {pair: self._score(pair) for pair in pairs}


MANY = {(f"{number:03}" + "x" * number, "y") for number in range(200)}


def led(
    helping: Sequence[Callable[[], Sequence[Part]]], own: Part, missing: Sequence[set[Pair]] = (MANY,)
) -> list[dict[Pair, float]]:
    """What the first process gets; all others are dismissed in the end, also after an error."""
    store = HashStore()

    def help_until_dismissed(process: int, models: Callable[[], Sequence[Part]]) -> None:
        sharing = Sharing(store, process)
        while sharing.order() is not None:
            sharing.help(models)

    others = [threading.Thread(target=help_until_dismissed, args=each) for each in enumerate(helping, 1)]
    for thread in others:
        thread.start()
    first = Sharing(store, 0)
    done: list[int] = []
    try:
        found = first.lead("any", [own] * len(missing), missing, done.append)
        assert sum(done) == sum(map(len, missing))
        return found
    finally:
        first.dismiss()
        for thread in others:
            thread.join(10)
            assert not thread.is_alive()


def slowly(pair: Pair) -> float:
    time.sleep(0.003)
    return len(pair[0]) / 7


def test_each_part_is_scored_once() -> None:
    models = [Part(slowly) for _ in range(3)]
    (found,) = led([lambda: [models[1]], lambda: [models[2]]], models[0])
    assert found == {pair: len(pair[0]) / 7 for pair in MANY}
    assert sorted(pair for model in models for pair in model.asked) == sorted(MANY)
    assert all(model.asked for model in models)


def test_a_model_that_lacks_nothing_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", 10)  # characters: values are put together from many pieces
    surrogate = ("\ud800 half a pair", "🫖 \x00\u2028")
    own = Part()
    assert led([lambda: [own, own]], own, [set(), {surrogate}]) == [{}, {surrogate: len(surrogate[0]) / 7}]


@pytest.mark.parametrize(
    ("error", "raised", "message"),
    [
        (WeightsError("no weights"), WeightsError, "process 1: no weights"),
        (MemoryError("no room"), MemoryError, "process 1: no room"),
        (KeyboardInterrupt(), KeyboardInterrupt, "process 1: "),
        (KeyError("what"), RuntimeError, "process 1: KeyError: 'what'"),
    ],
)
def test_an_error_in_one_of_the_others_ends_all(
    error: BaseException, raised: type[BaseException], message: str
) -> None:
    def fail(pair: Pair) -> Any:
        raise error

    own, third = Part(slowly), Part(slowly)
    with pytest.raises(raised) as found:
        led([lambda: [Part(fail)], lambda: [third]], own)
    assert str(found.value) == message
    assert len(own.asked) + len(third.asked) < len(MANY), "the others stop as well"


def no_weights() -> Any:
    raise WeightsError("no weights")


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (no_weights, "process 1 does not help to score explanations: no weights"),
        (lambda: [Part(device=no_weights)], "process 1 does not help to score explanations: no weights"),
        (lambda: [Part(device=lambda: "mps")], "its model is on mps, that of the first process on cpu"),
    ],
    ids=["no weights", "cannot load", "another device"],
)
def test_one_that_cannot_help_leaves_its_parts_to_the_others(
    models: Callable[[], Sequence[Part]], message: str
) -> None:
    said: list[str] = []
    sink = logger.add(said.append, format="{message}")
    try:
        (found,) = led([models], Part())
    finally:
        logger.remove(sink)
    assert found == {pair: len(pair[0]) / 7 for pair in MANY}
    assert message in "".join(said)


def test_an_error_in_the_first_ends_all() -> None:
    def fail(pair: Pair) -> float:
        raise KeyboardInterrupt

    other = Part(slowly)
    with pytest.raises(KeyboardInterrupt):
        led([lambda: [other]], Part(fail))
    assert len(other.asked) < len(MANY)


# --- ends of processes ------------------------------------------------------------------------------------------------

SCRIPT = """
import sys
sys.path[:0] = {folders!r}
import test_sharing
scorer = test_sharing.tiny(workers={workers}, token_budget=40)

def share(models, missing, advance):
    return scorer._workers.lead(models, missing, lambda done: print(done, flush=True))

pairs = test_sharing.pairs_of(600)
scorer.score([pair[0] for pair in pairs], [pair[1] for pair in pairs], False, share)
"""


def children(of: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(of)], capture_output=True, text=True).stdout
    return [int(pid) for pid in listed.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="ps")
@pytest.mark.slow
@pytest.mark.parametrize(("how", "helpers"), [("interrupt", 1), ("kill", 2), ("kill a worker", 2)])
def test_no_worker_outlives_the_first_process(how: str, helpers: int, tmp_path: Path) -> None:
    folders = [str(FIXTURES.parent), str(Path(__file__).parent)]
    command = [sys.executable, "-c", SCRIPT.format(folders=folders, workers=1 + helpers)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    errors = tmp_path / "errors"
    reading, writing = os.pipe()
    with open(reading) as printed:
        with open(writing, "w") as out, errors.open("w") as file:
            first = warm.Process(command, cwd=tmp_path, env=environment, stdout=out, stderr=file)
        try:
            assert printed.readline(), "something is scored"
            workers = children(first.pid)
            assert len(workers) == helpers
            if how == "kill a worker":
                os.kill(workers[0], signal.SIGKILL)
            else:
                first.send_signal(signal.SIGINT if how == "interrupt" else signal.SIGKILL)
            printed.read()
            assert first.wait(60) != 0
        finally:
            with suppress(ProcessLookupError):
                first.kill()
    said = "ChildProcessError: worker 1 ended with status -9; the most frequent cause is too little memory"
    assert (said in errors.read_text()) == (how == "kill a worker")
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert not list(tmp_path.glob("figlang-workers-*"))


@pytest.mark.slow
def test_the_last_worker_removes_the_folder_of_the_store(tmp_path: Path) -> None:
    """One that opens the store later than the others end would wait for its folder, deaf to all."""
    folder = tmp_path / "store"
    folder.mkdir()
    for process in (1, 2):
        module._mark(str(folder), process).touch()
    for process in (2, 1):
        assert folder.is_dir()
        given = {"folder": str(folder), "count": 3, "process": process, "settings": {}}
        subprocess.run(module._command(), input=f"{json.dumps(given)}\n", text=True, check=True, timeout=600)
    assert not list(tmp_path.iterdir())
