"""IRFL's tables as the hub has them: CSV files with JSON in their cells, read as text and checked
row by row.

The id of an image, its "uuid", is a number of 72 to 78 digits: readers that guess types make it a
float and lose most of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from loguru import logger
from pydantic import AfterValidator, BaseModel, Field, Json

from figlang_tasks.benchmarks.irfl.counts import INFERRED, ROWS
from figlang_tasks.core import hub, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.hub import USE_THE_RELEASE


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        definitions: of an idiom.
        type: of detection the category of the answer; of retrieval ``FvsPL`` (figurative against
            partial literal) or ``FLvsPL``; of a base table the category of its image in lower case.
        positives: uuids: the answer of detection, the first category of retrieval, the image of a
            base table.
        negatives: the distractors of detection, the second category of retrieval.
        roles: of each negative: ``literal`` (shows the words of an idiom or metaphor), ``source``
            and ``target`` (of a simile), ``random``.
    """

    location: str
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


class Table(NamedTuple):
    """The rows of a table, in the order of the file, and its `DataId`."""

    rows: tuple[Row, ...]
    data: str


# --- cells ---


def _without_placeholder(text: str) -> str:
    if fault := row_files.placeholder_fault(text):
        raise ValueError(fault)
    return text


Text = Annotated[str, Field(pattern=r"\S"), AfterValidator(_without_placeholder)]
Uuid = Annotated[str, Field(pattern=r"^[0-9]{60,90}$")]


class _Image(BaseModel):
    uuid: Uuid
    phrase: str | None = None
    category: str | None = None
    sub_category: str | None = None


class _Cells(BaseModel):
    phrase: Text
    definition: Json[Annotated[tuple[Text, ...], Field(min_length=1)]] | None = None


class _Described(_Cells):
    images_metadata: Json[tuple[_Image, ...]]

    def described(self, uuids: Sequence[str], where: str) -> dict[str, _Image]:
        """What a row says of its images; a `DataError` if not each is there once."""
        found = {image.uuid: image for image in self.images_metadata}
        if sorted(found) != sorted(uuids):
            raise DataError(
                f"{where}: images_metadata does not describe each image of the row once"
            )
        return found


class _Detection(_Described):
    answer: Json[Annotated[tuple[Uuid, ...], Field(min_length=1, max_length=1)]]
    distractors: Json[Annotated[tuple[Uuid, ...], Field(min_length=3, max_length=3)]]
    type: Literal["figurative", "figurative+literal"]


class _Retrieval(_Described):
    first_category: Json[Annotated[tuple[Uuid, ...], Field(min_length=1)]]
    second_category: Json[Annotated[tuple[Uuid, ...], Field(min_length=1)]]
    type: Literal["FvsPL", "FLvsPL"]


class _Base(_Cells):
    uuid: Uuid
    category: str = ""


_Kind = TypeVar("_Kind", bound=_Cells)


def _read(dataset: str, name: str, kind: type[_Kind], row_of: Callable[[_Kind, str], Row]) -> Table:
    """A table, each row as `row_of` makes it of its cells and its place."""
    if name not in ROWS:  # it may stand in saved samples
        raise DataError(f"{dataset} has no table {name!r}; known: {', '.join(ROWS)}")
    found = hub.snapshot(source_of(dataset), [file_name(name)])
    path, is_idiom = found.folder / file_name(name), name.startswith("idiom")
    if not path.exists():
        raise PartMissing(
            f"{dataset}: there is no {path}: the folder must have the files of the hub's"
            f" repository, {source_of('IRFL').page}"
        )

    def row(cells: Mapping[str, Any], where: str) -> Row:
        return row_of(
            row_files.checked(kind, cells if is_idiom else {**cells, "definition": None}, where),
            where,
        )

    needed = [column for column, field in kind.model_fields.items() if field.is_required()]
    rows, faults = row_files.valid(row_files.lines(path, needed + ["definition"] * is_idiom), row)
    faults = [f"{fault}. {USE_THE_RELEASE}" for fault in faults]
    is_other = ROWS[name] not in (None, len(rows)) and dataset == "IRFL" and name not in INFERRED
    if not faults and (is_other or not rows):
        faults.append(
            f"{path} has {len(rows)} rows, the published one has {ROWS[name] or 'some'}."
            f" {USE_THE_RELEASE} To run fewer rows use --limit."
        )
    row_files.end_with_the_first(faults, "irfl")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return Table(tuple(rows), str(DataId(dataset, name, digest, revision=found.revision)))


