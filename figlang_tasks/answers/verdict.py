"""One result for all readers, and which part of an output, and which of several answers in it, counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from figlang_tasks.answers.text import CORRECTION, Answer

Value = TypeVar("Value")

_MARK = re.compile(
    # a key of JSON, or of a Python dict, also of one that was cut off
    r"""["'](?:answer|label|verdict)["']\s{0,3}:\s{0,3}["']?(?P<json>[^"'\n{}]{1,200})"""
    r"""|\\boxed\s?\{\s?(?:\\\w{4,8}\s?\{)?(?P<boxed>[^{}\n]{1,200})\}""",
    re.I,
)

Status: TypeAlias = Literal["read", "refused", "ambiguous", "unreadable", "out_of_range", "empty", "missing"]
"""Outcome of reading an output; there is a value if and only if it is `read`.

- read: an answer was found.
- refused: the model declines: it cannot tell, or finds that no option fits.
- ambiguous: several answers, and nothing tells which one is meant.
- unreadable: words, but no answer in them.
- out_of_range: an option that was not offered, a coordinate that the convention does not have.
- empty: nothing but white space, or a thought (rule ``thought``).
- missing: no output at all (None).
"""


@dataclass(frozen=True)
class Read(Generic[Value]):
    """The result of reading one output.

    Attributes:
        value: the answer; None unless `status` is ``read``.
        status: see `Status`.
        rule: stable name of the rule that decided; listed at each reader.
    """

    value: Value | None
    status: Status
    rule: str


class Found(NamedTuple):
    """A place in an answer that gives a value."""

    value: Any
    start: int
    end: int
    rule: str


def opened(output: str | None) -> Answer | Read[Any]:
    """The answer in an output, or the result of reading an output that has none.

    Raises:
        TypeError: `output` is neither str nor None.
    """
    if output is None:
        return Read(None, "missing", "missing")
    if not isinstance(output, str):
        raise TypeError(f"output must be str or None, got {type(output).__name__}")
    answer = Answer.of(output)
    return answer if answer.text else Read(None, "empty", "thought" if answer.has_thought else "empty")


def decide(answer: Answer, found: Iterable[Found]) -> Read[Any] | None:
    """The common value of places of equal weight; None without a place.

    If they differ, the last counts where a correction stands before it ("No wait, the answer is C"; rule
    ``correction``). Else the answer is ambiguous (rule ``conflict``).
    """
    places = sorted(found, key=lambda place: place.start)
    if not places:
        return None
    last, rule = places[-1], places[-1].rule
    others = [place for place in places if place.value != last.value]
    if others:
        if not CORRECTION.search(answer.text, others[-1].end, last.start):
            return Read(None, "ambiguous", "conflict")
        rule = "correction"
    return Read(last.value, "read", rule)


def by_marks(
    output: str | None, read: Callable[[Answer], Read[Value]], own: Sequence[str] | None = None
) -> Read[Value]:
    """What `read` finds in the part of an answer that a mark singles out; in all of it where that says nothing.

    The last mark counts. Several objects of JSON, each with another answer, single out nothing. With `own`, texts of
    the prompt, `read` sees no quotations (`Answer.without_quotations`).
    """
    answer = opened(output)
    if isinstance(answer, Read):
        return answer

    def looked(answer: Answer) -> Read[Value]:
        return read(answer if own is None else answer.without_quotations(own))

    marks = list(_MARK.finditer(answer.text))
    kind = marks[-1].lastgroup if marks else None
    if kind is None or (kind == "json" and len({mark[kind] for mark in marks if mark[kind]}) > 1):
        return looked(answer)
    found = looked(answer.part(*marks[-1].span(kind)))
    return looked(answer) if found.status == "unreadable" else found
