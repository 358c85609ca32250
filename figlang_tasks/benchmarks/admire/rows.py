"""AdMIRe's rows as documents, from the archives as the organisers released them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from loguru import logger

from figlang_tasks.benchmarks.admire.benchmark import ARCHIVES
from figlang_tasks.benchmarks.admire.counts import BOTH, PARTS, ROWS, is_sequence_table
from figlang_tasks.benchmarks.admire.targets import find_target
from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.record import Row
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

SENSES = ("idiomatic", "literal")

SHOWN = ("pictures", "captions")
"""What a prompt may show of the candidates."""

LETTERS = "ABCDE"
"""The letters of the candidates in the order shown."""

SEED = 2025
"""The seed of the hash that decides the order shown."""

QUOTED_NAME = re.compile(r"""['"]([^'"]+)['"]""")
"""A file name in a list as Python writes it: ``['35234427395.png', '53378381715.png']``."""

# The columns with the right answer: of rankings, and of sequences.
_ORDER_COLUMN = "expected_order"
_ITEM_COLUMN = "expected_item"


class RowFields(TypedDict):
    """What a row says, in the columns of a document.

    Attributes:
        shown: ``pictures`` or ``captions``.
        compound: the compound that the row is about.
        sense: its sense in the row, one of `SENSES`.
        sentence: the sentence that has it; "" for a sequence.
        order: the file names in the expected order, the best first; for a sequence the right one
            alone.
        names: the file names of the candidates in the order shown.
        captions: those of the two pictures that begin a sequence, then those of the candidates;
            empty where pictures are shown.
    """

    shown: str
    compound: str
    sense: str
    sentence: str
    order: list[str]
    names: list[str]
    captions: list[str]


class RowWithPaths(RowFields):
    """A row, and where its pictures are.

    Attributes:
        paths: those of the two pictures that begin a sequence, then those of the candidates; below
            the folder of the dataset.
    """

    paths: list[str]


# --- documents ---


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request such as ``AdMIRe,table=en_test,shown=pictures`` (see `load`)."""
    return load(request.dataset, request["table"], request["shown"], check_images)


@hub.cached(maxsize=8)
def load(dataset: str, table: str, shown: str, check_images: bool = True) -> datasets.Dataset:
    """The documents of a table, one for each row; in ``*_both`` those of a compound are neighbours.

    They have the columns of `RowWithPaths`, and:

    - ``dataset``: the name of the dataset.
    - ``id``: the table of the row's part, and the row's index in it: ``en_test-0``.
    - ``data``: dataset, table and a digest of all texts (`DataId`).

    Args:
        dataset: ``AdMIRe``.
        table: a key of `ROWS`.
        shown: one of `SHOWN`.
        check_images: whether to decode every picture that is shown, which finds damaged ones.

    Raises:
        DataError: there is no such table, or a row has a fault.
        PartMissing: the files of the table, or its pictures, are not there.
    """
    import datasets

    if table not in ROWS or shown not in SHOWN:
        raise DataError(
            f"{dataset} has no table={table},shown={shown}; it has {', '.join(ROWS)};"
            f" {', '.join(SHOWN)}"
        )
    root = hub.snapshot(source_of(dataset), ["*"]).folder.absolute()
    opens_pictures = check_images and shown == "pictures"
    documents: list[dict[str, Any]] = []
    faults: list[str] = []
    for part_table in BOTH.get(table, (table,)):
        rows, part_faults = _read_table(dataset, root, part_table, shown, opens_pictures)
        for row_index, row in enumerate(rows):
            documents.append({"dataset": dataset, "id": f"{part_table}-{row_index}", **row})
        faults.extend(part_faults)
    if not documents and not faults:
        faults.append(f"{dataset}/{table} has no rows")
    row_files.raise_first_fault(faults, "admire")

    if table in BOTH:
        documents.sort(key=lambda document: document["compound"])
    if len(documents) != ROWS[table]:
        logger.warning(
            f"figlang_tasks: {dataset}/{table} has {len(documents)} rows here, the release"
            f" {ROWS[table]}"
        )
    data_id = DataId(dataset, table, _digest_of_texts(documents))
    for document in documents:
        document["data"] = str(data_id)
    return datasets.Dataset.from_list(documents)


