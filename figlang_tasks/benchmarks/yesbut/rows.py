"""YesBut's pictures as documents, from the hub's table or an archive of the authors'.

The hub has the 1,084 satirical pictures alone, without names. Detection needs the archive.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from figlang_tasks.benchmarks.yesbut import archive
from figlang_tasks.benchmarks.yesbut.archive import Annotation, Picture
from figlang_tasks.core import hub, images, parquet_files, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.hub import USE_THE_RELEASE
from figlang_tasks.core.record import Row
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

    from figlang_tasks.scoring.task import Document

NAME: Final = "YesBut"
TASKS: Final = ("understanding", "detection")
HUB_ROWS: Final = 1084
TABLE: Final = parquet_files.split_pattern("train")

# Not `stage`: it is reported to say "stage2" in all rows.
_COLUMNS = ("image", "overall_description", "difficulty_in_understanding")

STAGE_2_SIZES: Final = frozenset(
    (
        (380, 546), (640, 640), (695, 695), (696, 696), (1024, 1024), (1080, 805), (1080, 831),
        (1080, 1002), (1080, 1014), (1080, 1025), (1080, 1067), (1080, 1080), (1080, 1350),
        (1194, 1280), (1310, 1059), (1620, 982), (1620, 1080),
    )
)  # fmt: skip
"""Width and height of the 283 pictures of stage 2 in the archive.

No generated picture has one of these sizes.
"""


# --- documents ---


@hub.cached(maxsize=4)
def for_request(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for ``YesBut,task=understanding`` or ``YesBut,task=detection``, sorted by id.

    Each picture is read, since the id of a document is the beginning of the SHA-256 of its file.

    Raises:
        DataError: there is no such task, or the data has faults.
        PartMissing: detection is asked for, and the archive is not there.
    """
    task = request["task"]
    if task not in TASKS:
        raise DataError(f"dataset_name: task={task}; valid: {', '.join(TASKS)}")
    source = source_of(request.dataset)
    folder = hub.local_folder(source)
    if folder is not None and archive.is_archive(folder):
        revision = "local"
        rows, faults = _rows_of_archive(folder, task, check_images)
    elif task == "detection":
        raise PartMissing(
            f"{NAME}: the hub has the satirical pictures alone. Detection needs the authors'"
            " archive (397 MB): unpack https://github.com/abhi1nandy2/yesbut_dataset, and call the"
            f" folder ${hub.DATA_DIR_VARIABLE}/{NAME} (docs/cards/yesbut.md)"
        )
    else:
        release = hub.snapshot(source, [TABLE])
        revision = release.revision
        rows, faults = _rows_of_hub(release.folder, check_images)
    row_files.raise_first_fault(faults, "yesbut")
    rows.sort(key=lambda row: row["id"])
    return row_files.as_documents(rows, request.dataset, task, revision)


def picture_without_name(doc: Document) -> Any:
    """The picture of a document, decoded from its bytes: nothing tells the name of its file."""
    location = f"{NAME} {doc['id']}"
    content = images.content_of(doc["image"], location, NAME)
    return images.decode({"bytes": content, "path": None}, location)


def _key_of_row(row: Row) -> str:
    """What must be unique among rows, for messages."""
    return f"the picture with the id {row['id']}"


def _picture_id(image: images.ImageCell, location: str, check_images: bool) -> str:
    """The first 16 hex digits of the SHA-256 of a picture's file, which tell no style and label.

    Arguments and errors are those of `images.check`, which decodes the picture only if asked.
    """
    content = images.content_of(image, location, NAME)
    if check_images:
        images.check({"bytes": content, "path": None}, location)
    return hashlib.sha256(content).hexdigest()[:16]


# --- the archive ---


