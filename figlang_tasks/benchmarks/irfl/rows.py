"""IRFL's rows as documents. They hold the uuids of pictures; a picture is read when it is shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from figlang_tasks.benchmarks.irfl import random_tables, tables
from figlang_tasks.benchmarks.irfl.archive import pictures
from figlang_tasks.core import hub
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

LETTERS = "ABCD"
"""The names of candidates in prompts, by index."""

IDIOM_TYPES = ("figurative", "figurative_literal")
"""The categories of an idiom's right images, which Tables 3 and 7 report apart."""

_TYPE_BY_CELL = {
    "FvsPL": "figurative",
    "FLvsPL": "figurative_literal",
    "figurative+literal": "figurative_literal",
}
"""The types of documents by those of tables, where they differ."""

DocumentColumns: TypeAlias = dict[str, object]


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request, ``IRFL,table=...``, also with ``rotations=true`` (see `load`).

    Args:
        request: what a task file asks for.
        check_images: not used: all pictures are known to be in the archive, and a run reads those
            that it shows.
    """
    return load(request.dataset, request["table"], rotations=request.get("rotations") == "true")


@hub.cached(maxsize=8)
def load(dataset: str, table: str, rotations: bool = False) -> datasets.Dataset:
    """The documents of a table. Their pictures are in the archive, which is checked here.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        table: a detection table, with a document for each row; a retrieval table, with a document
            for each image of a row; or one of `random_tables.CONFIGURATIONS`, which is like a
            detection table.
        rotations: whether every row of detection comes as often as it has candidates, rotated by
            one each time, so that the answer has each letter once.

    Raises:
        DataError: there is no such table, or it has faults, or a picture is missing.
    """
    import datasets

    if table.endswith("-retrieval-task"):
        return datasets.Dataset.from_list(_retrieval_documents(dataset, table))
    return datasets.Dataset.from_list(_detection_documents(dataset, table, rotations))


def _detection_documents(dataset: str, table: str, rotations: bool) -> list[DocumentColumns]:
    """A document for each row of detection; with `rotations`, one for each rotation of its images.

    They have `candidates` (uuids in the order in which they are shown), their `roles` in that order
    (``answer``, or that of a distractor), and `answer`, the index of the right one. `row` is the
    same for all rotations of a row: ``idiom-detection-task-7``.
    """
    if table in random_tables.CONFIGURATIONS:
        detection_table = random_tables.load(dataset, table)
    else:
        detection_table = tables.read_detection_table(dataset, table)
    archive = pictures(dataset)
    documents: list[DocumentColumns] = []
    for row_number, row in enumerate(detection_table.rows):
        archive.check(row.uuids, row.location)
        candidates = list(row.negatives)
        index = answer_index(table, row_number, row.phrase, count=len(candidates) + 1)
        candidates.insert(index, row.answer)
        row_id = f"{table}-{row_number}"
        rotation_count = len(candidates) if rotations else 1  # rotation 0 is the order as drawn
        for rotation in range(rotation_count):
            rotated = candidates[rotation:] + candidates[:rotation]
            documents.append(
                {
                    **_shared_columns(dataset, detection_table.data, table, row),
                    "id": f"{row_id}-rotation{rotation}" if rotations else row_id,
                    "row": row_id,
                    "candidates": rotated,
                    # `Row.roles` has the distractors alone.
                    "roles": [row.roles.get(uuid, "answer") for uuid in rotated],
                    "answer": rotated.index(row.answer),
                }
            )
    return documents


def _retrieval_documents(dataset: str, table: str) -> list[DocumentColumns]:
    """A document for each image of each row of retrieval.

    They have the image as the only one of `candidates`, its `role` (``answer`` for a positive
    image), whether it is `positive`, and `images`, the number of images of its row. `row` is the
    same for all images of a row.
    """
    retrieval_table = tables.read_retrieval_table(dataset, table)
    archive = pictures(dataset)
    documents: list[DocumentColumns] = []
    for row_number, row in enumerate(retrieval_table.rows):
        uuids = sorted(row.uuids)  # so that the order says nothing
        archive.check(uuids, row.location)
        row_id = f"{table}-{row_number}"
        for image_number, uuid in enumerate(uuids):
            documents.append(
                {
                    **_shared_columns(dataset, retrieval_table.data, table, row),
                    "id": f"{row_id}-{image_number}",
                    "row": row_id,
                    "candidates": [uuid],
                    "role": row.roles.get(uuid, "answer"),
                    "positive": uuid in row.positives,
                    "images": len(uuids),
                }
            )
    return documents


def _shared_columns(dataset: str, data: str, table: str, row: tables.Row) -> DocumentColumns:
    """The columns that documents of detection and of retrieval share."""
    return {
        "dataset": dataset,
        "data": data,
        "phrase": row.phrase,
        "definitions": list(row.definitions),
        "figurative_type": figurative_type(table),
        "type": _TYPE_BY_CELL.get(row.type, row.type),
    }


def figurative_type(table: str) -> str | None:
    """The figure of speech in a table's name: ``idiom``, ``metaphor``, ``simile``; None without."""
    words = table.split("-")
    for figure in ("idiom", "metaphor", "simile"):
        if figure in words:
            return figure
    return None


def answer_index(table: str, row_number: int, phrase: str, count: int) -> int:
    """The index of a row's answer among its candidates, 0 to `count` - 1.

    The tables do not say where the answer is shown: a digest of table, row and phrase decides.
    """
    key = f"{random_tables.SEED}/{table}/{row_number}/{phrase}"
    return int(hashlib.sha256(key.encode()).hexdigest(), 16) % count


def phrase_text(doc: Mapping[str, Any], phrase_only: bool = False) -> str:
    """The text of a row: the phrase, and behind an idiom its definitions.

    It has the form in which the authors' code gives it to matching models. "Idioms were passed
    along with their definitions as input" (footnote 5).

    Args:
        doc: the row.
        phrase_only: leave out the definitions.
    """
    definitions: Sequence[str] = doc["definitions"]
    if phrase_only or not definitions:
        return str(doc["phrase"])
    return f"{doc['phrase']}.{'.'.join(definitions)}."
