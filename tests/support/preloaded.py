"""What the commands of warm.py find imported, and read."""

from __future__ import annotations

import copy
import gc
from pathlib import Path
from typing import Any

import lmms_eval.__main__
import lmms_eval.evaluator  # noqa: F401
from hub_server import ask_the_hub_at_once
from lmms_eval.tasks import TaskManager

import figlang_tasks.models.vlm  # noqa: F401
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.harness.task_index import tasks_dir

# Each TaskManager reads 2,000 task files of the harness, and ours: four seconds.
_find = TaskManager._get_task_and_group
_folders = (f"{Path(lmms_eval.tasks.__file__).parent}/", str(tasks_dir()))
_found = {folder: _find(TaskManager(include_defaults=False), folder) for folder in _folders}


def _find_once(self: Any, folder: str) -> Any:
    return copy.deepcopy(_found[folder]) if folder in _found else _find(self, folder)


TaskManager._get_task_and_group = _find_once
ask_the_hub_at_once()
benchmarks()
gc.collect()
gc.freeze()  # a fork that collects would copy all of it
