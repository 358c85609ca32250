"""tools/mutants.py counts a fault as noticed that is not, or tries tests of other modules, if these
tests fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from documents import ROOT

TOOLS = ROOT / "tools"

TRIAL = """
import sys
from pathlib import Path
from trials import Checkout, Fault
checkout = Checkout(Path(sys.argv[1]), limit=60)
for line, changed in (("return a + b", "return a - b"), ("return a + b", "return b + a"), ("return a + b", "return 7")):
    source = (checkout.folder / "metrics/sums.py").read_text().replace(line, changed).encode()
    try:
        print(checkout.outcome(Fault("metrics/sums.py", line, changed, 2, source)))
    except RuntimeError as error:
        print(error)
"""  # noqa: E501


def run_with_tools(program: str, *arguments: object) -> list[str]:
    """The lines that a program prints which imports modules of tools/."""
    environment = os.environ | {"PYTHONPATH": str(TOOLS)}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "outcomes"),
    [
        ("assert sums.add(3, 4) == 7", ["killed", "survived", "survived"]),
        (
            "assert sums.add(0, 0) == 1",
            ["tests fail as it is: tests/metrics/test_sums.py::test_add"] * 3,
        ),
    ],
)
def test_outcomes(test: str, outcomes: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    (folder / "metrics").mkdir(parents=True)
    (folder / "metrics" / "__init__.py").touch()
    (folder / "metrics" / "sums.py").write_text("def add(a, b):\n    return a + b\n")
    (folder / "tests" / "metrics").mkdir(parents=True)
    (folder / "tests" / "metrics" / "test_sums.py").write_text(
        f"from metrics import sums\n\n\ndef test_add():\n    {test}\n"
    )
    assert run_with_tools(TRIAL, folder) == outcomes
    assert (folder / "metrics" / "sums.py").read_text() == "def add(a, b):\n    return a + b\n"


TESTS = """
import sys
from pathlib import Path
from trials import Checkout
checkout = Checkout(Path(sys.argv[1]), limit=60)
for file in sys.argv[2:]:
    print(*checkout.tests_of(file))
"""

TEST_OF = {
    "metrics/ranking.py": "tests/metrics/test_ranking.py",  # mirrors it
    "figlang_tasks/judge/sheet.py": "tests/judge/test_agree.py",  # imports it
    # From its package
    "metrics/explanation/scorers.py": "tests/metrics/explanation/test_bertscore.py",
    # Of a module that imports it
    "figlang_tasks/core/exemplars.py": "tests/benchmarks/vflute/test_rows.py",
    "figlang_tasks/benchmarks/nykms/parse.py": "tests/benchmarks/test_outputs.py",  # by its table
}


def test_the_tests_of_a_module() -> None:
    lines = run_with_tools(TESTS, ROOT, *TEST_OF)
    for line, test in zip(lines, TEST_OF.values(), strict=True):
        assert test in line.split()


FAULTS = """
import sys
from pathlib import Path
import mutants
mutants.FAULTS = Path(sys.argv[2])
faults, stale = mutants.read_faults(Path(sys.argv[1]), ["metrics"])
print(*[fault.source for fault in faults], *stale, sep="\\n")
"""


def test_a_fault_is_of_a_line_that_stands_there_once(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "a.py").write_text(
        "if one:\n    two = 3\nfour = 4\nif five:\n    four = 4\n"
    )
    entries: list[dict[str, Any]] = [
        {"file": "metrics/a.py", "line": "two = 3", "fault": "two = 2", "note": "too few"},
        {"file": "metrics/a.py", "line": "four = 4", "fault": "four = 5"},
        {"file": "metrics/a.py", "line": "six = 6", "fault": "six = 7"},
        {"file": "metrics/a.py", "line": "two = 3", "fault": "two = ("},
        {"file": "metrics/b.py", "line": "two = 3", "fault": "two = 2"},
        {"file": "figlang_tasks/c.py", "line": "not asked for", "fault": ""},
    ]
    (tmp_path / "faults.yaml").write_text(yaml.safe_dump(entries))
    source, *stale = run_with_tools(FAULTS, tmp_path, tmp_path / "faults.yaml")
    assert source == repr(b"if one:\n    two = 2\nfour = 4\nif five:\n    four = 4\n")
    starts = [
        (
            "faults.yaml: metrics/a.py: this line stands there 2 times, must stand there once:"
            " four = 4"
        ),
        "faults.yaml: metrics/a.py: this line stands there 0 times, must stand there once: six = 6",
        "faults.yaml: metrics/a.py: with its fault the file is no Python (",
        "faults.yaml: metrics/b.py: there is no such file any more: two = 3",
    ]
    assert len(stale) == len(starts)
    for message, start in zip(stale, starts, strict=True):
        assert message.startswith(start)
