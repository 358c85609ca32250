"""IRFL's tables as the hub has them: CSV files with JSON in their cells, read as text and checked row by row.

IRFL: Yosef et al. 2023, "IRFL: Image Recognition of Figurative Language", arXiv 2303.15445. The id of an image, its
"uuid", is a decimal number of 72 to 78 digits. Readers that guess types make it a float and lose most of it; here every
cell is text.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.core import hub
from figlang_tasks.core.checks import end_with_the_first
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.text import HALF_A_PAIR

# Rows of each table of the release.
ROWS = {
    "idiom-detection-task": 200,
    "metaphor-detection-task": 333,
    "simile-detection-task": 277,
    "open-simile-detection-task": 277,
    "metaphor-retrieval-task": 34,
    "simile-retrieval-task": 142,
    "idioms-dataset": 6697,
    "idiom-retrieval-task": 243,
    "open-simile-retrieval-task": 142,
    "metaphors-dataset": None,
    "similes-dataset": None,
}
INFERRED = ("idiom-retrieval-task", "open-simile-retrieval-task")
"""Tables whose number of rows is deduced from the paper's: another one is no fault."""
TYPES = {"idiom-detection-task": {"figurative": 131, "figurative+literal": 69}}

_RELEASE = "Use the files of the original release."
_UUID = re.compile(r"[0-9]{60,90}")
_COLUMNS = {
    "detection-task": ("answer", "distractors", "images_metadata", "type", "phrase"),
    "retrieval-task": ("first_category", "second_category", "images_metadata", "type", "phrase"),
    "dataset": ("phrase", "category", "uuid"),
}
_TYPES = {"detection": ("figurative", "figurative+literal"), "retrieval": ("FvsPL", "FLvsPL")}
Cells = Mapping[Any, Any]


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        where: names table and row in errors.
        phrase: the figurative phrase.
        definitions: of an idiom, 1 to 4; otherwise empty.
        type: of detection ``figurative`` or ``figurative+literal``, the category of the answer; of retrieval ``FvsPL``
            (figurative against partial literal) or ``FLvsPL``; of a base table the category of its image in lower case.
        positives: uuids: the answer of detection, the first category of retrieval, the image of a base table.
        negatives: three distractors of detection (1 or 3 for random candidates), the second category of retrieval.
        roles: of each negative, by uuid: ``literal`` (shows the phrase's words: a partial-literal image of an idiom or
            metaphor), ``source`` and ``target`` (the two of a simile), ``random``.
    """

    where: str
    phrase: str
    definitions: tuple[str, ...]
    type: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]
    roles: dict[str, str]

    @property
    def answer(self) -> str:
        """The one positive image."""
        return self.positives[0]

    @property
    def uuids(self) -> tuple[str, ...]:
        return (*self.positives, *self.negatives)


@dataclass(frozen=True)
class Table:
    """The result of reading a table.

    Attributes:
        rows: the valid ones, in the order of the file.
        faults: what is wrong with the file and with its other rows; names table, row and remedy.
        data: :class:`~figlang_tasks.core.data_id.DataId` with table, revision and a digest of the file, as text.
    """

    rows: tuple[Row, ...]
    faults: tuple[str, ...]
    data: str

    def whole(self) -> tuple[Row, ...]:
        """Return the rows of a table without faults.

        Raises:
            DataError: it has some; the message has the first.
        """
        end_with_the_first(self.faults, "irfl")
        return self.rows


def _read(dataset: str, name: str, row_of: Callable[[str, Cells], Row]) -> Table:
    """Return a table, each row as `row_of` makes it of its place and its cells; what that raises are faults."""
    import pandas

    if name not in ROWS:  # it may stand in saved samples
        raise DataError(f"{dataset} has no table {name!r}; known: {', '.join(ROWS)}")
    found = hub.snapshot(hub.source(dataset), [file_name(name)])
    path = found.folder / file_name(name)
    try:
        content = path.read_bytes()
        table = pandas.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except OSError as error:
        present = ", ".join(sorted(each.name for each in found.folder.glob("*.csv"))) or "none"
        message = (
            f"{dataset}: {path} cannot be read ({error.strerror}; tables there: {present}). The folder must have the "
            f"files of the hub's repository, {hub.source('IRFL').page}"
        )
        if name.endswith("-dataset"):  # which candidates are drawn from: the tasks of the paper do not need it
            raise PartMissing(message) from error
        return Table((), (message,), "")
    except ValueError as error:  # of pandas: no table, not UTF-8, a cell too many
        return Table((), (f"{path} is not a CSV file in UTF-8 ({error}). Load it again.",), "")
    wanted = next(columns for end, columns in _COLUMNS.items() if name.endswith(end))
    wanted += ("definition",) * name.startswith("idiom")
    if missing := [column for column in wanted if column not in table]:
        there = ", ".join(map(str, table.columns))
        return Table((), (f"{path} has no column {', '.join(missing)} (there are: {there}). {_RELEASE}",), "")
    lines = table.to_dict("records")
    rows, faults = [], _faults_of_count(dataset, name, path, len(lines))
    for number, cells in enumerate(lines):
        try:
            rows.append(row_of(f"{dataset}/{name} row {number}", cells))
        except DataError as error:
            faults.append(str(error))
    digest = hashlib.sha256(content).hexdigest()[:12]
    return Table(tuple(rows), tuple(faults), str(DataId(dataset, name, digest, revision=found.revision)))


def file_name(name: str) -> str:
    return name.replace("-", "_") + ".csv"


def _faults_of_count(dataset: str, name: str, path: Path, count: int) -> list[str]:
    if not count:
        return [f"{path} has no rows. {_RELEASE}"]
    published = ROWS[name]
    if dataset != "IRFL" or published in (None, count) or name in INFERRED:
        return []
    message = f"{path} has {count} rows, the published one has {published}. {_RELEASE}"
    return [f"{message} To run fewer rows use --limit."]


@hub.kept(maxsize=16)
def detection(dataset: str, name: str) -> Table:
    """Return a detection table (``idiom-detection-task`` ...).

    Similes take roles from their retrieval table: its faults are theirs too.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        name: one of :data:`ROWS`.

    Raises:
        DataError: there is no such table, or the dataset is not available.
    """
    kind = name.removesuffix("-detection-task")
    of_similes = kind in ("simile", "open-simile")
    ranked = retrieval(dataset, f"{kind}-retrieval-task") if of_similes else Table((), (), "")
    similes = _simile_roles(ranked.rows)

    def row_of(where: str, cells: Cells) -> Row:
        answers, distractors = _uuids(where, cells, "answer"), _uuids(where, cells, "distractors")
        if (len(answers), len(distractors)) != (1, 3):
            raise DataError(
                f"{where}: {len(answers)} answer(s) and {len(distractors)} distractor(s), must be 1 and 3. {_RELEASE}"
            )
        metadata = _metadata(where, cells, answers + distractors)
        phrase = _phrase(where, cells)
        known = similes.get(phrase, {})
        roles = {uuid: _role(kind, metadata[uuid], phrase, known.get(uuid)) for uuid in distractors}
        if kind == "simile" and not ranked.faults and sorted(roles.values()) != ["random", "source", "target"]:
            raise DataError(
                f"{where}: its distractors are {sorted(roles.values())} by this table and {kind}-retrieval-task, "
                f"must be one source, one target and one random image. {_RELEASE}"
            )
        of_type = _type(where, cells, "detection")
        return Row(where, phrase, _definitions(where, cells, kind), of_type, answers, distractors, roles)

    table = _read(dataset, name, row_of)
    table = replace(table, faults=table.faults + ranked.faults)
    unknown = sum("target" not in row.roles.values() for row in table.rows)
    if kind == "open-simile" and unknown and not table.faults:
        logger.warning(
            f"figlang_tasks: {table.data}: in {unknown} of {len(table.rows)} rows the retrieval table does not say "
            "which distractor shows the target concept; literal_preference counts it as random"
        )
    return table


@hub.kept(maxsize=16)
def retrieval(dataset: str, name: str) -> Table:
    """Return a retrieval table (``idiom-retrieval-task`` ...); as :func:`detection`."""
    kind = name.removesuffix("-retrieval-task")

    def row_of(where: str, cells: Cells) -> Row:
        positives, negatives = _uuids(where, cells, "first_category"), _uuids(where, cells, "second_category")
        if not positives or not negatives:
            raise DataError(f"{where}: a ranking needs images of both categories. {_RELEASE}")
        metadata = _metadata(where, cells, positives + negatives)
        roles = {uuid: metadata[uuid].get("sub_category") or "literal" for uuid in negatives}
        phrase, definitions = _phrase(where, cells), _definitions(where, cells, kind)
        return Row(where, phrase, definitions, _type(where, cells, "retrieval"), positives, negatives, roles)

    return _read(dataset, name, row_of)


@hub.kept(maxsize=4)
def images(dataset: str, name: str) -> Table:
    """Return a base table (``idioms-dataset``, ``metaphors-dataset``, ``similes-dataset``); as :func:`detection`."""
    kind = name.removesuffix("s-dataset")

    def row_of(where: str, cells: Cells) -> Row:
        _check_uuid(cells["uuid"], "uuid", where)
        phrase, definitions = _phrase(where, cells), _definitions(where, cells, kind)
        return Row(where, phrase, definitions, _category(cells), (cells["uuid"],), (), {})

    return _read(dataset, name, row_of)


# --- cells -----------------------------------------------------------------------------------------------------------


def _phrase(where: str, cells: Cells) -> str:
    _check_text(cells["phrase"], "phrase", where)
    return str(cells["phrase"])


def _type(where: str, cells: Cells, task: str) -> str:
    if (found := cells["type"]) not in _TYPES[task]:
        raise DataError(f"{where}: type {found!r}, must be {' or '.join(_TYPES[task])}. {_RELEASE}")
    return str(found)


def _check_text(value: Any, column: str, where: str) -> None:
    """Check that a cell has a text, of characters alone (half a surrogate pair is none), and no mark of a picture."""
    if not isinstance(value, str) or not value.strip() or HALF_A_PAIR.search(value) or "<image>" in value:
        raise DataError(f"{where}: {column} is {value!r}, must be a text, without <image>. {_RELEASE}")


def _list(where: str, cells: Cells, column: str) -> list[Any]:
    try:
        found = json.loads(cells[column])
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: {column} is not JSON ({error}). {_RELEASE}") from error
    if not isinstance(found, list):
        raise DataError(f"{where}: {column} is not a list. {_RELEASE}")
    return found


def _uuids(where: str, cells: Cells, column: str) -> tuple[str, ...]:
    found = _list(where, cells, column)
    for uuid in found:
        _check_uuid(uuid, column, where)
    return tuple(found)


def _check_uuid(uuid: Any, column: str, where: str) -> None:
    if not isinstance(uuid, str) or not _UUID.fullmatch(uuid):
        raise DataError(
            f"{where}: {column} holds {uuid!r}, which is not a uuid (60 to 90 digits, as text). Did a program save it "
            f"as a number? {_RELEASE}"
        )


def _metadata(where: str, cells: Cells, uuids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return what the table says of each image of a row, each of which it must name once."""
    if len(set(uuids)) < len(uuids):
        raise DataError(f"{where}: a uuid occurs twice. {_RELEASE}")
    described = _list(where, cells, "images_metadata")
    by_uuid = {str(each.get("uuid")): each for each in described if isinstance(each, dict)}
    if set(by_uuid) != set(uuids):
        raise DataError(f"{where}: images_metadata does not describe the images of the row. {_RELEASE}")
    for each in by_uuid.values():
        if each.get("sub_category"):
            _check_text(each["sub_category"], "images_metadata", where)
    return by_uuid


