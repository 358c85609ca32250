"""tests/faults.md names tests that exist, all that are here, and as many faults as it says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = (ROOT / "tests" / "faults.md").read_text(encoding="utf-8")
FAULTS = [line for line in LIST.splitlines() if line.startswith("| ") and not line.startswith("| fault |")]
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?", "\n".join(FAULTS))


def defined_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_test_that_is_named_exists() -> None:
    for file, name in NAMED:
        assert (ROOT / file).is_file(), file
        assert not name or name in defined_in(ROOT / file), (file, name)


def test_every_fault_names_a_test_of_its_own_and_the_count_is_right() -> None:
    assert all("`tests/" in line for line in FAULTS)
    assert f"\n{len(FAULTS)} faults, each injected for real by a test" in LIST
    assert f"{len(FAULTS)} faults (`tests/faults.md`)" in (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")


def test_every_file_here_is_named() -> None:
    here = {path.relative_to(ROOT).as_posix() for path in Path(__file__).parent.glob("test_*.py")}
    assert here - {file for file, _ in NAMED} == {"tests/faults/test_list.py"}
