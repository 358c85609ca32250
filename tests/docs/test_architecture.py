"""docs/architecture.md: importing does no work (`make lint` checks who imports whom)."""

from __future__ import annotations

import subprocess
import sys

from documents import ROOT

HEAVY = "torch transformers datasets lmms_eval lm_eval matplotlib sklearn pandas accelerate"
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
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL, HEAVY, *light], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