def _definitions(where: str, cells: Cells, kind: str) -> tuple[str, ...]:
    if kind != "idiom":
        return ()
    found = _list(where, cells, "definition")
    for each in found or [""]:
        _check_text(each, "definition", where)
    return tuple(found)


# --- roles -----------------------------------------------------------------------------------------------------------


def _category(values: Cells) -> str:
    """Return the category in lower case; the tables have both "Figurative Literal" and "Figurative+Literal"."""
    found = str(values.get("category") or "none").lower()
    return "figurative+literal" if found == "figurative literal" else found


def _role(kind: str, values: Cells, phrase: str, known: str | None) -> str:
    """Return the role of a distractor; of idioms and metaphors, what is no literal image was a random draw."""
    if kind == "idiom":
        return "literal" if values.get("phrase") == phrase else "random"
    if kind == "metaphor":
        return "literal" if _category(values) == "literal" else "random"
    return values.get("sub_category") or known or "random"


def _simile_roles(ranked: Sequence[Row]) -> dict[str, dict[str, str]]:
    """Return roles by phrase and uuid from the retrieval table; the detection table names the source alone.

    All 277 closed rows are resolved so. Two closed similes may become one open phrase, so phrases are merged.
    """
    roles: dict[str, dict[str, str]] = {}
    for row in ranked:
        roles.setdefault(row.phrase, {}).update(row.roles)
    return roles


def count(asked: Mapping[str, str]) -> int | None:
    """Return how many rows a table has; None for candidates drawn at random, which were not published."""
    shipped = hub.source(asked["dataset"]).folder
    if shipped is None:
        return ROWS.get(asked["table"])
    path = shipped / file_name(asked["table"])
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))
