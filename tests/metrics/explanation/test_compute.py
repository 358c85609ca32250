"""A scorer takes too much memory, ends for lack of it, or computes inexactly if this fails."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from figlang_tasks.metrics.explanation.compute import Runner, exact_float32, padded


def linear_model(dtype: torch.dtype) -> nn.Module:
    return nn.Linear(8, 8, device="cpu").to(dtype)


def runner(token_budget: int | None = 64, device: str = "cpu") -> Runner:
    small_runner = Runner(linear_model, device, "fp32")
    small_runner.tokens = token_budget
    return small_runner


def ranges_of(lengths: list[int], budget: int) -> list[tuple[int, int]]:
    """Start and stop of each batch."""
    batches = runner(budget).batches(lengths, lambda start, stop: 0)
    return [(start, stop) for start, stop, _ in batches]


falling = st.lists(st.integers(1, 100), max_size=60).map(
    lambda lengths: sorted(lengths, reverse=True)
)


@given(lengths=falling, budget=st.integers(1, 500), data=st.data())
@settings(max_examples=50)
def test_batches_cover_everything_once_keep_to_the_budget_and_are_planned_again_as_before(
    lengths: list[int], budget: int, data: st.DataObject
) -> None:
    """So a run that goes on after a kill computes the same batches, and the same last bits."""
    ranges = ranges_of(lengths, budget)
    covered: list[int] = []
    for start, stop in ranges:
        covered += range(start, stop)
        assert stop - start == 1 or (stop - start) * padded(lengths[start]) <= budget
    assert covered == list(range(len(lengths)))
    if ranges:
        done = data.draw(st.integers(0, len(ranges) - 1))
        begin, _ = ranges[done]
        ranges_left = ranges_of(lengths[begin:], budget)
        assert [(start + begin, stop + begin) for start, stop in ranges_left] == ranges[done:]


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

    results: list[int] = []
    for _, _, batch_results in runner(8 * 16).batches([8] * 16, step):
        results += batch_results
    assert results == list(range(16))
    assert sizes == [2] * 8
    assert len(warnings_of_loguru) == 3
    assert "64 tokens a batch from now on" in warnings_of_loguru[0]


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
    attempted_sizes: list[int] = []
    full_runner = runner(token_budget=1000)
    full_runner.model  # noqa: B018  (loads the model)
    full_runner.device = torch.device("meta")
    full_runner.tokens = 1000

    def step(start: int, stop: int) -> str:
        attempted_sizes.append(stop - start)
        if full_runner.device.type == "meta":
            raise torch.OutOfMemoryError("no room")
        return full_runner.device.type

    devices = [device for _, _, device in full_runner.batches([8, 8, 8, 8], step)]
    assert devices == ["cpu"]
    assert attempted_sizes == [4, 2, 1, 4]
    assert full_runner.budget == 2048
    assert "on the CPU instead" in warnings_of_loguru[-1]


class Large(nn.Linear):
    """Has no room on the meta device, which stands for a GPU that is full."""

    def to(self, *arguments: Any, **options: Any) -> Any:
        if torch.device("meta") in arguments:
            raise torch.OutOfMemoryError("no room")
        return super().to(*arguments, **options)


def test_a_model_that_does_not_fit_its_device_runs_on_the_cpu(
    warnings_of_loguru: list[str],
) -> None:
    full_runner = Runner(lambda dtype: Large(8, 8), "meta", "fp32")
    batches = full_runner.batches([8], lambda start, stop: full_runner.device.type)
    assert [device for _, _, device in batches] == ["cpu"]
    assert "meta is too full" in warnings_of_loguru[0]


def test_a_device_that_is_not_here_is_refused() -> None:
    with pytest.raises(ValueError, match="device is 'gpu'; valid: auto, cpu"):
        runner(device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device is 'cuda:0'; valid: auto, cpu"):
            runner(device="cuda:0")


def test_no_reduced_precision_inside_fp32_whatever_the_process_asked_for() -> None:
    """A GPU's convolutions are in TensorFloat-32 by default: Inception's and CLIP's must not be."""
    torch_backends: Any = torch.backends
    reduced_precisions = {
        torch_backends.cuda.matmul: "tf32",
        torch_backends.cudnn.conv: "tf32",
        torch_backends.mkldnn.matmul: "bf16",
        torch_backends.mkldnn.conv: "bf16",
    }
    precisions_before = {backend: backend.fp32_precision for backend in reduced_precisions}
    try:
        for backend, precision in reduced_precisions.items():
            backend.fp32_precision = precision
        with exact_float32():
            for backend in reduced_precisions:
                assert backend.fp32_precision == "ieee"
        for backend, precision in reduced_precisions.items():
            assert backend.fp32_precision == precision
    finally:
        for backend, precision in precisions_before.items():
            backend.fp32_precision = precision


def test_the_emptiest_gpu_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch reports three GPUs; the first is so full that it does not even answer."""

    def memory(index: int) -> tuple[int, int]:
        if index == 0:
            raise RuntimeError("CUDA error: out of memory")
        return 3 - index, 80

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "mem_get_info", memory)
    assert str(runner(device="auto").choose_device()) == "cuda:1"
