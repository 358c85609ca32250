"""The blind test rows of the FigLang 2022 shared task, which come without answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict, cast

from figlang_tasks.benchmarks.flute.counts import BLIND_ROWS
from figlang_tasks.benchmarks.flute.pairs import sha256_of
from figlang_tasks.core import hub, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing

if TYPE_CHECKING:
    import datasets

BLIND_FILE = "flute_codalab_test_blind.jsonl"
BLIND_COLUMNS = ("codalab_id", "id", "premise", "hypothesis")


class BlindRow(TypedDict):
    """A row of the shared task's file, with the columns `BLIND_COLUMNS`.

    Attributes:
        codalab_id: its number in the file, from 0.
        id: an id that several rows may share.
        premise, hypothesis: the two sentences.
    """

    codalab_id: int
    id: int
    premise: str
    hypothesis: str


def load_blind() -> datasets.Dataset:
    """The shared task's 1,500 test rows as documents, without a label and an explanation.

    Raises:
        PartMissing: the user has not brought the file.
        DataError: the file is not as it was published.
    """
    import datasets

    folder = hub.local_folder(source_of("FLUTE"))
    path = None if folder is None else folder / BLIND_FILE
    if path is None or not path.exists():
        raise PartMissing(
            "flute_codalab reads the blind test file of the FigLang 2022 shared task (CodaLab"
            " competition 5908), which the dataset on the hub does not contain: put it at"
            f" ${hub.DATA_DIR_VARIABLE}/FLUTE/{BLIND_FILE}"
        )
    rows, row_faults = row_files.validate_rows(
        row_files.read_rows(path, BLIND_COLUMNS), _read_blind_row
    )
    faults = [f"{fault}. Use the file as it was published." for fault in row_faults]
    numbers = [row["codalab_id"] for row in rows]
    if not faults and numbers != list(range(BLIND_ROWS)):
        faults.append(
            f"{path}: the released rows are numbered from 0 to {BLIND_ROWS - 1} in order"
            f" (codalab_id), these {len(rows)} are not. Use the file as it was published; to try"
            " out fewer rows use --limit."
        )
    row_files.raise_first_fault(faults, "flute")
    return datasets.Dataset.from_dict(
        {
            "dataset": ["FLUTE"] * len(rows),
            "data": [_data_id(rows)] * len(rows),
            "id": [f"codalab-{number}" for number in numbers],
            "codalab_id": numbers,
            "source_id": [row["id"] for row in rows],
            "premise": [row["premise"] for row in rows],
            "hypothesis": [row["hypothesis"] for row in rows],
            "prompt": ["v2"] * len(rows),
        }
    )


def _read_blind_row(cells: Mapping[str, object], location: str) -> BlindRow:
    """A row of the shared task's file; raises a `DataError` with its first fault."""
    for column in ("codalab_id", "id"):
        number = cells[column]
        # JSON's true and false are integers in Python.
        if not isinstance(number, int) or isinstance(number, bool):
            raise DataError(
                f"{location}: {column} is {row_files.brief(number)}, not a whole number"
            )
    for column in ("premise", "hypothesis"):
        row_files.text(cells, column, location)  # raises an error for a fault
    return cast("BlindRow", cells)  # All fields of a `BlindRow` were checked above.


def _data_id(rows: Sequence[BlindRow]) -> str:
    """The `DataId` of the rows as a text, with a digest of their content and order.

    It is ``FLUTE/codalab:`` and 12 hex digits.
    """
    json_rows: list[str] = []
    for row in rows:
        cells = {  # without any other column that the file may have
            "codalab_id": row["codalab_id"],
            "id": row["id"],
            "premise": row["premise"],
            "hypothesis": row["hypothesis"],
        }
        json_rows.append(json.dumps(cells, sort_keys=True))
    return str(DataId("FLUTE", "codalab", sha256_of(*json_rows)[:12]))
