"""A reader reads an output of the corpus in another way, or breaks what it promises of any text, if
this fails.

``NAME.jsonl`` holds the cases of one reader: what was asked, the `output`, the `value` and `status`
that a careful person reads, and the `origin`, a key of ``NAME.origins.yaml``: the model family or
prompt that such outputs come from, and where that can be seen. `reads` stands where our reader says
something else: its value and status.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.option import option
from figlang_tasks.answers.output import span
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Read
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.admire.parse import ranking, sequence
from figlang_tasks.benchmarks.flute.parse import CONTRADICT
from figlang_tasks.benchmarks.flute.parse import parse_official as flute
from figlang_tasks.benchmarks.irfl.tasks import FIGURATIVE, PLACES
from figlang_tasks.benchmarks.metaclue.boxes import parse_boxes
from figlang_tasks.benchmarks.metaclue.captions import parse_caption
from figlang_tasks.benchmarks.metaclue.judging import METAPHOR
from figlang_tasks.benchmarks.nykms.parse import first_answer
from figlang_tasks.benchmarks.nykms.parse import parse_official as nykms

Case = dict[str, Any]


def _yes_no(case: Case) -> Read[Any]:
    if case["about"] in ("metaphor", "sarcasm"):
        return first_answer(case["output"], case["about"])
    return yes_no(case["output"], FIGURATIVE if case["about"] == "figurative" else METAPHOR)


def _option(case: Case) -> Read[Any]:
    asked = case["options"]
    if isinstance(asked, int):
        found = option(case["output"], asked, letters=False)
        return _as(found, found.value is not None and found.value + 1)
    places = PLACES if asked == "grid" else ()
    found = option(
        case["output"], 4 if asked == "grid" else len(asked), pictures=True, places=places
    )
    return _as(found, found.value is not None and "ABCD"[found.value])


def _entailment(case: Case) -> Read[Any]:
    if case["prompt"] == "flute_v1":
        found = yes_no(case["output"], CONTRADICT)
        return _as(found, "contradiction" if found.value else "entailment")
    label = entailment(case["output"])
    return _as(
        label, label.value is not None and {1: "entailment", 0: "contradiction"}[label.value]
    )


def _caption(case: Case) -> Read[Any]:
    found = parse_caption(case["output"])
    said = found.value
    return _as(found, said and [said.primary, said.relationship, said.secondary])


def _boxes(case: Case) -> Read[Any]:
    found = parse_boxes(case["output"], case["convention"], 640, 480, role=case["role"])
    sides = ("primary", "secondary")
    boxes = found.value
    return _as(
        found,
        boxes
        and {
            side: [[round(at, 3) for at in box] for box in getattr(boxes, side)] for side in sides
        },
    )


def _admire(case: Case) -> Read[Any]:
    if case["prompt"] != "sequence":
        order = ranking(case["output"], 5)
        return _as(order, order.value and "".join("ABCDE"[place] for place in order.value))
    item, sense = sequence(case["output"], 4)
    decided = sense if item.status == "read" else item
    value = [None if item.value is None else "ABCD"[item.value], sense.value]
    return Read(value, decided.status, decided.rule)


def _flute(case: Case) -> Read[Any]:
    found = flute(case["output"], case["prompt"][-2:])
    assert found.explanation == case["explanation"]
    return _as(found, "entailment" if found.value else "contradiction")


def _as(found: Read[Any], value: Any) -> Read[Any]:
    """What was read, its value as the corpus writes it."""
    return Read(None if found.value is None else value, found.status, found.rule)


READERS: dict[str, Callable[[Case], Read[Any]]] = {
    "yes_no": _yes_no,
    "option": _option,
    "entailment": _entailment,
    "caption": _caption,
    "boxes": _boxes,
    "admire": _admire,
    "flute_official": _flute,
    "nykms": lambda case: nykms(case["output"], case["question"]),
}


@cache
def cases(name: str) -> tuple[Case, ...]:
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(map(json.loads, lines))


def read_as(name: str, case: Case) -> tuple[Any, str]:
    """Value and status by our reader."""
    found = READERS[name](case)
    return found.value, found.status


CASES = [(name, case) for name in READERS for case in cases(name)]
OUTPUTS = [case["output"] for _, case in CASES if case["output"]]


@pytest.mark.parametrize("name", READERS)
def test_each_output_is_read_as_a_careful_person_reads_it(name: str) -> None:
    wrong = {}
    for case in cases(name):
        read, expected = (
            read_as(name, case),
            tuple(case.get("reads", (case["value"], case["status"]))),
        )
        if read != expected:
            wrong[case["output"]] = read, expected
    assert not wrong


@pytest.mark.parametrize("name", READERS)
def test_what_is_read_otherwise_is_rare_and_nearly_never_a_value(name: str) -> None:
    known = [case for case in cases(name) if "reads" in case]
    assert all(tuple(case["reads"]) != (case["value"], case["status"]) for case in known)
    assert len(known) <= 0.08 * len(cases(name))
    assert sum(case["reads"][0] is not None for case in known) <= 1


LETTERS = re.compile(r"(?<![\w'])[BCD](?![\w'])")
OTHER_NAMES = re.compile(
    r"\d|first|second|third|fourth|last|top|bottom|[\uff21-\uff3a\u24b6-\u24cf]", re.I
)


def test_no_letter_is_preferred() -> None:
    """Where B, C and D change places in an output, they do in what is read."""
    other = dict(zip("BCD", "CDB", strict=True))
    asked = 0
    for case in cases("option"):
        if (
            case["options"] == "ABCD"
            and case["value"] in other
            and not OTHER_NAMES.search(case["output"])
        ):
            if "reads" not in case and LETTERS.search(case["output"]):
                asked += 1
                changed = LETTERS.sub(lambda letter: other[letter[0]], case["output"])
                assert read_as("option", {**case, "output": changed}) == (
                    other[case["value"]],
                    "read",
                ), changed
    assert asked > 50


# --- any text ---

PIECES = st.one_of(
    st.sampled_from(OUTPUTS),
    st.text(max_size=30),
    st.sampled_from(["<think>", "</think>", "\n", "not "]),
)
TEXTS = st.lists(PIECES, max_size=5).map("".join)


@given(TEXTS)
def test_an_answer_is_a_part_of_the_output(text: str) -> None:
    answer = Answer.of(text)
    assert len(answer.text) == len(answer.raw)
    raw, start, end = span(text)
    assert len(raw) == len(text) and answer.raw == raw[start:end].strip()
    # a thought is line ends
    assert all(sign in (own, "\n") for sign, own in zip(raw, text, strict=True))


@pytest.mark.parametrize("size", [40_000, 70_000, 200_000])
def test_of_a_long_answer_both_ends_are_read(size: int) -> None:
    filler = "word " * (size // 5)
    for output in (f"The answer is B. {filler}", f"{filler} The answer is B."):
        assert option(output, 4).value == 1


def test_a_thought_is_no_answer() -> None:
    for thought in (
        "<think>The answer is A.</think>",
        "The answer is A.</think>",
        "<think>The answer is A.",
    ):
        assert (option(thought, 4).status, option(thought, 4).rule) == ("empty", "thought")
        assert option(f"{thought}</think>B", 4).value == 1


@pytest.mark.parametrize("read", [yes_no, entailment, lambda output: option(output, 4)])
def test_what_is_no_output(read: object) -> None:
    assert callable(read)
    assert (read(None).status, read(" \n").rule) == ("missing", "empty")
    with pytest.raises(TypeError, match="got int"):
        read(3)
