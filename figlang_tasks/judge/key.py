"""The key of an export: which letter is which system, and what annotators must not see.

A key is a JSON object; its ``sheet`` is the code in every row of the sheets.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal, TypedDict

from figlang_tasks.core import files
from figlang_tasks.core.errors import FigLangError

BY_SOURCE: Literal["by source"] = "by source"
"""The method of a draw from each source of rows."""


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


class DrawRecord(TypedDict):
    """How the judged rows were drawn, so that they can stand for all rows.

    Attributes:
        method: ``simple``: at random from all rows. ``by source``: at random from each source, in
            proportion to its rows.
        seed: of the draw.
        rows: the number of rows that were drawn from.
        drawn: the number of rows that were drawn.
    """

    method: Literal["simple", "by source"]
    seed: int
    rows: int
    drawn: int


class MachineRow(TypedDict):
    """What machines say of a row, drawn or not.

    Attributes:
        id: of the document.
        unit: what rows that depend on each other share.
        source: the part of the benchmark that the row is from.
        gold: the right label, 1 entailment or 0 contradiction.
        predicted: the label that each system predicted; None where none was read.
        scores: the ExplanationScore of each system; None without one.
    """

    id: str
    unit: str
    source: str
    gold: int
    predicted: dict[str, int | None]
    scores: dict[str, float | None]


class _DrawFields(TypedDict, total=False):
    """The fields that keys of earlier versions lack: how rows were drawn, and what machines say.

    Attributes:
        draw: how the items were drawn.
        rows: what machines say of every row that was drawn from.
    """

    draw: DrawRecord
    rows: list[MachineRow]


class ExplanationKey(_DrawFields):
    """The key of an export of explanations.

    Attributes:
        sheet: the code in every row of the sheets.
        benchmark: its name.
        data: the rows that were read.
        scorer: the signature or name of the scorer; None without scores.
        systems: the names of the systems.
        items: the samples whose explanations are judged.
    """

    sheet: str
    benchmark: str
    data: str
    scorer: str | None
    systems: list[str]
    items: list[KeyItem]


class PictureKey(TypedDict):
    """The key of an export of generated pictures.

    Attributes:
        sheet: the code in every row of the sheets.
        benchmark: its name.
        data: the rows of which the prompts were made.
        systems: the names of the systems.
        asked: the number of prompts of each kind.
        pictures: the pictures that are judged.
    """

    sheet: str
    benchmark: str
    data: str
    systems: list[str]
    asked: dict[str, int]
    pictures: list[DrawnPicture]


def sign(**content: Any) -> dict[str, Any]:
    """The key of an export: its content and the code of its sheets.

    The code, under ``sheet``, is a digest of the content.
    """
    # Behind "s-" no spreadsheet program takes the digits for a number.
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return {"written_by": "figlang judge export", "sheet": f"s-{digest[:10]}", **content}


def read(path: Path) -> dict[str, Any]:
    """Read the key of an export, and check that it was not changed.

    Returns:
        An `ExplanationKey`, or a `PictureKey` if it has ``pictures``.

    Raises:
        FigLangError: the file is no key, or was changed.
    """
    is_original = False
    try:
        content = json.loads(files.read_file(path).decode("utf-8"))
        if isinstance(content, dict):
            is_original = content == sign(**_signed_content(content))
    except (ValueError, RecursionError):
        is_original = False  # not UTF-8, not JSON, or JSON that is nested too deeply
    if not is_original:
        raise FigLangError(
            f"{path} is not a key as figlang judge export wrote it: give the original key.json"
        )
    return dict(content)


def _signed_content(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of a key that `sign` was given, without the two that it added."""
    added_fields = ("written_by", "sheet")
    return {field: value for field, value in content.items() if field not in added_fields}
