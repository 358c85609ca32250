"""Samples files as lmms-eval and lm-eval write them: what their names tell, and their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import MOST_BYTES_OF_SAMPLES, check_file
from figlang_tasks.core.row_files import json_lines

SAMPLES_NAME = re.compile(
    r"(?:(?P<before>.+?)_)?samples_(?P<task>[^.]+?)(?:_(?P<after>\d{4}-\d\d-\d\dT[\d.-]+?))?\.jsonl"
)
"""``DATE_samples_TASK.jsonl`` of lmms-eval, or ``samples_TASK_DATE.jsonl`` of lm-eval."""


def task_of(samples: Path) -> str:
    """The task that a harness named a samples file after; "" if it did not."""
    match = SAMPLES_NAME.fullmatch(samples.name)
    return match["task"] if match else ""


def saved_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line of a samples file: its place (file and line), and its JSON object."""
    place = ""
    try:
        check_file(path, MOST_BYTES_OF_SAMPLES)
        with path.open("rb") as file:
            for number, line in json_lines(file):
                place = f"{path}, line {number}"
                if isinstance(line, str):
                    raise RunError(
                        f"{place} {line}. Was the file cut off (an interruption, a full disk)?"
                        " Restore the file that the harness wrote; the last line may be deleted"
                    )
                yield place, line
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}") from error
    if not place:
        raise RunError(
            f"{path} is empty: the run that wrote it has failed; evaluate again with --log_samples"
        )
