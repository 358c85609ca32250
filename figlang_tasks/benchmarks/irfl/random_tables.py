"""Random candidates: the answer with images of other phrases (Tables 4 and 5 of the paper).

The paper's rows were not released. Each image of a category is the answer of one row here, and its
distractors are drawn from the images of all other phrases of the table: by seed, configuration,
phrase and uuids alone, whatever the order of the table or Python's version.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from loguru import logger

from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.benchmarks.irfl.tables import Row, Table
from figlang_tasks.core import hub
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError

SEED = 2023
COLUMNS = ("distractors", "answer", "figurative_type", "type", "definition", "phrase")
# name -> candidates, base table, category
CONFIGURATIONS = {
    "random2-idiom-figurative": (2, "idioms-dataset", "figurative"),
    "random4-idiom-figurative": (4, "idioms-dataset", "figurative"),
    "random4-idiom-figurative-literal": (4, "idioms-dataset", "figurative+literal"),
    "random2-metaphor": (2, "metaphors-dataset", "figurative"),
    "random4-metaphor": (4, "metaphors-dataset", "figurative"),
    "random2-simile": (2, "similes-dataset", "figurative"),
    "random4-simile": (4, "similes-dataset", "figurative"),
}


@hub.kept(maxsize=8)
def load(dataset: str, name: str) -> Table:
    """The drawn rows of one of :data:`CONFIGURATIONS`."""
    count, base, category = CONFIGURATIONS[name]
    table = tables.read_base_table(dataset, base)
    images = table.rows
    # Sorted, so that the order of the table is of no effect; an image that it lists twice for a
    # phrase is one.
    ordered = sorted(
        (each for each in images if each.type == category), key=lambda each: each.definitions
    )
    unique = {(image.phrase, image.answer): image for image in ordered}
    if not unique:
        raise DataError(f"{table.data} has no image of the category {category!r}")
    by_phrase: dict[str, set[str]] = {}
    for image in images:
        by_phrase.setdefault(image.phrase, set()).add(image.answer)
    everything = set().union(*by_phrase.values())
    pools: dict[str, list[str]] = {}
    rows = []
    for number, key in enumerate(sorted(unique)):
        image = unique[key]
        pool = pools.setdefault(image.phrase, sorted(everything - by_phrase[image.phrase]))
        if len(pool) < count - 1:
            raise DataError(
                f"{table.data}: too few images of other phrases than {image.phrase!r} to draw"
                f" {count - 1}"
            )
        seed = f"{SEED}/{name}/{image.phrase}/{image.answer}"
        distractors = tuple(itertools.islice(_distinct(seed, pool), count - 1))
        where = f"{dataset}/{name} row {number}"
        rows.append(
            replace(
                image,
                location=where,
                negatives=distractors,
                roles=dict.fromkeys(distractors, "random"),
            )
        )
    logger.info(
        f"figlang_tasks: {len(rows)} rows of {dataset}/{name}, drawn from {table.data}, seed {SEED}"
    )
    digest = hashlib.sha256(_as_csv(rows, name)).hexdigest()[:12]
    return Table(tuple(rows), str(replace(DataId.parse(table.data), part=name, digest=digest)))


def _as_csv(rows: Sequence[Row], name: str) -> bytes:
    """Rows as a CSV file in UTF-8, with columns and JSON cells of the hub's detection tables: it is
    digested.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        cells = (json.dumps(row.negatives), json.dumps([row.answer]), name.split("-")[1], row.type)
        definition = json.dumps(row.definitions, ensure_ascii=False) if row.definitions else ""
        writer.writerow(dict(zip(COLUMNS, (*cells, definition, row.phrase), strict=True)))
    return text.getvalue().encode()


def _distinct(key: str, pool: Sequence[str]) -> Iterator[str]:
    seen = set()
    for attempt in itertools.count():
        drawn = pool[int(hashlib.sha256(f"{key}/{attempt}".encode()).hexdigest(), 16) % len(pool)]
        if drawn not in seen:
            seen.add(drawn)
            yield drawn
