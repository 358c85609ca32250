"""Reads and checks NYK-MS's files of annotations, ``nyk_m.jsonl`` and ``nyk_s.jsonl``.

The annotations have no public release, so the user brings them. `template` says what a row has.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from figlang_tasks.benchmarks.nykms.parse import FIELDS, MARKED_FIELDS, read_annotation
from figlang_tasks.core import images, row_files
from figlang_tasks.core.errors import DataError

SPLITS = ("train", "validation", "test")

_FIELDS_BY_FILE = {"nyk_m": FIELDS["metaphor"], "nyk_s": FIELDS["sarcasm"]}
# NYK_722_3 is the third caption of contest 722.
_CONTEST_IN_ID = re.compile(r"NYK_([0-9]{1,9})_[0-9]+\Z")


@dataclass(frozen=True)
class AnnotatedCaption:
    """A valid row of a file: a caption of a cartoon with its annotated answers.

    Attributes:
        location: file, line and id, for messages.
        id: the row's id, unique in the file.
        contest: the number of the contest in the New Yorker; None if the id names none.
        caption: the caption.
        description: the cartoon in words; "" if the row has none.
        image: the file of the cartoon, or its bytes if they are from the contest dataset; None if
            the row has none.
        label: 1 if there is a metaphor (sarcasm), else 0.
        answers: the annotated answers in words by field, with their marks; "" for a negative.
        split: one of `SPLITS`; "" if the row has none.
    """

    location: str
    id: str
    contest: int | None
    caption: str
    description: str
    image: Path | bytes | None
    label: int
    answers: dict[str, str]
    split: str

    @property
    def cartoon(self) -> str:
        """What rows about one cartoon share: its contest, else its file, else the row's own id."""
        if self.contest is not None:
            return f"contest {self.contest}"
        if isinstance(self.image, Path):
            return f"{self.image.parent.name}/{self.image.name}"
        return self.id


def split_of(row: AnnotatedCaption) -> str:
    """The split of a row: the one that it names, else one drawn for its cartoon.

    The paper's split is not published. A digest of the cartoon draws train, validation and test at
    about 8:1:1, so that all captions of a cartoon, in both files, are in the same split.
    """
    if row.split:
        return row.split
    tenth = int(hashlib.sha256(row.cartoon.encode()).hexdigest(), 16) % 10
    if tenth == 0:
        return "test"
    if tenth == 1:
        return "validation"
    return "train"


def read(path: Path) -> tuple[list[AnnotatedCaption], list[str]]:
    """The valid rows of a file, and the faults of the others.

    A row may lack its cartoon and its description.

    Args:
        path: ``nyk_m.jsonl`` or ``nyk_s.jsonl``.
    """
    fields = _FIELDS_BY_FILE[path.stem]  # MC, MW and ME, or SC, SW, ST and SE

    def read_row(cells: Mapping[str, object], location: str) -> AnnotatedCaption:
        """Read one row; raise a `DataError` with its first fault."""
        return _read_row(cells, location, path.parent, fields)

    def row_id(row: AnnotatedCaption) -> str:
        """The id, which must be unique in the file."""
        return row.id

    rows, faults = row_files.validate_rows(row_files.read_rows(path), read_row, key=row_id)
    if not rows and not faults:
        faults = [
            f"{path} is empty: put one JSON object on each line (`figlang data template nykms` has"
            " examples)"
        ]
    return rows, faults


def _read_row(
    cells: Mapping[str, object], location: str, folder: Path, fields: tuple[str, ...]
) -> AnnotatedCaption:
    """A row from its cells; raises a `DataError` with the first fault.

    Args:
        cells: what the row's JSON object holds, by name.
        location: file and line, for messages.
        folder: the folder of the file, below which images lie.
        fields: the label's field, then those of the answers in words.
    """
    row_id = row_files.text(cells, "id", location)
    location = f"{location} ({row_id[:80]})"
    caption = row_files.text(cells, "caption", location)
    description = row_files.text(cells, "description", location, optional=True)
    image_path = row_files.text(cells, "image", location, optional=True)
    split = row_files.text(cells, "split", location, optional=True)
    if split and split not in SPLITS:
        known_splits = ", ".join(SPLITS)
        raise DataError(
            f"{location}: split is {row_files.brief(split)}, must be {known_splits} or left out"
        )

    label_field = fields[0]
    label = _read_label(cells, label_field, location)
    answers: dict[str, str] = {}
    for field in fields[1:]:
        answer = row_files.text(cells, field, location, optional=True)
        _check_answer(answer, field, label, label_field, location)
        answers[field] = answer

    contest = _CONTEST_IN_ID.match(row_id)
    return AnnotatedCaption(
        location=location,
        id=row_id,
        contest=None if contest is None else int(contest[1]),
        caption=caption,
        description=description,
        image=images.below(folder, image_path, location) if image_path else None,
        label=label,
        answers=answers,
        split=split,
    )


def _read_label(cells: Mapping[str, object], field: str, location: str) -> int:
    """The label of a row, 0 or 1; raises a `DataError` for anything else, ``true`` too."""
    label = cells.get(field)
    if isinstance(label, bool) or not isinstance(label, int) or label not in (0, 1):
        raise DataError(
            f"{location}: {field} is {row_files.brief(label)}, must be 0 or 1 (a number)"
        )
    return label


def _check_answer(answer: str, field: str, label: int, label_field: str, location: str) -> None:
    """Check that a positive has an answer in words with a valid mark, and a negative none.

    Raises:
        DataError: the answer breaks one of these rules.
    """
    is_positive = label == 1
    has_answer = answer != ""
    if is_positive != has_answer:
        raise DataError(
            f"{location}: {label_field} is {label}, but {field} is {row_files.brief(answer)}:"
            " a positive has one, and a negative none"
        )
    if is_positive and field in MARKED_FIELDS:
        try:
            read_annotation(answer, field)
        except DataError as error:
            raise DataError(
                f"{location}: {field} {error}. Correct it (NYK-MS, Appendix C)"
            ) from error
