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
def nothing_known() -> Iterator[None]:
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
        for found, expected in (
            (layer(x), exact),
            (layer(x, with_gelu=True), functional.gelu(exact)),
            (layer(x, add=added), exact + added.double()),
        ):
            assert found.dtype == dtype
            assert torch.allclose(found.double(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_choice_is_kept_for_later_processes(
    dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if len(choices(dtype)) == 1:
        pytest.skip("one kernel here: nothing to choose")
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "new"))
    first = choose(dtype)
    assert first in choices(dtype)
    path = tmp_path / "new" / "kernels.json"
    ((key, kept),) = json.loads(path.read_text()).items()
    assert kept == first
    assert torch.__version__ in key and str(dtype) in key
    for other in choices(
        dtype
    ):  # what stands there is taken, and what is known of other machines stays
        path.write_text(json.dumps({"another machine": "torch", key: other}))
        choose.cache_clear()
        assert choose(dtype) == other
        assert json.loads(path.read_text()) == {"another machine": "torch", key: other}
    for content in ('{"another machine": "torch"}', "{", "[]"):  # damaged ones are replaced
        path.write_text(content)
        choose.cache_clear()
        assert choose(dtype) in choices(dtype)
        others = {"another machine"} if "another machine" in content else set()
        assert json.loads(path.read_text()).keys() == {*others, key}