def _digest_of_texts(documents: Sequence[Row]) -> str:
    """The first 12 hex digits of a SHA-256 of all columns but ``paths``, in their order."""
    texts_of_documents: list[list[object]] = []
    for document in documents:
        texts = [cell for column, cell in document.items() if column != "paths"]
        texts_of_documents.append(texts)
    return hashlib.sha256(json.dumps(texts_of_documents).encode()).hexdigest()[:12]


# --- the files of a table ---


def _read_table(
    dataset: str, root: Path, table: str, shown: str, opens_pictures: bool
) -> tuple[list[RowWithPaths], list[str]]:
    """The valid rows of a table with a file of its own, and a message for each row with a fault.

    Args:
        dataset: ``AdMIRe``.
        root: the folder of the dataset.
        table: the table: ``en_test``, not ``en_both``.
        shown: one of `SHOWN`.
        opens_pictures: whether the pictures must be there, and are decoded.
    """
    table_file = _find_table_file(root, table, needs_pictures=opens_pictures)
    picture_folder = table_file.parent.relative_to(root)
    is_sequence = is_sequence_table(table)
    answer_column = _ITEM_COLUMN if is_sequence else _ORDER_COLUMN
    first_pictures = ["s1.png", "s2.png"] if is_sequence else []  # those that begin a sequence

    def parse(cells: dict[str, Any], location: str) -> RowWithPaths:
        """A row as a document; a `DataError` if the row or one of its pictures has a fault."""
        has_answer = cells[answer_column].strip(" []") != ""
        if not has_answer:
            target = find_target(root, answer_column, cells, location)
            cells = {**cells, "sentence_type": target.sense, answer_column: target.answer}
        row = document_of(cells, table, shown, location)
        # The folder of a compound has "_" in place of "'".
        folder = picture_folder / row["compound"].replace("'", "_")
        paths = [str(folder / name) for name in [*first_pictures, *row["names"]]]
        if opens_pictures:
            for path in paths:
                images.check({"path": path}, location, dataset)
        return {**row, "paths": paths}

    rows = row_files.read_rows(table_file, ["compound", "sentence_type", answer_column])
    return row_files.validate_rows(rows, parse, key=_unique_compound)


def _unique_compound(row: RowFields) -> str:
    """What no two rows may share, as messages name it: ``compound elbow grease``."""
    return f"compound {row['compound']}"


def row_file_name(table: str) -> str:
    """The name of the file of a table: ``subtask_a_test.tsv`` for ``en_test``."""
    prefix, part = table.split("_")
    subtask = "b" if prefix == "sequence" else "a"
    short_part = "xp" if table == "pt_extended" else PARTS[part]
    return f"subtask_{subtask}_{short_part}.tsv"


def _find_table_file(root: Path, table: str, needs_pictures: bool) -> Path:
    """The file of a table, wherever the archives were unpacked below a folder.

    Args:
        root: the folder of the dataset.
        table: the table: ``en_test``, not ``en_both``.
        needs_pictures: whether a folder of pictures must stand beside the file.

    Raises:
        DataError: the file is there twice.
        PartMissing: there is no such file, or no pictures where they are needed.
    """
    prefix = table.split("_")[0]
    file_name = row_file_name(table)
    subtask = "b" if prefix == "sequence" else "a"
    pattern = f"subtask_{subtask}_*.tsv"

    subtask_files = list(root.rglob(pattern))
    if subtask == "a":
        # The files of both languages have the same names. They are below folders EN and PT.
        language = prefix.upper()
        subtask_files = [
            path for path in subtask_files if language in path.relative_to(root).parts[:-1]
        ]
    table_files = [path for path in subtask_files if path.name == file_name]
    if len(table_files) > 1:
        raise DataError(
            f"{file_name} is there {len(table_files)} times ({table_files[0]}, {table_files[1]}):"
            " leave one"
        )
    if not table_files:
        missing_name = file_name if subtask_files else pattern
        raise PartMissing(_unpack_message(f"no file {missing_name}", root, prefix))
    table_file = table_files[0]
    has_pictures = any(path.is_dir() for path in table_file.parent.iterdir())
    if needs_pictures and not has_pictures:
        problem = f"no folder of pictures beside {table_file}"
        raise PartMissing(_unpack_message(problem, root, prefix))
    return table_file


