"""Settings of generation for task files: ``generation_kwargs: !function figlang_tasks.core.generation.greedy_128``.

``greedy_N`` is greedy decoding of at most N tokens, ``beams_N`` the three beams of V-FLUTE's paper (Appendix D),
``lm_eval_N`` is ``greedy_N`` by the names of lm-eval; for others see ``_NAMED``. Every key that a backend would write
back is given, so that ``--use_cache`` hits. ``until`` is empty: the harness would add a blank line, which cuts an
answer off before its end. With ``greedy_N_until_flute_v2`` generation ends where a paragraph begins as that prompt
does: a model that was not tuned for chats goes on with a next question. Each name gives a new dict, since the
harnesses write into the one that they get.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

from figlang_tasks.core import score_requests


def _lmms_eval(tokens: int, beams: int = 1, **others: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"num_beams": beams, "do_sample": False, "temperature": 0, "top_p": None, "until": []}
    return {**others, "max_new_tokens": tokens, **settings}


def _lm_eval(tokens: int) -> dict[str, Any]:
    """Without num_beams and top_p: vLLM and servers pass on what they do not know, and would be refused."""
    return {"max_gen_toks": tokens, "do_sample": False, "temperature": 0.0, "until": []}


# vLLM and SGLang refuse a top_p of null; at temperature 0 its value makes no difference. Keyed by --model.
_BY_BACKEND: dict[str, Any] = {"default": {}} | {
    name: {"top_p": 1.0} for name in ("vllm", "vllm_generate", "sglang", "llava_sglang")
}
# Backends without beam search decode greedily: recorded as one beam.
_WITHOUT_BEAMS = (
    "openai",
    "openai_compatible",
    "openai_compatible_chat",
    "async_openai",
    "async_openai_compatible",
    "async_openai_compatible_chat",
    "litellm",
    "litellm_chat",
    "litellm_compatible",
    "gemini",
    "gemini_api",
    "claude",
    "gpt4v",
    "reka",
    "qwen_vl_api",
)


def _with_scores(
    block: str = score_requests.SCORES, others: dict[str, Any] = _BY_BACKEND, **request: str
) -> dict[str, Any]:
    """Settings of a task that asks classes that declare to give scores for some (``score_requests``).

    Others may hand all settings on to transformers, which refuses unknown ones.
    """
    return others | {block: {score_requests.KEY: request}}


# The words of a prompt before the first text of a row.
_OPENINGS = {
    "vflute_few_shot": ["<image>"],
    "flute_v1": ['Do the sentences "'],
    "flute_v2": ['Does the sentence "'],
    "nycc_question": ["Thanks! How about this one?", "OK. Here is a description of the cartoon followed by the"],
    "nykms_joint": ["Here is the description of the cartoon:"],
}
_BY_TOKENS: dict[str, Callable[[int], dict[str, Any]]] = {
    "greedy": _lmms_eval,
    "beams": partial(_lmms_eval, beams=3),
    "lm_eval": _lm_eval,
}
_NAMED: dict[str, dict[str, Any]] = {
    "beams_256_in_two_steps": _lmms_eval(256, beams=3, max_agentic_steps=2),
    "by_backend": _BY_BACKEND,
    "by_backend_one_beam": {name: {"num_beams": 1, **own} if own else own for name, own in _BY_BACKEND.items()}
    | {name: {"num_beams": 1} for name in _WITHOUT_BEAMS},
    "by_backend_match": _with_scores(kind="match"),
    "by_backend_candidates": _with_scores(kind="candidates", candidates="candidates", normalize="tokens"),
    # Without `default`: a class that gives no scores is refused.
    "scores_alone_match": _with_scores(others={}, kind="match"),
    "scores_alone_candidates": _with_scores(others={}, kind="candidates", candidates="candidates", normalize="tokens"),
    # Of classes that also answer in words, words are asked for.
    "by_backend_only_candidates": _with_scores(score_requests.ONLY_SCORES, kind="candidates", candidates="candidates"),
}


def __getattr__(name: str) -> dict[str, Any]:
    settings, _, template = name.partition("_until_")
    kind, _, tokens = settings.rpartition("_")
    if kind in _BY_TOKENS and tokens.isdecimal():
        until = [f"\n\n{words}" for words in _OPENINGS[template]] if template else []
        return _BY_TOKENS[kind](int(tokens)) | {"until": until}
    if name not in _NAMED:
        known = ", ".join([*(f"{kind}_N" for kind in _BY_TOKENS), *_NAMED])
        raise AttributeError(f"figlang_tasks.core.generation has no settings {name!r}; it has: {known}")
    return copy.deepcopy(_NAMED[name])
