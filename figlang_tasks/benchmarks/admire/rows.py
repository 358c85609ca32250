"""AdMIRe's rows as documents, from the archives as the organisers released them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks.benchmarks.admire.benchmark import ARCHIVES
from figlang_tasks.benchmarks.admire.counts import BOTH, PARTS, ROWS
from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

SENSES = ("idiomatic", "literal")
SHOWN = ("pictures", "captions")
LETTERS = "ABCDE"
SEED = 2025

NAME = re.compile(r"""['"]([^'"]+)['"]""")  # in a list as Python writes it


@hub.cached(maxsize=8)
def load(dataset: str, table: str, shown: str, check_images: bool = True) -> datasets.Dataset:
    """The documents of a table (a key of `ROWS`); of ``*_both`` the two of each compound stand
    together.

    ``sentence`` is "" of a sequence; ``order`` are file names, the best first (of a sequence the
    right one alone), ``names`` the candidates in the order shown; ``paths`` and ``captions`` are of
    the two pictures of a sequence, then of the candidates.
    """
    import datasets

    if table not in ROWS or shown not in SHOWN:
        raise DataError(
            f"{dataset} has no table={table},shown={shown}; it has {', '.join(ROWS)};"
            f" {', '.join(SHOWN)}"
        )
    root = hub.snapshot(source_of(dataset), ["*"]).folder.absolute()
    look = check_images and shown == "pictures"
    documents, faults = [], []
    for each in BOTH.get(table, (table,)):
        rows, wrong = _read(dataset, root, each, shown, look)
        documents += [
            {"dataset": dataset, "id": f"{each}-{number}"} | row for number, row in enumerate(rows)
        ]
        faults += wrong
    row_files.raise_first_fault(
        faults if faults or documents else [f"{dataset}/{table} has no rows"], "admire"
    )
    if table in BOTH:
        documents.sort(key=lambda doc: doc["compound"])
    if len(documents) != ROWS[table]:
        logger.warning(
            f"figlang_tasks: {dataset}/{table} has {len(documents)} rows here, the release"
            f" {ROWS[table]}"
        )
    texts = [[value for key, value in doc.items() if key != "paths"] for doc in documents]
    digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]
    return datasets.Dataset.from_list(
        [doc | {"data": str(DataId(dataset, table, digest))} for doc in documents]
    )


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request, as ``AdMIRe,table=en_test,shown=pictures``; errors as of
    `load`.
    """
    return load(request.dataset, request["table"], request["shown"], check_images)


def _file(root: Path, table: str, look: bool) -> Path:
    """The file of a table, beside its pictures if `look`; both languages have the same names, in
    folders EN and PT.
    """
    kind, part = table.split("_")
    every = f"subtask_{'b' if kind == 'sequence' else 'a'}_*.tsv"
    name = every.replace("*", "xp" if table == "pt_extended" else PARTS[part])
    there = [
        path
        for path in root.rglob(every)
        if kind == "sequence" or kind.upper() in path.relative_to(root).parts[:-1]
    ]
    found = [path for path in there if path.name == name]
    if len(found) > 1:
        raise DataError(f"{name} is there {len(found)} times ({found[0]}, {found[1]}): leave one")
    has_pictures = found and any(path.is_dir() for path in found[0].parent.iterdir())
    if not found or (look and not has_pictures):
        lacks = (
            f"no folder of pictures beside {found[0]}"
            if found
            else f"no file {name if there else every}"
        )
        archive = {
            "en": "Subtask A, English",
            "pt": "Subtask A, Portuguese",
            "sequence": "Subtask B",
        }[kind]
        place = root if kind == "sequence" else root / kind.upper()
        raise PartMissing(
            f"{lacks}. Unpack the archives of {archive} (train, dev, test, extended evaluation;"
            f" from {ARCHIVES}) into {place}: each has a file of rows, and beside it a folder of"
            " pictures for each compound"
        )
    return found[0]


