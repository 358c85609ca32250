"""The rules of docs/architecture.md: imports go down, nothing heavy at import time, the hooks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
HEAVY = "torch transformers datasets lmms_eval lm_eval matplotlib sklearn pandas accelerate"


def run(*command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    for name in ("figlang_tasks", "metrics"):
        copytree(ROOT / name, folder / name, ignore=ignore_patterns("data", "demo_model", "__pycache__"))
    (folder / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    return folder


@pytest.mark.parametrize(
    ("file", "line", "broken"),
    [
        ("figlang_tasks/core/text.py", "from figlang_tasks.report import page", "Imports go down"),
        ("figlang_tasks/results/runs.py", "from figlang_tasks.harness import versions", "Imports go down"),
        ("figlang_tasks/benchmarks/irfl/rows.py", "import figlang_tasks.benchmarks.nykms.rows", "No benchmark"),
        ("figlang_tasks/benchmarks/emblems.py", "import figlang_tasks.benchmarks.flute.rows", "No benchmark"),
        ("figlang_tasks/core/hub.py", "import lmms_eval.utils", "harness/, models/"),
        ("metrics/ranking.py", "from figlang_tasks.core import text", "metrics/ imports"),
    ],
)
def test_an_import_that_the_rule_forbids_is_named(file: str, line: str, broken: str, copy: Path) -> None:
    path = copy / file
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.write_text(f"{before or ''}\n{line}\n", encoding="utf-8")
    try:
        done = run(str(Path(sys.executable).with_name("lint-imports")), "--no-cache", folder=copy)
    finally:
        path.unlink() if before is None else path.write_text(before, encoding="utf-8")
    assert done.returncode == 1, done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith(broken) and " BROKEN" in line], done.stdout


IMPORT_ALL = """
import importlib, sys
heavy = set(sys.argv[1].split())
for name in sys.argv[2:]:
    importlib.import_module(name)
    if found := heavy & set(sys.modules):
        sys.exit(f"importing {name} imports {sorted(found)}")
"""


def test_nothing_heavy_is_imported_at_import_time() -> None:
    """But by the metrics that are neural networks, and by model classes, which are imported when they are asked for."""
    files = [*(ROOT / "figlang_tasks").rglob("*.py"), *(ROOT / "metrics").glob("*.py")]
    found = (".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in sorted(files))
    names = [f"figlang_tasks.{name}" if name.startswith("metrics") else name for name in found]
    light = [name for name in names if not name.startswith("figlang_tasks.models.")]
    assert len(light) > 100
    done = run(sys.executable, "-c", IMPORT_ALL, HEAVY, *light)
    assert done.returncode == 0, done.stderr


def test_the_hooks_are_those_that_the_plugin_puts_in_place() -> None:
    source = (ROOT / "figlang_tasks" / "harness" / "plugin.py").read_text(encoding="utf-8")
    in_place = set(re.findall(r'_wrap\([\w.]+, "(\w+)"', source)) - {"positional_deprecated"}
    table = DOCUMENT[DOCUMENT.index("| of the harness | why |") :].partition("\n\n")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert in_place == {name.rpartition(".")[2] for cell in first_cells for name in re.findall(r"`([\w.]+)`", cell)}


def test_the_ways_of_a_row_have_as_many_files_as_the_document_says() -> None:
    head, _, *lines = DOCUMENT[DOCUMENT.index("| | a row of") :].partition("\n\n")[0].splitlines()
    counts = [sum(line.split("|")[column].count("`") for line in lines) // 2 for column in (2, 3)]
    assert re.findall(r"(\d+) files", head) == [str(count) for count in counts]
