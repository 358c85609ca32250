"""Missing data and a wrong model end every command with one message and status 1 (also: test_plugin.py)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import warm

from figlang_tasks import resource_dir

TORCHRUN = ["torchrun", "--standalone", "--nproc_per_node", "1", "-m"]
PROGRAMS = [
    pytest.param(["lmms_eval"], marks=pytest.mark.slow, id="lmms_eval"),
    pytest.param([*TORCHRUN, "lmms_eval"], marks=pytest.mark.long, id="torchrun"),
]
# Reading the task files of lm-eval alone takes ten seconds.
LM_EVAL = """
import functools
import lm_eval.tasks
lm_eval.tasks.TaskManager = functools.partial(lm_eval.tasks.TaskManager, include_defaults=False)
from lm_eval.__main__ import cli_evaluate
cli_evaluate()
"""
NO_DATA = "figlang_tasks: task vflute: V-FLUTE: no file test-*.parquet for split 'test'"


def ended(command: list[str], folder: Path) -> list[str]:
    """Run a command that must end with status 1 and without a traceback; return what it wrote to stderr."""
    for name in ("V-FLUTE", "FLUTE"):
        (folder / name).mkdir()
    environment = os.environ | {"FIGLANG_DATA_DIR": str(folder), "ACCELERATE_USE_CPU": "true"}
    done = warm.run_from_the_start(command, cwd=folder, env=environment)
    assert done.returncode == 1, done.stderr[-3000:]
    if "torchrun" not in command[0]:  # which shows its own
        assert "Traceback" not in done.stdout + done.stderr
    return done.stderr.splitlines()


@pytest.mark.parametrize("program", PROGRAMS)
def test_missing_data(program: list[str], tmp_path: Path) -> None:
    command = [*program, "--tasks", "vflute", "--model", "llava_hf", "--model_args", "pretrained=there/is_none"]
    assert sum(line.startswith(NO_DATA) for line in ended(command, tmp_path)) == 1


@pytest.mark.slow
def test_missing_data_in_lm_eval(tmp_path: Path) -> None:
    command = ["python", "-c", LM_EVAL, "--include_path", str(resource_dir("task_yamls") / "lm_eval")]
    lines = ended([*command, "--tasks", "flute", "--model", "dummy"], tmp_path)
    assert lines[-1].startswith("figlang_tasks: FLUTE: the train split must be in")