def _read(
    dataset: str, root: Path, table: str, shown: str, look: bool
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a file as documents, and what is wrong with the others; pictures are checked if
    `look`.
    """
    path, is_sequence = _file(root, table, look), table.startswith("sequence")
    label = "expected_item" if is_sequence else "expected_order"

    def document(cells: dict[str, Any], where: str) -> dict[str, Any]:
        if not cells[label].strip(" []"):
            cells |= _target(dataset, root, label, cells, where)
        found = document_of(cells, table, shown, where)
        folder = path.parent.relative_to(root) / found["compound"].replace("'", "_")
        paths = [
            str(folder / name)
            for name in (*(("s1.png", "s2.png") if is_sequence else ()), *found["names"])
        ]
        for picture in paths if look else []:
            images.check({"path": picture}, where, dataset)
        return found | {"paths": paths}

    lines = row_files.read_rows(path, ["compound", "sentence_type", label])
    return row_files.validate_rows(lines, document, lambda found: f"compound {found['compound']}")


def _target(
    dataset: str, root: Path, label: str, cells: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """The sense and label of a row that has none, taken from a file of targets."""
    names = [cell for key, cell in cells.items() if key.endswith("_name")]
    found = [
        (place, {"sentence_type": other["sentence_type"], label: other[label]})
        for place, other in _targets(root, label)
        if other["compound"] == cells["compound"] and any(name in other[label] for name in names)
    ]
    for place, other in found:
        if other != found[0][1]:
            raise DataError(
                f"{where}: {found[0][0]} and {place} have different targets of this row: leave one"
            )
    if found:
        return found[0][1]
    raise DataError(
        f"{where}: {label} is empty, and no file *targets*.tsv below {root} has it: put the targets"
        " of the official scoring program there"
    )


@hub.cached(maxsize=2)
def _targets(root: Path, label: str) -> list[tuple[str, dict[str, Any]]]:
    """The rows of all files of targets, each with its place."""
    lines = [
        line for path in sorted(root.rglob("*targets*.tsv")) for line in row_files.read_rows(path)
    ]
    needed = {"compound", "sentence_type", label}
    return [
        (place, row) for place, row in lines if not isinstance(row, str) and needed <= row.keys()
    ]


def document_of(cells: Mapping[str, Any], table: str, shown: str, where: str) -> dict[str, Any]:
    is_sequence = table.startswith("sequence")
    compound, sense = (
        row_files.text(cells, column, where) for column in ("compound", "sentence_type")
    )
    if sense not in SENSES:
        raise DataError(
            f"{where}: sentence_type is {row_files.brief(sense)}, must be {' or '.join(SENSES)}"
        )
    of_name = {
        row_files.text(cells, f"image{number}_name", where): f"image{number}_caption"
        for number in range(1, 5 if is_sequence else 6)
    }
    order = (
        [row_files.text(cells, "expected_item", where)]
        if is_sequence
        else NAME.findall(cells["expected_order"])
    )
    if not (
        order[0] in of_name and len(of_name) == 4
        if is_sequence
        else sorted(order) == sorted(of_name)
    ):
        names_given = row_files.brief(", ".join(of_name))
        label = "expected_item must be one" if is_sequence else "expected_order must have each once"
        raise DataError(
            f"{where}: {row_files.brief(order)} is expected of the pictures {names_given}: {label}"
        )
    names = sorted(
        of_name, key=lambda name: hashlib.sha256(f"{SEED}/{compound}/{name}".encode()).digest()
    )
    columns = ["sequence_caption1", "sequence_caption2"] if is_sequence else []
    columns += [of_name[name] + ("_pt" if table.startswith("pt") else "") for name in names]
    captions = (
        [row_files.text(cells, column, where) for column in columns] if shown == "captions" else []
    )
    return {
        "shown": shown,
        "compound": compound,
        "sense": sense,
        "sentence": "" if is_sequence else row_files.text(cells, "sentence", where),
        "order": order,
        "names": names,
        "captions": [caption.replace("\\n", "\n") for caption in captions],
    }
