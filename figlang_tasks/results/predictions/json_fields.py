"""Reads JSON files of other tools, and fields that lie deep in their objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from figlang_tasks.core import files
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief

JsonObject: TypeAlias = Mapping[str, Any]
"""An object of a JSON file."""

MOST_BYTES = 1024 * files.MEBIBYTE
"""The limit for a JSON file, which is read as a whole."""


def read_json(path: Path) -> object:
    """What a JSON file holds.

    Raises:
        OSError: the file is too large, or no regular file.
        RunError: it is not JSON in UTF-8.
    """
    return parse_json(files.read_file(path, MOST_BYTES), str(path))


def parse_json(content: bytes, location: str) -> object:
    """What the bytes of a JSON file stand for; a `RunError` if they are not JSON in UTF-8.

    Args:
        content: the whole file.
        location: of the file, for the message.
    """
    try:
        value: object = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RunError(f"{location} is not JSON in UTF-8 ({error}): save the file again") from error
    return value


def field_at(record: object, path: str) -> object:
    """The value at a path of keys, and of indices of lists: ``result.completions.0.text``.

    None if there is none.
    """
    value = record
    for key in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def optional_text(record: object, path: str, location: str) -> str | None:
    """The text at a path of keys; None if there is none.

    Raises:
        RunError: something else than a text stands there.
    """
    value = field_at(record, path)
    if not isinstance(value, str | None):
        raise RunError(f"{location}: {path} is {brief(value)}, must be a text")
    return value


def required_list(record: object, path: str, location: str) -> list[Any]:
    """The list at a path of keys; a `RunError` if there is none, or it is empty."""
    value = field_at(record, path)
    if not isinstance(value, list) or not value:
        raise RunError(f"{location}: {path} is {brief(value)}, must be a list that is not empty")
    return value
