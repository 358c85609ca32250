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
from figlang_tasks.core.errors import PartMissing
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
        distractors: three uuids (1 or 3 for random candidates).
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
        name: one of :data:`ROWS`.

    Raises:
        DataError: there is no such table, or the dataset is not available.
    """
    if name not in ROWS:  # it may stand in saved samples
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
        if name.endswith("-dataset"):  # which candidates are drawn from: the tasks of the paper do not need it
            raise PartMissing(message) from error
        return Table((), (message,), "")
    rows: list[Line] = []
    faults: list[str] = []
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        columns = reader.fieldnames or ()
        wanted = next(found for end, found in _COLUMNS.items() if name.endswith(end))
        missing = [each for each in (*wanted, *["definition"] * name.startswith("idiom")) if each not in columns]
        if columns and missing:
            there = ", ".join(columns)
            return Table((), (f"{path} has no column {', '.join(missing)} (there are: {there}). {_RELEASE}",), "")
        for number, cells in enumerate(reader):
            where = f"{dataset}/{name} row {number}"
            if None in cells or None in cells.values():
                faults.append(f"{where}: the number of cells is not the number of columns. {_RELEASE}")
            else:
                rows.append(Line(where, cells))
        faults = faults or _whole_faults(dataset, name, path, [line.cells for line in rows])
    except (UnicodeDecodeError, csv.Error) as error:
        faults.append(f"{path} is not a CSV file in UTF-8 ({error}). Load it again.")
    digest = hashlib.sha256(content).hexdigest()[:12]
    return Table(tuple(rows), tuple(faults), str(DataId(dataset, name, digest, revision=found.revision)))


def file_name(name: str) -> str:
    return name.replace("-", "_") + ".csv"


def _whole_faults(dataset: str, name: str, path: Path, rows: Sequence[dict[str, str]]) -> list[str]:
    """What is wrong with a table of rows that are as long as its header."""
    if not rows:
        return [f"{path} has no rows. {_RELEASE}"]
    if dataset != "IRFL":
        return []
    faults = []
    published = ROWS[name]
    if published and len(rows) != published and name not in INFERRED:
        message = f"{path} has {len(rows)} rows, the published one has {published}. {_RELEASE}"
        faults.append(f"{message} To run fewer rows use --limit.")
    types = Counter(row.get("type") for row in rows)
    if types != TYPES.get(name, types):
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
        answers, distractors = _uuids(line, "answer"), _uuids(line, "distractors")
        if (len(answers), len(distractors)) != (1, 3):
            raise DataError(
                f"{line.where}: {len(answers)} answer(s) and {len(distractors)} distractor(s), must be 1 and 3. "
                f"{_RELEASE}"
            )
        metadata = _metadata(line, answers + distractors)
        phrase = _phrase(line)
        known = similes.get(phrase, {})
        roles = {uuid: _role(kind, metadata[uuid], phrase, known.get(uuid)) for uuid in distractors}
        if kind == "simile" and not ranked.faults and sorted(roles.values()) != ["random", "source", "target"]:
            raise DataError(
                f"{line.where}: its distractors are {sorted(roles.values())} by this table and {kind}-retrieval-task, "
                f"must be one source, one target and one random image. {_RELEASE}"
            )
        of_type = _type(line, "detection")
        return Detection(line.where, phrase, _definitions(line, kind), of_type, answers[0], distractors, roles)

    table = checked(read(dataset, name), check)
    table = replace(table, faults=table.faults + ranked.faults)
    unknown = sum("target" not in row.roles.values() for row in table.rows)
    if kind == "open-simile" and unknown and not table.faults:
        logger.warning(
            f"figlang_tasks: {table.data}: in {unknown} of {len(table.rows)} rows the retrieval table does not say "
            "which distractor shows the target concept; literal_preference counts it as random"
        )
    return table


@hub.kept(maxsize=16)
def retrieval(dataset: str, name: str) -> Table[Retrieval]:
    """Read a retrieval table (``idiom-retrieval-task`` ...).

    Raises:
        DataError: as :func:`read`.
    """
    kind = name.removesuffix("-retrieval-task")

    def check(line: Line) -> Retrieval:
        positives, negatives = _uuids(line, "first_category"), _uuids(line, "second_category")
        if not positives or not negatives:
            raise DataError(f"{line.where}: a ranking needs images of both categories. {_RELEASE}")
        metadata = _metadata(line, positives + negatives)
        roles = {uuid: metadata[uuid].get("sub_category") or "literal" for uuid in negatives}
        of_type = _type(line, "retrieval")
        return Retrieval(line.where, _phrase(line), _definitions(line, kind), of_type, positives, negatives, roles)

    return checked(read(dataset, name), check)


@hub.kept(maxsize=4)
def images(dataset: str, name: str) -> Table[Image]:
    """Read a base table (``idioms-dataset``, ``metaphors-dataset``, ``similes-dataset``).

    Raises:
        DataError: as :func:`read`.
    """

    def check(line: Line) -> Image:
        where, cells = line
        _check_uuid(cells["uuid"], "uuid", where)
        kind = name.removesuffix("s-dataset")
        return Image(where, _phrase(line), _category(cells), cells["uuid"], _definitions(line, kind))

    return checked(read(dataset, name), check)


# --- cells -----------------------------------------------------------------------------------------------------------


def _phrase(line: Line) -> str:
    _check_text(line.cells["phrase"], "phrase", line.where)
    return line.cells["phrase"]


def _type(line: Line, task: str) -> str:
    if (found := line.cells["type"]) not in _TYPES[task]:
        raise DataError(f"{line.where}: type {found!r}, must be {' or '.join(_TYPES[task])}. {_RELEASE}")
    return found


def _check_text(value: Any, column: str, where: str) -> None:
    """Check that a cell has a text, of characters alone (half a surrogate pair is none), and no mark of a picture."""
    if not isinstance(value, str) or not value.strip() or HALF_A_PAIR.search(value) or "<image>" in value:
        raise DataError(f"{where}: {column} is {value!r}, must be a text, without <image>. {_RELEASE}")


def _list(line: Line, column: str) -> list[Any]:
    try:
        found = json.loads(line.cells[column])
    except (ValueError, RecursionError) as error:
        raise DataError(f"{line.where}: {column} is not JSON ({error}). {_RELEASE}") from error
    if not isinstance(found, list):
        raise DataError(f"{line.where}: {column} is not a list. {_RELEASE}")
    return found


def _uuids(line: Line, column: str) -> tuple[str, ...]:
    found = _list(line, column)
    for uuid in found:
        _check_uuid(uuid, column, line.where)
    return tuple(found)


def _check_uuid(uuid: Any, column: str, where: str) -> None:
    if not isinstance(uuid, str) or not _UUID.fullmatch(uuid):
        raise DataError(
            f"{where}: {column} holds {uuid!r}, which is not a uuid (60 to 90 digits, as text). Did a program save it "
            f"as a number? {_RELEASE}"
        )


def _metadata(line: Line, uuids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What the table says of each image of a row, each of which it must name once."""
    if len(set(uuids)) < len(uuids):
        raise DataError(f"{line.where}: a uuid occurs twice. {_RELEASE}")
    by_uuid = {str(each.get("uuid")): each for each in _list(line, "images_metadata") if isinstance(each, dict)}
    if set(by_uuid) != set(uuids):
        raise DataError(f"{line.where}: images_metadata does not describe the images of the row. {_RELEASE}")
    for each in by_uuid.values():
        if each.get("sub_category"):
            _check_text(each["sub_category"], "images_metadata", line.where)
    return by_uuid


def _definitions(line: Line, kind: str) -> tuple[str, ...]:
    if kind != "idiom":
        return ()
    found = _list(line, "definition")
    for each in found or [""]:
        _check_text(each, "definition", line.where)
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
