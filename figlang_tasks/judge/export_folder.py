"""The folder that an export writes: pictures, a sheet for each annotator, and the key."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from figlang_tasks.judge import sheet


def png_bytes(picture: Image.Image) -> bytes:
    """A picture as a PNG file without metadata, which may tell the model and the prompt."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def write_export(
    folder: Path,
    pictures: Mapping[str, bytes],
    columns: Sequence[str],
    rows: Sequence[Mapping[str, object]],
    annotators: int,
    key: Mapping[str, Any],
) -> list[str]:
    """Write an export into an empty folder; return the names of what was written.

    Args:
        folder: the folder.
        pictures: the content of each picture, by its path in the folder.
        columns: the columns of the sheets.
        rows: the rows of the sheets, without annotator and code.
        annotators: the number of sheets.
        key: the signed key.

    Returns:
        The names of the files and folders that were written into the folder.
    """
    files = dict(pictures)
    for number in range(1, annotators + 1):
        annotator_and_code = {"annotator": f"annotator {number}", "sheet": key["sheet"]}
        rows_of_annotator = [{**row, **annotator_and_code} for row in rows]
        files[f"annotator{number}.csv"] = sheet.csv_bytes(columns, rows_of_annotator)
    files["key.json"] = json.dumps(key, indent=1).encode()

    names: list[str] = []
    for path_in_folder, content in files.items():
        path = folder / path_in_folder
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        name, _, _ = path_in_folder.partition("/")  # "images" of images/001.png
        if name not in names:
            names.append(name)
    return names
