"""A scorer takes too much memory, ends for lack of it, or computes inexactly if this fails."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from figlang_tasks.metrics.explanation.compute import Runner, exact_float32, padded


def runner(token_budget: int | None = 64, dtype: str = "fp32", device: str = "cpu") -> Runner:
    made = Runner(lambda dtype: nn.Linear(8, 8).to(dtype), device, dtype)
    made.tokens = token_budget
    return made


falling = st.lists(st.integers(1, 100), max_size=60).map(
    lambda lengths: sorted(lengths, reverse=True)
)


@given(lengths=falling, budget=st.integers(1, 500), data=st.data())
@settings(max_examples=50)
def test_batches_cover_everything_once_keep_to_the_budget_and_are_planned_again_as_before(
    lengths: list[int], budget: int, data: st.DataObject
) -> None:
    """So a run that goes on after a kill computes the same batches, and the same numbers to the
    last bit.
    """
    ranges = [
        (start, stop) for start, stop, _ in runner(budget).batches(lengths, lambda start, stop: 0)
    ]
    assert [index for start, stop in ranges for index in range(start, stop)] == list(
        range(len(lengths))
    )
    for start, stop in ranges:
        assert stop - start == 1 or (stop - start) * padded(lengths[start]) <= budget
    if ranges:
        done = data.draw(st.integers(0, len(ranges) - 1))
        begin = ranges[done][0]
        again = [
            (start, stop)
            for start, stop, _ in runner(budget).batches(lengths[begin:], lambda start, stop: 0)
        ]
        assert [(start + begin, stop + begin) for start, stop in again] == ranges[done:]


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("2 GiB"),
        MemoryError(),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you"
            " tried ..."
        ),
    ],
)
def test_out_of_memory_halves_the_budget_and_goes_on(
    error: Exception, warnings_of_loguru: list[str]
) -> None:
    sizes = []

    def step(start: int, stop: int) -> list[int]:
        if stop - start > 3:
            raise error
        sizes.append(stop - start)
        return list(range(start, stop))

    results = [item for _, _, items in runner(8 * 16).batches([8] * 16, step) for item in items]
    assert results == list(range(16))
    assert sizes == [2] * 8
    assert len(warnings_of_loguru) == 3 and "64 tokens a batch from now on" in warnings_of_loguru[0]


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [
        (torch.OutOfMemoryError("no room"), MemoryError, "one text of 104 tokens"),
        (RuntimeError("size mismatch"), RuntimeError, "size mismatch"),
    ],
)
def test_no_room_for_one_text_and_another_error_end_it(
    raised: Exception, expected: type[Exception], message: str
) -> None:
    def step(start: int, stop: int) -> None:
        raise raised

    with pytest.raises(expected, match=message):
        list(runner().batches([100], step))


def test_a_device_too_full_for_one_text_gives_way_to_the_cpu(warnings_of_loguru: list[str]) -> None:
    """The meta device stands for a GPU: the model is moved for real, and moved back."""
    tried = []
    made = Runner(lambda dtype: nn.Linear(2, 2, device="cpu"), "cpu", "fp32")
    made.model  # noqa: B018
    made.device = torch.device("meta")
    made.tokens = 1000

    def step(start: int, stop: int) -> str:
        tried.append(stop - start)
        if made.device.type == "meta":
            raise torch.OutOfMemoryError("no room")
        return made.device.type

    assert [result for _, _, result in made.batches([8, 8, 8, 8], step)] == ["cpu"]
    assert tried == [4, 2, 1, 4]
    assert made.budget == 2048
    assert "on the CPU instead" in warnings_of_loguru[-1]


class Large(nn.Linear):
    """Finds no room on the meta device, which stands for a GPU that is full when the model
    arrives.
    """

    def to(self, *where: Any, **how: Any) -> Any:
        if torch.device("meta") in where:
            raise torch.OutOfMemoryError("no room")
        return super().to(*where, **how)


def test_a_model_that_does_not_fit_its_device_runs_on_the_cpu(
    warnings_of_loguru: list[str],
) -> None:
    made = Runner(lambda dtype: Large(8, 8), "meta", "fp32")
    assert [result for _, _, result in made.batches([8], lambda start, stop: made.device.type)] == [
        "cpu"
    ]
    assert "meta is too full" in warnings_of_loguru[0]


def test_unknown_device() -> None:
    with pytest.raises(ValueError, match="device is 'gpu'; valid: auto, cpu"):
        runner(device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device is 'cuda:0'; valid: auto, cpu"):
            runner(device="cuda:0")


def test_no_reduced_precision_inside_fp32_whatever_the_process_asked_for() -> None:
    """A GPU's convolutions are in TensorFloat-32 if nobody asks: those of Inception and CLIP must
    not be.
    """
    known: Any = torch.backends
    gpu, cpu = (known.cuda.matmul, known.cudnn.conv), (known.mkldnn.matmul, known.mkldnn.conv)
    asked = {**dict.fromkeys(gpu, "tf32"), **dict.fromkeys(cpu, "bf16")}
    before = {backend: backend.fp32_precision for backend in asked}
    try:
        for backend, precision in asked.items():
            backend.fp32_precision = precision
        with exact_float32():
            assert [backend.fp32_precision for backend in asked] == ["ieee"] * 4
        assert {backend: backend.fp32_precision for backend in asked} == asked
    finally:
        for backend, precision in before.items():
            backend.fp32_precision = precision


def test_the_emptiest_gpu_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch says of three GPUs is put in its mouth; the first is so full that it does not even
    answer.
    """

    def memory(index: int) -> tuple[int, int]:
        if index == 0:
            raise RuntimeError("CUDA error: out of memory")
        return 3 - index, 80

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "mem_get_info", memory)
    assert str(runner(device="auto").choose_device()) == "cuda:1"
