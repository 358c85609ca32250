"""Blocks of a task file: parts that are for some models alone, and which model gets which.

Two keys of a task file may hold blocks beside plain values: the settings of a request
(``model_specific_generation_kwargs``), which override ``generation_kwargs``, and the options of
the task (``lmms_eval_specific_kwargs``). The harness knows the block ``default`` and blocks with
the name of a model. `choose_blocks` adds blocks for what the class of a model declares, so that no
task file names classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from figlang_tasks.core.score_requests import KEY
from figlang_tasks.core.task_files import TaskConfig

SETTINGS = "model_specific_generation_kwargs"
"""The key of a task file that holds the blocks of settings."""
OPTIONS = "lmms_eval_specific_kwargs"
"""The key of a task file that holds the blocks of options."""

DEFAULT = "default"
"""The block for every model that has no other."""
SCORES = "scores"
"""The block for classes that answer the score request of a task."""
ONLY_SCORES = "only_scores"
"""The block for those of them that get only the text, without pictures, when they score."""
PICTURES_FIRST = "pictures_first"
"""The block of options for models that read all pictures before the text."""

_SCORE_BLOCKS = (SCORES, ONLY_SCORES)


@dataclass(frozen=True)
class ChosenBlocks:
    """The names of the blocks of a task file that a model gets.

    Attributes:
        settings: the block of settings (`SETTINGS`); ``default`` if the file has none for it.
        options: the block of options (`OPTIONS`); ``default`` if the file has none for it.
        asks_for_scores: whether the model is asked for scores, by its own block or because every
            model is.
    """

    settings: str
    options: str
    asks_for_scores: bool


def choose_blocks(
    config: TaskConfig, name: str | None, model_class: type | None, pictures_first: bool = False
) -> ChosenBlocks:
    """Choose the blocks of a task file for a model: for each key, the first that the file has.

    ============================================  ==========================================
    what the model answers                        blocks, the first that the file has
    ============================================  ==========================================
    words                                         its name, ``default``
    words, and reads all pictures before text     its name, ``pictures_first``, ``default``
    scores and words                              its name, ``scores``, ``default``
    scores, and gets only the text for them       its name, ``only_scores``, ``scores``, ``default``
    ============================================  ==========================================

    A model answers scores if its class lists the kind of the file's score request in
    ``answers_score_requests``. It gets only the text if the class has ``scores_text_alone``, which
    is by default the opposite of ``answers_words``. ``pictures_first`` is a block of options
    only, and overrides the options of ``default``.

    Args:
        config: the content of the task file.
        name: what follows ``--model``; the harness takes a block of that name before all others.
        model_class: None for a class that is known to answer in words alone.
        pictures_first: whether the model reads all pictures of the task before the text.
    """
    settings = config.get(SETTINGS) or {}
    options = config.get(OPTIONS) or {}

    # With its blocks for scores, is the model asked for scores of a kind that its class answers?
    score_blocks = _score_blocks_for(model_class)
    settings_block = _first_block(settings, (name, *score_blocks, DEFAULT))
    if _answers_score_request(model_class, _score_request(config, settings_block)):
        options_block = _first_block(options, (name, *score_blocks, DEFAULT))
        return ChosenBlocks(settings=settings_block, options=options_block, asks_for_scores=True)

    # If not, it gets the blocks for words. These, too, ask for scores if the file asks every model.
    settings_block = _first_block(settings, (name, DEFAULT))
    asks_for_scores = _score_request(config, settings_block) is not None
    if pictures_first and not asks_for_scores:  # Scores are of one picture at a time.
        options_block = _first_block(options, (name, PICTURES_FIRST, DEFAULT))
    else:
        options_block = _first_block(options, (name, DEFAULT))
    return ChosenBlocks(
        settings=settings_block, options=options_block, asks_for_scores=asks_for_scores
    )


def _score_blocks_for(model_class: type | None) -> tuple[str, ...]:
    """The blocks for scores that a class may get, in the order in which they are looked for."""
    scores_text_alone = getattr(model_class, "scores_text_alone", not answers_words(model_class))
    return (ONLY_SCORES, SCORES) if scores_text_alone else (SCORES,)


def _first_block(blocks: Mapping[str, object], names: tuple[str | None, ...]) -> str:
    """The first of the names that is a block; ``default`` if none is."""
    for name in names:
        if name is not None and name in blocks:
            return name
    return DEFAULT


def _score_request(config: TaskConfig, settings_block: str) -> object:
    """The score request in the settings of a task with this block; None if it asks for words."""
    general_settings = config.get("generation_kwargs") or {}
    blocks = config.get(SETTINGS) or {}
    settings = {**general_settings, **(blocks.get(settings_block) or {})}
    return settings.get(KEY)


def _answers_score_request(model_class: type | None, score_request: object) -> bool:
    """Whether a class declares that it answers score requests of this kind."""
    if not isinstance(score_request, Mapping):
        return False
    return score_request.get("kind") in getattr(model_class, "answers_score_requests", ())


def answers_words(model_class: type | None) -> bool:
    """Whether a model class answers requests for words; True unless it declares otherwise."""
    return bool(getattr(model_class, "answers_words", True))


# --- what stands in the chosen blocks ---


def with_blocks_as_default(config: TaskConfig, blocks: ChosenBlocks) -> dict[str, Any]:
    """A copy of a task file in which chosen blocks for scores replace ``default``.

    The harness takes ``default`` for every model. A block of the model's own name, which the
    harness finds itself, and ``pictures_first`` change nothing here.

    Args:
        config: the content of the task file.
        blocks: the names of the chosen blocks.
    """
    changed = dict(config)
    for key, block in ((SETTINGS, blocks.settings), (OPTIONS, blocks.options)):
        if block in _SCORE_BLOCKS:
            changed[key] = {**config[key], DEFAULT: config[key][block]}
    return changed


def apply_blocks(task: Any, blocks: ChosenBlocks) -> None:
    """Change a task, which the harness has built with ``default``, to the chosen blocks.

    A chosen block that is ``default``, or has the name of the model, changes nothing: the harness
    has taken it already. Every results file holds the options that were chosen.

    Args:
        task: a ``ConfigurableTask`` of the harness.
        blocks: the names of the chosen blocks.
    """
    if blocks.settings in _SCORE_BLOCKS:
        _apply_score_settings(task.config, blocks.settings)
    if blocks.options in _SCORE_BLOCKS:
        _apply_score_options(task, blocks.options)
    elif blocks.options == PICTURES_FIRST:
        _apply_pictures_first(task)


def _apply_score_settings(config: Any, block_name: str) -> None:
    """Put a block of settings for scores over ``default``, and into the settings of requests."""
    blocks = config.model_specific_generation_kwargs
    config.model_specific_generation_kwargs = {**blocks, DEFAULT: blocks[block_name]}
    config.generation_kwargs.update(blocks[block_name])


def _apply_score_options(task: Any, block_name: str) -> None:
    """Put a block of options for scores in place of ``default`` and of its values."""
    options = task.config.lmms_eval_specific_kwargs
    block = options[block_name]
    # The harness has written the values of `default` beside the blocks, and there they are read.
    without_default = {
        key: value for key, value in options.items() if key not in options.get(DEFAULT, {})
    }
    _set_options(task, {**without_default, DEFAULT: block, **block})


def _apply_pictures_first(task: Any) -> None:
    """Add the options for models that read pictures first, and say so in ``prompt_hash``.

    Runs are compared by that hash, and the prompt is another one.
    """
    config = task.config
    options = config.lmms_eval_specific_kwargs
    _set_options(task, {**options, **options[PICTURES_FIRST]})
    if isinstance(config.metadata, dict):
        prompt_hash = f"{config.metadata.get('prompt_hash')}+{PICTURES_FIRST}"
        config.metadata = {**config.metadata, "prompt_hash": prompt_hash}


def _set_options(task: Any, options: Mapping[str, Any]) -> None:
    """Replace the options of a task, which the harness holds twice."""
    task.lmms_eval_specific_kwargs = options
    task.config.lmms_eval_specific_kwargs = options


def options_for_words(config: TaskConfig) -> dict[str, Any]:
    """The options that a model which answers in words gets, whatever its class."""
    options = dict(config.get(OPTIONS) or {})
    for_every_model = options.pop(DEFAULT, None) or {}
    # Blocks for some models alone are mappings too, and no option is one.
    outside_of_blocks = {
        name: option for name, option in options.items() if not isinstance(option, Mapping)
    }
    return {**outside_of_blocks, **for_every_model}


def options_by_block(config: TaskConfig) -> list[dict[str, Any]]:
    """The options that models may get from a task file: one dict for each block, and for none.

    Options also stand outside of blocks: in ``{"prompt": "v1", "default": {"num_shots": 4}}`` the
    option ``prompt`` does. As the harness merges, a block ``default`` or for scores overrides them,
    and ``pictures_first`` overrides those of ``default`` too. A block with the name of a model
    stands alone. If there is no ``default``, models without a block get what stands outside.

    Args:
        config: the content of the task file. Its key ``model``, if it has one, is the model's name.
    """
    options = config.get(OPTIONS) or {}
    blocks: dict[str, Mapping[str, Any]] = {}
    outside: dict[str, Any] = {}
    for name, option in options.items():
        if isinstance(option, Mapping):
            blocks[name] = option
        else:
            outside[name] = option

    options_of_cases: list[dict[str, Any]] = []
    for name, block in blocks.items():
        if name in (DEFAULT, *_SCORE_BLOCKS):
            options_of_cases.append({**outside, **block})
        elif name == PICTURES_FIRST:
            options_of_cases.append({**outside, **blocks.get(DEFAULT, {}), **block})
        else:
            options_of_cases.append(dict(block))
    if DEFAULT not in blocks:  # then a model without a block gets what stands outside
        is_for_model_without_block = config.get("model") not in (None, *blocks)
        if outside or is_for_model_without_block or not blocks:
            options_of_cases.append(outside)
    return options_of_cases
