"""Checks the files that the harness writes.

Where lmms-eval 0.7.3 cannot write a file, it logs a warning, leaves half a file behind and goes on;
the command then exits with status 0.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lmms_eval.loggers import EvaluationTracker
from loguru import logger

from figlang_tasks.core import notes
from figlang_tasks.core.files import PARTIAL
from figlang_tasks.harness.harness_types import Results, Sample


class CheckedTracker(EvaluationTracker):
    """A tracker of the harness that checks each file after it has been written.

    Attributes:
        written: the files that are whole, the results first.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.written: list[Path] = []

    def save_results_aggregated(self, results: Results, samples: object, datetime_str: str) -> None:
        """Save results, and check the file; their date gets a number if another run has used it."""

        def has_results(path: Path) -> bool:
            return isinstance(json.loads(path.read_bytes()), dict)

        date = self._unused_date(datetime_str)
        try:
            super().save_results_aggregated(results, samples, date)
        finally:  # also after an interrupt
            self._rename_unless_whole("results.json", is_whole=has_results)

    def save_results_samples(self, task_name: str, samples: Sequence[Sample]) -> None:
        """Save the samples of a task, and check that the file has a line for each of them."""

        def has_all_samples(path: Path) -> bool:
            return path.read_bytes().count(b"\n") == len(samples)

        try:
            super().save_results_samples(task_name, samples)
        finally:  # also after an interrupt
            self._rename_unless_whole(f"samples_{task_name}.jsonl", is_whole=has_all_samples)

    def _unused_date(self, datetime_str: str) -> str:
        """The date for the names of this run's files: ``20260102_030405``, or with ``-2`` behind.

        lmms-eval 0.7.3 writes over the files of a run that began in the same second.
        """
        date = datetime_str.replace(":", "-")  # as the harness does for file names
        if not self.output_path:
            return date
        for number in itertools.count(1):
            numbered_date = date if number == 1 else f"{date}-{number}"
            if not (self._folder / f"{numbered_date}_results.json").exists():
                return numbered_date
        raise AssertionError("the numbers have no end")

    @property
    def _folder(self) -> Path:
        return Path(self.output_path) / self.general_config_tracker.model_name_sanitized

    def _rename_unless_whole(self, name: str, is_whole: Callable[[Path], bool]) -> None:
        """Add a file that was saved to `written` if it is whole; else rename it, and log an error.

        A file that is not whole gets `PARTIAL` behind its name, so that nothing reads it. The
        failure is also noted for the end of the command.

        Args:
            name: that of the file, without the date before it.
            is_whole: whether a file is whole; may raise OSError or ValueError where it is not.
        """
        if not self.output_path:  # nothing was to be saved
            return
        # The harness sets the date only once it has made the folder. Before that, there is no file.
        date = getattr(self, "date_id", None)
        path = self._folder / (f"{date}_{name}" if date else name)
        with suppress(OSError, ValueError):  # then it is not whole
            if is_whole(path):
                self.written.append(path)
                return

        partial_path = path.with_name(path.name + PARTIAL)
        if path.exists():
            path.replace(partial_path)
        message = (
            f"{path} could not be written whole; what could be is in {partial_path.name}. Is the"
            " disk full? Make room and run the same command again (with --use_cache no answer is"
            " computed twice)"
        )
        logger.error(f"figlang_tasks: {message}")
        notes.note_failure(message)
