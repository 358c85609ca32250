"""What the package offers to Python: its names, quick to import, each with a docstring whose
example runs.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import figlang_tasks
from figlang_tasks import metrics

METRICS = [f"figlang_tasks.metrics.{name}" for name in metrics.__all__]
MODULES = [
    "figlang_tasks",
    "figlang_tasks.results.frame",
    "figlang_tasks.metrics.explanation.scorers",
    *METRICS,
]
ROOT = Path(__file__).resolve().parents[1]
HEAVY = "torch transformers datasets lmms_eval lm_eval matplotlib sklearn pandas accelerate"
IMPORT_ALL = """
import importlib, sys
import figlang_tasks
heavy = set(sys.argv[1].split())
if found := (heavy | {"numpy"}) & set(sys.modules):
    sys.exit(f"importing figlang_tasks imports {sorted(found)}")
for name in sys.argv[2:]:
    importlib.import_module(name)
    if found := heavy & set(sys.modules):
        sys.exit(f"importing {name} imports {sorted(found)}")
"""


def test_dir_shows_what_is_public_and_all_of_it_is_there() -> None:
    assert dir(figlang_tasks) == sorted(figlang_tasks.__all__)
    for name in dir(figlang_tasks):
        assert getattr(figlang_tasks, name) is not None
    with pytest.raises(AttributeError, match="module 'figlang_tasks' has no attribute 'tabel'"):
        figlang_tasks.tabel  # noqa: B018


def test_nothing_heavy_is_imported_at_import_time() -> None:
    """But by neural metrics, ``judge/`` and classes of the harness's kinds, which are imported when
    asked for.
    """
    files = [*(ROOT / "figlang_tasks").rglob("*.py"), *(ROOT / "metrics").glob("*.py")]
    found = (
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in sorted(files)
    )
    names = [f"figlang_tasks.{name}" if name.startswith("metrics") else name for name in found]
    heavy = (
        "figlang_tasks.models.",
        "figlang_tasks.judge.",
        "figlang_tasks.harness.saving",
        "figlang_tasks.harness.lm_eval_scorer",
    )
    light = [name for name in names if not name.startswith(heavy)]
    assert len(light) > 100
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, HEAVY, *light], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


LIGHT_COMMANDS = {
    # command -> what it must not import
    "--help": "loguru pydantic yaml numpy jinja2 PIL huggingface_hub asyncio",
    "tasks": "numpy jinja2 PIL huggingface_hub",
}
RUN_COMMAND = """
import contextlib, io, sys
_, command, *unwanted = sys.argv
sys.argv = ["figlang", command]
from figlang_tasks.cli.figlang import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
benchmarks = [name for name in sys.modules if name.startswith("figlang_tasks.benchmarks.")]
if command == "--help" and benchmarks:
    sys.exit(f"figlang --help imports {benchmarks}")
parts = {name.rpartition(".")[2] for name in benchmarks if name.count(".") == 3}
if imported := (parts - {"benchmark", "counts", "configurations"}) | (set(unwanted) & set(sys.modules)):
    sys.exit(f"figlang {command} imports {sorted(imported)}")
"""  # noqa: E501


@pytest.mark.parametrize("command", LIGHT_COMMANDS)
def test_a_list_imports_little(command: str) -> None:
    """`figlang --help` imports no command and no benchmark; `figlang tasks` only what each
    benchmark declares.
    """
    unwanted = f"{HEAVY} {LIGHT_COMMANDS[command]}".split()
    arguments = [sys.executable, "-c", RUN_COMMAND, command, *unwanted]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_metric_has_an_example() -> None:
    for name in METRICS:
        module = importlib.import_module(name)
        functions = [
            found for each in module.__all__ if inspect.isfunction(found := getattr(module, each))
        ]
        assert functions and all(">>>" in str(function.__doc__) for function in functions), name
