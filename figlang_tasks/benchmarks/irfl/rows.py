"""IRFL rows as documents. They hold ids of pictures; a picture is read when it is shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from figlang_tasks.benchmarks.irfl import random_tables, tables
from figlang_tasks.benchmarks.irfl.archive import pictures
from figlang_tasks.core import hub
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

LETTERS = "ABCD"
TYPES = {
    "FvsPL": "figurative",
    "FLvsPL": "figurative_literal",
    "figurative+literal": "figurative_literal",
}
CLASSES = tuple(dict.fromkeys(TYPES.values()))
"""Of idioms, which the paper reports apart: scopes of the measures."""


@hub.kept(maxsize=8)
def load(dataset: str, table: str, rotations: bool = False) -> datasets.Dataset:
    """The documents of a table of the hub, or of random candidates; all pictures are known to be
    there.

    With `rotations` every row of a detection table comes as many times as it has candidates,
    rotated by one each time, so that the answer stands in each place once.
    """
    import datasets

    if table.endswith("-retrieval-task"):
        return datasets.Dataset.from_list(_pairs(dataset, table))
    return datasets.Dataset.from_list(_choices(dataset, table, rotations))


def _choices(dataset: str, table: str, rotations: bool) -> list[dict[str, Any]]:
    """Documents of detection: `candidates` in the order shown, and the place of the `answer`."""
    drawn = table in random_tables.CONFIGURATIONS
    found = (
        random_tables.load(dataset, table) if drawn else tables.read_detection_table(dataset, table)
    )
    store = pictures(dataset)
    documents = []
    for number, row in enumerate(found.rows):
        store.check(row.uuids, row.location)
        shown = list(row.negatives)
        place = answer_place(table, number, row.phrase, len(shown) + 1)
        shown.insert(place, row.answer)
        row_id = f"{table}-{number}"
        for turn in range(len(shown)) if rotations else [0]:
            order = shown[turn:] + shown[:turn]
            documents.append(
                _common(dataset, found.data, table, row)
                | {
                    "id": f"{row_id}-rotation{turn}" if rotations else row_id,
                    "row": row_id,
                    "candidates": order,
                    "roles": [row.roles.get(uuid, "answer") for uuid in order],
                    "answer": order.index(row.answer),
                }
            )
    return documents


def _pairs(dataset: str, table: str) -> list[dict[str, Any]]:
    """Documents of retrieval, one for each image; `images` is the number of those of its row."""
    found = tables.read_retrieval_table(dataset, table)
    store = pictures(dataset)
    documents = []
    for number, row in enumerate(found.rows):
        uuids = sorted(row.uuids)  # so that the order says nothing
        store.check(uuids, row.location)
        row_id = f"{table}-{number}"
        for place, uuid in enumerate(uuids):
            documents.append(
                _common(dataset, found.data, table, row)
                | {
                    "id": f"{row_id}-{place}",
                    "row": row_id,
                    "candidates": [uuid],
                    "role": row.roles.get(uuid, "answer"),
                    "positive": uuid in row.positives,
                    "images": len(uuids),
                }
            )
    return documents


def _common(dataset: str, data: str, table: str, row: tables.Row) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "data": data,
        "phrase": row.phrase,
        "definitions": list(row.definitions),
        "figurative_type": figurative_type(table),
        "type": TYPES.get(row.type, row.type),
    }


def figurative_type(table: str) -> str | None:
    """``idiom``, ``metaphor`` or ``simile``, as the name of a table says; None: it names none."""
    return next(
        (kind for kind in ("idiom", "metaphor", "simile") if kind in table.split("-")), None
    )


def answer_place(table: str, number: int, phrase: str, count: int) -> int:
    """The place of a row's answer, 0 to `count` - 1, which the tables do not give."""
    key = f"{random_tables.SEED}/{table}/{number}/{phrase}"
    return int(hashlib.sha256(key.encode()).hexdigest(), 16) % count


def text(doc: Mapping[str, Any], phrase_only: bool = False) -> str:
    """The text that the authors' evaluation gives to matching models: idioms come with their
    definitions.
    """
    definitions: Sequence[str] = doc["definitions"]
    if phrase_only or not definitions:
        return doc["phrase"]
    return f"{doc['phrase']}.{'.'.join(definitions)}."


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request, as ``IRFL,table=...,rotations=true``; errors as of `load`."""
    return load(request.dataset, request["table"], rotations=request.get("rotations") == "true")
