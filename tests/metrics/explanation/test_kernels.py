"""A kernel of linear layers is inexact, or the slower one is chosen, if this fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from figlang_tasks.metrics.explanation.compute import exact_float32
from figlang_tasks.metrics.explanation.kernels import Linear, choices, choose, kernels

DTYPES = (torch.float32, torch.bfloat16)
ALL = [(dtype, kernel) for dtype in DTYPES for kernel in kernels(dtype)]


@pytest.fixture(autouse=True)
def forget_the_choice() -> Iterator[None]:
    """Each test chooses anew, and so does what runs behind it."""
    choose.cache_clear()
    yield
    choose.cache_clear()


@pytest.mark.parametrize(("dtype", "kernel"), ALL)
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(7, 1, 3), (91, 256, 1024)])
def test_a_layer_equals_float64(
    dtype: torch.dtype, kernel: str, with_bias: bool, rows: int, inputs: int, outputs: int
) -> None:
    torch.manual_seed(0)
    x, added = torch.randn(rows, inputs).to(dtype), torch.randn(rows, outputs).to(dtype)
    weight = (torch.randn(outputs, inputs) * inputs**-0.5).to(dtype)
    bias = torch.randn(outputs).to(dtype) if with_bias else None
    layer = Linear(weight, bias)
    if kernel == "onednn":
        layer.pack()
        layer.pack()  # once is enough
    exact = functional.linear(x.double(), weight.double(), None if bias is None else bias.double())
    # One rounding of values up to 8 or so; torch's own bfloat16 rounds before each step.
    tolerance = 1e-5 if dtype == torch.float32 else 0.04
    with torch.inference_mode(), exact_float32():
        for output, expected in (
            (layer(x), exact),
            (layer(x, with_gelu=True), functional.gelu(exact)),
            (layer(x, add=added), exact + added.double()),
        ):
            assert output.dtype == dtype
            assert torch.allclose(output.double(), expected, rtol=0, atol=tolerance)


@pytest.fixture
def kernels_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that keeps the choice, which is not there yet."""
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "new"))
    return tmp_path / "new" / "kernels.json"


with_choice = [dtype for dtype in DTYPES if len(choices(dtype)) > 1]
"""Where this machine has one kernel for a dtype, there is nothing to choose."""


@pytest.mark.parametrize("dtype", with_choice)
def test_the_choice_is_kept_for_later_processes(dtype: torch.dtype, kernels_file: Path) -> None:
    choice = choose(dtype)
    assert choice in choices(dtype)
    ((machine, kept_choice),) = json.loads(kernels_file.read_text()).items()
    assert kept_choice == choice
    assert torch.__version__ in machine
    assert str(dtype) in machine
    # What stands in the file is taken, and what it says of other machines stays.
    for other_choice in choices(dtype):
        content = {"another machine": "torch", machine: other_choice}
        kernels_file.write_text(json.dumps(content))
        choose.cache_clear()
        assert choose(dtype) == other_choice
        assert json.loads(kernels_file.read_text()) == content


@pytest.mark.parametrize("dtype", with_choice)
@pytest.mark.parametrize(
    ("content", "other_machines"),
    [('{"another machine": "torch"}', {"another machine"}), ("{", set()), ("[]", set())],
)
def test_a_damaged_file_of_choices_is_replaced(
    dtype: torch.dtype, content: str, other_machines: set[str], kernels_file: Path
) -> None:
    choose(dtype)
    ((machine, _),) = json.loads(kernels_file.read_text()).items()
    kernels_file.write_text(content)
    choose.cache_clear()
    assert choose(dtype) in choices(dtype)
    assert json.loads(kernels_file.read_text()).keys() == {*other_machines, machine}
