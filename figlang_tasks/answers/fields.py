"""Answers that are marked for machines: JSON and ``\\boxed{}``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Read, opened

Value = TypeVar("Value")

_MARK = re.compile(
    # a key of JSON, or of a Python dict, also of one that was cut off
    r"""["'](?:answer|label|verdict)["']\s{0,3}:\s{0,3}["']?(?P<json>[^"'\n{}]{1,200})"""
    r"""|\\boxed\s?\{\s?(?:\\\w{4,8}\s?\{)?(?P<boxed>[^{}\n]{1,200})\}""",
    re.I,
)


def by_marks(
    output: str | None, read: Callable[[Answer], Read[Value]], own: Sequence[str] | None = None
) -> Read[Value]:
    """Return what is read from the part of an answer that a mark singles out; from all of it where that says nothing.

    The last mark counts. Several objects of JSON, each with another answer, single out nothing.

    Args:
        output: the model's output; None if there is none.
        read: reads an answer.
        own: texts of the prompt: `read` sees no quotations (`Answer.without_quotations`). None: it sees all.

    Raises:
        TypeError: `output` is neither str nor None.
    """
    answer = opened(output)
    if isinstance(answer, Read):
        return answer

    def looked(answer: Answer) -> Read[Value]:
        return read(answer if own is None else answer.without_quotations(own))

    part = None
    while marks := list(_MARK.finditer((part or answer).text)):
        kind = marks[-1].lastgroup or ""
        if kind == "json" and len({mark[kind] for mark in marks if mark[kind]}) > 1:
            return looked(answer)
        part = (part or answer).part(*marks[-1].span(kind))
    found = looked(part) if part is not None else None
    return found if found is not None and found.status != "unreadable" else looked(answer)
