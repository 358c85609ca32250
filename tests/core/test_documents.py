"""Checks before a model is loaded: all that is wrong with a task is told at once."""

from __future__ import annotations

from typing import Any

import pytest

from figlang_tasks import FigLangError
from figlang_tasks.core import documents


@pytest.mark.parametrize(
    ("dataset_name", "told"),
    [
        ("figlang_mini,split=tset", ["figlang_mini has no split 'tset'; it has: train, test"]),
        ("figlang_mini,spilt=test", ["has no split and unknown spilt; it must be DATASET,split=..."]),
        ("figlang_mini,split=test", []),
        ("figlang_max,split=test", None),
    ],
)
def test_options_and_data_are_told_together(dataset_name: str, told: list[str] | None) -> None:
    config: dict[str, Any] = {"task": "mine", "dataset_name": dataset_name}
    with pytest.raises(FigLangError) as raised:
        documents.preflight(config | {"lmms_eval_specific_kwargs": {"default": {"num_shot": 5}}})
    lines = str(raised.value).removeprefix("figlang_tasks: task mine: ").split("\n")
    if told is None:  # whose options they are is not known
        assert len(lines) == 1 and "unknown dataset 'figlang_max'" in lines[0]
        return
    assert "unknown V-FLUTE task option(s) num_shot" in str(raised.value)
    assert len(lines) == 1 + len(told) and all(any(each in line for line in lines) for each in told)
