"""Loads the rows of Emblems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """Load the documents of a split. All pictures are always checked, as there are only a few."""
    dataset, split = request.dataset, request["split"]
    folder = hub.snapshot(source_of(dataset), [f"{split}.jsonl", "images/*"]).folder.absolute()
    lines = row_files.read_rows(folder / f"{split}.jsonl")
    rows, faults = row_files.validate_rows(lines, _document, key=lambda document: document["id"])
    row_files.raise_first_fault(faults, "emblems")
    return row_files.as_documents(rows, dataset, split)


def _document(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Convert a row to a document; raise a `DataError` with file and line if it is not valid."""
    fits = row.get("fits")
    if fits not in (0, 1):
        raise DataError(f"{where}: fits is {row_files.brief(fits)}, must be 0 or 1")
    picture = {
        "bytes": None,
        "path": row_files.text(row, "image", where),
    }  # relative to the data folder
    images.check(picture, where, "Emblems")
    return {
        "id": row_files.text(row, "id", where),
        "saying": row_files.text(row, "saying", where),
        "fits": fits,
        "image": picture,
    }
