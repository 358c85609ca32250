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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.core import hub
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.hub import DataError

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
# Deduced from the paper's tables, not seen: another number is told, not refused.
INFERRED = ("idiom-retrieval-task", "open-simile-retrieval-task")
TYPES = {"idiom-detection-task": {"figurative": 131, "figurative+literal": 69}}

_RELEASE = "Use the files of the original release."
_NAME = re.compile(r"[\w-]+")
_UUID = re.compile(r"[0-9]{60,90}")
_CANDIDATES = 4


@dataclass(frozen=True)
class Table:
    """A table's name and what it was read from.

    Attributes:
        rows: cells by column.
        data: :class:`~figlang_tasks.core.data_id.DataId` with table, revision and a digest of the file, as text.
        name: as in the hub's configurations, e.g. ``idiom-detection-task``.
    """

    rows: tuple[dict[str, str], ...]
    data: str
    name: str


@dataclass(frozen=True)
class Detection:
    """A row of a detection table.

    Attributes:
        where: names table and row in errors.
        phrase: the figurative phrase.
        definitions: of an idiom, 1 to 4; otherwise empty.
        type: ``figurative`` or ``figurative+literal``, the category of the answer.
        answer: uuid.
        distractors: three uuids (n - 1 for random candidates).
        roles: of each distractor, by uuid: ``literal`` (shows the phrase's words: a partial-literal image of an idiom
            or metaphor), ``source`` and ``target`` (the two of a simile), ``random``.
    """

    where: str
    phrase: str
    definitions: tuple[str, ...]
    type: str
    answer: str
    distractors: tuple[str, ...]
    roles: dict[str, str]


@dataclass(frozen=True)
class Retrieval:
    """A row of a retrieval table.

    Attributes:
        where, phrase, definitions: as in :class:`Detection`.
        type: ``FvsPL`` (figurative against partial literal) or ``FLvsPL`` (figurative+literal against it).
        positives: uuids of the first category, at least one.
        negatives: uuids of the second, at least one.
        roles: of the negatives, by uuid, as in :class:`Detection`.
    """

    where: str
    phrase: str
    definitions: tuple[str, ...]
    type: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]
    roles: dict[str, str]


@dataclass(frozen=True)
class Image:
    """A row of a base table: one image of one phrase.

    Attributes:
        category: ``figurative``, ``figurative+literal``, ``literal``, ``partial literal``, ``none`` or other, in lower
            case.
    """

    phrase: str
    category: str
    uuid: str
    definitions: tuple[str, ...]


@lru_cache(maxsize=16)
def read(dataset: str, name: str) -> Table:
    """Read a table.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        name: one of :data:`ROWS`, or the name of a file of random candidates (module ``candidates``).

    Raises:
        DataError: it is missing, unreadable or not what was published.
    """
    if not _NAME.fullmatch(name):  # it may stand in saved samples
        raise DataError(f"{dataset} has no table {name!r}; known: {', '.join(ROWS)}")
    file_name = name.replace("-", "_") + ".csv"
    found = hub.snapshot(hub.source(dataset), [file_name])
    path = found.folder / file_name
    try:
        content = path.read_bytes()
    except OSError as error:
        present = ", ".join(sorted(each.name for each in found.folder.glob("*.csv"))) or "none"
        raise DataError(
            f"{dataset}: {path} cannot be read ({error.strerror}; tables there: {present}). The folder must have the "
            f"files of the hub's repository, {hub.source('IRFL').page}"
        ) from error
    rows = tuple(_parse(content, path))
    _check_count(dataset, name, path, rows)
    digest = hashlib.sha256(content).hexdigest()[:12]
    return Table(rows, str(DataId(dataset, name, digest, revision=found.revision)), name)


def _parse(content: bytes, path: Path) -> Iterator[dict[str, str]]:
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        for number, row in enumerate(reader):
            if None in row or None in row.values():
                raise DataError(f"{path} row {number}: not as many cells as columns. {_RELEASE}")
            yield row
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is not a CSV file in UTF-8 ({error}). Load it again.") from error


def _check_count(dataset: str, name: str, path: Path, rows: Sequence[dict[str, str]]) -> None:
    if not rows:
        raise DataError(f"{path} has no rows. {_RELEASE}")
    published = ROWS.get(name) if dataset == "IRFL" else None
    if published and len(rows) != published:
        message = f"{path} has {len(rows)} rows, the published one has {published}"
        if name not in INFERRED:
            raise DataError(f"{message}. {_RELEASE} To run fewer rows use --limit.")
        logger.warning(f"figlang_tasks: {message} (by the paper; the table itself was never seen)")
    if dataset == "IRFL" and name in TYPES:
        types = Counter(row.get("type") for row in rows)
        if types != TYPES[name]:
            raise DataError(f"{path} has {dict(types)}, the published one has {TYPES[name]}. {_RELEASE}")


