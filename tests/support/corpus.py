"""The corpus of model outputs: cases of all readers, each with its origin, and what our readers take them to be.

``NAME.jsonl`` holds the cases of one reader: what was asked, the `output`, the `value` and `status` that a careful
person reads, and the `origin`, a key of ``NAME.origins.yaml``: the model family or prompt that such outputs come from,
and where that can be seen. `reads` stands where our reader says something else: its value and status.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Read
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.admire.parse import ranking, sequence
from figlang_tasks.benchmarks.flute.parse import CONTRADICT
from figlang_tasks.benchmarks.flute.parse import parse_official as flute
from figlang_tasks.benchmarks.irfl.task import FIGURATIVE, PLACES
from figlang_tasks.benchmarks.metaclue.boxes import parse_boxes
from figlang_tasks.benchmarks.metaclue.captions import parse_caption
from figlang_tasks.benchmarks.metaclue.task import METAPHOR
from figlang_tasks.benchmarks.nykms.parse import first_answer
from figlang_tasks.benchmarks.nykms.parse import parse_official as nykms

FOLDER = Path(__file__).parents[1] / "answers"
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
    found = option(case["output"], 4 if asked == "grid" else len(asked), places=PLACES if asked == "grid" else ())
    return _as(found, found.value is not None and "ABCD"[found.value])


def _entailment(case: Case) -> Read[Any]:
    if case["prompt"] == "flute_v1":
        found = yes_no(case["output"], CONTRADICT)
        return _as(found, "contradiction" if found.value else "entailment")
    label = entailment(case["output"])
    return _as(label, label.value is not None and {1: "entailment", 0: "contradiction"}[label.value])


def _caption(case: Case) -> Read[Any]:
    found = parse_caption(case["output"])
    said = found.value
    return _as(found, said and [said.primary, said.relationship, said.secondary])


def _boxes(case: Case) -> Read[Any]:
    found = parse_boxes(case["output"], case["convention"], 640, 480, role=case["role"])
    sides = ("primary", "secondary")
    boxes = found.value
    return _as(
        found, boxes and {side: [[round(at, 3) for at in box] for box in getattr(boxes, side)] for side in sides}
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
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)


def read(name: str, case: Case) -> tuple[Any, str]:
    """Value and status by our reader."""
    found = READERS[name](case)
    return found.value, found.status


def expected(case: Case) -> tuple[Any, str]:
    value, status = case.get("reads", (case["value"], case["status"]))
    return value, status
