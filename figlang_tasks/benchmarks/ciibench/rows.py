"""CII-Bench's rows as documents, from the hub's Parquet files or the archive of the authors.

The archive (MING-ZCH/CII-Bench) has ``data/test.json``, ``data/dev.json`` and all pictures in
``images``. A Parquet file of the hub has the pictures of its rows, or lacks them (``dev``).
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from figlang_tasks.benchmarks.ciibench.labels import SCOPES_BY_LABEL, SPLITS, labels_of
from figlang_tasks.core import hub, images, parquet_files, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.hub import USE_THE_RELEASE
from figlang_tasks.core.record import Row
from figlang_tasks.core.request import Request
from figlang_tasks.core.row_files import brief
from figlang_tasks.scoring.simple_rows import checked_options

if TYPE_CHECKING:
    import datasets

NAME = "CII-Bench"
LETTERS = "ABCDEF"

_ARCHIVE = f"the authors' archive as $FIGLANG_DATA_DIR/{NAME} (docs/cards/ciibench.md)"
_OPTION_COLUMNS = [f"option{number}" for number in range(1, 7)]
_COLUMNS = ["id", "image", "question", *_OPTION_COLUMNS, "correct_option", "answer"]


class Question(TypedDict):
    """A row without faults, in the columns of a document.

    Attributes:
        id: ``test-1``, ``dev-35``.
        unit: a digest of the file of the picture, which up to three rows share.
        question: the question in Chinese, as it stands in the release.
        options: the texts of the options A to F, as they stand in the release.
        answer: the letter of the right option.
        domain: its Chinese label.
        emotion: its Chinese label.
        rhetoric: its Chinese labels, joined by ",".
        scopes: the scopes that it counts in.
        image: the picture, undecoded.
    """

    id: str
    unit: str
    question: str
    options: list[str]
    answer: str
    domain: str
    emotion: str
    rhetoric: str
    scopes: list[str]
    image: images.ImageCell


# --- documents ---


@hub.cached(maxsize=4)
def for_request(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request such as ``CII-Bench,split=all``: a `Question`, and ``data``.

    Args:
        request: its split is ``all``, ``test`` or ``dev``.
        check_images: whether to decode every picture, which finds damaged ones.

    Raises:
        DataError: there is no such split, or a row has a fault.
        PartMissing: the folder lacks a split or its pictures.
    """
    split = request["split"]
    located_rows: list[tuple[str, Row | str]] = []
    faults: list[str] = []
    revision = ""
    # The small file of dev comes first: it may lack its pictures, and a run then ends before the
    # pictures of test (142 MB) are downloaded.
    for part in reversed(parts_of(split)):
        source = source_of(NAME)
        folder, revision = hub.snapshot(source, [f"*{part}-*.parquet"])
        rows_of_part = _read_split(folder, part)
        if len(rows_of_part) != source.splits[part]:
            faults.append(
                f"{NAME}: split {part!r} in {folder} has {len(rows_of_part)} rows, must have"
                f" {source.splits[part]}. {USE_THE_RELEASE}"
            )
        located_rows = [*rows_of_part, *located_rows]

    def parse(cells: Row, location: str) -> Question:
        """A row as a `Question`; a `DataError` if it has a fault."""
        return _question(cells, location, check_images)

    progress = row_files.progress(located_rows, f"{NAME}/{split}")
    questions, row_faults = row_files.validate_rows(progress, parse, key=_name_of_id)
    row_files.raise_first_fault([*faults, *row_faults], "ciibench")
    return row_files.as_documents([*questions], NAME, split, revision)


def _name_of_id(question: Question) -> str:
    """The id of a row, which must be unique, as messages name it."""
    return f"the id {question['id']}"


def parts_of(split: str) -> tuple[str, ...]:
    """The splits of the release that a request for ``all``, ``test`` or ``dev`` reads."""
    if split == "all":
        return SPLITS
    if split not in SPLITS:
        raise DataError(f"dataset_name: split={split}; valid: all, {', '.join(SPLITS)}")
    return (split,)


# --- the two layouts ---


def archive_table(split: str) -> str:
    """The file with the rows of a split, below the folder of an archive."""
    return f"data/{split}.json"


def _read_split(folder: Path, split: str) -> list[tuple[str, Row | str]]:
    """The location of each row of a split, and its cells; a text where it is no row."""
    table = folder / archive_table(split)
    return _read_archive(table) if table.exists() else _read_hub(folder, split)


