"""One result for all readers, and which part of an output, and which of several answers in it,
counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.words import CORRECTION

Value = TypeVar("Value")

_KEY = r"(?:answer|final_answer|label|verdict|choice|option|prediction|selection|selected)"
# A key of JSON, or of a Python dict, also of one that was cut off.
_JSON_VALUE = re.compile(
    rf"""["']{_KEY}["']\s{{0,3}}:\s{{0,3}}["']?(?P<value>[^"'\n{{}}]{{1,200}})""", re.I
)
_BOX = re.compile(r"\\f?box(?:ed)?\s?\{\s?(?:\\\w{4,8}\s?\{)?(?P<value>[^{}\n]{1,200})\}", re.I)

UnreadStatus: TypeAlias = Literal[
    "refused", "ambiguous", "unreadable", "out_of_range", "empty", "missing"
]
"""Outcomes of reading an output in which no answer was found; see `Status`."""

Status: TypeAlias = Literal["read", "scores", UnreadStatus, "no_scores"]
"""What became of an output: every status that a record may have. A reader finds a value if and only
if it is `read`.

- read: an answer was found.
- scores: the output is scores of a backend, which need no reading.
- refused: the model declines: it cannot tell, or finds that no option fits. Or its server refuses
  an answer.
- ambiguous: several answers, and nothing tells which one is meant.
- unreadable: words, but no answer in them.
- out_of_range: an option that was not offered, a coordinate that the convention does not have.
- empty: nothing but white space, or a thought (rule ``thought``).
- missing: no output at all (None).
- no_scores: words, where only scores count (IRFL's task of matching).
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


class Evidence(NamedTuple):
    """A place in an answer that gives a value."""

    value: Any
    start: int
    end: int
    rule: str


def find_answer(output: str | None) -> Answer | Read[Any]:
    """The answer in an output, or the result of reading an output that has none.

    Raises:
        TypeError: `output` is neither str nor None.
    """
    if output is None:
        return Read(None, "missing", "missing")
    if not isinstance(output, str):
        raise TypeError(f"output must be str or None, got {type(output).__name__}")
    answer = Answer.of(output)
    return (
        answer if answer.text else Read(None, "empty", "thought" if answer.has_thought else "empty")
    )


def decide(answer: Answer, evidence: Iterable[Evidence]) -> Read[Any] | None:
    """The common value of evidence of equal weight; None where there is none.

    If the values differ, the last counts where a correction stands before it ("No wait, the answer
    is C"; rule ``correction``). Else the answer is ambiguous (rule ``conflict``).
    """
    in_order = sorted(evidence, key=lambda place: place.start)
    if not in_order:
        return None
    last = in_order[-1]
    different = [place for place in in_order if place.value != last.value]
    if not different:
        return Read(last.value, "read", last.rule)
    if CORRECTION.search(answer.text, different[-1].end, last.start):
        return Read(last.value, "read", "correction")
    return Read(None, "ambiguous", "conflict")


def read_marked_parts(
    output: str | None,
    read: Callable[[Answer], Read[Value]],
    prompt_texts: Sequence[str] | None = None,
    *,
    boxes: bool = True,
) -> Read[Value]:
    """What `read` finds in the parts of an answer that marks single out; in all of it where those
    say nothing.

    Marks are keys of JSON such as ``"answer"``, and LaTeX's boxes. Marked parts with different
    values are ambiguous (rule ``conflict``).

    Args:
        output: the model's output; None if there is none.
        read: reads an answer or a part of it.
        prompt_texts: texts of the prompt; with them `read` sees no quotations
            (`Answer.without_quotations`).
        boxes: whether boxes are marks; False if `read` knows them.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):
        return answer

    def read_part(part: Answer) -> Read[Value]:
        return read(part if prompt_texts is None else part.without_quotations(prompt_texts))

    for mark in (_JSON_VALUE, _BOX) if boxes else (_JSON_VALUE,):
        parts = [answer.part(*match.span("value")) for match in mark.finditer(answer.text)]
        # A model in a loop writes the same part again and again.
        reading_by_part = {part: read_part(part) for part in dict.fromkeys(parts)}
        readings = [reading_by_part[part] for part in parts]
        readings = [reading for reading in readings if reading.status != "unreadable"]
        if len({reading.value for reading in readings if reading.status == "read"}) > 1:
            return Read(None, "ambiguous", "conflict")
        if readings:
            return readings[-1]
    return read_part(answer)