def file_name(name: str) -> str:
    return name.replace("-", "_") + ".csv"


# --- tables ---


@hub.kept(maxsize=16)
def read_detection_table(dataset: str, name: str) -> Table:
    """A detection table (``idiom-detection-task`` ...); similes take roles from their retrieval
    table.
    """
    kind = name.removesuffix("-detection-task")
    # Two closed similes may become one open phrase, so phrases are merged.
    similes: dict[str, dict[str, str]] = {}
    for ranking in (
        read_retrieval_table(dataset, f"{kind}-retrieval-task").rows
        if kind in ("simile", "open-simile")
        else ()
    ):
        similes.setdefault(ranking.phrase, {}).update(ranking.roles)

    def row_of(cells: _Detection, where: str) -> Row:
        described = cells.described(cells.answer + cells.distractors, where)
        known = similes.get(cells.phrase, {})
        roles = {
            uuid: _role(kind, described[uuid], cells.phrase, known.get(uuid))
            for uuid in cells.distractors
        }
        if kind == "simile" and sorted(roles.values()) != ["random", "source", "target"]:
            raise DataError(
                f"{where}: its distractors are {sorted(roles.values())} by this table and"
                f" {kind}-retrieval-task, must be one source, one target and one random image"
            )
        return Row(
            where,
            cells.phrase,
            cells.definition or (),
            cells.type,
            cells.answer,
            cells.distractors,
            roles,
        )

    table = _read(dataset, name, _Detection, row_of)
    unknown = sum("target" not in row.roles.values() for row in table.rows)
    if kind == "open-simile" and unknown:
        logger.warning(
            f"figlang_tasks: {table.data}: in {unknown} of {len(table.rows)} rows the retrieval"
            " table does not say which distractor shows the target concept; literal_preference"
            " counts it as random"
        )
    return table


@hub.kept(maxsize=16)
def read_retrieval_table(dataset: str, name: str) -> Table:
    """A retrieval table (``idiom-retrieval-task`` ...); as :func:`read_detection_table`."""

    def row_of(cells: _Retrieval, where: str) -> Row:
        positives, negatives = cells.first_category, cells.second_category
        described = cells.described(positives + negatives, where)
        roles = {uuid: described[uuid].sub_category or "literal" for uuid in negatives}
        return Row(
            where, cells.phrase, cells.definition or (), cells.type, positives, negatives, roles
        )

    return _read(dataset, name, _Retrieval, row_of)


@hub.kept(maxsize=4)
def read_base_table(dataset: str, name: str) -> Table:
    """A base table (``idioms-dataset``, ``metaphors-dataset``, ``similes-dataset``); as
    :func:`detection`.
    """

    def row_of(cells: _Base, where: str) -> Row:
        return Row(
            where, cells.phrase, cells.definition or (), _category(cells), (cells.uuid,), (), {}
        )

    return _read(dataset, name, _Base, row_of)


def _category(image: _Image | _Base) -> str:
    """The category in lower case; the tables have both "Figurative Literal" and
    "Figurative+Literal".
    """
    found = (image.category or "none").lower()
    return "figurative+literal" if found == "figurative literal" else found


def _role(kind: str, image: _Image, phrase: str, known: str | None) -> str:
    """The role of a distractor; of idioms and metaphors, what is no literal image was a random
    draw.

    Of similes the detection table names the source alone; `known` is what the retrieval table says.
    """
    if kind == "idiom":
        return "literal" if image.phrase == phrase else "random"
    if kind == "metaphor":
        return "literal" if _category(image) == "literal" else "random"
    return image.sub_category or known or "random"
