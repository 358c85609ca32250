"""Reads V-FLUTE's rows as a table: those of the release, or rows of the user in their place.

The user's rows of a split are in ``$FIGLANG_DATA_DIR/V-FLUTE/test.csv``, else ``test.jsonl`` (also
``train``, ``validation``), with the columns `USER_COLUMNS` and, if wanted, `OPTIONAL_COLUMNS`
(docs/cards/vflute.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from loguru import logger

from figlang_tasks.core import hub, images, parquet_files, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError, PartMissing

if TYPE_CHECKING:
    import datasets

TEXT_COLUMNS = ("claim", "label", "explanation", "phenomenon", "source_dataset")
"""The text columns of the release; it has `image` too."""

USER_SUFFIXES = (".csv", ".jsonl")
"""The suffixes that a file of the user may have, the first one preferred."""

USER_COLUMNS = ("id", "image", "claim", "label", "explanation")
"""The columns that a file of the user must have."""

OPTIONAL_COLUMNS = ("source_dataset", "phenomenon")
"""The columns that a file of the user may have; without them these texts are empty."""

# What a user may write in `source_dataset`. A source becomes part of the names of metrics
# (f1@0_muse), in which `all` and the ends ci_low and ci_high mean something else.
_SOURCE_NAME = re.compile(r"(?!all$|.*ci_(low|high)$)[\w-]{1,60}")


class RowTable(NamedTuple):
    """The rows of a split, and what is wrong with them.

    Attributes:
        rows: the columns `TEXT_COLUMNS`, `image` (undecoded), `id`, and `location`, which names a
            row in messages: ``V-FLUTE/test row 7 (muse-test-7)``.
        faults: a message for each fault; rows of the user with a fault are left out.
    """

    rows: datasets.Dataset
    faults: list[str]


# --- the release ---


def read_release(dataset: str, split: str) -> RowTable:
    """The released rows of a split, from the hub, ``FIGLANG_DATA_DIR`` or this package.

    Ids are those of the release: the source, the split, and the row's index in the split
    (``muse-test-7``).

    Returns:
        All rows; the only fault found here is another number of rows than the published one.

    Raises:
        DataError: there is no such split, or it cannot be read.
        PartMissing: the folder of the dataset has no file of the split.
    """
    source = source_of(dataset)
    if split not in source.splits:
        raise DataError(f"{dataset} has no split {split!r}; it has: {', '.join(source.splits)}")
    folder = hub.snapshot(source, ["README.md", f"*{split}-*.parquet"]).folder
    files = parquet_files.split_files(dataset, split, folder)
    if not files:
        raise PartMissing(_no_file_message(source, split, folder))

    location = f"{dataset}: split {split!r} in {folder}"
    rows = parquet_files.read_parquet(files, ["image", *TEXT_COLUMNS], location)
    faults: list[str] = []
    published_rows = source.splits[split]
    if len(rows) != published_rows:
        faults.append(
            f"{location} has {len(rows)} rows, the published one has {published_rows}. Ids and"
            " instructions depend on the row order of the whole split; to run fewer rows use"
            " --limit."
        )
    # Ids are added also with such a fault: the caller raises it together with those of rows.
    ids: list[str] = []
    row_locations: list[str] = []
    for row_index, source_dataset in enumerate(rows["source_dataset"]):
        row_id = f"{source_dataset}-{split}-{row_index}"
        ids.append(row_id)
        row_locations.append(f"{dataset}/{split} row {row_index} ({row_id})")
    rows = images.undecoded(rows, f"{dataset}/{split}")
    rows = rows.add_column("id", ids).add_column("location", row_locations)
    return RowTable(rows, faults)


def _no_file_message(source: hub.Source, split: str, folder: Path) -> str:
    """The message about a folder without a Parquet file of a split: what is there, what to do."""
    parquet_names = [str(path.relative_to(folder)) for path in folder.glob("**/*.parquet")]
    message = (
        f"{source.name}: no file {split}-*.parquet for split {split!r} in {folder} (parquet files"
        f" there: {', '.join(sorted(parquet_names)) or 'none'}). The folder must have the layout of"
        " the hub repository: data/<split>-00000-of-0000N.parquet"
    )
    if source.bring:
        message += f"; for rows of your own see {source.bring}"
    return message


# --- rows of the user ---


def find_user_file(dataset: str, split: str) -> Path | None:
    """The user's file with rows of a split: ``test.csv``, else ``test.jsonl``; None without both.

    The release is read where there is none.
    """
    folder = hub.local_folder(source_of(dataset))
    if folder is None:
        return None
    for suffix in USER_SUFFIXES:
        path = folder / f"{split}{suffix}"
        if path.exists():
            return path
    return None


def read_user_file(path: Path, split_name: str) -> RowTable:
    """The rows of a user's file. Their claims, labels and pictures are not checked here.

    Args:
        path: the file (`find_user_file`).
        split_name: dataset and split (``V-FLUTE/test``), for the log.

    Returns:
        The rows without faults, and the faults of the others: a cell is missing, an id stands
        twice. An empty file is a fault.

    Raises:
        DataError: the file cannot be read at all.
    """
    import datasets
    import pyarrow as pa

    rows, faults = row_files.validate_rows(
        row_files.read_rows(path, USER_COLUMNS), _user_row, key=_name_of_id
    )
    if not rows and not faults:
        faults = [
            f"{path} has no rows: write one for each picture and claim (`figlang data template"
            " vflute` does)"
        ]
    logger.info(f"figlang_tasks: {split_name}: {len(rows)} rows of your own from {path}")

    column_types: dict[str, datasets.Value | datasets.Image] = {}
    # `datasets` looks at each cell of a list by itself, and takes columns of Arrow as they are.
    columns: dict[str, pa.Array] = {}
    for column in (*TEXT_COLUMNS, "id", "location"):
        column_types[column] = datasets.Value("string")
        columns[column] = pa.array([row[column] for row in rows], pa.string())
    picture_type = datasets.Image(decode=False)
    column_types["image"] = picture_type
    columns["image"] = pa.array([row["image"] for row in rows], picture_type.pa_type)
    table = datasets.Dataset.from_dict(columns, datasets.Features(column_types))
    return RowTable(table, faults)


def _user_row(cells: Mapping[str, Any], location: str) -> dict[str, object]:
    """A row of the user as a dict with the columns of `RowTable.rows`.

    Args:
        cells: the row as it stands in the file, by column.
        location: file and line, for messages.

    Raises:
        DataError: a text is missing or holds a placeholder such as ``<image>``, or the source
            cannot be part of a metric's name.
    """
    row_id = row_files.text(cells, "id", location)
    location = f"{location} ({row_id[:80]})"
    picture_path = row_files.text(cells, "image", location)
    texts: dict[str, str] = {}
    for column in ("claim", "label", "explanation"):
        texts[column] = row_files.text(cells, column, location)
    for column in OPTIONAL_COLUMNS:
        texts[column] = row_files.text(cells, column, location, optional=True)
    source_dataset = texts["source_dataset"]
    if source_dataset and not _SOURCE_NAME.fullmatch(source_dataset):
        raise DataError(
            f"{location}: source_dataset is {row_files.brief(source_dataset)}; it becomes part of"
            " the names of metrics: write letters, digits, _ and - (60 at most), not `all`, and"
            " nothing that ends in `ci_low` or `ci_high`"
        )
    picture = {"bytes": None, "path": picture_path}
    return {"id": row_id, "location": location, "image": picture, **texts}


def _name_of_id(row: Mapping[str, object]) -> str:
    """The id of a row, which must be unique, as messages name it: ``the id example-1``."""
    return f"the id {row['id']}"
