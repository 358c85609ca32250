"""The key of an export: which letter is which system, and what annotators must not see.

A JSON object; ``sheet`` is the code in every row of its sheets. Of explanations it has ``items``,
with ``systems`` and ``scores`` by letter; of generated pictures ``pictures``, with ``file``, the
name in the folder of the system.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from figlang_tasks.core import files
from figlang_tasks.core.errors import FigLangError


def signed(**values: Any) -> dict[str, Any]:
    """A key of these values; its ``sheet`` is a digest of them, no number to a spreadsheet
    program.
    """
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
    return {"written_by": "figlang judge export", "sheet": f"s-{digest[:10]}", **values}


def read(path: Path) -> dict[str, Any]:
    """The content of a key."""
    try:
        found = json.loads(files.read_file(path).decode("utf-8"))
        is_whole = found == signed(
            **{name: each for name, each in found.items() if name not in ("written_by", "sheet")}
        )
    except (ValueError, RecursionError, AttributeError):
        is_whole = False
    if not is_whole:
        raise FigLangError(
            f"{path} is not a key as figlang judge export wrote it: give the original key.json"
        )
    return dict(found)