@lru_cache(maxsize=16)
def detection(dataset: str, name: str) -> tuple[tuple[Detection, ...], str]:
    """Return the rows of a detection table (``idiom-detection-task`` ...) and where they are from (:attr:`Table.data`).

    Raises:
        DataError: as :func:`read`; a row that is not valid; for closed similes, distractors that the retrieval table
            does not tell apart.
    """
    table = read(dataset, name)
    kind = name.removesuffix("-detection-task")
    similes = _simile_roles(dataset, kind) if kind in ("simile", "open-simile") else {}
    rows = []
    for number, cells in enumerate(table.rows):
        row = detection_row(cells, kind, f"{dataset}/{name} row {number}")
        _columns(cells, ("images_metadata",), row.where)
        metadata = _metadata(cells, [row.answer, *row.distractors], row.where)
        known = similes.get(row.phrase, {})
        roles = {uuid: _role(kind, metadata[uuid], row.phrase, known.get(uuid)) for uuid in row.distractors}
        if kind == "simile" and sorted(roles.values()) != ["random", "source", "target"]:
            raise DataError(
                f"{row.where}: its distractors are {sorted(roles.values())} by this table and {kind}-retrieval-task, "
                f"must be one source, one target and one random image. {_RELEASE}"
            )
        rows.append(replace(row, roles=roles))
    if kind == "open-simile" and (unknown := sum("target" not in row.roles.values() for row in rows)):
        logger.warning(
            f"figlang_tasks: {table.data}: in {unknown} of {len(rows)} rows the retrieval table does not tell which "
            f"distractor shows the target concept; it counts as random in literal_preference"
        )
    return tuple(rows), table.data


def detection_row(cells: dict[str, str], kind: str, where: str, candidates: int = _CANDIDATES) -> Detection:
    """Check the cells of a row of a detection table, or of one of random candidates; all roles are ``random`` as yet.

    Args:
        cells: by column.
        kind: ``idiom`` has definitions; ``metaphor``, ``simile``, ``open-simile``.
        where: names table and row in errors.
        candidates: images of the row, the answer included.

    Raises:
        DataError: a column or an image is missing, an image occurs twice, or a cell is not what it should be.
    """
    _columns(cells, ("answer", "distractors", "type", "phrase"), where)
    answers = _uuids(cells, "answer", where)
    distractors = _uuids(cells, "distractors", where)
    if len(answers) != 1 or len(distractors) != candidates - 1:
        raise DataError(
            f"{where}: {len(answers)} answer(s) and {len(distractors)} distractor(s), must be 1 and {candidates - 1}. "
            f"{_RELEASE}"
        )
    _check_distinct([*answers, *distractors], where)
    if cells["type"] not in ("figurative", "figurative+literal"):
        raise DataError(f"{where}: type {cells['type']!r}, must be figurative or figurative+literal. {_RELEASE}")
    phrase, definitions = _text(cells, "phrase", where), _definitions(cells, kind, where)
    roles = dict.fromkeys(distractors, "random")
    return Detection(where, phrase, definitions, cells["type"], answers[0], distractors, roles)


@lru_cache(maxsize=16)
def retrieval(dataset: str, name: str) -> tuple[tuple[Retrieval, ...], str]:
    """Return the rows of a retrieval table (``idiom-retrieval-task`` ...) and where they are from.

    Raises:
        DataError: as :func:`read`; a row that is not valid.
    """
    table = read(dataset, name)
    kind = name.removesuffix("-retrieval-task")
    rows = []
    for number, cells in enumerate(table.rows):
        where = f"{dataset}/{name} row {number}"
        _columns(cells, ("first_category", "second_category", "images_metadata", "type", "phrase"), where)
        positives = _uuids(cells, "first_category", where)
        negatives = _uuids(cells, "second_category", where)
        if not positives or not negatives:
            raise DataError(f"{where}: a ranking needs images of both categories. {_RELEASE}")
        _check_distinct([*positives, *negatives], where)
        if cells["type"] not in ("FvsPL", "FLvsPL"):
            raise DataError(f"{where}: type {cells['type']!r}, must be FvsPL or FLvsPL. {_RELEASE}")
        metadata = _metadata(cells, [*positives, *negatives], where)
        roles = {uuid: metadata[uuid].get("sub_category") or "literal" for uuid in negatives}
        phrase = _text(cells, "phrase", where)
        definitions = _definitions(cells, kind, where)
        rows.append(Retrieval(where, phrase, definitions, cells["type"], positives, negatives, roles))
    return tuple(rows), table.data


