"""Random candidates: the answer with images of other phrases (Tables 4 and 5 of the paper).

The paper's rows were not released. Ours are drawn from the base tables with a published seed: each image of a category
is the answer of one row, and its distractors are drawn without replacement from the images of all other phrases of the
same table. A draw depends on seed, configuration, phrase and uuids alone, neither on the order of the table nor on
Python's version. The rows are written out as a CSV file with the hub's columns; the same file beside the other
tables (``$FIGLANG_DATA_DIR/IRFL/random4_idiom_figurative.csv``) is read in place of a draw.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from loguru import logger

from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.benchmarks.irfl.tables import Detection, Line, Table
from figlang_tasks.core import hub
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.hub import DataError
from figlang_tasks.core.text import printable
from figlang_tasks.metrics.files import write_whole

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
def load(dataset: str, name: str) -> Table[Detection]:
    """Return the rows of a configuration, read or drawn.

    Rows that were drawn are written to ``irfl`` in the cache folder (``$FIGLANG_CACHE``).

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        name: one of :data:`CONFIGURATIONS`.

    Raises:
        DataError: the base table is not available, has faults, or too few images to draw from.
    """
    if (written := read(dataset, name)) is not None:
        return written
    table = draw(dataset, name)
    content = as_csv(table.rows, name)
    digest = hashlib.sha256(content).hexdigest()[:12]
    place = f"python -m {__name__} FOLDER writes them"
    from figlang_tasks.metrics.explanation.cache import cache_root

    if cache := cache_root():
        path = cache / "irfl" / f"{dataset}-{digest}" / tables.file_name(name)
        try:
            _write(path, content)
            place = str(path)
        except OSError as error:
            logger.warning(f"figlang_tasks: the drawn rows could not be written to {path}: {error.strerror}")
    shown = f"{len(table.rows)} rows of {dataset}/{name}, drawn from {table.data}"
    logger.info(f"figlang_tasks: {shown}, seed {SEED}: {place}")
    return replace(table, data=str(replace(DataId.parse(table.data), part=name, digest=digest)))


def read(dataset: str, name: str) -> Table[Detection] | None:
    """The rows of a configuration from its file next to the tables; None if there is no file.

    Raises:
        DataError: as ``tables.read``.
    """
    count, base, category = _configuration(name)
    if not (hub.snapshot(hub.source(dataset), [tables.file_name(name)]).folder / tables.file_name(name)).is_file():
        return None

    def check(line: Line) -> Detection:
        row = tables.detection_row(line, base.removesuffix("s-dataset"), candidates=count)
        if row.type != category:
            raise DataError(f"{row.where}: type {row.type!r}, must be {category!r}")
        return row

    return tables.checked(tables.read(dataset, name), check)


def draw(dataset: str, name: str) -> Table[Detection]:
    """Draw the rows of a configuration; ``data`` is that of the base table.

    Raises:
        DataError: as :func:`load`.
    """
    count, base, category = _configuration(name)
    table = tables.images(dataset, base)
    images = table.whole()
    # Sorted, so that the order of the table is of no effect; an image that it lists twice for a phrase is one.
    ordered = sorted((each for each in images if each.category == category), key=lambda each: each.definitions)
    unique = {(image.phrase, image.uuid): image for image in ordered}
    if not unique:
        raise DataError(f"{table.data} has no image of the category {category!r}")
    by_phrase: dict[str, set[str]] = {}
    for image in images:
        by_phrase.setdefault(image.phrase, set()).add(image.uuid)
    everything = set().union(*by_phrase.values())
    pools: dict[str, list[str]] = {}
    rows = []
    for number, key in enumerate(sorted(unique)):
        image = unique[key]
        pool = pools.setdefault(image.phrase, sorted(everything - by_phrase[image.phrase]))
        if len(pool) < count - 1:
            raise DataError(f"{table.data}: too few images of other phrases than {image.phrase!r} to draw {count - 1}")
        seed = f"{SEED}/{name}/{image.phrase}/{image.uuid}"
        distractors = tuple(itertools.islice(_distinct(seed, pool), count - 1))
        where = f"{dataset}/{name} row {number}"
        roles = dict.fromkeys(distractors, "random")
        rows.append(Detection(where, image.phrase, image.definitions, category, image.uuid, distractors, roles))
    return Table(tuple(rows), (), table.data)


def as_csv(rows: Sequence[Detection], name: str) -> bytes:
    """Return rows as a CSV file in UTF-8, with the columns and JSON cells of the hub's detection tables."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        cells = (json.dumps(row.distractors), json.dumps([row.answer]), name.split("-")[1], row.type)
        definition = json.dumps(row.definitions, ensure_ascii=False) if row.definitions else ""
        writer.writerow(dict(zip(COLUMNS, (*cells, definition, row.phrase), strict=True)))
    return text.getvalue().encode()


def index(key: str, count: int) -> int:
    """Return a number from 0 to count - 1, drawn with `key`: the SHA-256 of it, modulo `count`."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest(), "big") % count


def _distinct(key: str, pool: Sequence[str]) -> Iterator[str]:
    seen = set()
    for attempt in itertools.count():
        drawn = pool[index(f"{key}/{attempt}", len(pool))]
        if drawn not in seen:
            seen.add(drawn)
            yield drawn


def _configuration(name: str) -> tuple[int, str, str]:
    if name not in CONFIGURATIONS:
        raise DataError(f"IRFL has no random candidates {name!r}; known: {', '.join(CONFIGURATIONS)}")
    return CONFIGURATIONS[name]


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m figlang_tasks.benchmarks.irfl.random_tables FOLDER``: draw all configurations and write them."""
    parser = argparse.ArgumentParser(prog="python -m figlang_tasks.benchmarks.irfl.random_tables", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the CSV files")
    parser.add_argument("--dataset", default="IRFL", choices=["IRFL", "figlang_mini_irfl"])
    args = parser.parse_args(argv)
    for name in CONFIGURATIONS:
        try:
            table = draw(args.dataset, name)
        except DataError as error:
            print(printable(f"figlang_tasks: {error}"), file=sys.stderr)
            return 1
        path = args.folder / tables.file_name(name)
        try:
            _write(path, as_csv(table.rows, name))
        except OSError as error:
            print(printable(f"figlang_tasks: {path} cannot be written: {error.strerror}"), file=sys.stderr)
            return 1
        print(printable(f"{path}: {len(table.rows)} rows from {table.data}, seed {SEED}"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
