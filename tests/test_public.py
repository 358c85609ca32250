"""What the package offers to Python: its names, quick to import, each with a docstring whose example runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
import sys

import pytest

import figlang_tasks

MODULES = (
    "figlang_tasks",
    "figlang_tasks.results.frame",
    "figlang_tasks.metrics.entailment",
    "figlang_tasks.metrics.classification",
    "figlang_tasks.metrics.ranking",
    "figlang_tasks.metrics.overlap",
    "figlang_tasks.metrics.captions",
    "figlang_tasks.metrics.boxes",
    "figlang_tasks.metrics.agreement",
    "figlang_tasks.metrics.intervals",
    "figlang_tasks.metrics.significance",
    "figlang_tasks.metrics.explanation.scorers",
)
HEAVY = ("numpy", "pandas", "torch", "transformers", "datasets", "lmms_eval", "matplotlib")


def test_dir_shows_what_is_public_and_all_of_it_is_there() -> None:
    assert dir(figlang_tasks) == sorted(figlang_tasks.__all__)
    for name in dir(figlang_tasks):
        assert getattr(figlang_tasks, name) is not None
    with pytest.raises(AttributeError, match="module 'figlang_tasks' has no attribute 'tabel'"):
        figlang_tasks.tabel  # noqa: B018


def test_the_import_is_quick() -> None:
    program = f"import figlang_tasks, sys; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


def test_public_functions_have_an_example() -> None:
    for name in figlang_tasks.__all__:
        each = getattr(figlang_tasks, name)
        if inspect.isfunction(each):
            assert "Examples:" in (each.__doc__ or ""), name
