"""A model goes on with a next question, or is ended too early, if this fails."""

from __future__ import annotations

import pytest

from figlang_tasks import resource_dir
from figlang_tasks.core import generation


@pytest.mark.parametrize("name", ["vflute_few_shot", "flute_v1", "flute_v2", "nycc_question", "nykms_joint"])
def test_a_next_question_begins_as_the_prompt_does(name: str) -> None:
    prompt = (resource_dir("prompts") / f"{name.replace('_', '/', 1)}.jinja").read_text(encoding="utf-8")
    ends = getattr(generation, f"greedy_128_until_{name}")["until"]
    assert ends and all(f"\n{each.removeprefix(chr(10) * 2)}" in prompt for each in ends)


def test_settings_that_are_not_there_are_told() -> None:
    with pytest.raises(AttributeError, match="has no settings 'greedy'; it has: greedy_N, beams_N"):
        _ = generation.greedy