def _unpack_message(problem: str, root: Path, prefix: str) -> str:
    """The message about a missing file: what is missing, and which archives to unpack where.

    Args:
        problem: what is missing.
        root: the folder of the dataset.
        prefix: the first word of the table's name: ``en``, ``pt`` or ``sequence``.
    """
    archives = {
        "en": "Subtask A, English",
        "pt": "Subtask A, Portuguese",
        "sequence": "Subtask B",
    }
    folder = root if prefix == "sequence" else root / prefix.upper()
    return (
        f"{problem}. Unpack the archives of {archives[prefix]} (train, dev, test, extended"
        f" evaluation; from {ARCHIVES}) into {folder}: each has a file of rows, and beside it a"
        " folder of pictures for each compound"
    )


# --- rows ---


def document_of(cells: Row, table: str, shown: str, location: str) -> RowFields:
    """A row of a released file in the columns of a document, checked; without paths of pictures.

    Args:
        cells: the row as it stands in the file, by column.
        table: the table of the row.
        shown: one of `SHOWN`.
        location: file and line, for messages.

    Raises:
        DataError: a cell is missing or not valid.
    """
    is_sequence = is_sequence_table(table)
    compound = row_files.text(cells, "compound", location)
    sense = row_files.text(cells, "sentence_type", location)
    if sense not in SENSES:
        raise DataError(
            f"{location}: sentence_type is {row_files.brief(sense)}, must be {' or '.join(SENSES)}"
        )
    caption_columns: dict[str, str] = {}  # by the name of the picture
    n_candidates = 4 if is_sequence else 5
    for number in range(1, n_candidates + 1):
        name = row_files.text(cells, f"image{number}_name", location)
        caption_columns[name] = f"image{number}_caption"
    order = _expected_names(cells, is_sequence, caption_columns.keys(), location)
    names = sorted(caption_columns, key=lambda name: _hash_of_picture(compound, name))

    shown_columns: list[str] = []
    if shown == "captions":
        if is_sequence:
            shown_columns += ["sequence_caption1", "sequence_caption2"]
        language_suffix = "_pt" if table.startswith("pt") else ""
        shown_columns += [caption_columns[name] + language_suffix for name in names]
    captions: list[str] = []
    for column in shown_columns:
        caption = row_files.text(cells, column, location)
        captions.append(caption.replace("\\n", "\n"))  # the files write a line break as \n
    return {
        "shown": shown,
        "compound": compound,
        "sense": sense,
        "sentence": "" if is_sequence else row_files.text(cells, "sentence", location),
        "order": order,
        "names": names,
        "captions": captions,
    }


def _expected_names(
    cells: Row, is_sequence: bool, candidates: Collection[str], location: str
) -> list[str]:
    """The file names in the expected order, the best first; of a sequence the right one alone.

    Args:
        cells: the row as it stands in the file, by column.
        is_sequence: whether the row is of subtask B.
        candidates: the file names of the candidates.
        location: file and line, for messages.

    Raises:
        DataError: a ranking has not each candidate once, or a sequence none of four candidates.
    """
    if is_sequence:
        names = [row_files.text(cells, _ITEM_COLUMN, location)]
        # There are fewer than four if two candidates have one name.
        is_valid = names[0] in candidates and len(candidates) == 4
        requirement = "expected_item must be one"
    else:
        names = QUOTED_NAME.findall(cells[_ORDER_COLUMN])
        is_valid = sorted(names) == sorted(candidates)
        requirement = "expected_order must have each once"
    if not is_valid:
        given_names = row_files.brief(", ".join(candidates))
        raise DataError(
            f"{location}: {row_files.brief(names)} is expected of the pictures {given_names}:"
            f" {requirement}"
        )
    return names


def _hash_of_picture(compound: str, name: str) -> bytes:
    """A SHA-256 of names alone: the order shown must not depend on what is right."""
    return hashlib.sha256(f"{SEED}/{compound}/{name}".encode()).digest()
