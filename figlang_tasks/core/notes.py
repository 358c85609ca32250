"""Notes of failures: of a run that went on to its end all the same, so that no output was lost.

Whoever meets such a failure logs its cause and notes it here, in memory; the harness has no place for it. Our
``lmms_eval`` command reads the notes at the end and exits with status 1. Here too is how to tell a request without an
answer, which a finished run may hold.
"""

from __future__ import annotations

_noted: list[str] = []
# What the harness's API classes (openai, async_openai, gemini) put in place of an answer: after the last try of a
# request, and where --max_tokens is spent.
_NO_ANSWER = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED]")


def note(message: str) -> None:
    """Remember a failure of this process; the caller has logged its cause."""
    _noted.append(message)


def is_no_answer(text: object) -> bool:
    """Whether a text is the harness's own in place of an answer; of JSON with several rounds, whether one is."""
    if not isinstance(text, str):
        return False
    rounds = text.startswith("{") and any(f'": "{words}' in text for words in _NO_ANSWER)
    return rounds or text.startswith(_NO_ANSWER)


def noted() -> list[str]:
    """Return the failures since the last call, each once, and forget them."""
    found = list(dict.fromkeys(_noted))
    _noted.clear()
    return found
