"""The key of an export: which letter is which system, and what annotators must not see.

A JSON object. All have ``written_by``, ``sheet`` (the code in every row of its sheets), ``benchmark``, ``data`` and
``seed``. Of explanations: ``systems`` (``scorer`` and ``signature`` of their explanation scores may be null) and
``items``, with ``systems`` and ``scores`` by letter. Of generated pictures: ``systems`` by name; ``asked``, how many
pictures each was asked for; ``pictures``, with ``file``, the name in the folder of the system.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from figlang_tasks.judge import JudgeError

WRITTEN_BY = "figlang judge export"


def code(values: Mapping[str, Any]) -> str:
    """The ``sheet`` of a key: a digest of all else that it holds, no number to a spreadsheet program."""
    others = {name: value for name, value in values.items() if name not in ("written_by", "sheet")}
    return "s-" + hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()[:10]


def signed(**values: Any) -> dict[str, Any]:
    """A key of these values."""
    return {"written_by": WRITTEN_BY, "sheet": code(values), **values}


def content(key: Mapping[str, Any]) -> bytes:
    """The file."""
    return (json.dumps(key, indent=1) + "\n").encode("ascii")


def read(path: Path) -> dict[str, Any]:
    """Read a key."""
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        written_by, own = values["written_by"], values["sheet"]
    except OSError as error:
        raise JudgeError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise JudgeError(f"{path} is not a key: give the *.key.json that figlang judge export wrote") from error
    if written_by != WRITTEN_BY or own != code(values):
        raise JudgeError(f"{path} was changed after figlang judge export wrote it: restore the original file")
    return values
