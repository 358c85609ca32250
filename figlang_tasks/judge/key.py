"""The key of an export: which letter is which system, and what annotators must not see.

A JSON object; ``sheet`` is the code in every row of its sheets. Of explanations it has ``items``, with ``systems`` and
``scores`` by letter; of generated pictures ``pictures``, with ``file``, the name in the folder of the system.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from figlang_tasks.core.errors import FigLangError

WRITTEN_BY = "figlang judge export"


def signed(**values: Any) -> dict[str, Any]:
    """A key of these values; its ``sheet`` is a digest of them, no number to a spreadsheet program."""
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
    return {"written_by": WRITTEN_BY, "sheet": f"s-{digest[:10]}", **values}


def read(path: Path) -> dict[str, Any]:
    """Read a key."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.get("written_by") != WRITTEN_BY:
        raise FigLangError(f"{path} is not a key: give the key.json that figlang judge export wrote")
    if values != signed(**{name: each for name, each in values.items() if name not in ("written_by", "sheet")}):
        raise FigLangError(f"{path} was changed after figlang judge export wrote it: restore the original file")
    return values
