"""Reads IRFL's tables as the hub has them: CSV files with JSON in their cells.

Every cell is read as text and checked. The id of an image, its "uuid", is a number of 72 to 78
digits: readers that guess types make it a float and lose most of it.
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
        location: table and line, for messages.
        phrase: the idiom, metaphor or simile.
        definitions: those of an idiom; empty for metaphors and similes.
        type: in detection the category of the answer; in retrieval ``FvsPL`` (figurative against
            partial literal) or ``FLvsPL`` (figurative+literal against it); in a base table the
            category of the image in lower case.
        positives: uuids: in detection the answer; in retrieval the figurative images; in a base
            table its image.
        negatives: uuids: in detection the distractors; in retrieval the partial literal images.
        roles: what each negative shows, by uuid: ``literal`` (words of an idiom or metaphor),
            ``source`` or ``target`` (a concept of a simile), ``random``.
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
        """The only positive image of a row of detection or of a base table."""
        return self.positives[0]

    @property
    def uuids(self) -> tuple[str, ...]:
        """All images of the row."""
        return (*self.positives, *self.negatives)


class Table(NamedTuple):
    """A table.

    Attributes:
        rows: in the order of the file.
        data: what identifies the table, the text of a `DataId`.
    """

    rows: tuple[Row, ...]
    data: str


# --- the cells of each kind of table ---


def _without_placeholder(text: str) -> str:
    """The text as it is; a `ValueError` if a model may take a part of it for a picture."""
    fault = row_files.placeholder_fault(text)
    if fault:
        raise ValueError(fault)
    return text


Text = Annotated[str, Field(pattern=r"\S"), AfterValidator(_without_placeholder)]
Uuid = Annotated[str, Field(pattern=r"^[0-9]{60,90}$")]


class _ImageCells(BaseModel):
    """What ``images_metadata`` says about an image."""

    uuid: Uuid
    phrase: str | None = None
    category: str | None = None
    sub_category: str | None = None


class _PhraseCells(BaseModel):
    """The columns that every table has; only idioms have definitions."""

    phrase: Text
    definition: Json[Annotated[tuple[Text, ...], Field(min_length=1)]] | None = None


_PhraseRow = TypeVar("_PhraseRow", bound=_PhraseCells)


class _DescribedCells(_PhraseCells):
    """The columns of a row whose images are described."""

    images_metadata: Json[tuple[_ImageCells, ...]]

    def image_by_uuid(self, uuids: Sequence[str], location: str) -> dict[str, _ImageCells]:
        """The descriptions of the images by uuid.

        Args:
            uuids: all images of the row.
            location: table and line, for the message.

        Raises:
            DataError: not each image of the row is described, or another one is.
        """
        images = {image.uuid: image for image in self.images_metadata}
        # Lists are compared, so that a uuid that the row has twice is a fault too.
        if sorted(images) != sorted(uuids):
            raise DataError(
                f"{location}: images_metadata does not describe each image of the row once"
            )
        return images


class _DetectionCells(_DescribedCells):
    """The columns of a detection table."""

    answer: Json[Annotated[tuple[Uuid, ...], Field(min_length=1, max_length=1)]]
    distractors: Json[Annotated[tuple[Uuid, ...], Field(min_length=3, max_length=3)]]
    type: Literal["figurative", "figurative+literal"]


class _RetrievalCells(_DescribedCells):
    """The columns of a retrieval table: positive images first, then negative ones."""

    first_category: Json[Annotated[tuple[Uuid, ...], Field(min_length=1)]]
    second_category: Json[Annotated[tuple[Uuid, ...], Field(min_length=1)]]
    type: Literal["FvsPL", "FLvsPL"]


class _BaseCells(_PhraseCells):
    """The columns of a base table, which has a row for each image."""

    uuid: Uuid
    category: str = ""


# --- tables ---


@hub.cached(maxsize=16)
def read_detection_table(dataset: str, table: str) -> Table:
    """The rows of a detection table: a phrase, its answer and three distractors with their roles.

    Which distractor shows the target concept of a simile, only the retrieval table of similes says.
    It is read too.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        table: ``idiom-detection-task``, for example.

    Raises:
        DataError: there is no such table, or it has faults; the message has the first one.
        PartMissing: the dataset's folder lacks the file.
    """
    figure = table.removesuffix("-detection-task")  # "idiom", "open-simile"
    simile_roles: dict[str, dict[str, str]] = {}  # stays empty for idioms and metaphors
    if figure in ("simile", "open-simile"):
        simile_roles = _roles_of_similes(dataset, f"{figure}-retrieval-task")

    def row_of(cells: _DetectionCells, location: str) -> Row:
        """A row with the roles of its distractors."""
        images = cells.image_by_uuid(cells.answer + cells.distractors, location)
        retrieval_roles = simile_roles.get(cells.phrase, {})
        roles: dict[str, str] = {}
        for uuid in cells.distractors:
            retrieval_role = retrieval_roles.get(uuid)
            roles[uuid] = _distractor_role(figure, images[uuid], cells.phrase, retrieval_role)
        role_names = sorted(roles.values())
        # Open similes may lack a target, of which a warning tells below.
        if figure == "simile" and role_names != ["random", "source", "target"]:
            raise DataError(
                f"{location}: its distractors are {role_names} by this table and"
                f" {figure}-retrieval-task, must be one source, one target and one random image"
            )
        return Row(
            location=location,
            phrase=cells.phrase,
            definitions=cells.definition or (),
            type=cells.type,
            positives=cells.answer,
            negatives=cells.distractors,
            roles=roles,
        )

    detection_table = _read_table(dataset, table, _DetectionCells, row_of)
    if figure == "open-simile":
        _warn_of_unknown_targets(detection_table)
    return detection_table


def _roles_of_similes(dataset: str, table: str) -> dict[str, dict[str, str]]:
    """The roles of the negative images in a retrieval table of similes, by phrase and uuid.

    Two closed similes, which name the property ("The boy is as pale as a ghost"), may become one
    open phrase, which does not ("The boy is like a ghost"): their rows are merged.
    """
    roles_by_phrase: dict[str, dict[str, str]] = {}
    for row in read_retrieval_table(dataset, table).rows:
        roles_by_phrase.setdefault(row.phrase, {}).update(row.roles)
    return roles_by_phrase


def _distractor_role(
    figure: str, image: _ImageCells, phrase: str, retrieval_role: str | None
) -> str:
    """The role of a distractor in detection (`Row.roles`).

    The paper does not say how it told partially literal distractors from random ones.

    Args:
        figure: ``idiom``, ``metaphor``, ``simile`` or ``open-simile``.
        image: what the detection table says about the image.
        phrase: the phrase of the row.
        retrieval_role: the role of the image in the retrieval table of similes; None if it is not
            there. The detection table itself names only sources.

    Returns:
        ``literal`` or ``random`` for idioms and metaphors; ``source``, ``target`` or ``random`` for
        similes.
    """
    if figure == "idiom":
        return "literal" if image.phrase == phrase else "random"
    if figure == "metaphor":
        return "literal" if _category(image) == "literal" else "random"
    # Similes: first what the detection table says, then the retrieval table.
    return image.sub_category or retrieval_role or "random"


def _warn_of_unknown_targets(table: Table) -> None:
    """Log how many open similes have no distractor that is known to show the target concept."""
    unknown = sum("target" not in row.roles.values() for row in table.rows)
    if unknown:
        logger.warning(
            f"figlang_tasks: {table.data}: in {unknown} of {len(table.rows)} rows the retrieval"
            " table does not say which distractor shows the target concept; literal_preference"
            " counts it as random"
        )


@hub.cached(maxsize=16)
def read_retrieval_table(dataset: str, table: str) -> Table:
    """The rows of a retrieval table: a phrase, its figurative images and its partial literal ones.

    The figurative ones are the positives of a `Row`, the others its negatives with their roles.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        table: ``idiom-retrieval-task``, for example.

    Raises:
        DataError: there is no such table, or it has faults; the message has the first one.
        PartMissing: the dataset's folder lacks the file.
    """

    def row_of(cells: _RetrievalCells, location: str) -> Row:
        """A row with the roles of its negative images."""
        # The first category is figurative (or figurative+literal), the second partial literal.
        positives = cells.first_category
        negatives = cells.second_category
        images = cells.image_by_uuid(positives + negatives, location)
        roles = {uuid: images[uuid].sub_category or "literal" for uuid in negatives}
        return Row(
            location=location,
            phrase=cells.phrase,
            definitions=cells.definition or (),
            type=cells.type,
            positives=positives,
            negatives=negatives,
            roles=roles,
        )

    return _read_table(dataset, table, _RetrievalCells, row_of)


@hub.cached(maxsize=4)
def read_base_table(dataset: str, table: str) -> Table:
    """The rows of a base table: a phrase, one of its images, and the category of the image.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        table: ``idioms-dataset``, for example.

    Raises:
        DataError: there is no such table, or it has faults; the message has the first one.
        PartMissing: the dataset's folder lacks the file.
    """

    def row_of(cells: _BaseCells, location: str) -> Row:
        """A row whose only image is its positive one."""
        return Row(
            location=location,
            phrase=cells.phrase,
            definitions=cells.definition or (),
            type=_category(cells),
            positives=(cells.uuid,),
            negatives=(),
            roles={},
        )

    return _read_table(dataset, table, _BaseCells, row_of)


def _category(image: _ImageCells | _BaseCells) -> str:
    """The category of an image in lower case, ``none`` if it has none.

    The tables have both "Figurative Literal" and "Figurative+Literal".
    """
    category = (image.category or "none").lower()
    return "figurative+literal" if category == "figurative literal" else category


# --- files ---


def file_name(table: str) -> str:
    """The file of a table: ``idiom_detection_task.csv``."""
    return table.replace("-", "_") + ".csv"


def _read_table(
    dataset: str,
    table: str,
    cells_model: type[_PhraseRow],
    row_of: Callable[[_PhraseRow, str], Row],
) -> Table:
    """Read the file of a table; raise a `DataError` if a cell or the number of rows has a fault.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        table: a key of `ROWS`.
        cells_model: the columns of the table.
        row_of: ``(cells, location) -> row``; raises `DataError` for cells that contradict each
            other.
    """
    if table not in ROWS:  # saved samples may name any table
        raise DataError(f"{dataset} has no table {table!r}; known: {', '.join(ROWS)}")
    snapshot = hub.snapshot(source_of(dataset), [file_name(table)])
    path = snapshot.folder / file_name(table)
    if not path.exists():
        raise PartMissing(
            f"{dataset}: there is no {path}: the folder must have the files of the hub's"
            f" repository, {source_of('IRFL').page}"
        )
    # `definition` is optional in the models, since only tables of idioms have it; these must.
    has_definitions = table.startswith("idiom")
    columns = [name for name, field in cells_model.model_fields.items() if field.is_required()]
    if has_definitions:
        columns.append("definition")

    def checked_row(cells: Mapping[str, Any], location: str) -> Row:
        """A row with all its cells checked."""
        if not has_definitions:
            cells = {**cells, "definition": None}  # whatever a file has there is not read
        return row_of(row_files.parse_row(cells_model, cells, location), location)

    rows, row_faults = row_files.validate_rows(row_files.read_rows(path, columns), checked_row)
    faults = [f"{fault}. {USE_THE_RELEASE}" for fault in row_faults]
    if not faults and not _is_row_count_valid(dataset, table, len(rows)):
        faults.append(
            f"{path} has {len(rows)} rows, the published one has {ROWS[table] or 'some'}."
            f" {USE_THE_RELEASE} To run fewer rows use --limit."
        )
    row_files.raise_first_fault(faults, "irfl")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    data_id = DataId(dataset, table, digest, revision=snapshot.revision)
    return Table(tuple(rows), str(data_id))


def _is_row_count_valid(dataset: str, table: str, row_count: int) -> bool:
    """Whether a table has as many rows as the released one.

    Any number but 0 is valid where the released number is not known, or only inferred, and for the
    tables of another dataset than IRFL.
    """
    if row_count == 0:
        return False
    released_count = ROWS[table]
    if dataset != "IRFL" or table in INFERRED or released_count is None:
        return True
    return row_count == released_count
