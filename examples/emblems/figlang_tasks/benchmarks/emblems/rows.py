"""Emblems as documents."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request: ``id``, ``data``, ``saying``, ``fits`` (1 or 0) and ``image``
    (undecoded).

    The split of the request names a JSON lines file. All pictures are checked in any case: they are
    few.

    Raises:
        DataError: the data is missing, or a row is not valid; the message names file and line.
    """
    import datasets

    name, split = request.dataset, request["split"]
    folder = hub.snapshot(source_of(name), [f"{split}.jsonl", "images/*"]).folder.absolute()
    rows, faults = read(folder / f"{split}.jsonl", name)
    row_files.end_with_the_first(faults, "emblems")
    texts = [[row["id"], row["saying"], row["fits"]] for row in rows]
    digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]
    data = str(DataId(name, split, digest))
    documents = datasets.Dataset.from_list([row | {"data": data} for row in rows])
    return documents.cast_column("image", datasets.Image(decode=False))


def read(path: Path, name: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The valid rows of a file, and what is wrong with the others."""
    return row_files.valid(row_files.lines(path), lambda row, where: _row(row, where, name))


def _row(row: dict[str, Any], where: str, name: str) -> dict[str, Any]:
    row_id, path, saying = (
        row_files.text(row, column, where) for column in ("id", "image", "saying")
    )
    fits = row.get("fits")
    if not isinstance(fits, int) or fits not in (0, 1):
        raise DataError(f"{where}: fits is {row_files.brief(fits)}, must be 0 or 1")
    picture = {"bytes": None, "path": path}  # below the folder of the data
    images.check(picture, where, name)
    return {"id": row_id, "saying": saying, "fits": fits, "image": picture}
