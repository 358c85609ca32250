"""What threads do ahead of the model: answers, order, errors and memory are those of work done when it is due."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from lmms_eval.api.instance import Instance
from models.test_vlm import CANDIDATES, CONVERSATIONS, GREEDY, image, scores, text, user
from models.tiny_vlms import write

from figlang_tasks.core.score_requests import KEY, read_answer
from figlang_tasks.models import vlm
from figlang_tasks.models.ahead import ahead, threads
from figlang_tasks.models.vlm import FigLangVLM, VLMError


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., FigLangVLM]:
    folder = tmp_path_factory.mktemp("checkpoints")
    checkpoint = functools.cache(lambda family: str(write(family, folder)))
    return lambda family="llava", **given: FigLangVLM(pretrained=checkpoint(family), device="cpu", **given)


class Documents:
    """Requests whose documents are read by `read`; it gets the document's number and how often it was read before."""

    def __init__(self, count: int, read: Callable[[int, int], list[dict]], settings: dict[str, Any]) -> None:
        self.seen: list[int] = []
        self.by_thread: set[str] = set()
        lock = threading.Lock()

        def messages(doc: dict, number: int) -> list[dict]:
            with lock:
                before = self.seen.count(number)
                self.seen.append(number)
                self.by_thread.add(threading.current_thread().name)
            return read(number, before)

        self.requests = [
            Instance(
                request_type="generate_until",
                arguments=(str(i), functools.partial(messages, number=i), dict(settings), i, "probe", "test"),
                idx=0,
                metadata={"task": "probe", "doc_id": i, "repeats": 1},
            )
            for i in range(count)
        ]

    def answers(self, lm: FigLangVLM) -> list[str]:
        lm.task_dict = {"probe": {"test": [{}] * len(self.requests)}}
        return [answer.text for answer in lm.generate_until(self.requests)]


def conversation(number: int, before: int = 0) -> list[dict]:
    return CONVERSATIONS[number % len(CONVERSATIONS)]


def test_results_come_in_order_and_only_so_much_is_done_ahead() -> None:
    begun: list[int] = []
    with threads(3) as pool:

        def submit(number: int) -> Any:
            begun.append(number)
            return pool.submit(pow, number, 2)

        for number, result in ahead(submit, range(10), 2):
            assert result == number**2 and len(begun) <= number + 3
        assert begun == list(range(10))
        assert list(ahead(submit, [], 2)) == []


def test_an_error_is_raised_where_its_result_is_due() -> None:
    with threads(2) as pool:
        results = ahead(lambda number: pool.submit(divmod, 6, number), [3, 2, 0, 1], 3)
        assert [next(results), next(results)] == [(3, (2, 0)), (2, (3, 0))]
        with pytest.raises(ZeroDivisionError):
            next(results)


def test_who_leaves_early_waits_for_what_has_begun_alone() -> None:
    release = threading.Event()
    began = threading.Event()
    late: list[int] = []

    def work(number: int) -> None:
        if number == 1:
            began.set()
            release.wait(60)
        elif number > 1:
            late.append(number)

    with threads(1) as pool:
        results = ahead(lambda number: pool.submit(work, number), range(5), 3)
        next(results)
        assert began.wait(60)
        results.close()
        threading.Timer(0.1, release.set).start()
    assert release.is_set() and late == []


