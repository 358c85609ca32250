"""The key of an export: which letter is which system, and what annotators must not see.

A key is a JSON object; its ``sheet`` is the code in every row of the sheets.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, TypedDict

from figlang_tasks.core import files
from figlang_tasks.core.errors import FigLangError


class KeyItem(TypedDict):
    """A sample whose explanations are judged.

    Attributes:
        number: the item's number in the sheets.
        id: of the document.
        gold: the right label, 1 entailment or 0 contradiction.
        systems: the name of the system behind each letter.
        scores: the ExplanationScore behind each letter; None without one.
    """

    number: int
    id: str
    gold: int
    systems: dict[str, str]
    scores: dict[str, float | None]


class DrawnPicture(TypedDict):
    """A generated picture that is judged.

    Attributes:
        number: of the item in the sheets.
        letter: its letter in the item.
        system: the name of the system that made it.
        input: the kind of its prompt.
        prompt: its prompt.
        file: its name in the folder of the system.
    """

    number: int
    letter: str
    system: str
    input: str
    prompt: str
    file: str


def sign(**content: Any) -> dict[str, Any]:
    """The key of an export: its content and the code of its sheets.

    The code, under ``sheet``, is a digest of the content, which no spreadsheet program takes for a
    number.
    """
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return {"written_by": "figlang judge export", "sheet": f"s-{digest[:10]}", **content}


def read(path: Path) -> dict[str, Any]:
    """Read the key of an export, and check that it was not changed.

    Returns:
        ``sheet``, ``benchmark``, ``data``, ``seed`` and ``systems``; of explanations ``scorer`` and
        ``items`` (`KeyItem`), of generated pictures ``asked`` (the number of prompts of each kind)
        and ``pictures`` (`DrawnPicture`).

    Raises:
        FigLangError: the file is no key, or was changed.
    """
    try:
        content = json.loads(files.read_file(path).decode("utf-8"))
        is_unchanged = content == sign(**_signed_content(content))
    except (ValueError, RecursionError, AttributeError):
        is_unchanged = False
    if not is_unchanged:
        raise FigLangError(
            f"{path} is not a key as figlang judge export wrote it: give the original key.json"
        )
    return dict(content)


def _signed_content(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a key of which ``sheet`` is the digest."""
    unsigned = ("written_by", "sheet")
    return {field: value for field, value in content.items() if field not in unsigned}
