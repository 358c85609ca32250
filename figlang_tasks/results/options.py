"""The options of a harness's command, by what its results file says."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from figlang_tasks.core.redaction import redacted

# What of lmms-eval's command line changes a result, in the order of the command.
OPTIONS = (
    "model",
    "model_args",
    "tasks",
    "batch_size",
    "device",
    "num_fewshot",
    "gen_kwargs",
    "limit",
    "offset",
    "samples",
    "seed",
    "use_cache",
    "system_instruction",
    "apply_chat_template",
    "fewshot_as_multiturn",
    "force_simple",
    "max_tokens",
    "reasoning_tags",
)
_DEFAULTS = {"offset": 0, "reasoning_tags": '[["<think>", "</think>"], ["<analysis>", "</analysis>"]]'}


def given(told: Mapping[str, Any], names: Iterable[str] = OPTIONS) -> str:
    """The options as a command line has them, without those at their default and without secrets."""
    words = []
    for name in names:
        value = told.get(name)
        if value in (None, "", False, [], {}) or value == _DEFAULTS.get(name):
            continue
        words.append(f"--{name}")
        if value is not True:
            words.append(shlex.quote(text(value)))
    return " ".join(words)


def text(value: Any) -> str:
    """The value of an option as a command line has it, without secrets: ``a=1,b=2`` of a mapping, ``a,b`` of a list."""
    shown = redacted(value)
    if isinstance(shown, Mapping):
        shown = [f"{key}={each}" for key, each in shown.items()]
    return ",".join(map(str, shown)) if isinstance(shown, list) else str(shown)
