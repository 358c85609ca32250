"""Failures that did not stop the run.

Whoever meets one logs its cause and notes it here, in memory; the harness has no place for it. Our
``lmms_eval`` command reads the notes at the end and exits with status 1. Here too are the texts
that stand in place of an answer: of a request that got none, and of one that the server refused.
"""

from __future__ import annotations

import json
import re

_noted: list[str] = []
# What the harness's API classes (openai, async_openai, gemini) put in place of an answer: after the
# last try of a request, and where --max_tokens is spent.
_FAILED = "[LMMS_EVAL_REQUEST_FAILED"
BUDGET_EXCEEDED = "[LMMS_EVAL_BUDGET_EXCEEDED]"
_NO_ANSWER = (_FAILED, BUDGET_EXCEEDED)
# What async_openai (lmms-eval 0.7.3) puts in place of a content that is no text: the words of
# Python.
_NO_TEXT = re.compile(r'Error: can only concatenate str \(not "(\w+)"\) to str')

_REFUSED = "[FIGLANG_REFUSED: "
# What gemini (lmms-eval 0.7.3) puts in place of an answer that its service keeps back, for whatever
# reason.
_BLOCKED = "[SAFETY_BLOCKED:"
_NOT_FOR_SAFETY = re.compile(r"\[SAFETY_BLOCKED:finish_reason=[\w.<: ]{0,40}(?:MAX_TOKENS|STOP)")
_ALLOW_MORE = "allow more (--gen_kwargs max_new_tokens=4096), or turn thinking off"


def note_failure(message: str) -> None:
    """Remember a failure of this process; the caller has logged its cause."""
    _noted.append(message)


def text_of(answer: object) -> str:
    """What a model class gave as an answer; where that is no text, words as the harness's for a
    failed request.

    An API gives none (``content: null``) where a model has thought until its tokens were spent.
    """
    no_text = _NO_TEXT.fullmatch(answer) if isinstance(answer, str) else None
    if isinstance(answer, str) and _NOT_FOR_SAFETY.match(answer):
        return empty_answer("length" if "MAX_TOKENS" in answer else "stop")
    if isinstance(answer, str) and not no_text:
        return answer
    kind = no_text[1] if no_text else type(answer).__name__
    if kind != "NoneType":
        return failed_request(f"the answer is of type {kind}, not a text")
    return empty_answer()


def failed_request(reason: str) -> str:
    """The text in place of the answer to a request that got none."""
    return f"{_FAILED}] {reason}"


def empty_answer(finish_reason: str = "", tokens_thought: int | None = None) -> str:
    """The text in place of an empty answer of an API, which is that of a failed request.

    Args:
        finish_reason: why the answer ended, in the server's word; "" if that is not known.
        tokens_thought: tokens that the model thought with; None if that is not known.
    """
    if finish_reason == "length" or tokens_thought:
        thoughts = f", {tokens_thought:,} tokens of thoughts" if tokens_thought else ""
        reason = f"finish_reason {finish_reason or 'unknown'}{thoughts}"
        return failed_request(
            f"the answer is empty: its tokens were spent before it ({reason}). Please {_ALLOW_MORE}"
        )
    if finish_reason:
        return failed_request(
            f"the answer is empty (finish_reason {finish_reason:.40}): look into the server's log"
        )
    spent = "A model that thinks may have spent its tokens before it answered"
    return failed_request(f"the answer is empty. {spent}: {_ALLOW_MORE}")


def refused_request(reason: str, words: str) -> str:
    """The text in place of an answer that a server refuses, or its filter keeps back: an answer,
    and a wrong one.
    """
    return f"{_REFUSED}{reason}] {words}".rstrip()


def is_refusal(text: object) -> bool:
    """Whether a text stands for an answer that was refused; of JSON with several rounds, whether
    the last one does.
    """
    if not isinstance(text, str):
        return False
    if text.startswith("{") and (_REFUSED in text or _BLOCKED in text):
        try:
            rounds = json.loads(text)
        except (ValueError, RecursionError):
            return False
        text = str([*rounds.values()][-1])
    return text.startswith((_REFUSED, _BLOCKED))


def is_no_answer(text: object) -> bool:
    """Whether a text is the harness's own in place of an answer; of JSON with several rounds,
    whether one is.
    """
    if not isinstance(text, str):
        return False
    rounds = text.startswith("{") and any(f'": "{words}' in text for words in _NO_ANSWER)
    return rounds or text.startswith(_NO_ANSWER) or bool(_NO_TEXT.fullmatch(text))


def take_failures() -> list[str]:
    """The failures since the last call, each once; they are then forgotten."""
    found = list(dict.fromkeys(_noted))
    _noted.clear()
    return found
