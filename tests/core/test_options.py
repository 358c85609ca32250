"""If these fail, a wrong option of a task file reaches a model, or a right one is refused."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import pytest
from pydantic import Field

from figlang_tasks.core.options import Options


class MyOptions(Options):
    OF: ClassVar[str] = "Mine"

    prompt: Literal["choose", "match"]
    blind: bool = False
    shots: int = Field(default=0, ge=0)


CHOOSE = {"prompt": "choose"}
MATCH = {"prompt": "match"}


@pytest.mark.parametrize(
    ("kwargs", "model", "expected"),
    [
        (CHOOSE, None, [MyOptions(prompt="choose")]),
        ({"default": CHOOSE}, "llava", [MyOptions(prompt="choose")]),
        # The harness lets `default` override what stands outside; the block of a model replaces it.
        ({"blind": True, "default": CHOOSE}, None, [MyOptions(prompt="choose", blind=True)]),
        (
            {"shots": 5, "default": CHOOSE, "llava": MATCH},
            None,
            [MyOptions(prompt="choose", shots=5), MyOptions(prompt="match")],
        ),
        (
            {"default": CHOOSE, "pictures_first": {"blind": True}},
            None,
            [MyOptions(prompt="choose"), MyOptions(prompt="choose", blind=True)],
        ),
        # Without `default`, models without a block get what stands outside.
        (
            {"llava": MATCH, **CHOOSE},
            "llava",
            [MyOptions(prompt="match"), MyOptions(prompt="choose")],
        ),
        ({"llava": MATCH}, None, [MyOptions(prompt="match")]),
    ],
)
def test_each_case_of_the_blocks_has_its_options(
    kwargs: dict[str, Any], model: str | None, expected: list[MyOptions]
) -> None:
    assert MyOptions.blocks({"lmms_eval_specific_kwargs": kwargs, "model": model}) == expected


@pytest.mark.parametrize(
    ("kwargs", "model", "message"),
    [
        (None, None, "Mine task option prompt is None: must be 'choose' or 'match'"),
        ({"llava": MATCH}, "other", "prompt is None: must"),  # the task file has nothing for it
        ({"llava": {}, **CHOOSE}, None, "prompt is None: must"),  # its block stands alone
        (
            {"blindly": True, "default": CHOOSE},
            None,
            r"unknown Mine task option\(s\) blindly; valid: blind, prompt",
        ),
        (
            {"default": {**CHOOSE, "shots": -1}},
            None,
            "shots is -1: must be greater than or equal to 0",
        ),
    ],
)
def test_a_wrong_option_of_a_block_is_named(
    kwargs: dict[str, Any] | None, model: str | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        MyOptions.blocks({"lmms_eval_specific_kwargs": kwargs, "model": model})
