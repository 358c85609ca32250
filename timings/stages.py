"""Times the stages of a run of `lmms_eval`: the processor time of some of our functions.

Time counts for the innermost stage, and is that of the thread in which a function runs.
"""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

STAGES = {
    "read tables": "figlang_tasks.core.parquet_files:read_parquet",
    "check rows": "figlang_tasks.core.row_files:validate_rows",
    "check pictures": "figlang_tasks.core.images:check",
    "decode": "figlang_tasks.core.images:decode",
    "prompt": "figlang_tasks.core.prompting:render",
    "keys, digest": "figlang_tasks.harness.answer_keys:content_digest",
    "keys, read the row": "figlang_tasks.harness.answer_keys:request_digest",
    "store answers": "figlang_tasks.harness.answer_store:Store.keep",
    "look up answers": "figlang_tasks.harness.answer_store:Store.look_up",
    "judge": "figlang_tasks.scoring.judging:AnswerJudge.judge",
    "measure": "figlang_tasks.scoring.task_evaluation:TaskEvaluation.compute",
    "complete results": "figlang_tasks.harness.evaluate_hook:complete_results",
    "save samples": "figlang_tasks.harness.saving:CheckedTracker.save_results_samples",
    "save results": "figlang_tasks.harness.saving:CheckedTracker.save_results_aggregated",
}
"""The module and the name of a function, by its stage."""

HEADING = "processor time by stage:"


class StageTimes:
    """Adds up the time and the calls of each stage."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._thread = threading.local()

    def install(self) -> None:
        """Put a timer around the function of each stage."""
        for stage, address in STAGES.items():
            module_name, _, name = address.partition(":")
            owner: Any = importlib.import_module(module_name)
            class_name, dot, method_name = name.partition(".")
            if dot:
                owner = getattr(owner, class_name)
                name = method_name
            setattr(owner, name, self._timed(stage, getattr(owner, name)))

    def _timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with a timer around it."""

        def call(*arguments: Any, **options: Any) -> Any:
            # Seconds of the stages inside of the one that this thread is in.
            seconds_before = getattr(self._thread, "inner_seconds", 0.0)
            self._thread.inner_seconds = 0.0
            start = time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                seconds = time.thread_time() - start
                self._seconds[stage] += seconds - self._thread.inner_seconds
                self._calls[stage] += 1
                self._thread.inner_seconds = seconds_before + seconds

        return call

    def tell(self) -> None:
        """Write the time of each stage to the standard error, the longest first."""
        print(HEADING, file=sys.stderr)
        for stage, seconds in self._seconds.most_common():
            print(f"{stage:20} {seconds:7.2f} s {self._calls[stage]:7} calls", file=sys.stderr)
        print(f"{'the whole process':20} {time.process_time():7.2f} s", file=sys.stderr)
