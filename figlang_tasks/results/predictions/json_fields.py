"""Reads JSON files of other tools, and fields that lie deep in their objects."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
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

    def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
        """An object of JSON; of a key that is there twice, Python would take the last silently."""
        members = dict(pairs)
        if len(members) < len(pairs):
            check_unique(location, [key for key, _ in pairs])
        return members

    try:
        value: object = json.loads(content.decode("utf-8-sig"), object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{location} is not JSON in UTF-8 ({error}): save the file again") from error
    return value


def check_unique(location: object, names: Iterable[str]) -> None:
    """Raise a `RunError` if a table has a column, or an object a key, twice."""
    for name, count in Counter(names).items():
        if count > 1:
            raise RunError(f"{location} has {brief(name)} twice: rename or remove one")


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
