"""Options of tasks: what a task file gives each model is checked as the harness puts it together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from figlang_tasks.core.options import Options, one_of, true_or_false, whole_number


@dataclass(frozen=True)
class Asking(Options):
    OF: ClassVar[str] = "Mine"

    prompt: str = one_of(("choose", "match"))
    blind: bool = true_or_false()
    shots: int = whole_number()


CHOOSE, MATCH = ({"prompt": name} for name in ("choose", "match"))


@pytest.mark.parametrize(
    ("kwargs", "model", "expected"),
    [
        (CHOOSE, None, [Asking("choose")]),
        ({"default": CHOOSE}, "llava", [Asking("choose")]),
        # The harness puts `default` upon what stands outside, the block of a model in its place.
        ({"blind": True, "default": CHOOSE}, None, [Asking("choose", blind=True)]),
        ({"shots": 5, "default": CHOOSE, "llava": MATCH}, None, [Asking("choose", shots=5), Asking("match")]),
        ({"shots": 5, "scores": MATCH, **CHOOSE}, None, [Asking("match", shots=5), Asking("choose", shots=5)]),
        ({"default": CHOOSE, "pictures_first": {"blind": True}}, None, [Asking("choose"), Asking("choose", True)]),
        # Without `default`, models without a block get what stands outside.
        ({"llava": MATCH, **CHOOSE}, "llava", [Asking("match"), Asking("choose")]),
        ({"llava": MATCH}, "llava", [Asking("match")]),
        ({"llava": MATCH}, None, [Asking("match")]),
    ],
)
def test_blocks(kwargs: dict[str, Any], model: str | None, expected: list[Asking]) -> None:
    assert Asking.blocks({"lmms_eval_specific_kwargs": kwargs, "model": model}) == expected


@pytest.mark.parametrize(
    ("kwargs", "model", "message"),
    [
        (None, None, "Mine task option prompt=None; valid: choose, match"),
        ({"llava": MATCH}, "other", "prompt=None; valid"),  # the task file has nothing for it
        ({"llava": {}, **CHOOSE}, None, "prompt=None; valid"),  # its block stands alone
        ({"blindly": True, "default": CHOOSE}, None, r"unknown Mine task option\(s\) blindly; valid: blind, prompt"),
        ({"default": {**CHOOSE, "shots": -1}}, None, "shots=-1; valid: 0 or a greater whole number"),
    ],
)
def test_what_is_wrong_in_a_block(kwargs: dict[str, Any] | None, model: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Asking.blocks({"lmms_eval_specific_kwargs": kwargs, "model": model})
