"""An example in a docstring is wrong, or a pure metric imports torch, if this fails.

The examples of generated images and explanation scores, which need torch, run in
tests/test_public.py.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

METRICS = Path(__file__).resolve().parents[2] / "metrics"
WITH_TORCH = {"generated_images"}
RUN_EXAMPLES = """
import doctest, importlib, sys
attempted = 0
for name in sys.argv[1:]:
    module = importlib.import_module(f"figlang_tasks.metrics.{name}")
    results = doctest.testmod(module)
    attempted += results.attempted
    if results.failed:
        sys.exit(f"examples of {name} fail")
    if "torch" in sys.modules:
        sys.exit(f"{name} imports torch")
print(attempted)
"""


def test_examples_of_pure_metrics_run_without_torch() -> None:
    modules = sorted(path.stem for path in METRICS.glob("*.py"))
    pure_modules = [name for name in modules if name not in WITH_TORCH and name != "__init__"]
    process = subprocess.run(
        [sys.executable, "-c", RUN_EXAMPLES, *pure_modules],
        cwd=METRICS.parent,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    examples_run = int(process.stdout)
    assert examples_run > 60
