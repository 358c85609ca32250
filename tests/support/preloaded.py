"""What the server of warm.py imports and reads before it forks commands.

What is missing here, each of some hundred commands imports for itself.
"""
# ruff: noqa: E402, F401

from __future__ import annotations

import gc
from functools import partialmethod
from typing import Any

gc.disable()  # what is imported stays in use

import lmms_eval.__main__
import lmms_eval.evaluator
import nltk  # the harness imports it for its own standard errors
import transformers.models.clip.modeling_clip
import transformers.models.llava.modeling_llava
from demo_runs import FOLDERS_OF_TASK_FILES, read_task_files_once
from fast_yaml import read_yaml_in_c
from hub_server import ask_the_hub_at_once
from lmms_eval.tasks import TaskManager
from PIL import Image
from tqdm import tqdm

import figlang_tasks.cli.placement
import figlang_tasks.cli.summary
import figlang_tasks.harness.saving
import figlang_tasks.models.vlm
from figlang_tasks.cli.lmms_eval import BARS
from figlang_tasks.core.benchmark import benchmarks

read_yaml_in_c()
read_task_files_once()
for _folder in FOLDERS_OF_TASK_FILES:
    TaskManager(include_defaults=False)._get_task_and_group(_folder)
ask_the_hub_at_once()
Image.preinit()
# Bars are as lmms_eval sets them up before tqdm is imported, which the tests have done already.
_tqdm: Any = tqdm
_tqdm.__init__ = partialmethod(
    vars(tqdm)["__init__"], delay=float(BARS["TQDM_DELAY"]), leave=bool(BARS["TQDM_LEAVE"])
)
tqdm.get_lock()  # that of a command which is killed would be reported as a leak
_MODULES = [benchmark.tasks_module for benchmark in benchmarks().values()]
gc.freeze()  # a fork that collects would copy all of it
gc.enable()
