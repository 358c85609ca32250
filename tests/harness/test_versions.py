"""Other versions of the harnesses: one that is not declared is named, and our patch of lmms-eval does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer.testing
import warm

from figlang_tasks.cli.figlang import app
from figlang_tasks.cli.tasks import folder
from figlang_tasks.harness import versions

ROOT = Path(__file__).parents[2]
PATCH = ROOT / "docs" / "upstream" / "lmms_eval_task_entry_points.patch"


def source(file: str) -> Path:
    """The folder of the package that a file is of."""
    spec = find_spec(Path(file).parts[0])
    assert spec and spec.origin
    return Path(spec.origin).parent


# --- what we ask of lmms-eval ----------------------------------------------------------------------------------------

OUR_TASKS_WITHOUT_OUR_HOOK = """
import runpy, sys

from lmms_eval.tasks import TaskManager

from figlang_tasks.harness.task_index import tasks_dir

found = TaskManager().task_index
ours = TaskManager(include_defaults=False, include_path=str(tasks_dir())).task_index
assert {"vflute", "irfl_match", "figlang_mini"} <= set(ours) and set(ours) < set(found)
assert {name: found[name] for name in ours} == ours
assert "figlang_tasks.harness.plugin" not in sys.modules
runpy.run_path("test/eval/test_task_entry_points.py", run_name="__main__")
"""


@pytest.mark.slow
def test_with_our_patch_lmms_eval_finds_our_tasks_without_our_hook(tmp_path: Path) -> None:
    """The patch for lmms-eval, on a copy of the installed version; then the unit tests that it brings.

    Without our hook all its task files take ten seconds each time: some are enough.
    """

    def left_out(folder: str, names: list[str]) -> set[str]:
        of_other_tasks = [name for name in names if Path(folder, name).is_dir() and not name.startswith(("_", "mm"))]
        return {"__pycache__", *(of_other_tasks if folder == str(source("lmms_eval") / "tasks") else [])}

    shutil.copytree(source("lmms_eval"), tmp_path / "lmms_eval", ignore=left_out)
    applied = subprocess.run(["git", "apply", str(PATCH)], cwd=tmp_path, capture_output=True, text=True)
    assert applied.returncode == 0, (
        f"{PATCH.name} does not apply to lmms-eval {metadata.version('lmms-eval')}: make it anew from that version; "
        "if it has the entry points lmms_eval.tasks by now, use them in place of task_index.initialize_tasks\n"
        f"{applied.stderr}"
    )
    info = tmp_path / "figlang_entry_point-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: figlang-entry-point\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lmms_eval.tasks]\nours = figlang_tasks.harness.task_index:tasks_dir\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-c", OUR_TASKS_WITHOUT_OUR_HOOK]
    done = warm.run(command, cwd=tmp_path, env=environment, harness=False)
    assert done.returncode == 0 and "Ran 4 tests" in done.stderr, done.stderr[-2000:]


# --- other versions at run time --------------------------------------------------------------------------------------


def installed(site: Path, name: str, number: str) -> Path:
    """A folder whose metadata say that a harness is there in some version, and figlang_tasks as it is declared."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.findall(r'^  "(lm(?:ms)?-eval[^"]*)",', project, re.MULTILINE)
    assert len(declared) == 2
    ours = "".join(f"Requires-Dist: {each}\n" for each in declared)
    for package, version, more in ((name, number, ""), ("figlang-tasks", "0.1.0", ours)):
        info = site / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n{more}")
    return site


@pytest.mark.parametrize(
    ("name", "number", "known"),
    [
        *(("lmms-eval", number, True) for number in ("0.7.3", "0.7.9")),
        *(("lmms-eval", number, False) for number in ("0.7.2", "0.8.0", "0.8.0rc1")),
        *(("lm-eval", number, True) for number in ("0.4.13", "0.4.20")),
        *(("lm-eval", number, False) for number in ("0.4.12", "0.5.0.dev1", "0.5.0")),
    ],
)
def test_a_version_that_is_not_declared_is_named_with_what_to_do(
    name: str, number: str, known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(installed(tmp_path, name, number)))
    message = versions.unknown_harness(name)
    # What `lm_eval --include_path "$(figlang tasks --path lm_eval)"` shows before lm-eval fails.
    harness: Any = name.replace("-", "_")
    asked = typer.testing.CliRunner().invoke(app, ["tasks", "--path", harness])
    assert asked.exit_code == 0 and asked.stdout == f"{folder(harness)}\n"
    if known:
        assert message is None and asked.stderr == ""
    else:
        assert message and f"and {number} is installed" in message
        assert "make upstream" in message and f"pip install '{name}" in message
        assert message in asked.stderr
