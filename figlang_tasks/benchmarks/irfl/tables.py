"""IRFL's tables as the hub has them: CSV files with JSON in their cells, read as text and checked row by row.

IRFL: Yosef et al. 2023, "IRFL: Image Recognition of Figurative Language", arXiv 2303.15445. The id of an image, its
"uuid", is a decimal number of 72 to 78 digits. Readers that guess types make it a float and lose most of it; here every
cell is text.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar

from loguru import logger
from pydantic import AfterValidator, BaseModel, Field, Json, ValidationError

from figlang_tasks.core import hub
from figlang_tasks.core.checks import end_with_the_first
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.hub import USE_THE_RELEASE
from figlang_tasks.core.row_files import brief

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
    """The valid rows of a table, in the order of the file; what is wrong with the others; and its `DataId`."""

    rows: tuple[Row, ...]
    faults: tuple[str, ...]
    data: str

    def whole(self) -> tuple[Row, ...]:
        """Return the rows of a table without faults; a `DataError` if it has some."""
        end_with_the_first(self.faults, "irfl")
        return self.rows


# --- cells -----------------------------------------------------------------------------------------------------------


def _without_mark(text: str) -> str:
    if "<image>" in text:  # marks the place of a picture in prompts
        raise ValueError("must be a text without <image>")
    return text


Text = Annotated[str, Field(pattern=r"\S"), AfterValidator(_without_mark)]
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

    def described(self, uuids: Sequence[str]) -> dict[str, _Image]:
        """Return what a row says of its images; a `DataError` if not each is there once."""
        found = {image.uuid: image for image in self.images_metadata}
        if sorted(found) != sorted(uuids):
            raise DataError("images_metadata does not describe each image of the row once")
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


def _read(dataset: str, name: str, kind: type[_Kind], row_of: Callable[[str, _Kind], Row]) -> Table:
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
    is_idiom = name.startswith("idiom")
    columns = [column for column in kind.model_fields if column in table and (is_idiom or column != "definition")]
    rows, faults = [], []
    if ROWS[name] not in (None, len(table)) and dataset == "IRFL" and name not in INFERRED or not len(table):
        faults.append(
            f"{path} has {len(table)} rows, the published one has {ROWS[name] or 'some'}. {USE_THE_RELEASE} To run "
            "fewer rows use --limit."
        )
    for number, cells in enumerate(table[columns].to_dict("records")):
        where = f"{dataset}/{name} row {number}"
        try:
            given = kind.model_validate(cells)
            if is_idiom and given.definition is None:
                raise DataError("definition is missing")
            rows.append(row_of(where, given))
        except ValidationError as error:
            wrong = error.errors()[0]
            cell = f"{'.'.join(map(str, wrong['loc']))} is {brief(wrong['input'])}"
            faults.append(f"{where}: {cell}: {wrong['msg']}. {USE_THE_RELEASE}")
        except DataError as error:
            faults.append(f"{where}: {error}. {USE_THE_RELEASE}")
    digest = hashlib.sha256(content).hexdigest()[:12]
    return Table(tuple(rows), tuple(faults), str(DataId(dataset, name, digest, revision=found.revision)))


def file_name(name: str) -> str:
    return name.replace("-", "_") + ".csv"


# --- tables ----------------------------------------------------------------------------------------------------------


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
    # Two closed similes may become one open phrase, so phrases are merged.
    similes: dict[str, dict[str, str]] = {}
    for ranking in ranked.rows:
        similes.setdefault(ranking.phrase, {}).update(ranking.roles)

    def row_of(where: str, cells: _Detection) -> Row:
        described = cells.described(cells.answer + cells.distractors)
        known = similes.get(cells.phrase, {})
        roles = {uuid: _role(kind, described[uuid], cells.phrase, known.get(uuid)) for uuid in cells.distractors}
        if kind == "simile" and not ranked.faults and sorted(roles.values()) != ["random", "source", "target"]:
            raise DataError(
                f"its distractors are {sorted(roles.values())} by this table and {kind}-retrieval-task, must be one "
                "source, one target and one random image"
            )
        return Row(where, cells.phrase, cells.definition or (), cells.type, cells.answer, cells.distractors, roles)

    table = _read(dataset, name, _Detection, row_of)
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

    def row_of(where: str, cells: _Retrieval) -> Row:
        positives, negatives = cells.first_category, cells.second_category
        described = cells.described(positives + negatives)
        roles = {uuid: described[uuid].sub_category or "literal" for uuid in negatives}
        return Row(where, cells.phrase, cells.definition or (), cells.type, positives, negatives, roles)

    return _read(dataset, name, _Retrieval, row_of)


@hub.kept(maxsize=4)
def images(dataset: str, name: str) -> Table:
    """Return a base table (``idioms-dataset``, ``metaphors-dataset``, ``similes-dataset``); as :func:`detection`."""

    def row_of(where: str, cells: _Base) -> Row:
        return Row(where, cells.phrase, cells.definition or (), _category(cells), (cells.uuid,), (), {})

    return _read(dataset, name, _Base, row_of)


def _category(image: _Image | _Base) -> str:
    """Return the category in lower case; the tables have both "Figurative Literal" and "Figurative+Literal"."""
    found = (image.category or "none").lower()
    return "figurative+literal" if found == "figurative literal" else found


def _role(kind: str, image: _Image, phrase: str, known: str | None) -> str:
    """Return the role of a distractor; of idioms and metaphors, what is no literal image was a random draw.

    Of similes the detection table names the source alone; `known` is what the retrieval table says, which resolves all
    277 closed rows.
    """
    if kind == "idiom":
        return "literal" if image.phrase == phrase else "random"
    if kind == "metaphor":
        return "literal" if _category(image) == "literal" else "random"
    return image.sub_category or known or "random"


def count(asked: Mapping[str, Any]) -> int | None:
    """Return how many rows a table of the release has; None for candidates drawn at random, and for our own tables."""
    return ROWS.get(asked["table"]) if asked["dataset"] == "IRFL" else None
