"""What the server of warm.py imports and reads before it forks commands."""

from __future__ import annotations

import gc

import lmms_eval.__main__
import lmms_eval.evaluator  # noqa: F401
from demo_runs import FOLDERS_OF_TASK_FILES, read_task_files_once
from hub_server import ask_the_hub_at_once
from lmms_eval.tasks import TaskManager

import figlang_tasks.models.vlm  # noqa: F401
from figlang_tasks.core.benchmark import benchmarks

read_task_files_once()
for _folder in FOLDERS_OF_TASK_FILES:
    TaskManager(include_defaults=False)._get_task_and_group(_folder)
ask_the_hub_at_once()
benchmarks()
gc.collect()
gc.freeze()  # a fork that collects would copy all of it
