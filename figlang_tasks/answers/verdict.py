"""The result of all readers, and which of several answers in an output counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.words import CORRECTION

Value = TypeVar("Value")
"""What a reader reads: bool for yes or no, the 0-based option, a label."""

_KEY = r"(?:answer|final_answer|label|verdict|choice|option|prediction|selection|selected)"
# '"answer": "B"', also of a Python dict, or of one that was cut off
_JSON_VALUE = re.compile(
    rf"""["']{_KEY}["']\s{{0,3}}:\s{{0,3}}["']?(?P<value>[^"'\n{{}}]{{1,200}})""", re.I
)
# "\boxed{yes}", "\boxed{\text{yes}}"
_BOX = re.compile(r"\\f?box(?:ed)?\s?\{\s?(?:\\\w{4,8}\s?\{)?(?P<value>[^{}\n]{1,200})\}", re.I)

UnreadStatus: TypeAlias = Literal[
    "refused", "ambiguous", "unreadable", "out_of_range", "empty", "missing"
]
"""Outcomes of reading an output in which no answer was found; see `Status`."""

Status: TypeAlias = Literal["read", "scores", UnreadStatus, "no_scores"]
"""What became of an output. A reader has a value if and only if its status is `read`.

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
        rule: stable name of the rule that decided, such as ``announced`` or ``conflict``; each
            reader lists its own.
    """

    value: Value | None
    status: Status
    rule: str


class Evidence(NamedTuple):
    """A stretch of an answer that gives a value: in "I pick B." the "B", for the option 1.

    Attributes:
        value: an option, a label, yes or no; its type depends on the reader. None where a reader
            of yes or no found both ("yes and no").
        start: where it begins.
        end: where it ends.
        rule: the rule that found it.
    """

    value: Any
    start: int
    end: int
    rule: str


def find_answer(output: str | None) -> Answer | Read[Any]:
    """The answer in an output; a `Read` without a value if the output has no answer.

    Raises:
        TypeError: `output` is neither str nor None.
    """
    if output is None:
        return Read(None, "missing", "missing")
    if not isinstance(output, str):
        raise TypeError(f"output must be str or None, got {type(output).__name__}")
    answer = Answer.of(output)
    if answer.text:
        return answer
    return Read(None, "empty", "thought" if answer.has_thought else "empty")


def _start(evidence: Evidence) -> int:
    """Where a piece of evidence begins."""
    return evidence.start


def decide(answer: Answer, evidence: Iterable[Evidence]) -> Read[Any] | None:
    """The reading on which pieces of evidence of equal weight agree; None without evidence.

    If all values are equal, the rule is that of the last piece. If they differ, the last counts
    where a correction stands between it and the last piece with another value ("B. No wait, C.";
    rule ``correction``). Else the answer is ambiguous (rule ``conflict``).

    Args:
        answer: the answer that the evidence is of.
        evidence: the pieces, in any order. The rule of the last one is that of the reading.
    """
    evidence_in_order = sorted(evidence, key=_start)
    if not evidence_in_order:
        return None
    last = evidence_in_order[-1]
    contrary = [piece for piece in evidence_in_order if piece.value != last.value]
    if not contrary:
        return Read(last.value, "read", last.rule)
    if CORRECTION.search(answer.text, contrary[-1].end, last.start):
        return Read(last.value, "read", "correction")
    return Read(None, "ambiguous", "conflict")


def read_marked_parts(
    output: str | None,
    read: Callable[[Answer], Read[Value]],
    prompt_texts: Sequence[str] | None = None,
    *,
    boxes: bool = True,
) -> Read[Value]:
    """What `read` finds in the marked parts of an answer, or in all of it if they say nothing.

    A marked part is the value of a key of JSON, "yes" in '{"answer": "yes"}', or what a box of
    LaTeX holds, "yes" in ``\\boxed{yes}``. The last one counts whose status is not ``unreadable``,
    and JSON before boxes. Marked parts with different values are ambiguous (rule ``conflict``).

    Args:
        output: the model's output; None if there is none.
        read: reads an answer or a part of it.
        prompt_texts: texts of the prompt. With them, also with an empty list, `read` sees no
            quotations (`Answer.without_quotations`); with None it sees all of them.
        boxes: whether boxes mark parts; False if `read` knows boxes itself.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):  # It is empty or missing.
        return answer

    def read_part(part: Answer) -> Read[Value]:
        """What `read` finds in a part, without quotations if the texts of the prompt are known."""
        if prompt_texts is not None:
            part = part.without_quotations(prompt_texts)
        return read(part)

    # Most answers have nothing that a marked part begins with.
    patterns: list[re.Pattern[str]] = []
    if '"' in answer.text or "'" in answer.text:
        patterns.append(_JSON_VALUE)
    if boxes and "\\" in answer.text:
        patterns.append(_BOX)
    for pattern in patterns:
        parts = [answer.part(*match.span("value")) for match in pattern.finditer(answer.text)]
        # Each part is read once: a model in a loop writes the same part again and again.
        reading_by_part = {part: read_part(part) for part in dict.fromkeys(parts)}
        readings: list[Read[Value]] = []
        for part in parts:
            reading = reading_by_part[part]
            if reading.status != "unreadable":
                readings.append(reading)
        if len({reading.value for reading in readings if reading.status == "read"}) > 1:
            return Read(None, "ambiguous", "conflict")
        if readings:
            return readings[-1]
    return read_part(answer)
