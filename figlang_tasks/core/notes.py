"""Failures that did not stop the run.

Whoever meets one logs its cause and notes it here, in memory; the harness has no place for it. Our ``lmms_eval``
command reads the notes at the end and exits with status 1. Here too is how to tell a request without an answer.
"""

from __future__ import annotations

import re

_noted: list[str] = []
# What the harness's API classes (openai, async_openai, gemini) put in place of an answer: after the last try of a
# request, and where --max_tokens is spent.
_FAILED = "[LMMS_EVAL_REQUEST_FAILED"
_NO_ANSWER = (_FAILED, "[LMMS_EVAL_BUDGET_EXCEEDED]")
# What async_openai (lmms-eval 0.7.3) puts in place of a content that is no text: the words of Python.
_NO_TEXT = re.compile(r'Error: can only concatenate str \(not "(\w+)"\) to str')


def note(message: str) -> None:
    """Remember a failure of this process; the caller has logged its cause."""
    _noted.append(message)


def text_of(answer: object) -> str:
    """What a model class gave as an answer; where that is no text, words as the harness's for a failed request.

    An API gives none (``content: null``) where a model has thought until its tokens were spent.
    """
    no_text = _NO_TEXT.fullmatch(answer) if isinstance(answer, str) else None
    if isinstance(answer, str) and not no_text:
        return answer
    kind = no_text[1] if no_text else type(answer).__name__
    if kind != "NoneType":
        return f"{_FAILED}] the answer is of type {kind}, not a text"
    return (
        f"{_FAILED}] the answer is null. A model that thinks may have spent its tokens before it answered: allow more "
        "(--gen_kwargs max_new_tokens=4096), or turn thinking off"
    )


def is_no_answer(text: object) -> bool:
    """Whether a text is the harness's own in place of an answer; of JSON with several rounds, whether one is."""
    if not isinstance(text, str):
        return False
    rounds = text.startswith("{") and any(f'": "{words}' in text for words in _NO_ANSWER)
    return rounds or text.startswith(_NO_ANSWER) or bool(_NO_TEXT.fullmatch(text))


def noted() -> list[str]:
    """The failures since the last call, each once; they are then forgotten."""
    found = list(dict.fromkeys(_noted))
    _noted.clear()
    return found
