"""Labels with explanations that a file of predictions has in place of outputs in words."""

from __future__ import annotations

from figlang_tasks.scoring.explained import LABEL_NAMES, Explained

LABEL_AS_GIVEN = "label as given"
"""The rule of a record whose label was not read from words."""


def label_as_given(label: str | None, explanation: str | None) -> Explained:
    """A label with its explanation that a file has in place of an output in words.

    Args:
        label: ``entailment`` or 1, ``contradiction`` or 0; None or "" if it has none, which counts
            as a missing answer.
        explanation: None if it has none.

    Raises:
        ValueError: it is another label.
    """
    text = (label or "").strip().casefold()
    if not text:
        return Explained(None, "missing", LABEL_AS_GIVEN, explanation)
    for number, name in LABEL_NAMES.items():
        if text in (name, str(number)):
            return Explained(number, "read", LABEL_AS_GIVEN, explanation)
    raise ValueError(
        f"the label is {label!r}, must be entailment (or 1) or contradiction (or 0), or empty"
    )
