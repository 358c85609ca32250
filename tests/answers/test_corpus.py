"""A reader reads an output of the corpus differently, or breaks a promise, if this fails.

``NAME.jsonl`` holds the cases of one reader: what was asked, the `output`, the `value` and `status`
that a careful person reads, and the `origin`, a key of ``NAME.origins.yaml``: the model family or
prompt that such outputs come from, and where that can be seen. `reads` stands where our reader says
something else: its value and status.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.option import option
from figlang_tasks.answers.output import answer_span
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


# A case and the values that readers give have the form that the reader's corpus gives them.
Value = Any


def _yes_no(case: Case) -> Read[Value]:
    if case["about"] in ("metaphor", "sarcasm"):
        return first_answer(case["output"], case["about"])
    return yes_no(case["output"], FIGURATIVE if case["about"] == "figurative" else METAPHOR)


def _option(case: Case) -> Read[Value]:
    options = case["options"]
    if isinstance(options, int):
        reading = option(case["output"], options, letters=False)
        return _with_value(reading, lambda number: number + 1)
    places = PLACES if options == "grid" else ()
    count = 4 if options == "grid" else len(options)
    reading = option(case["output"], count, pictures=True, places=places)
    return _with_value(reading, "ABCD".__getitem__)


def _entailment(case: Case) -> Read[Value]:
    if case["prompt"] == "flute_v1":
        contradicts = yes_no(case["output"], CONTRADICT)
        return _with_value(contradicts, {True: "contradiction", False: "entailment"}.get)
    return _with_value(entailment(case["output"]), {1: "entailment", 0: "contradiction"}.get)


def _caption(case: Case) -> Read[Value]:
    return _with_value(
        parse_caption(case["output"]),
        lambda caption: [caption.primary, caption.relationship, caption.secondary],
    )


def _boxes(case: Case) -> Read[Value]:
    reading = parse_boxes(case["output"], case["convention"], 640, 480, role=case["role"])
    return _with_value(
        reading,
        lambda boxes: {"primary": _rounded(boxes.primary), "secondary": _rounded(boxes.secondary)},
    )


def _rounded(boxes: Iterable[Iterable[float]]) -> list[list[float]]:
    return [[round(coordinate, 3) for coordinate in box] for box in boxes]


def _admire(case: Case) -> Read[Value]:
    if case["prompt"] != "sequence":
        order = ranking(case["output"], 5)
        return _with_value(order, lambda pictures: "".join("ABCDE"[number] for number in pictures))
    item, sense = sequence(case["output"], 4)
    deciding = sense if item.status == "read" else item
    letter = None if item.value is None else "ABCD"[item.value]
    return Read([letter, sense.value], deciding.status, deciding.rule)


def _flute(case: Case) -> Read[Value]:
    reading = flute(case["output"], case["prompt"][-2:])
    assert reading.explanation == case["explanation"]
    value = None
    if reading.value is not None:
        value = "entailment" if reading.value else "contradiction"
    return Read(value, reading.status, reading.rule)


def _nykms(case: Case) -> Read[Value]:
    return nykms(case["output"], case["question"])


def _with_value(reading: Read[Value], in_corpus: Callable[[Value], Value]) -> Read[Value]:
    """A reading, its value as the corpus writes it; None stays None."""
    value = None if reading.value is None else in_corpus(reading.value)
    return Read(value, reading.status, reading.rule)


READERS: dict[str, Callable[[Case], Read[Value]]] = {
    "yes_no": _yes_no,
    "option": _option,
    "entailment": _entailment,
    "caption": _caption,
    "boxes": _boxes,
    "admire": _admire,
    "flute_official": _flute,
    "nykms": _nykms,
}


@cache
def cases(name: str) -> tuple[Case, ...]:
    """The cases of a reader in its corpus."""
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(map(json.loads, lines))


def value_and_status(name: str, case: Case) -> tuple[Value, str]:
    """Value and status by our reader."""
    reading = READERS[name](case)
    return reading.value, reading.status


OUTPUTS = []
for reader in READERS:
    OUTPUTS += [case["output"] for case in cases(reader) if case["output"]]


@pytest.mark.parametrize("name", READERS)
def test_each_output_is_read_as_a_careful_person_reads_it(name: str) -> None:
    wrong_readings = {}
    for case in cases(name):
        reading = value_and_status(name, case)
        expected = tuple(case.get("reads", (case["value"], case["status"])))
        if reading != expected:
            wrong_readings[case["output"]] = reading, expected
    assert not wrong_readings


@pytest.mark.parametrize("name", READERS)
def test_what_is_read_otherwise_is_rare_and_nearly_never_a_value(name: str) -> None:
    exceptions = [case for case in cases(name) if "reads" in case]
    assert all(tuple(case["reads"]) != (case["value"], case["status"]) for case in exceptions)
    assert len(exceptions) <= 0.08 * len(cases(name))
    assert sum(case["reads"][0] is not None for case in exceptions) <= 1


LETTERS = re.compile(r"(?<![\w'])[BCD](?![\w'])")
OTHER_NAMES = re.compile(
    r"\d|first|second|third|fourth|last|top|bottom|[\uff21-\uff3a\u24b6-\u24cf]", re.I
)


def test_no_letter_is_preferred() -> None:
    """Where B, C and D change places in an output, they do in what is read."""
    other_letter = dict(zip("BCD", "CDB", strict=True))
    n_cases = 0
    for case in cases("option"):
        output = case["output"]
        has_letter_as_value = case["options"] == "ABCD" and case["value"] in other_letter
        if not has_letter_as_value or OTHER_NAMES.search(output):
            continue
        if "reads" in case or not LETTERS.search(output):
            continue
        n_cases += 1
        changed_output = LETTERS.sub(lambda letter: other_letter[letter[0]], output)
        reading = value_and_status("option", {**case, "output": changed_output})
        assert reading == (other_letter[case["value"]], "read"), changed_output
    assert n_cases > 50


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
    raw, start, end = answer_span(text)
    assert len(raw) == len(text)
    assert answer.raw == raw[start:end].strip()
    # Line ends stand in place of a thought.
    for character, original in zip(raw, text, strict=True):
        assert character in (original, "\n")


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
        reading = option(thought, 4)
        assert (reading.status, reading.rule) == ("empty", "thought")
        assert option(f"{thought}</think>B", 4).value == 1


def read_option(output: str | None) -> Read[int]:
    return option(output, 4)


@pytest.mark.parametrize("read", [yes_no, entailment, read_option])
def test_what_is_no_output(read: Callable[..., Read[Value]]) -> None:
    assert (read(None).status, read(" \n").rule) == ("missing", "empty")
    with pytest.raises(TypeError, match="got int"):
        read(3)
