"""Settings of generation that depend on the backend and not on the task: their one place.

A task file says how long an answer may be, where it ends, and what is not greedy. The rest is added
here when the plugin prepares a task for a model, so that results name the settings that were used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GREEDY: Final = {"num_beams": 1, "do_sample": False, "temperature": 0.0, "top_p": None}
"""How all tasks decode where their file says nothing else.

Every key is given that a class of lmms-eval 0.7.3 would write back into the settings: they are part
of what an answer is stored under, in our store as in the harness's cache.
"""

ENGINES: Final = frozenset({"vllm", "vllm_generate", "sglang", "llava_sglang"})
"""Model classes of lmms-eval 0.7.3 that refuse a `top_p` of None.

At temperature 0 its value makes no difference.
"""

WITHOUT_BEAMS: Final = ENGINES | {
    "async_openai",
    "async_openai_compatible",
    "async_openai_compatible_chat",
    "claude",
    "gemini",
    "gemini_api",
    "gpt4v",
    "litellm",
    "litellm_chat",
    "litellm_compatible",
    "openai",
    "openai_compatible",
    "openai_compatible_chat",
    "qwen_vl_api",
    "reka",
}
"""Model classes of lmms-eval 0.7.3 without beam search: they ignore `num_beams`, or refuse it."""


def for_backend(model: str | None, settings: Mapping[str, object]) -> dict[str, object]:
    """The ``generation_kwargs`` of a task, completed with `GREEDY` and fitted to a model class.

    What the task file, its blocks for models and ``--gen_kwargs`` say stays, but for what the class
    cannot do: `ENGINES` get 1 for a `top_p` of None, and `WITHOUT_BEAMS` always one beam.

    Args:
        model: the name that follows ``--model``; None for an object.
        settings: those of the task.
    """
    completed = {**GREEDY, **settings}
    if model in ENGINES and completed["top_p"] is None:
        completed["top_p"] = 1.0
    if model in WITHOUT_BEAMS:
        completed["num_beams"] = 1
    return completed
