"""IRFL's tables as the hub has them: CSV files with JSON in their cells, read as text and checked row by row.

IRFL: Yosef et al. 2023, "IRFL: Image Recognition of Figurative Language", arXiv 2303.15445. The id of an image, its
"uuid", is a decimal number of 72 to 78 digits. Readers that guess types make it a float and lose most of it; here every
cell is text.

What reads a table returns its valid rows and all its faults; whoever makes documents of it takes them by
:meth:`Table.whole`, which ends with the first fault.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from loguru import logger

from figlang_tasks.core import hub
from figlang_tasks.core.checks import end_with_the_first
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.hub import DataError
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
# Deduced from the paper's tables: another number of rows is a warning, not an error.
INFERRED = ("idiom-retrieval-task", "open-simile-retrieval-task")
TYPES = {"idiom-detection-task": {"figurative": 131, "figurative+literal": 69}}

_RELEASE = "Use the files of the original release."
_NAME = re.compile(r"[\w-]+")
_UUID = re.compile(r"[0-9]{60,90}")
_CANDIDATES = 4
_Row = TypeVar("_Row")


@dataclass(frozen=True)
class Table(Generic[_Row]):
    """The result of reading a table.

    Attributes:
        rows: the valid ones, in the order of the file.
        faults: what is wrong with the file and with its other rows; names table, row and remedy.
        data: :class:`~figlang_tasks.core.data_id.DataId` with table, revision and a digest of the file, as text.
    """

    rows: tuple[_Row, ...]
    faults: tuple[str, ...]
    data: str

    def whole(self) -> tuple[_Row, ...]:
        """The rows of a table without faults.

        Raises:
            DataError: it has some; the message has the first.
        """
        end_with_the_first(self.faults, "irfl")
        return self.rows


class Line(NamedTuple):
    """A row of the file: its place for messages (table and row, from 0), and its cells by column."""

    where: str
    cells: dict[str, str]


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

    @property
    def uuids(self) -> tuple[str, ...]:
        return (self.answer, *self.distractors)


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

    @property
    def uuids(self) -> tuple[str, ...]:
        return (*self.positives, *self.negatives)


@dataclass(frozen=True)
class Image:
    """A row of a base table: one image of one phrase.

    Attributes:
        where, phrase, definitions: as in :class:`Detection`.
        category: ``figurative``, ``figurative+literal``, ``literal``, ``partial literal``, ``none`` or other, in lower
            case.
    """

    where: str
    phrase: str
    category: str
    uuid: str
    definitions: tuple[str, ...]

    @property
    def uuids(self) -> tuple[str, ...]:
        return (self.uuid,)


@hub.kept(maxsize=16)
def read(dataset: str, name: str) -> Table[Line]:
    """Read a table, whose cells are not looked at; its faults are those of the file as a whole.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        name: one of :data:`ROWS`, or the name of a file of random candidates (module ``random_tables``).

    Raises:
        DataError: there is no such table, or the dataset is not available.
    """
    if not _NAME.fullmatch(name):  # it may stand in saved samples
        raise DataError(f"{dataset} has no table {name!r}; known: {', '.join(ROWS)}")
    found = hub.snapshot(hub.source(dataset), [file_name(name)])
    path = found.folder / file_name(name)
    try:
        content = path.read_bytes()
    except OSError as error:
        present = ", ".join(sorted(each.name for each in found.folder.glob("*.csv"))) or "none"
        message = (
            f"{dataset}: {path} cannot be read ({error.strerror}; tables there: {present}). The folder must have the "
            f"files of the hub's repository, {hub.source('IRFL').page}"
        )
        return Table((), (message,), "")
    rows, faults = _parse(content, path, f"{dataset}/{name}")
    faults = faults or _count_faults(dataset, name, path, [line.cells for line in rows])
    digest = hashlib.sha256(content).hexdigest()[:12]
    return Table(tuple(rows), tuple(faults), str(DataId(dataset, name, digest, revision=found.revision)))


def file_name(name: str) -> str:
    return name.replace("-", "_") + ".csv"


def _parse(content: bytes, path: Path, table: str) -> tuple[list[Line], list[str]]:
    rows: list[Line] = []
    faults: list[str] = []
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        for number, cells in enumerate(reader):
            where = f"{table} row {number}"
            if None in cells or None in cells.values():
                faults.append(f"{where}: the number of cells is not the number of columns. {_RELEASE}")
            else:
                rows.append(Line(where, cells))
    except (UnicodeDecodeError, csv.Error) as error:
        faults.append(f"{path} is not a CSV file in UTF-8 ({error}). Load it again.")
    return rows, faults


def _count_faults(dataset: str, name: str, path: Path, rows: Sequence[dict[str, str]]) -> list[str]:
    if not rows:
        return [f"{path} has no rows. {_RELEASE}"]
    faults = []
    published = ROWS.get(name) if dataset == "IRFL" else None
    if published and len(rows) != published:
        message = f"{path} has {len(rows)} rows, the published one has {published}"
        if name in INFERRED:
            logger.warning(f"figlang_tasks: {message} (a number deduced from the paper)")
        else:
            faults.append(f"{message}. {_RELEASE} To run fewer rows use --limit.")
    if dataset == "IRFL" and name in TYPES:
        types = Counter(row.get("type") for row in rows)
        if types != TYPES[name]:
            faults.append(f"{path} has {dict(types)}, the published one has {TYPES[name]}. {_RELEASE}")
    return faults


def checked(table: Table[Line], check: Callable[[Line], _Row]) -> Table[_Row]:
    """The rows that `check` makes of lines; what it raises (`DataError`) are faults."""
    rows, faults = [], list(table.faults)
    for line in table.rows:
        try:
            rows.append(check(line))
        except DataError as error:
            faults.append(str(error))
    return Table(tuple(rows), tuple(faults), table.data)


@hub.kept(maxsize=16)
def detection(dataset: str, name: str) -> Table[Detection]:
    """Read a detection table (``idiom-detection-task`` ...).

    Similes take roles from their retrieval table: its faults are theirs too.

    Raises:
        DataError: as :func:`read`.
    """
    kind = name.removesuffix("-detection-task")
    of_similes = kind in ("simile", "open-simile")
    ranked = retrieval(dataset, f"{kind}-retrieval-task") if of_similes else Table[Retrieval]((), (), "")
    similes = _simile_roles(ranked.rows)

    def check(line: Line) -> Detection:
        row = detection_row(line, kind)
        _columns(line, ("images_metadata",))
        metadata = _metadata(line, row.uuids)
        known = similes.get(row.phrase, {})
        roles = {uuid: _role(kind, metadata[uuid], row.phrase, known.get(uuid)) for uuid in row.distractors}
        if kind == "simile" and not ranked.faults and sorted(roles.values()) != ["random", "source", "target"]:
            raise DataError(
                f"{row.where}: its distractors are {sorted(roles.values())} by this table and {kind}-retrieval-task, "
                f"must be one source, one target and one random image. {_RELEASE}"
            )
        return replace(row, roles=roles)

    table = checked(read(dataset, name), check)
    table = replace(table, faults=table.faults + ranked.faults)
    unknown = sum("target" not in row.roles.values() for row in table.rows)
    if kind == "open-simile" and unknown and not table.faults:
        logger.warning(
            f"figlang_tasks: {table.data}: in {unknown} of {len(table.rows)} rows the retrieval table does not say "
            "which distractor shows the target concept; literal_preference counts it as random"
        )
    return table


def detection_row(line: Line, kind: str, candidates: int = _CANDIDATES) -> Detection:
    """Check the cells of a row of a detection table, or of one of random candidates; all roles are ``random`` as yet.

    Args:
        kind: ``idiom`` has definitions; ``metaphor``, ``simile``, ``open-simile``.
        candidates: images of the row, the answer included.

    Raises:
        DataError: a column or an image is missing, an image occurs twice, or a cell is not what it should be.
    """
    where, cells = line
    _columns(line, ("answer", "distractors", "type", "phrase"))
    answers = _uuids(line, "answer")
    distractors = _uuids(line, "distractors")
    if len(answers) != 1 or len(distractors) != candidates - 1:
        raise DataError(
            f"{where}: {len(answers)} answer(s) and {len(distractors)} distractor(s), must be 1 and {candidates - 1}. "
            f"{_RELEASE}"
        )
    _check_distinct([*answers, *distractors], where)
    if cells["type"] not in ("figurative", "figurative+literal"):
        raise DataError(f"{where}: type {cells['type']!r}, must be figurative or figurative+literal. {_RELEASE}")
    phrase, definitions = _text(line, "phrase"), _definitions(line, kind)
    roles = dict.fromkeys(distractors, "random")
    return Detection(where, phrase, definitions, cells["type"], answers[0], distractors, roles)


@hub.kept(maxsize=16)
def retrieval(dataset: str, name: str) -> Table[Retrieval]:
    """Read a retrieval table (``idiom-retrieval-task`` ...).

    Raises:
        DataError: as :func:`read`.
    """
    kind = name.removesuffix("-retrieval-task")

    def check(line: Line) -> Retrieval:
        where, cells = line
        _columns(line, ("first_category", "second_category", "images_metadata", "type", "phrase"))
        positives = _uuids(line, "first_category")
        negatives = _uuids(line, "second_category")
        if not positives or not negatives:
            raise DataError(f"{where}: a ranking needs images of both categories. {_RELEASE}")
        _check_distinct([*positives, *negatives], where)
        if cells["type"] not in ("FvsPL", "FLvsPL"):
            raise DataError(f"{where}: type {cells['type']!r}, must be FvsPL or FLvsPL. {_RELEASE}")
        metadata = _metadata(line, [*positives, *negatives])
        roles = {uuid: metadata[uuid].get("sub_category") or "literal" for uuid in negatives}
        phrase, definitions = _text(line, "phrase"), _definitions(line, kind)
        return Retrieval(where, phrase, definitions, cells["type"], positives, negatives, roles)

    return checked(read(dataset, name), check)


@hub.kept(maxsize=4)
def images(dataset: str, name: str) -> Table[Image]:
    """Read a base table (``idioms-dataset``, ``metaphors-dataset``, ``similes-dataset``).

    Raises:
        DataError: as :func:`read`.
    """

    def check(line: Line) -> Image:
        where, cells = line
        _columns(line, ("phrase", "category", "uuid"))
        _check_uuid(cells["uuid"], "uuid", where)
        definitions = _definitions(line, "idiom") if name == "idioms-dataset" else ()
        return Image(where, _text(line, "phrase"), _category(cells), cells["uuid"], definitions)

    return checked(read(dataset, name), check)


# --- cells -----------------------------------------------------------------------------------------------------------


def _columns(line: Line, wanted: Sequence[str]) -> None:
    if missing := [column for column in wanted if column not in line.cells]:
        there = ", ".join(line.cells)
        raise DataError(f"{line.where}: no column {', '.join(missing)} (there are: {there}). {_RELEASE}")


def _text(line: Line, column: str) -> str:
    text = line.cells[column]
    if not text.strip():
        raise DataError(f"{line.where}: {column} is empty. {_RELEASE}")
    _check_shown(text, column, line.where)
    return text


def _check_shown(text: str, column: str, where: str) -> None:
    if "<image>" in text:
        raise DataError(f"{where}: {column} holds <image>, which marks the place of a picture in prompts")


def _is_text(value: Any) -> bool:
    """Whether JSON has a text here, of characters alone: half a surrogate pair is none."""
    return isinstance(value, str) and bool(value.strip()) and not HALF_A_PAIR.search(value)


def _json(line: Line, column: str) -> Any:
    try:
        return json.loads(line.cells[column])
    except (ValueError, RecursionError) as error:
        raise DataError(f"{line.where}: {column} is not JSON ({error}). {_RELEASE}") from error


def _uuids(line: Line, column: str) -> tuple[str, ...]:
    found = _json(line, column)
    if not isinstance(found, list):
        raise DataError(f"{line.where}: {column} is not a list of uuids. {_RELEASE}")
    for uuid in found:
        _check_uuid(uuid, column, line.where)
    return tuple(found)


def _check_uuid(uuid: Any, column: str, where: str) -> None:
    if not isinstance(uuid, str) or not _UUID.fullmatch(uuid):
        raise DataError(
            f"{where}: {column} holds {uuid!r}, which is not a uuid (60 to 90 digits, as text). Did a program save it "
            f"as a number? {_RELEASE}"
        )


def _check_distinct(uuids: Sequence[str], where: str) -> None:
    if repeated := [uuid for uuid, count in Counter(uuids).items() if count > 1]:
        raise DataError(f"{where}: the uuid {repeated[0]} occurs twice. {_RELEASE}")


def _metadata(line: Line, uuids: Sequence[str]) -> dict[str, dict[str, Any]]:
    found = _json(line, "images_metadata")
    by_uuid: dict[str, dict[str, Any]] = {}
    if isinstance(found, list):
        by_uuid = {str(each.get("uuid")): each for each in found if isinstance(each, dict)}
    if set(by_uuid) != set(uuids):
        raise DataError(f"{line.where}: images_metadata does not describe the images of the row. {_RELEASE}")
    for each in by_uuid.values():
        if (kind := each.get("sub_category")) and not _is_text(kind):
            raise DataError(f"{line.where}: images_metadata has the sub_category {kind!r}, must be a text. {_RELEASE}")
    return by_uuid


def _definitions(line: Line, kind: str) -> tuple[str, ...]:
    if kind != "idiom":
        return ()
    _columns(line, ("definition",))
    found = _json(line, "definition")
    if not isinstance(found, list) or not found or not all(map(_is_text, found)):
        shown = line.cells["definition"]
        raise DataError(f"{line.where}: definition is {shown!r}, must be a JSON list of texts. {_RELEASE}")
    for each in found:
        _check_shown(each, "definition", line.where)
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


def _simile_roles(ranked: Sequence[Retrieval]) -> dict[str, dict[str, str]]:
    """Roles by phrase and uuid, from the retrieval table: the detection table names the source concept alone.

    All 277 closed rows are resolved so. Two closed similes may become one open phrase, so phrases are merged.
    """
    roles: dict[str, dict[str, str]] = {}
    for row in ranked:
        roles.setdefault(row.phrase, {}).update(row.roles)
    return roles


def count(asked: Mapping[str, str]) -> int | None:
    """How many rows a task has that asks for a table; None for candidates drawn at random, which were not published."""
    shipped = hub.source(asked["dataset"]).folder
    if shipped is None:
        return ROWS.get(asked["table"])
    path = shipped / file_name(asked["table"])
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))
