"""Failures that did not stop the run, and the texts that stand in place of an answer.

The harness has no place for failures. Whoever meets one logs its cause and notes it here, in
memory; our ``lmms_eval`` command takes the failures at the end and exits with status 1.

Two kinds of texts stand in place of an answer: for a request that got none (*no answer*), and for
one that the server refused (*refusal*), which counts as an answer, and as a wrong one.
"""

from __future__ import annotations

import json
import re

_failures: list[str] = []
# What the harness's API classes (openai, async_openai, gemini) put in place of an answer: after the
# last try of a request, and where --max_tokens is spent.
_FAILED = "[LMMS_EVAL_REQUEST_FAILED"
BUDGET_EXCEEDED = "[LMMS_EVAL_BUDGET_EXCEEDED]"
# What VLMEvalKit writes into its result sheets: "Failed to obtain answer via API.", or ": " and an
# error of Python.
_FAILED_IN_VLMEVALKIT = ("Failed to obtain answer via API.", "Failed to obtain answer: ")
_NO_ANSWER_BEGINNINGS = (_FAILED, BUDGET_EXCEEDED, *_FAILED_IN_VLMEVALKIT)
# What async_openai (lmms-eval 0.7.3) puts in place of an answer whose content is no text: the
# message of Python's own error. The group is the content's type.
_CONTENT_IS_NO_TEXT = re.compile(r'Error: can only concatenate str \(not "(\w+)"\) to str')

_REFUSED = "[FIGLANG_REFUSED: "
# What gemini (lmms-eval 0.7.3) puts in place of every answer that its service keeps back. The
# reason behind it is often safety, but MAX_TOKENS and STOP mean that the answer was empty.
_BLOCKED = "[SAFETY_BLOCKED:"
_BLOCKED_THOUGH_EMPTY = re.compile(
    r"\[SAFETY_BLOCKED:finish_reason=[\w.<: ]{0,40}(?:MAX_TOKENS|STOP)"
)
_ALLOW_MORE = "allow more (--gen_kwargs max_new_tokens=4096), or turn thinking off"


# --- failures ---


def note_failure(message: str) -> None:
    """Remember a failure of this process; the caller has logged its cause."""
    _failures.append(message)


def take_failures() -> list[str]:
    """The failures since the last call, each once; they are then forgotten."""
    failures = list(dict.fromkeys(_failures))
    _failures.clear()
    return failures


# --- texts in place of an answer ---


def text_of(answer: object) -> str:
    """The text of a model's answer; if it is no text, the text for a failed request.

    An API gives no text (``content: null``) if a model has thought until its tokens were spent.
    Where a class of the harness has put a message of its own in place of an empty answer, or of one
    that is no text, the text for a failed request takes its place.
    """
    if not isinstance(answer, str):
        return _answer_of_type(type(answer).__name__)
    if _BLOCKED_THOUGH_EMPTY.match(answer):
        return empty_answer("length" if "MAX_TOKENS" in answer else "stop")
    content_is_no_text = _CONTENT_IS_NO_TEXT.fullmatch(answer)
    if content_is_no_text is not None:
        return _answer_of_type(content_is_no_text[1])  # "NoneType" in the message
    return answer


def _answer_of_type(type_name: str) -> str:
    """The text in place of an answer that is no text, by the name of its type in Python."""
    if type_name == "NoneType":
        return empty_answer()
    return failed_request(f"the answer is of type {type_name}, not a text")


def failed_request(reason: str) -> str:
    """The text in place of the answer to a request that got none."""
    return f"{_FAILED}] {reason}"


def empty_answer(finish_reason: str = "", tokens_thought: int | None = None) -> str:
    """The text in place of an empty answer of an API; it counts as a failed request.

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
    return failed_request(
        "the answer is empty. A model that thinks may have spent its tokens before it answered:"
        f" {_ALLOW_MORE}"
    )


def refused_request(reason: str, words: str) -> str:
    """The text in place of an answer that a server refuses, or that its filter keeps back.

    Args:
        reason: ``refusal`` or ``content_filter``.
        words: the words of the refusal; "" if there are none.
    """
    return f"{_REFUSED}{reason}] {words}".rstrip()


def is_refusal(text: object) -> bool:
    """Whether a text stands in place of an answer that was refused.

    A task in rounds has a JSON object of answers, ``{"scene_graph": "...", "answer": "..."}``. Then
    the last answer decides.
    """
    if not isinstance(text, str):
        return False
    if text.startswith("{") and (_REFUSED in text or _BLOCKED in text):
        try:
            answer_by_round = json.loads(text)
        except (ValueError, RecursionError):
            return False
        text = str(list(answer_by_round.values())[-1])
    return text.startswith((_REFUSED, _BLOCKED))


def is_no_answer(text: object) -> bool:
    """Whether a text stands in place of an answer that is missing; a refusal is none of these.

    A task in rounds has a JSON object of answers, ``{"scene_graph": "...", "answer": "..."}``. Then
    one missing answer is enough.
    """
    if not isinstance(text, str):
        return False
    if text.startswith(_NO_ANSWER_BEGINNINGS) or _CONTENT_IS_NO_TEXT.fullmatch(text):
        return True
    # The text is not parsed: a value of the object begins behind `": "`.
    return text.startswith("{") and any(
        f'": "{beginning}' in text for beginning in _NO_ANSWER_BEGINNINGS
    )
