"""Reads JSON Lines: UTF-8, one value a line. Line numbers start at 1. Empty lines are skipped, but they count."""

from __future__ import annotations

import codecs
import json
import re
import reprlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from figlang_tasks.core.errors import DataError, RunError

SAMPLES_NAME = re.compile(
    r"(?:(?P<before>.+?)_)?samples_(?P<task>[^.]+?)(?:_(?P<after>\d{4}-\d\d-\d\dT[\d.-]+?))?\.jsonl"
)
"""A samples file: ``DATE_samples_TASK.jsonl`` of lmms-eval, ``samples_TASK_DATE.jsonl`` of lm-eval."""


class Line(NamedTuple):
    """A row: its place for messages (file and line), its object, and its line number."""

    where: str
    values: dict[str, Any]
    number: int


def read(path: Path) -> tuple[list[Line], list[str]]:
    """The objects of a file, and the error of each other line."""
    rows: list[Line] = []
    faults: list[str] = []
    for number, found in objects(content_of(path)):
        where = f"{path}, line {number}"
        if isinstance(found, str):
            faults.append(f"{where} {found}")
        else:
            rows.append(Line(where, found, number))
    return rows, faults


def content_of(path: Path) -> bytes:
    """The content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def objects(content: bytes) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """For each line that is not empty: its number, and its object or an error message."""
    # Not splitlines: texts may hold other line separators, unescaped.
    for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line.decode("utf-8"), object_pairs_hook=_unique)
        except UnicodeDecodeError as error:
            yield number, f"is not UTF-8 ({error.reason} at byte {error.start}): save the file as UTF-8"
        except (ValueError, RecursionError) as error:
            yield number, f"is not valid JSON ({getattr(error, 'msg', None) or error}): write one object a line"
        else:
            if isinstance(found, dict):
                yield number, found
            else:
                yield number, f"is {reprlib.repr(found)}, not a JSON object: write one object a line"


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # of which Python would take the last in silence
        raise ValueError("a key occurs twice in an object")
    return found


# --- what a harness saved ---------------------------------------------------------------------------------------------


class SavedLine(NamedTuple):
    """A line: where it stands, for messages, and what it says."""

    where: str
    values: Any


def saved_lines(path: Path) -> Iterator[SavedLine]:
    """Each line of a samples file as JSON."""
    where = ""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):  # ends at \n alone: texts hold other line separators
                where = f"{path}, line {number}"
                yield SavedLine(where, json.loads(line.decode("utf-8")))
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(
            f"{where} is not JSON ({getattr(error, 'msg', error)}): was the file cut off (an interruption, a full "
            "disk)? Restore the file that the harness wrote; the last line may be deleted"
        ) from error
    if not where:
        raise RunError(f"{path} is empty: the run that wrote it has failed; evaluate again with --log_samples")
