"""`tools/mutants.py`: which changes it makes, and that it tells the ones that tests notice from the others."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import mutants
import pytest

SOURCE = """
import math

LIMIT: int = 3


def f(a: list[float], b: "int" = 1) -> object:
    if not a or len(a) <= b:
        return None
    if b == "é" and all(a):
        return math.fsum(a) + sorted(a, key=abs)[0]
    return f"{b + 1}"
"""
CHANGES = [
    ("", "LIMIT: int = 4"),
    ("f", 'def f(a: list[float], b: "int" = 2) -> object:'),
    ("f", "if a or len(a) <= b:"),
    ("f", "if not a and len(a) <= b:"),
    ("f", "if not a or len(a) < b:"),
    ("f", 'if b != "é" and all(a):'),
    ("f", "if b == 'éX' and all(a):"),
    ("f", 'if b == "é" or all(a):'),
    ("f", 'if b == "é" and any(a):'),
    ("f", "return None"),
    ("f", "return sum(a) + sorted(a, key=abs)[0]"),
    ("f", "return math.fsum(a) - sorted(a, key=abs)[0]"),
    ("f", "return math.fsum(a) + list(a)[0]"),
    ("f", "return math.fsum(a) + sorted(a, key=abs)[1]"),
    ("f", "return None"),
]


def test_the_changes() -> None:
    found = mutants.mutants("module.py", SOURCE.encode())
    assert sorted((m.function, m.after) for m in found) == sorted(CHANGES)
    for mutant in found:
        text = SOURCE.encode()[: mutant.start] + mutant.new + SOURCE.encode()[mutant.end :]
        assert text.decode().splitlines()[mutant.line - 1].strip() == mutant.after


def test_every_module_has_tests_beside_it() -> None:
    for file in mutants.modules(mutants.MODULES):
        for argument in mutants.tests_of(file):
            assert not argument.startswith("tests") or (mutants.ROOT / argument).exists(), (file, argument)


@pytest.mark.slow
def test_tests_that_pass_and_that_fail(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import time\n\n\ndef test_it():\n    time.sleep(0)\n")
    assert mutants.run_tests(tmp_path, ["test_it.py"], 600)[0] == "passed"
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert False\n")
    assert mutants.run_tests(tmp_path, ["test_it.py"], 600)[0] == "failed"
    (tmp_path / "test_it.py").write_text("import time\n\n\ndef test_it():\n    time.sleep(60)\n")
    assert mutants.run_tests(tmp_path, ["test_it.py"], 3)[0] == "too slow"


def test_the_copy_has_every_module(tmp_path: Path) -> None:
    mutants.copy(mutants.ROOT, tmp_path / "checkout")
    for file in mutants.modules(mutants.MODULES):
        assert (tmp_path / "checkout" / file).exists(), file
