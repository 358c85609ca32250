"""What went wrong in a run that went on to its end all the same, so that no output was lost.

The harness has no place for it: our ``lmms_eval`` command reads it here and exits with status 1.
"""

from __future__ import annotations

_noted: list[str] = []


def note(message: str) -> None:
    """Remember a failure of this process; the caller has logged its cause."""
    _noted.append(message)


def noted() -> list[str]:
    """Return the failures since the last call, each once, and forget them."""
    found = list(dict.fromkeys(_noted))
    _noted.clear()
    return found
