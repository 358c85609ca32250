"""docs/answers.md: its table is what the script prints, and its examples are read as it says."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any, get_args

import pytest
from answers import corpus
from docs.documents import ROOT

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Status
from figlang_tasks.answers.yes_no import yes_no

DOCUMENT = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")
READERS: dict[str, tuple[Any, dict[Any, str]]] = {
    "yes_no": (partial(yes_no, about="metaphors?"), {True: "yes", False: "no"}),
    "option": (partial(option, options=4), dict(enumerate("ABCD"))),
    "entailment": (entailment, {1: "entailment", 0: "contradiction"}),
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("answers_beside_peers", ROOT / "benchmarks" / "answers.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_table_is_what_the_script_prints(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    script.main([])
    assert capsys.readouterr().out in DOCUMENT


@pytest.mark.slow
def test_each_case_counts_once(script: ModuleType) -> None:
    for row in list(script.rows())[1:]:
        cases, *numbers = map(int, row[1:])
        assert sum(numbers[:3]) == sum(numbers[3:]) == cases
    assert sum(len(kind.cases) for kind in script.kinds()) == sum(
        len(corpus.cases(name)) for name in ("yes_no", "option", "entailment")
    )


@pytest.mark.parametrize(
    ("value", "read", "expected"),
    [
        (True, True, (1, 0, 0)),
        (None, None, (1, 0, 0)),
        (True, False, (0, 1, 0)),
        (None, False, (0, 1, 0)),
        (False, None, (0, 0, 1)),
    ],
)
def test_counts(script: ModuleType, value: object, read: object, expected: Sequence[int]) -> None:
    assert script.counts([{"value": value}], [read]) == expected


@pytest.mark.slow
def test_peers_read_what_they_are_made_for(script: ModuleType) -> None:
    """Else the table would be of settings that do not fit the cases."""
    good: list[list[dict[str, Any]]] = [
        [{"output": "Yes", "value": True}, {"output": "No.", "value": False}],
        [{"output": "The answer is (C).", "value": "C", "options": "ABCD"}],
        [],
        [{"output": "Contradiction.", "value": "contradiction", "prompt": "vflute"}],
    ]
    for kind, cases in zip(script.kinds(), good, strict=True):
        for name, read in list(kind.readers.items())[1:]:
            assert read(cases) == [case["value"] for case in cases], name


def test_the_examples() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| (\w+) \| `([\w-]+)` \|$", DOCUMENT, re.MULTILINE)
    assert {row[0] for row in rows} == set(READERS)
    for name, output, value, rule in rows:
        reader, words = READERS[name]
        read = reader(output.replace("\\n", "\n"))
        assert (words.get(read.value, "nothing"), read.rule) == (value, rule), output


def test_every_status_is_explained() -> None:
    (explained,) = re.findall(r"^\| status \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", DOCUMENT, re.MULTILINE)
    assert tuple(re.findall(r"^\| `(\w+)`", explained, re.MULTILINE)) == get_args(Status)
