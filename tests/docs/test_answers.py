"""docs/answers.md: its examples are read as it says."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from documents import ROOT

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.option import option
from figlang_tasks.answers.yes_no import yes_no

DOCUMENT = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")
READERS: dict[str, tuple[Any, dict[Any, str]]] = {
    "yes_no": (partial(yes_no, about="metaphors?"), {True: "yes", False: "no"}),
    "option": (partial(option, options=4), dict(enumerate("ABCD"))),
    "entailment": (entailment, {1: "entailment", 0: "contradiction"}),
}


def test_the_examples() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| (\w+) \| `([\w-]+)` \|$", DOCUMENT, re.MULTILINE)
    assert {row[0] for row in rows} == set(READERS)
    for name, output, value, rule in rows:
        reader, words = READERS[name]
        read = reader(output.replace("\\n", "\n"))
        assert (words.get(read.value, "nothing"), read.rule) == (value, rule), output