def _rows_of_archive(
    folder: Path, task: str, check_images: bool
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a task from the authors' archive, and a message for each fault."""
    pictures, faults = archive.read_pictures(folder)
    annotations: dict[str, Annotation] = {}
    if task == "understanding":
        pictures = [picture for picture in pictures if picture.is_satirical]
        annotation_list, annotation_faults = archive.read_annotations(folder / archive.ANNOTATIONS)
        faults += annotation_faults
        annotations = {annotation.comic: annotation for annotation in annotation_list}

    def parse(picture: Picture, location: str) -> dict[str, Any]:
        """A picture as a row; a `DataError` if it is damaged or has no annotation."""
        image = {"bytes": None, "path": picture.path}
        row = {
            "id": _picture_id(image, location, check_images),
            "unit": picture.comic,
            "stage": picture.stage,
            "image": image,
        }
        if task == "detection":
            return {**row, "style": picture.style, "gold": "Y" if picture.is_satirical else "N"}
        annotation = annotations.get(picture.comic)
        if annotation is None:
            raise DataError(f"{location} has no row in {archive.ANNOTATIONS}. {USE_THE_RELEASE}")
        return {**row, **_annotated(annotation)}

    located = [(f"{NAME}, {picture.path}", picture) for picture in pictures]
    rows, row_faults = row_files.validate_rows(located, parse, key=_key_of_row)
    return rows, faults + row_faults


def _annotated(annotation: Annotation) -> Row:
    """The columns of a document that its comic's annotation gives."""
    return {
        "explanation": annotation.reference,
        "difficulty": annotation.difficulty,
        "has_text": annotation.has_text,
    }


# --- the hub's table ---


def _rows_of_hub(folder: Path, check_images: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of understanding from the hub's table, and a message for each fault.

    The pictures have no names. The nine pictures of a comic share its text, which no other comic
    has. If the authors' file of annotations lies beside the table, it tells what the table lacks.
    """
    location = f"{NAME}: split 'train' in {folder}"
    files = parquet_files.split_files(NAME, "train", folder)
    if not files:
        raise PartMissing(
            f"{folder} has neither the hub's table (data/train-*.parquet) nor the folder images of"
            " the authors' archive (docs/cards/yesbut.md)"
        )
    table = parquet_files.read_parquet(files, _COLUMNS, location)
    table = images.undecoded(table, location)

    def parse(cells: Row, location: str) -> dict[str, Any]:
        """A row of the table; a `DataError` if it has a fault."""
        image = cells["image"]
        reference = row_files.text(cells, "overall_description", location)
        return {
            "id": _picture_id(image, location, check_images),
            "unit": hashlib.sha256(reference.encode()).hexdigest()[:12],
            "image": image,
            "explanation": reference,
            "difficulty": archive.difficulty_of(cells, location),
            "has_text": None,
        }

    located = [(f"{NAME} row {index}", cells) for index, cells in enumerate(table)]
    rows, faults = row_files.validate_rows(located, parse, key=_key_of_row)
    if len(table) != HUB_ROWS:
        message = f"{location} has {len(table)} rows, must have {HUB_ROWS:,}. {USE_THE_RELEASE}"
        faults.insert(0, message)
    for row, stage in zip(rows, _stages(rows), strict=True):
        row["stage"] = stage
    _add_annotations(rows, folder / archive.ANNOTATIONS, faults)
    return rows, faults


def _stages(rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """The stage of each row of the hub by the size of its picture: ``2``, or ``3_or_4``.

    The sizes are believed only if each comic has exactly one picture of stage 2; else all are None.
    """
    stages: list[str | None] = []
    pictures_of_stage_2 = Counter({row["unit"]: 0 for row in rows})  # by comic
    for row in rows:
        size = images.size_of(row["image"], f"{NAME} {row['id']}")
        is_of_stage_2 = size in STAGE_2_SIZES
        stages.append("2" if is_of_stage_2 else "3_or_4")
        pictures_of_stage_2[row["unit"]] += is_of_stage_2
    if set(pictures_of_stage_2.values()) == {1}:
        return stages
    return [None] * len(rows)


def _add_annotations(rows: Sequence[dict[str, Any]], file: Path, faults: list[str]) -> None:
    """Write into rows of the hub what other rows of the same comic, or the authors' file, tell.

    Some rows of the hub have no difficulty.
    """
    annotation_by_reference: dict[str, Annotation] = {}
    if file.exists():
        annotations, annotation_faults = archive.read_annotations(file)
        faults += annotation_faults
        for annotation in annotations:
            annotation_by_reference[annotation.reference] = annotation
    difficulty_by_unit = {row["unit"]: row["difficulty"] for row in rows if row["difficulty"]}
    for row in rows:
        row["difficulty"] = difficulty_by_unit.get(row["unit"], "")
        if row["explanation"] in annotation_by_reference:
            row.update(_annotated(annotation_by_reference[row["explanation"]]))
