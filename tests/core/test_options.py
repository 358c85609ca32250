"""A wrong option of a task file reaches a model, or a right one is refused, if this fails."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import pytest
from pydantic import Field

from figlang_tasks.core.options import Options


class Asking(Options):
    OF: ClassVar[str] = "Mine"

    prompt: Literal["choose", "match"]
    blind: bool = False
    shots: int = Field(default=0, ge=0)


CHOOSE, MATCH = ({"prompt": name} for name in ("choose", "match"))


@pytest.mark.parametrize(
    ("kwargs", "model", "expected"),
    [
        (CHOOSE, None, [Asking(prompt="choose")]),
        ({"default": CHOOSE}, "llava", [Asking(prompt="choose")]),
        # The harness puts `default` upon what stands outside, the block of a model in its place.
        ({"blind": True, "default": CHOOSE}, None, [Asking(prompt="choose", blind=True)]),
        (
            {"shots": 5, "default": CHOOSE, "llava": MATCH},
            None,
            [Asking(prompt="choose", shots=5), Asking(prompt="match")],
        ),
        (
            {"default": CHOOSE, "pictures_first": {"blind": True}},
            None,
            [Asking(prompt="choose"), Asking(prompt="choose", blind=True)],
        ),
        # Without `default`, models without a block get what stands outside.
        ({"llava": MATCH, **CHOOSE}, "llava", [Asking(prompt="match"), Asking(prompt="choose")]),
        ({"llava": MATCH}, None, [Asking(prompt="match")]),
    ],
)
def test_blocks(kwargs: dict[str, Any], model: str | None, expected: list[Asking]) -> None:
    assert Asking.blocks({"lmms_eval_specific_kwargs": kwargs, "model": model}) == expected


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
def test_what_is_wrong_in_a_block(
    kwargs: dict[str, Any] | None, model: str | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Asking.blocks({"lmms_eval_specific_kwargs": kwargs, "model": model})
