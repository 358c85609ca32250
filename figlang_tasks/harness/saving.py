"""Files that could not be written: the harness logs a warning, leaves half a file and goes on."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from lmms_eval.loggers import EvaluationTracker
from loguru import logger

from figlang_tasks.core import notes
from figlang_tasks.core.files import PARTIAL


class CheckedTracker(EvaluationTracker):
    """A tracker that looks at what it has written; `written` are the whole files, the results
    first.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.written: list[Path] = []

    def save_results_aggregated(self, results: Any, samples: Any, datetime_str: str) -> None:
        """Save results; under a date with a number if the files of another run had that name."""
        date = datetime_str.replace(":", "-")  # as the harness does
        dates = itertools.chain([date], (f"{date}-{number}" for number in itertools.count(2)))
        if self.output_path:
            date = next(
                each for each in dates if not (self._folder / f"{each}_results.json").exists()
            )
        try:
            super().save_results_aggregated(results, samples, date)
        finally:  # also after an interrupt
            self._check(
                "results.json", lambda path: isinstance(json.loads(path.read_bytes()), dict)
            )

    def save_results_samples(self, task_name: str, samples: Any) -> None:
        try:
            super().save_results_samples(task_name, samples)
        finally:
            self._check(
                f"samples_{task_name}.jsonl",
                lambda path: path.read_bytes().count(b"\n") == len(samples),
            )

    @property
    def _folder(self) -> Path:
        return Path(self.output_path) / self.general_config_tracker.model_name_sanitized

    def _check(self, name: str, is_whole: Callable[[Path], bool]) -> None:
        """Rename an incomplete file, so that nothing reads it, and note the failure."""
        if not self.output_path:
            return
        date = getattr(self, "date_id", None)  # none if the folder could not be made
        path = self._folder / (f"{date}_{name}" if date else name)
        with suppress(OSError, ValueError):
            if is_whole(path):
                self.written.append(path)
                return
        part = path.with_name(path.name + PARTIAL)
        if path.exists():
            path.replace(part)
        message = (
            f"{path} could not be written whole; what could be is in {part.name}. Is the disk full?"
            " Make room and run the same command again (with --use_cache no answer is computed"
            " twice)"
        )
        logger.error(f"figlang_tasks: {message}")
        notes.note_failure(message)
