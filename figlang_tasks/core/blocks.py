"""Blocks of a task file: parts that are for some models alone, and which model gets which.

Two keys of a task file may hold blocks beside plain values: the settings of a request
(``model_specific_generation_kwargs``), which are put upon ``generation_kwargs``, and the options of
the prompt (``lmms_eval_specific_kwargs``). The harness knows the blocks ``default`` and the name of
a model. `choose_blocks` adds those for what the class of a model declares, so that no task file
names classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from figlang_tasks.core.score_requests import KEY

SETTINGS, OPTIONS = "model_specific_generation_kwargs", "lmms_eval_specific_kwargs"
"""The keys of a task file that hold blocks."""

DEFAULT = "default"
SCORES, ONLY_SCORES = "scores", "only_scores"
"""Blocks for classes that answer the score request of a task, and for those of them that take the
text alone.
"""
PICTURES_FIRST = "pictures_first"
"""A block of options: the prompt for models that read all pictures before the text."""

_FOR_SCORES = (SCORES, ONLY_SCORES)


@dataclass(frozen=True)
class ChosenBlocks:
    """The blocks of a task file that a model gets, by name.

    Attributes:
        settings: of `SETTINGS`; ``default`` also where the file has none.
        options: of `OPTIONS`; likewise.
        asks_for_scores: whether the model is asked for scores, by that block or for every model.
    """

    settings: str
    options: str
    asks_for_scores: bool


def choose_blocks(
    config: Mapping[str, Any],
    name: str | None,
    model_class: type | None,
    pictures_first: bool = False,
) -> ChosenBlocks:
    """Choose the blocks of a task file for a model: of each key the first that the file has.

    ============================================  ==========================================
    what the model answers                        blocks, the first that there is
    ============================================  ==========================================
    words                                         its name, ``default``
    words, and reads all pictures before text     its name, ``pictures_first``, ``default``
    scores and words                              its name, ``scores``, ``default``
    scores, and is shown the text alone for them  its name, ``only_scores``, ``scores``, ``default``
    ============================================  ==========================================

    A model answers scores where its class has the kind of the file's request in
    ``answers_score_requests``. It is shown the text alone where the class has
    ``scores_text_alone``, by default where ``answers_words`` is False. ``pictures_first`` has no
    settings, and stands upon ``default``.

    Args:
        config: the content of the task file.
        name: what follows ``--model``; the harness takes a block of that name before all others.
        model_class: None for a class that is known to answer in words alone.
        pictures_first: whether the model reads all pictures of the task before the text.
    """
    settings, options = config.get(SETTINGS) or {}, config.get(OPTIONS) or {}
    general_settings = config.get("generation_kwargs") or {}

    scores_text_alone = getattr(model_class, "scores_text_alone", not answers_words(model_class))
    score_blocks = (ONLY_SCORES, SCORES) if scores_text_alone else (SCORES,)
    block = _first_block(settings, (name, *score_blocks, DEFAULT))
    request = {**general_settings, **(settings.get(block) or {})}.get(KEY)
    if isinstance(request, Mapping) and request.get("kind") in getattr(
        model_class, "answers_score_requests", ()
    ):
        options_block = _first_block(options, (name, *score_blocks, DEFAULT))
        return ChosenBlocks(settings=block, options=options_block, asks_for_scores=True)

    block = _first_block(settings, (name, DEFAULT))
    asks_for_scores = {**general_settings, **(settings.get(block) or {})}.get(KEY) is not None
    if pictures_first and not asks_for_scores:  # scores are of one picture at a time
        options_block = _first_block(options, (name, PICTURES_FIRST, DEFAULT))
    else:
        options_block = _first_block(options, (name, DEFAULT))
    return ChosenBlocks(settings=block, options=options_block, asks_for_scores=asks_for_scores)


def _first_block(blocks: Mapping[str, Any], names: tuple[str | None, ...]) -> str:
    """The first name that there is a block of; ``default`` if there is none."""
    for name in names:
        if name is not None and name in blocks:
            return name
    return DEFAULT


def answers_words(model_class: type | None) -> bool:
    """Whether a class of models answers other requests than those for scores; it does unless it
    declares otherwise.
    """
    return bool(getattr(model_class, "answers_words", True))


# --- what stands in the chosen blocks ---


def with_blocks_as_default(config: Mapping[str, Any], choice: ChosenBlocks) -> dict[str, Any]:
    """A task file whose blocks for scores, if they were chosen, stand in place of ``default``: the
    harness takes it.
    """
    changed = dict(config)
    for key, block in ((SETTINGS, choice.settings), (OPTIONS, choice.options)):
        if block in _FOR_SCORES:
            changed[key] = {**config[key], DEFAULT: config[key][block]}
    return changed


def apply_blocks(task: Any, choice: ChosenBlocks) -> None:
    """Give a task that the harness has built with ``default`` the blocks that were chosen in its
    place.

    What was chosen stands in every results file: in `OPTIONS`, and for pictures first in
    ``prompt_hash``, by which runs are compared.
    """
    config = task.config
    if choice.settings in _FOR_SCORES:
        settings = config.model_specific_generation_kwargs
        config.model_specific_generation_kwargs = {**settings, DEFAULT: settings[choice.settings]}
        config.generation_kwargs.update(settings[choice.settings])

    if choice.options in _FOR_SCORES:
        options = config.lmms_eval_specific_kwargs
        block = options[choice.options]
        # The harness has put the values of `default` beside the blocks.
        without_default = {
            key: value for key, value in options.items() if key not in options.get(DEFAULT, {})
        }
        _give_options(task, {**without_default, DEFAULT: block, **block})

    if choice.options == PICTURES_FIRST:
        options = config.lmms_eval_specific_kwargs
        _give_options(task, {**options, **options[PICTURES_FIRST]})
        if isinstance(config.metadata, dict):
            prompt_hash = f"{config.metadata.get('prompt_hash')}+{PICTURES_FIRST}"
            config.metadata = {**config.metadata, "prompt_hash": prompt_hash}


def _give_options(task: Any, options: Mapping[str, Any]) -> None:
    """Replace the options of a task, which the harness holds in two places."""
    task.lmms_eval_specific_kwargs = task.config.lmms_eval_specific_kwargs = options


def options_by_block(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options that a task file has for each model, put together as the harness does.

    ``default``, and a block that may take its place, adds to what stands outside of blocks; a block
    with the name of a model stands alone. What stands outside is for models without a block where
    there is no ``default``.
    """
    options = config.get(OPTIONS) or {}
    blocks = {name: block for name, block in options.items() if isinstance(block, Mapping)}
    outside = {name: value for name, value in options.items() if name not in blocks}

    combined = []
    for name, block in blocks.items():
        if name in (DEFAULT, *_FOR_SCORES):
            combined.append({**outside, **block})
        elif name == PICTURES_FIRST:
            combined.append({**outside, **blocks.get(DEFAULT, {}), **block})
        else:
            combined.append(dict(block))
    if DEFAULT not in blocks:
        has_models_without_block = config.get("model") not in (None, *blocks)
        if outside or has_models_without_block or not blocks:
            combined.append(outside)
    return combined
