"""Samples files as lmms-eval and lm-eval write them: what their names tell, and their lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import MOST_BYTES_OF_SAMPLES, check_file
from figlang_tasks.core.row_files import json_lines

SAMPLES_NAME = re.compile(
    r"(?:(?P<before>.+?)_)?samples_(?P<task>[^.]+?)(?:_(?P<after>\d{4}-\d\d-\d\dT[\d.-]+?))?\.jsonl"
)
"""``DATE_samples_TASK.jsonl`` of lmms-eval, or ``samples_TASK_DATE.jsonl`` of lm-eval."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
"""For the lines of samples files: `json.dumps` would make an encoder for each of them."""


def task_of(samples: Path) -> str:
    """The task in the name of a samples file; "" if the name is not one of a harness."""
    match = SAMPLES_NAME.fullmatch(samples.name)
    return match["task"] if match else ""


def saved_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read a samples file: the location of each line (file and number), and its JSON object.

    Raises:
        RunError: the file cannot be read, is empty, or has a line that is no JSON object.
    """
    is_empty = True
    try:
        check_file(path, MOST_BYTES_OF_SAMPLES)
        with path.open("rb") as file:
            for number, sample in json_lines(file):
                location = f"{path}, line {number}"
                if isinstance(sample, str):  # what is wrong with the line
                    raise RunError(
                        f"{location} {sample}. Was the file cut off (an interruption, a full disk)?"
                        " Restore the file that the harness wrote; the last line may be deleted"
                    )
                is_empty = False
                yield location, sample
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}") from error
    if is_empty:
        raise RunError(
            f"{path} is empty: the run that wrote it has failed; evaluate again with --log_samples"
        )


def samples_content(samples: Iterable[Mapping[str, Any]]) -> bytes:
    """The content of a samples file: a line of JSON for each sample."""
    return b"".join(map(json_line, samples))


def json_line(content: Mapping[str, Any], indent: int | None = None) -> bytes:
    """JSON as the harness writes it, and a line break.

    Half a surrogate pair, for which UTF-8 has no bytes, becomes the escape that JSON has for it.
    """
    encoder = _ENCODER if indent is None else json.JSONEncoder(ensure_ascii=False, indent=indent)
    return (encoder.encode(content) + "\n").encode("utf-8", "backslashreplace")