def _read_archive(table: Path) -> list[tuple[str, Row | str]]:
    """The rows of a file of the archive; errors are those of `for_request`."""
    items = row_files.released_json(table)
    if not isinstance(items, list):
        raise DataError(f"{table} is {brief(items)}, must be a list. {USE_THE_RELEASE}")
    located_rows: list[tuple[str, Row | str]] = []
    for number, item in enumerate(items, start=1):
        cells: Row | str = f"must have local_path, one question and meta_data. {USE_THE_RELEASE}"
        match item:
            case {
                "local_path": str(path),
                "questions": [dict(question)],
                "meta_data": dict(labels),
            }:
                cells = {**labels, **question, "image": {"bytes": None, "path": path}}
        located_rows.append((f"{table}, row {number}", cells))
    return located_rows


def _read_hub(folder: Path, split: str) -> list[tuple[str, Row | str]]:
    """The rows of the Parquet files of a split; errors are those of `for_request`."""
    files = parquet_files.split_files(NAME, split, folder)
    location = f"{NAME}: split {split!r} in {folder}"
    if not files:
        raise PartMissing(
            f"{location} has neither {archive_table(split)} nor a file {split}-*.parquet. Put the"
            f" hub's files there, or {_ARCHIVE}"
        )
    table = parquet_files.read_parquet(files, [*_COLUMNS, *SCOPES_BY_LABEL], location)
    located_rows: list[tuple[str, Row | str]] = []
    has_pictures = False
    for number, row in enumerate(images.undecoded(table, location), start=1):
        has_pictures = has_pictures or bool(row["image"] and row["image"]["bytes"])
        options = [row[column] for column in _OPTION_COLUMNS]
        located_rows.append((f"{location}, row {number}", {**row, "options": options}))
    if not has_pictures:
        raise PartMissing(
            f"{location}: the Parquet file has no pictures. Put {_ARCHIVE}, which has all of them,"
            " or request split=test alone"
        )
    return located_rows


# --- one row ---


def _question(cells: Row, location: str, check_images: bool) -> Question:
    """A row as a `Question`.

    Args:
        cells: the row by column.
        location: file and row, for messages.
        check_images: whether to decode the picture.

    Raises:
        DataError: the row is not valid, or its picture is missing or damaged.
    """
    row_id = row_files.text(cells, "id", location)
    split = row_id.partition("-")[0]  # test-1, dev-35
    if split not in SPLITS:
        raise DataError(
            f"{location}: id is {brief(row_id)}, must be test-1, say. {USE_THE_RELEASE}"
        )
    location = f"{location} ({row_id})"
    row_files.text(cells, "question", location)  # raises an error for a text that is not valid
    options = _option_texts(cells.get("options"), location)
    answer = str(cells.get("answer"))
    text_by_letter = dict(zip(LETTERS, options, strict=True))
    if answer not in text_by_letter or text_by_letter[answer] != cells.get("correct_option"):
        raise DataError(
            f"{location}: answer is {brief(cells.get('answer'))}, which is not the letter of"
            f" correct_option. {USE_THE_RELEASE}"
        )
    scopes: list[str] = []
    labels_by_column: dict[str, str] = {}
    for column, scope_by_label in SCOPES_BY_LABEL.items():
        labels = labels_of(cells.get(column), column, location)
        # Several keywords are joined as in the released code.
        labels_by_column[column] = ",".join(labels)
        scopes.extend(scope_by_label[label] for label in labels)
    image: images.ImageCell = cells.get("image")
    content = images.content_of(image, location, NAME)
    if check_images:
        images.check({"bytes": content, "path": None}, location)
    return {
        "id": row_id,
        "unit": hashlib.sha256(content).hexdigest()[:16],
        "question": cells["question"],  # with its white space, as the released prompts have it
        "options": options,
        "answer": answer,
        "domain": labels_by_column["domain"],
        "emotion": labels_by_column["emotion"],
        "rhetoric": labels_by_column["rhetoric"],
        "scopes": [*scopes, split],
        "image": image,
    }


def _option_texts(options: object, location: str) -> list[str]:
    """The texts of the options A to F, with their white space.

    Raises:
        DataError: they are not six different texts, or models would misread one.
    """
    if not isinstance(options, list) or len(options) != len(LETTERS):
        raise DataError(
            f"{location}: options is {brief(options)}, must be six texts. {USE_THE_RELEASE}"
        )
    checked_options(options, location)
    return options
