"""If these fail, a model gets another's prompt, or is asked for scores that it does not give."""

from __future__ import annotations

from typing import Any

import pytest

from figlang_tasks.core.blocks import ChosenBlocks, choose_blocks, with_blocks_as_default
from figlang_tasks.core.score_requests import KEY


class Words:
    """A class that declares nothing."""


class Matches:
    """A class that answers score requests of one kind, and words."""

    answers_score_requests = ("match",)


class DualEncoder:
    """A class that answers nothing but score requests."""

    answers_score_requests = ("candidates", "match")
    answers_words = False


class Probe:
    """A class that answers words, and takes the text alone for scores."""

    answers_score_requests = ("match",)
    scores_text_alone = True


MATCH = {KEY: {"kind": "match"}}
CANDIDATES = {KEY: {"kind": "candidates", "candidates": ["A"]}}
PROMPTS = {
    name: {"prompt": name} for name in ("default", "scores", "only_scores", "pictures_first")
}


@pytest.mark.parametrize(
    ("model_class", "settings", "options", "pictures_first", "expected"),
    [
        # Words, in the order of the table in `choose_blocks`.
        (
            Words,
            {"default": {}, "scores": MATCH},
            PROMPTS,
            False,
            ChosenBlocks("default", "default", False),
        ),
        (
            None,
            {"default": {}, "scores": MATCH},
            PROMPTS,
            False,
            ChosenBlocks("default", "default", False),
        ),
        (
            Words,
            {"default": {}, "mine": {}},
            PROMPTS | {"mine": {}},
            False,
            ChosenBlocks("mine", "mine", False),
        ),
        (Words, {"default": {}}, PROMPTS, True, ChosenBlocks("default", "pictures_first", False)),
        (
            Words,
            {"default": {}},
            PROMPTS | {"mine": {}},
            True,
            ChosenBlocks("default", "mine", False),
        ),
        (Words, {"default": {}}, {"default": {}}, True, ChosenBlocks("default", "default", False)),
        # Scores.
        (
            Matches,
            {"default": {}, "scores": MATCH},
            PROMPTS,
            False,
            ChosenBlocks("scores", "scores", True),
        ),
        (
            Matches,
            {"scores": MATCH},
            {"default": {}},
            False,
            ChosenBlocks("scores", "default", True),
        ),
        (
            Matches,
            {"default": {}, "scores": MATCH},
            PROMPTS,
            True,
            ChosenBlocks("scores", "scores", True),
        ),
        (
            DualEncoder,
            {"default": {}, "scores": MATCH},
            PROMPTS,
            False,
            ChosenBlocks("scores", "only_scores", True),
        ),
        (
            DualEncoder,
            {"scores": {}, "only_scores": MATCH},
            PROMPTS,
            False,
            ChosenBlocks("only_scores", "only_scores", True),
        ),
        (
            Probe,
            {"default": {}, "scores": MATCH},
            PROMPTS,
            False,
            ChosenBlocks("scores", "only_scores", True),
        ),
        # A request that the class does not answer, or that is not for it.
        (
            Matches,
            {"default": {}, "only_scores": MATCH},
            PROMPTS,
            False,
            ChosenBlocks("default", "default", False),
        ),
        (
            Matches,
            {"default": {}, "scores": CANDIDATES},
            PROMPTS,
            False,
            ChosenBlocks("default", "default", False),
        ),
        # The block with the name of a model comes before those.
        (
            Matches,
            {"scores": MATCH, "mine": {}},
            PROMPTS,
            False,
            ChosenBlocks("mine", "default", False),
        ),
        (
            Matches,
            {"scores": CANDIDATES, "mine": MATCH},
            PROMPTS,
            False,
            ChosenBlocks("mine", "scores", True),
        ),
        (
            Words,
            {"scores": {}, "mine": MATCH},
            PROMPTS,
            True,
            ChosenBlocks("mine", "default", True),
        ),
        # A file that asks every model, and files without blocks.
        (Matches, {"default": MATCH}, PROMPTS, False, ChosenBlocks("default", "scores", True)),
        (Words, {"default": MATCH}, PROMPTS, False, ChosenBlocks("default", "default", True)),
        (Words, None, None, False, ChosenBlocks("default", "default", False)),
    ],
)
def test_a_model_gets_the_blocks_for_what_its_class_declares(
    model_class: type | None,
    settings: dict[str, Any] | None,
    options: dict[str, Any] | None,
    pictures_first: bool,
    expected: ChosenBlocks,
) -> None:
    config = {
        "generation_kwargs": {"temperature": 0},
        "model_specific_generation_kwargs": settings,
        "lmms_eval_specific_kwargs": options,
    }
    assert choose_blocks(config, "mine", model_class, pictures_first) == expected


def test_chosen_blocks_for_scores_replace_default() -> None:
    config = {
        "model_specific_generation_kwargs": {"scores": MATCH},
        "lmms_eval_specific_kwargs": PROMPTS,
    }
    changed = with_blocks_as_default(config, choose_blocks(config, None, DualEncoder))
    assert changed["model_specific_generation_kwargs"] == {"scores": MATCH, "default": MATCH}
    assert changed["lmms_eval_specific_kwargs"]["default"] == {"prompt": "only_scores"}
    assert PROMPTS["default"] == {"prompt": "default"}  # the task file itself is not changed
