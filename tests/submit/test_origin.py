"""What is handed in is said to be of another model or other data than it is if this fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from figlang_tasks.core.data_id import DataId
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.submit import released
from figlang_tasks.submit.every_eval_ever import model_id

VFLUTE = "d920d848e21b6aba96e03704b134c546f89b74f4"  # the commit of it that this package reads


@pytest.mark.parametrize(
    ("arguments", "model"),
    [
        ("pretrained=org/model-1.5,dtype=x", "org/model-1.5"),
        ("dtype=x,model_version=org/m", "org/m"),
        ("pretrained=/home/me/model", None),
        ("peft=org/model", None),
        ("", None),
    ],
)
def test_the_id_of_a_model(arguments: str, model: str | None) -> None:
    run = Run("run", Path(), {}, {"config": {"model_args": arguments}})
    assert model_id(run) == model


B = "b" * 40


@pytest.mark.parametrize(
    ("data", "revision", "expected"),
    [
        ("V-FLUTE/test:0123", None, ("ColumbiaNLP/V-FLUTE", VFLUTE)),
        ("FLUTE/heldout:0123", "local", ("ColumbiaNLP/FLUTE", None)),
        (f"IRFL/x-task@{B}:0123", None, ("lampent/IRFL", B)),
        ("NYK-MS/nyk_m:0123+NewYorkerCaptionContest:4567", None, (None, None)),
    ],
)
def test_what_a_task_was_evaluated_on(data: str, revision: str | None, expected: tuple[str | None, str | None]) -> None:
    line = {"sample": {"id": "1", "data": data} | ({"revision": revision} if revision else {})}
    task = TaskRun("x", Path(), "", DataId.parse(data), (line,), {}, {}, None, None)
    assert released(task) == expected
