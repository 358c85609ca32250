"""Registration: every way of calling the harness finds our tasks; nothing is lost in silence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import figlang_tasks

BIN = Path(sys.executable).parent
OUR_TASKS = {"vflute", "vflute_val", "vflute_5shot", "vflute_sg", "vflute_all", "vflute_instructions", "figlang_mini"}


def run(command: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, timeout=300)


def listed(output: str) -> set[str]:
    return {line.strip().removeprefix("- ") for line in output.splitlines()}


@pytest.mark.parametrize(
    "command",
    [
        [str(BIN / "lmms-eval"), "--tasks", "list"],
        [sys.executable, "-m", "lmms_eval", "--tasks", "list"],
        [str(BIN / "lmms_eval"), "--tasks", "list"],
        [str(BIN / "lmms_eval"), "tasks", "list"],
    ],
    ids=["lmms-eval", "python -m lmms_eval", "lmms_eval", "lmms_eval tasks list"],
)
def test_commands_list_our_tasks_beside_the_harness_ones(command: list[str], tmp_path: Path) -> None:
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stderr
    assert listed(done.stdout) >= OUR_TASKS | {"mme"}


def test_a_plain_task_manager_finds_our_tasks_in_a_fresh_interpreter(tmp_path: Path) -> None:
    program = "import lmms_eval.evaluator; from lmms_eval.tasks import TaskManager; print(*TaskManager().all_tasks)"
    done = run([sys.executable, "-c", program], tmp_path)
    assert OUR_TASKS <= set(done.stdout.split()), done.stderr


def test_task_manager_for_the_python_api() -> None:
    manager = figlang_tasks.task_manager(include_defaults=False)
    assert OUR_TASKS <= set(manager.all_tasks)
    assert "mme" not in manager.all_tasks


def test_the_users_own_task_of_the_same_name_wins(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("task: vflute\ndataset_path: json\n")
    manager = figlang_tasks.task_manager(include_path=str(tmp_path))
    assert manager.task_index["vflute"]["yaml_path"] == str(tmp_path / "mine.yaml")


def broken_plugin(folder: Path, name: str) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[lmms_eval.models]\n{name} = {name}_is_not_there:manifests\n")


@pytest.mark.parametrize("name", ["aaa_broken", "zzz_broken"])
def test_a_broken_entry_point_of_another_package_is_named_and_costs_us_nothing(name: str, tmp_path: Path) -> None:
    broken_plugin(tmp_path / "site", name)
    done = run([str(BIN / "lmms_eval"), "tasks", "list"], tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert done.returncode == 0
    assert listed(done.stdout) >= OUR_TASKS
    assert f"of {name} (group lmms_eval.models) cannot be loaded" in done.stderr
    assert f"No module named '{name}_is_not_there'" in done.stderr


def test_the_harness_own_command_says_what_failed_when_a_broken_entry_point_comes_first(tmp_path: Path) -> None:
    broken_plugin(tmp_path / "site", "aaa_broken")  # PYTHONPATH stands before site-packages
    done = run([str(BIN / "lmms-eval"), "--tasks", "list"], tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert "No module named 'aaa_broken_is_not_there'" in done.stdout + done.stderr


def test_lmms_eval_exits_non_zero_when_the_evaluation_fails(tmp_path: Path) -> None:
    done = run([str(BIN / "lmms_eval"), "--model", "dummy", "--tasks", "there_is_no_such_task"], tmp_path)
    assert done.returncode == 1
    assert "Tasks not found: there_is_no_such_task" in done.stdout + done.stderr


def test_lmms_eval_passes_the_harness_exit_codes_on(tmp_path: Path) -> None:
    assert run([str(BIN / "lmms_eval"), "version"], tmp_path).returncode == 0
    assert run([str(BIN / "lmms_eval"), "no_such_command"], tmp_path).returncode == 2


def test_missing_data_ends_before_a_model_is_loaded(tmp_path: Path) -> None:
    # The model does not exist either: its error would come first if it were loaded first.
    command = [str(BIN / "lmms-eval"), "--tasks", "vflute_all", "--model", "llava_hf"]
    command += ["--model_args", f"pretrained={tmp_path / 'no_model'},device_map=cpu"]
    (tmp_path / "data" / "V-FLUTE").mkdir(parents=True)
    done = run(command, tmp_path, FIGLANG_DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 1
    assert "no file test-*.parquet for split 'test'" in done.stderr
    assert "no_model" not in done.stderr.replace(json.dumps(str(command)), "")
