"""Rows of simple benchmarks: a question, perhaps a picture, and one right answer.

``figlang new-benchmark`` writes such rows, and `figlang_tasks.scoring.simple_tasks` asks them. They
are JSON Lines: ``id``, ``question``, ``answer``, for a choice the list ``options``, and with a
picture ``image``, the path of its file below the folder of the data.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import of_dataset, source_of
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.record import Row
from figlang_tasks.core.request import Request
from figlang_tasks.core.row_files import brief

if TYPE_CHECKING:
    import datasets

Kind: TypeAlias = Literal["choice", "yes-no", "free"]
"""How a question is answered: by one of its options, by Yes or No, or in words of one's own."""

LETTERS = string.ascii_uppercase[:10]
"""The letters of options. More options than letters are refused."""

YES_OR_NO = ("Yes", "No")


def documents(request: Request, check_images: bool, kind: Kind) -> datasets.Dataset:
    """The documents of a split, from the file ``SPLIT.jsonl`` of its dataset.

    Args:
        request: the dataset and its split.
        check_images: whether to open each picture.
        kind: how the questions are answered.

    Raises:
        DataError: the file is missing, or a row of it has a fault.
    """
    dataset = request.dataset
    split = request["split"]
    folder = hub.snapshot(source_of(dataset), [f"{split}.jsonl", "images/*"]).folder
    parse = partial(_document, kind=kind, dataset=dataset, check_images=check_images)
    rows, faults = row_files.validate_rows(
        row_files.read_rows(folder / f"{split}.jsonl"), parse, key=id_text
    )
    row_files.raise_first_fault(faults, of_dataset(dataset).name)
    return row_files.as_documents(rows, dataset, split)


def id_text(row: Row) -> str:
    """What must be unique among rows, for messages: ``id 7``."""
    return f"id {row['id']}"


def _document(
    row: Row, location: str, *, kind: Kind, dataset: str, check_images: bool
) -> dict[str, Any]:
    """A row as a document, with its picture undecoded; a `DataError` if it has a fault."""
    document = checked_row(row, location, kind)
    if "image" in document:
        document["image"] = {"bytes": None, "path": document["image"]}
        if check_images:
            images.check(document["image"], location, dataset)
    return document


def checked_row(row: Row, location: str, kind: Kind) -> dict[str, Any]:
    """The columns of a row; pictures are not opened.

    Args:
        row: a row in the form that this module describes.
        location: the file and the line, for messages.
        kind: how the question is answered.

    Raises:
        DataError: a column is missing or not valid.
    """
    checked: dict[str, Any] = {
        "id": row_files.text(row, "id", location),
        "question": row_files.text(row, "question", location),
    }
    if row.get("image") is not None:
        checked["image"] = row_files.text(row, "image", location)

    if kind == "choice":
        checked["options"] = checked_options(row.get("options"), location)
        _require_one_of(row, LETTERS[: len(checked["options"])], location)
    elif kind == "yes-no":
        _require_one_of(row, YES_OR_NO, location)
    checked["answer"] = row_files.text(row, "answer", location)
    return checked


def checked_options(options: object, location: str) -> list[str]:
    """The texts of options; a `DataError` if they are not two or more different texts."""
    if not isinstance(options, list) or not 2 <= len(options) <= len(LETTERS):
        raise DataError(
            f"{location}: options is {brief(options)}, must be a list of 2 to {len(LETTERS)} texts"
        )
    texts: list[str] = []
    for letter, option in zip(LETTERS, options, strict=False):
        option_text = row_files.text({letter: option}, letter, location)
        if option_text in texts:
            same_letter = LETTERS[texts.index(option_text)]
            raise DataError(
                f"{location}: the options {same_letter} and {letter} are both"
                f" {brief(option_text)}: change or remove one"
            )
        texts.append(option_text)
    return texts


def _require_one_of(row: Row, valid_answers: Sequence[str], location: str) -> None:
    """Raise a `DataError` unless the answer of a row is one of these."""
    answer = row.get("answer")
    if not isinstance(answer, str) or answer not in tuple(valid_answers):
        raise DataError(
            f"{location}: answer is {brief(answer)}, must be one of {', '.join(valid_answers)}"
        )