@lru_cache(maxsize=4)
def images(dataset: str, name: str) -> tuple[tuple[Image, ...], str]:
    """Return the rows of a base table (``idioms-dataset``, ``metaphors-dataset``, ``similes-dataset``), and its data.

    Raises:
        DataError: as :func:`read`; a row that is not valid.
    """
    table = read(dataset, name)
    rows = []
    for number, cells in enumerate(table.rows):
        where = f"{dataset}/{name} row {number}"
        _columns(cells, ("phrase", "category", "uuid"), where)
        _check_uuid(cells["uuid"], "uuid", where)
        definitions = _definitions(cells, "idiom", where) if name == "idioms-dataset" else ()
        rows.append(Image(_text(cells, "phrase", where), _category(cells), cells["uuid"], definitions))
    return tuple(rows), table.data


# --- cells -----------------------------------------------------------------------------------------------------------


def _columns(cells: dict[str, str], wanted: Sequence[str], where: str) -> None:
    if missing := [column for column in wanted if column not in cells]:
        raise DataError(f"{where}: no column {', '.join(missing)} (there are: {', '.join(cells)}). {_RELEASE}")


def _text(cells: dict[str, str], column: str, where: str) -> str:
    text = cells[column]
    if not text.strip():
        raise DataError(f"{where}: {column} is empty. {_RELEASE}")
    _check_shown(text, column, where)
    return text


def _check_shown(text: str, column: str, where: str) -> None:
    if "<image>" in text:
        raise DataError(f"{where}: {column} holds <image>, which marks the place of a picture in prompts")


def _json(cells: dict[str, str], column: str, where: str) -> Any:
    try:
        return json.loads(cells[column])
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: {column} is not JSON ({error}). {_RELEASE}") from error


def _uuids(cells: dict[str, str], column: str, where: str) -> tuple[str, ...]:
    found = _json(cells, column, where)
    if not isinstance(found, list):
        raise DataError(f"{where}: {column} is no list of uuids. {_RELEASE}")
    for uuid in found:
        _check_uuid(uuid, column, where)
    return tuple(found)


def _check_uuid(uuid: Any, column: str, where: str) -> None:
    if not isinstance(uuid, str) or not _UUID.fullmatch(uuid):
        raise DataError(
            f"{where}: {column} holds {uuid!r}, which is no uuid (60 to 90 digits, as text). Was the table saved by a "
            f"program that takes it for a number? {_RELEASE}"
        )


def _check_distinct(uuids: Sequence[str], where: str) -> None:
    if repeated := [uuid for uuid, count in Counter(uuids).items() if count > 1]:
        raise DataError(f"{where}: the uuid {repeated[0]} occurs twice. {_RELEASE}")


def _metadata(cells: dict[str, str], uuids: Sequence[str], where: str) -> dict[str, dict[str, Any]]:
    found = _json(cells, "images_metadata", where)
    by_uuid: dict[str, dict[str, Any]] = {}
    if isinstance(found, list):
        by_uuid = {str(each.get("uuid")): each for each in found if isinstance(each, dict)}
    if set(by_uuid) != set(uuids):
        raise DataError(f"{where}: images_metadata does not describe the images of the row. {_RELEASE}")
    return by_uuid


def _definitions(cells: dict[str, str], kind: str, where: str) -> tuple[str, ...]:
    if kind != "idiom":
        return ()
    _columns(cells, ("definition",), where)
    found = _json(cells, "definition", where)
    if not isinstance(found, list) or not found or not all(isinstance(each, str) and each.strip() for each in found):
        raise DataError(f"{where}: definition is {cells['definition']!r}, must be a JSON list of texts. {_RELEASE}")
    for each in found:
        _check_shown(each, "definition", where)
    return tuple(found)


# --- roles -----------------------------------------------------------------------------------------------------------


def _category(values: dict[str, Any]) -> str:
    """Category in lower case; the tables have both "Figurative Literal" and "Figurative+Literal"."""
    found = str(values.get("category") or "none").lower()
    return "figurative+literal" if found == "figurative literal" else found


def _role(kind: str, values: dict[str, Any], phrase: str, known: str | None) -> str:
    """Role of a distractor; one of an idiom or metaphor that is no literal image of the phrase was a random draw."""
    if kind == "idiom":
        return "literal" if values.get("phrase") == phrase else "random"
    if kind == "metaphor":
        return "literal" if _category(values) == "literal" else "random"
    return values.get("sub_category") or known or "random"


def _simile_roles(dataset: str, kind: str) -> dict[str, dict[str, str]]:
    """Roles by phrase and uuid, from the retrieval table: the detection table names the source concept alone.

    All 277 closed rows are resolved so. Two closed similes may become one open phrase, so phrases are merged.
    """
    roles: dict[str, dict[str, str]] = {}
    for row in retrieval(dataset, f"{kind}-retrieval-task")[0]:
        roles.setdefault(row.phrase, {}).update(row.roles)
    return roles


def count(asked: Mapping[str, str]) -> int | None:
    """How many rows a task has that asks for a table; None for candidates drawn at random, which were not published."""
    shipped = hub.source(asked["dataset"]).folder
    if shipped is None:
        return ROWS.get(asked["table"])
    path = shipped / (asked["table"].replace("-", "_") + ".csv")
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))
