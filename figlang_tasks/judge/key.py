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
        gold: the right label, 1 entailment or 0 contradiction; 1 if no label is asked for.
        systems: the name of the system behind each letter.
        scores: the score behind each letter, an ExplanationScore or a judge's verdict; None
            without one.
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
        gold: the right label, 1 entailment or 0 contradiction; 1 if no label is asked for.
        predicted: the label that each system predicted; None where none was read or asked for.
        scores: the score of each system, an ExplanationScore or a judge's verdict; None without
            one.
    """

    id: str
    unit: str
    source: str
    gold: int
    predicted: dict[str, int | None]
    scores: dict[str, float | None]


class _DrawFields(TypedDict, total=False):
    """The fields that keys of earlier versions lack.

    Attributes:
        digest: of the content of the key.
        asks_label: whether annotators choose a label; they do if this is missing.
        tasks: the name of each system's task.
        draw: how the items were drawn.
        rows: what machines say of every row that was drawn from.
    """

    digest: str
    asks_label: bool
    tasks: dict[str, str]
    draw: DrawRecord
    rows: list[MachineRow]


class ExplanationKey(_DrawFields):
    """The key of an export of explanations.

    Attributes:
        sheet: the code in every row of the sheets.
        benchmark: its name.
        data: the rows that were read.
        scorer: the signature or name of the scorer, or the name of the judge (`LLM_PREFIX`) whose
            verdicts are the scores; None without scores.
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
    """The key of an export: its content, a digest of it, and the code of its sheets.

    The code, under ``sheet``, is a digest of what decides the sheets. So the sheets of an export
    also belong to a later export of the same explanations that has other scores.
    """
    items: list[dict[str, Any]] = []
    for item in content.get("items", []):
        items.append({name: value for name, value in item.items() if name != "scores"})
    sheet_content = {name: content[name] for name in content if name not in ("scorer", "rows")}
    sheet_content["items"] = items
    return {
        "written_by": "figlang judge export",
        "sheet": _code(_digest(sheet_content)),
        "digest": _digest(content),
        **content,
    }


def _code(digest: str) -> str:
    """The code of sheets; behind "s-" no spreadsheet program takes the digits for a number."""
    return f"s-{digest[:10]}"


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


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
            is_original = _is_original(content)
    except (ValueError, RecursionError):
        is_original = False  # not UTF-8, not JSON, or JSON that is nested too deeply
    if not is_original:
        raise FigLangError(
            f"{path} is not a key as figlang judge export wrote it: give the original key.json"
        )
    return dict(content)


def _is_original(content: dict[str, Any]) -> bool:
    """Whether a key is as `sign` made it, in this version or before keys had a digest."""
    added_fields = ("written_by", "sheet", "digest")
    signed_content = {name: content[name] for name in content if name not in added_fields}
    if "digest" in content:
        return content == sign(**signed_content)
    return content.get("sheet") == _code(_digest(signed_content))
