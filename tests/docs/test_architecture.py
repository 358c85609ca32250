"""The rules of docs/architecture.md: imports go down, and nothing heavy is imported at import time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

ROOT = Path(__file__).resolve().parents[2]
HEAVY = "torch transformers datasets lmms_eval lm_eval matplotlib sklearn pandas accelerate"


def run(*command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


FORBIDDEN = [
    ("figlang_tasks/core/text.py", "figlang_tasks.report.page", "Imports go down"),
    ("figlang_tasks/results/runs.py", "figlang_tasks.harness.versions", "Imports go down"),
    ("figlang_tasks/benchmarks/irfl/rows.py", "figlang_tasks.benchmarks.nykms.rows", "No benchmark"),
    ("figlang_tasks/benchmarks/emblems.py", "figlang_tasks.benchmarks.flute.rows", "No benchmark"),
    ("figlang_tasks/core/hub.py", "lmms_eval", "harness/, models/"),
    ("metrics/ranking.py", "figlang_tasks.core.text", "metrics/ imports"),
]


def test_imports_that_the_rules_forbid_are_named(tmp_path: Path) -> None:
    for name in ("figlang_tasks", "metrics"):
        copytree(ROOT / name, tmp_path / name, ignore=ignore_patterns("data", "demo_model", "__pycache__"))
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    for file, imported, _ in FORBIDDEN:
        with (tmp_path / file).open("a", encoding="utf-8") as source:
            source.write(f"\nimport {imported}\n")
    done = run(str(Path(sys.executable).with_name("lint-imports")), "--no-cache", folder=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    told = done.stdout.partition("Broken contracts")[2]
    for file, imported, rule in FORBIDDEN:
        body = told.partition(f"\n{rule}")[2].partition("---\n")[2].partition("\n---")[0]
        assert re.search(rf"- +{file.removesuffix('.py').replace('/', '.')} -> {imported}\s", body), (file, told)


IMPORT_ALL = """
import importlib, sys
heavy = set(sys.argv[1].split())
for name in sys.argv[2:]:
    importlib.import_module(name)
    if found := heavy & set(sys.modules):
        sys.exit(f"importing {name} imports {sorted(found)}")
"""


def test_nothing_heavy_is_imported_at_import_time() -> None:
    """But by neural metrics, model classes and ``judge/``, which are imported when they are asked for."""
    files = [*(ROOT / "figlang_tasks").rglob("*.py"), *(ROOT / "metrics").glob("*.py")]
    found = (".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in sorted(files))
    names = [f"figlang_tasks.{name}" if name.startswith("metrics") else name for name in found]
    light = [name for name in names if not name.startswith(("figlang_tasks.models.", "figlang_tasks.judge."))]
    assert len(light) > 100
    done = run(sys.executable, "-c", IMPORT_ALL, HEAVY, *light)
    assert done.returncode == 0, done.stderr
