"""The pictures and annotations in an archive of YesBut's authors (abhi1nandy2/yesbut_dataset).

The folder of a picture says whether it is satirical, and its name how its halves are drawn. So
neither is shown to a model, nor stands in a prompt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from figlang_tasks.core import row_files
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import USE_THE_RELEASE
from figlang_tasks.core.record import Row

ANNOTATIONS: Final = "YesBut_Stage2_Annotation.csv"
"""The texts and flags of the 283 comics."""

GENERATED: Final = "images/stage_3_and_4"
FOLDERS: Final = {
    "stage_2": "images/stage_2",
    "yesbut_stage_3_satirical": f"{GENERATED}/yesbut_stage_3_satirical",
    "yesbut_stage_3_non_satirical": f"{GENERATED}/yesbut_stage_3_non_satirical",
    "yesbut_stage_4_satirical": f"{GENERATED}/yesbut_stage_4_satirical",
    "yesbut_stage_4_non_satirical": f"{GENERATED}/yesbut_stage_4_non_satirical",
}
"""The folders with pictures, by their names."""

COUNTS: Final = dict(zip(FOLDERS, (283, 302, 547, 499, 916), strict=True))
"""The published numbers of pictures: 1,084 are satirical, 1,463 are not."""

ORIGINAL: Final = "orig_orig"
"""The style of a comic as its artist drew it, which is all of stage 2."""

DIFFICULTIES: Final = ("easy", "medium", "hard")

_NAME = re.compile(
    r"(?P<comic>.+?)(?:_(?P<left>ORIG|STICK|3D)_YES_(?P<right>ORIG|STICK|3D)_BUT)?\.jpg"
)
_FLAGS = {"TRUE": True, "FALSE": False, "": False}


class Picture(NamedTuple):
    """A picture, as its folder and name tell it.

    Attributes:
        path: below the archive.
        comic: the name of the comic that it is made from.
        stage: ``2``, ``3`` or ``4``.
        style: how the left and the right half are drawn: ``stick_orig``.
        is_satirical: the annotated label.
    """

    path: str
    comic: str
    stage: str
    style: str
    is_satirical: bool


def picture_of(folder_name: str, file_name: str) -> Picture:
    """The picture of a file in one of `FOLDERS`; a `DataError` if its name has another form."""
    name = _NAME.fullmatch(file_name)
    path = f"{FOLDERS[folder_name]}/{file_name}"
    # The stages with generated halves name the style, stage 2 does not.
    if name is None or (name["left"] is None) != (folder_name == "stage_2"):
        raise DataError(
            f"{path} must be called COMIC.jpg in stage 2, else COMIC_LEFT_YES_RIGHT_BUT.jpg with"
            f" LEFT and RIGHT of ORIG, STICK and 3D. {USE_THE_RELEASE}"
        )
    style = f"{name['left']}_{name['right']}".lower() if name["left"] else ORIGINAL
    stage = "2" if folder_name == "stage_2" else folder_name.split("_")[2]
    return Picture(path, name["comic"], stage, style, "non_satirical" not in folder_name)


def is_archive(folder: Path) -> bool:
    """Whether a folder has pictures as the authors' archive has them."""
    return any((folder / path).is_dir() for path in FOLDERS.values())


def read_pictures(folder: Path) -> tuple[list[Picture], list[str]]:
    """All pictures of an archive, and a message for each fault in their names and numbers."""
    pictures: list[Picture] = []
    faults: list[str] = []
    for folder_name, path in FOLDERS.items():
        # The release has a .DS_Store beside the folders.
        files = sorted((folder / path).glob("*.jpg"))
        if len(files) != COUNTS[folder_name]:
            faults.append(
                f"{folder / path} has {len(files)} pictures, must have {COUNTS[folder_name]}."
                f" {USE_THE_RELEASE}"
            )
        for file in files:
            try:
                pictures.append(picture_of(folder_name, file.name))
            except DataError as error:
                faults.append(f"{folder}: {error}")
    return pictures, faults + _comic_faults(pictures, folder)


def _comic_faults(pictures: Iterable[Picture], folder: Path) -> list[str]:
    """A message for each comic that is not there nine times, once in each style."""
    styles_by_comic: dict[str, Counter[str]] = {}
    for picture in pictures:
        styles_by_comic.setdefault(picture.comic, Counter())[picture.style] += 1
    faults: list[str] = []
    for comic, styles in styles_by_comic.items():
        if len(styles) != 9 or styles.total() != 9:
            faults.append(
                f"{folder}: {comic} has {styles.total()} pictures in {len(styles)} styles, must"
                f" have nine in nine. {USE_THE_RELEASE}"
            )
    return faults


class Annotation(NamedTuple):
    """What is annotated for a comic, and so for all pictures made from it.

    Attributes:
        comic: its name.
        reference: why it is funny.
        difficulty: of understanding it, one of `DIFFICULTIES`.
        has_text: whether there is text in either half.
    """

    comic: str
    reference: str
    difficulty: str
    has_text: bool


def read_annotations(file: Path) -> tuple[list[Annotation], list[str]]:
    """The annotations of all comics, and a message for each fault."""
    columns = (
        "filename",
        "overall_description",
        "difficulty_in_understanding",
        "is_text_in_left_image",
        "is_text_in_right_image",
    )
    located_rows = row_files.read_rows(file, columns)
    annotations, faults = row_files.validate_rows(located_rows, _annotation, key=_key_of_annotation)
    if not faults and len(annotations) != COUNTS["stage_2"]:
        faults.append(
            f"{file} has {len(annotations)} comics, must have {COUNTS['stage_2']}."
            f" {USE_THE_RELEASE}"
        )
    return annotations, faults


def _key_of_annotation(annotation: Annotation) -> str:
    """What must be unique among annotations, for messages."""
    return f"comic {annotation.comic}"


def _annotation(row: Row, location: str) -> Annotation:
    """A row of the file of annotations; a `DataError` if it has a fault."""
    flags: list[bool] = []
    for column in ("is_text_in_left_image", "is_text_in_right_image"):
        if row[column] not in _FLAGS:
            raise DataError(f"{location}: {column} is {row[column]!r}, must be TRUE or empty")
        flags.append(_FLAGS[row[column]])
    return Annotation(
        row_files.text(row, "filename", location).removesuffix(".jpg"),
        row_files.text(row, "overall_description", location),
        difficulty_of(row, location),
        any(flags),
    )


def difficulty_of(row: Row, location: str) -> str:
    """The difficulty in a row, in lower case; "" if it has none.

    Raises:
        DataError: it is none of `DIFFICULTIES`.
    """
    column = "difficulty_in_understanding"
    difficulty = row_files.text(row, column, location, optional=True).lower()
    if difficulty not in ("", *DIFFICULTIES):
        raise DataError(
            f"{location}: {column} is {row_files.brief(row[column])}, must be EASY, MEDIUM or HARD."
            f" {USE_THE_RELEASE}"
        )
    return difficulty
