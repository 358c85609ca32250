"""llava and llava_hf as users type them: the same answers as figlang_vlm."""

from __future__ import annotations

from typing import Any

import pytest
from demo_runs import DEMO, answers, evaluate

SETTINGS: dict[str, Any] = {"limit": 1, "gen_kwargs": "num_beams=1"}


@pytest.mark.parametrize(("name", "more"), [("llava", ""), ("llava_hf", ",device_map=cpu,dtype=float32")])
def test_both_names_answer_as_figlang_vlm(name: str, more: str) -> None:
    task = "figlang_mini"
    expected = answers(evaluate(task, "figlang_vlm", DEMO, **SETTINGS), task)
    assert answers(evaluate(task, name, f"{DEMO}{more}", device="cpu", **SETTINGS), task) == expected
    assert all("LABEL:" in answer for answer in expected.values())