WORDS = GREEDY | {"until": ["never said"]}


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        pytest.param("llava", WORDS, id="llava-words"),
        pytest.param("qwen2_5_vl", WORDS, id="qwen2_5_vl-words", marks=pytest.mark.slow),
        pytest.param("idefics3", WORDS, id="idefics3-words", marks=pytest.mark.slow),
        pytest.param("idefics3", GREEDY | {KEY: {"kind": "candidates", "candidates": CANDIDATES}}, id="candidates"),
        pytest.param("qwen2_5_vl", GREEDY | {KEY: {"kind": "match"}}, id="match"),
    ],
)
def test_answers_are_those_of_work_done_when_it_is_due(
    family: str, settings: dict[str, Any], build: Callable[..., FigLangVLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_images = [each for each in CONVERSATIONS if any(part["type"] == "image" for part in each[-1]["content"])]

    def read(number: int, before: int) -> list[dict]:
        return with_images[number % len(with_images)]

    found = []
    lm = build(family, batch_size=3)
    for batches in (2, 0, 2):
        monkeypatch.setattr(vlm, "BATCHES_AHEAD", batches)
        documents = Documents(12, read, settings)
        found.append(documents.answers(lm))
        assert threading.main_thread().name not in documents.by_thread
    assert found[0] == found[1] == found[2], "to the last bit"
    assert len(set(found[0])) >= len(with_images)


def test_images_of_several_requests_share_a_batch(build: Callable[..., FigLangVLM]) -> None:
    settings = GREEDY | {KEY: {"kind": "match"}}
    messages = [
        [user(image(1), text("Does it match?"))],
        [user(image(2), image(3), text("Is this so, or is it not?"))],
        [user(image(4), image(5), image(6), text("Well?"))],
    ]
    lm = build(batch_size=4)
    alone = [scores(lm, each, kind="match") for each in messages]
    rows: list[int] = []
    generate = lm.model.generate

    def count(**options: Any) -> Any:
        rows.append(options["input_ids"].shape[0])
        return generate(**options)

    lm.model.generate = count
    documents = Documents(3, lambda number, before: messages[number], settings)
    together = [read_answer(answer) for answer in documents.answers(lm)]
    assert rows == [4, 2] or rows == [1, 4, 2], "but for the one that is tried first"
    for found, expected in zip(together, alone, strict=True):
        assert found == pytest.approx(expected, abs=1e-5)
    assert sorted(documents.seen) == [0, 0, 1, 1, 2, 2], "read for the check, and once for all of its batches"


def test_a_document_that_can_no_longer_be_read_is_named(build: Callable[..., FigLangVLM]) -> None:
    def read(number: int, before: int) -> list[dict]:
        if number == 5 and before:
            raise OSError("the disk is gone")
        return [user(image(number), text("What is it?"))]

    with pytest.raises(VLMError, match=r"^figlang_vlm: task probe, doc 5: OSError: the disk is gone$"):
        Documents(8, read, GREEDY).answers(build(batch_size=2))


def test_an_interrupt_ends_the_reading(build: Callable[..., FigLangVLM], monkeypatch: pytest.MonkeyPatch) -> None:
    lm = build(batch_size=2)
    generate, calls = lm.model.generate, []

    def interrupted(**options: Any) -> Any:
        calls.append(options)
        if len(calls) == 3:  # the first is the trial
            raise KeyboardInterrupt
        return generate(**options)

    monkeypatch.setattr(lm.model, "generate", interrupted)
    documents = Documents(40, lambda number, before: [user(image(number), text("What is it?"))], GREEDY)
    with pytest.raises(KeyboardInterrupt):
        documents.answers(lm)
    # Two batches of two have been asked for, and two more are worked on ahead of the one in work.
    assert len(documents.seen) <= 40 + 2 * (2 + vlm.BATCHES_AHEAD)


def test_memory_that_runs_out_in_the_processor_halves_the_batch(
    build: Callable[..., FigLangVLM], monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    def read(number: int, before: int) -> list[dict]:
        return [user(image(number), text("What is it?"))]

    expected = Documents(6, read, GREEDY).answers(build())
    lm = build(batch_size=4)
    processed = lm._processed

    def limited(batch: list[vlm.Prompt]) -> Any:
        if len(batch) > 2:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 GB")
        return processed(batch)

    monkeypatch.setattr(lm, "_processed", limited)
    assert Documents(6, read, GREEDY).answers(lm) == expected
    assert lm.batch_size == 2 and any("going on with 2" in message for message in warnings_of_loguru)


def test_a_truncated_picture_is_an_error_in_every_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from PIL import ImageFile

    from figlang_tasks.core import images

    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)  # as lmms_eval sets it
    data = io.BytesIO()
    image(1, 400)["url"].resize((800, 800)).save(data, "JPEG")
    whole = data.getvalue()

    def decoded(number: int) -> bool:
        content = whole if number % 2 else whole[: len(whole) // 2]
        try:
            images.decode({"bytes": content, "path": None}, "here")
        except images.DataError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(decoded, range(40))) == [number % 2 == 1 for number in range(40)]
    assert ImageFile.LOAD_TRUNCATED_IMAGES
