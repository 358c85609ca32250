"""NYK-MS's rows as documents: everything that a prompt and a judgement need of a row.

`annotation_files` reads the files that the user brings, and `contests` adds the pictures and
descriptions that their rows lack. "The paper" is arXiv 2409.01037.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from figlang_tasks.benchmarks.nykms import annotation_files, contests
from figlang_tasks.benchmarks.nykms.annotation_files import SPLITS, AnnotatedCaption
from figlang_tasks.benchmarks.nykms.counts import file_stem
from figlang_tasks.benchmarks.nykms.parse import FIELDS, LABELS, QUESTIONS
from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

MODALITIES = ("image", "text")
"""How the cartoon is shown: as a picture, or in words in the prompt."""


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The rows for a request such as ``NYK-MS,question=mc,modality=image`` (see `load`)."""
    return load(
        request.dataset,
        request["question"],
        request["modality"],
        check_images,
        request.get("split"),
    )


@hub.cached(maxsize=18)
def load(
    dataset: str,
    question: str,
    modality: str,
    check_images: bool = True,
    split: str | None = None,
) -> datasets.Dataset:
    """The documents of one question, one for each row that it is asked of.

    MC, SC and the joint questions are asked of all rows. MW, ME, SW, ST and SE are asked of rows
    whose label is 1: they presuppose a metaphor (sarcasm), and the paper's scores of words are
    shares of all positives.

    Args:
        dataset: ``NYK-MS``, or another dataset in its form.
        question: a key of `parse.FIELDS`.
        modality: one of `MODALITIES`.
        check_images: whether to decode every picture, which finds damaged ones.
        split: one of `SPLITS`; None for all rows.

    Raises:
        PartMissing: the file of annotations, or a description, is missing.
        DataError: an argument is unknown, rows have faults, or the question is asked of no row.
    """
    import datasets

    _check_known("question", question, QUESTIONS)
    _check_known("modality", modality, MODALITIES)
    if split is not None:
        _check_known("split", split, SPLITS)
    folder = hub.snapshot(source_of(dataset), ["*.jsonl", "images/*"]).folder.absolute()
    path = folder / f"{file_stem(question)}.jsonl"
    all_rows, data_id = _read_with_depictions(dataset, path, modality, check_images)
    rows = _rows_asked(all_rows, question, split)
    if not rows:
        if split is None:
            missing_rows = f"with the label 1, for {question}"
        else:
            missing_rows = f"of the split {split}: name it in the field split"
        raise DataError(f"{path}: no row {missing_rows}")

    row_documents = [_document(row, dataset, data_id, question, modality) for row in rows]
    if modality == "text":
        for row, document in zip(rows, row_documents, strict=True):
            document["description"] = row.description
        return datasets.Dataset.from_list(row_documents)
    for row, document in zip(rows, row_documents, strict=True):
        document["image"] = _image_cell(row, folder)
    table = datasets.Dataset.from_list(row_documents)
    return table.cast_column("image", datasets.Image(decode=False))


def _document(
    row: AnnotatedCaption, dataset: str, data_id: str, question: str, modality: str
) -> dict[str, object]:
    """A row as a document, as yet without its picture or description.

    Args:
        row: the row.
        dataset: the name of the dataset.
        data_id: the identity of its data (`DataId`).
        question: the question that is asked.
        modality: how the cartoon is shown, one of `MODALITIES`.
    """
    return {
        "dataset": dataset,
        "data": data_id,
        "id": row.id,
        "cartoon": row.cartoon,
        "question": question,
        "modality": modality,
        "caption": row.caption,
        "label": row.label,
        **row.answers,
    }


def _check_known(parameter: str, value: str, known_values: Sequence[str]) -> None:
    """Raise a `DataError` if a parameter of a request has an unknown value."""
    if value not in known_values:
        raise DataError(f"unknown {parameter} {value!r}; known: {', '.join(known_values)}")


def _rows_asked(
    rows: Sequence[AnnotatedCaption], question: str, split: str | None
) -> list[AnnotatedCaption]:
    """The rows of a split that a question is asked of; of all splits if `split` is None."""
    asks_for_label = FIELDS[question][0] in LABELS
    asked_rows: list[AnnotatedCaption] = []
    for row in rows:
        is_asked = asks_for_label or row.label == 1
        is_in_split = split is None or annotation_files.split_of(row) == split
        if is_asked and is_in_split:
            asked_rows.append(row)
    return asked_rows


@hub.cached(maxsize=8)
def _read_with_depictions(
    dataset: str, path: Path, modality: str, check_images: bool
) -> tuple[list[AnnotatedCaption], str]:
    """The rows of a file with their pictures or descriptions, and the identity of the data.

    What a row lacks is taken from the contest dataset, which the identity then names too.

    Args:
        dataset: the name of the dataset.
        path: the file of annotations.
        modality: ``image`` completes the pictures, ``text`` the descriptions.
        check_images: whether to decode every picture.
    """
    if not path.exists():
        names = sorted(file.name for file in path.parent.glob("*.jsonl"))
        raise PartMissing(
            f"{dataset}: {path} does not exist (.jsonl files there: {', '.join(names) or 'none'})."
            " Put the annotations there; `figlang data template nykms` writes example files"
        )
    rows, faults = annotation_files.read(path)
    row_files.raise_first_fault(faults, "nykms")
    if modality == "image":
        rows, origin = _with_pictures(rows, path.parent, dataset, check_images)
    else:
        rows, origin = _with_descriptions(rows)
    shows_descriptions = modality == "text"
    digest = _digest_of_texts(rows, with_descriptions=shows_descriptions)
    return rows, str(DataId(dataset, path.stem, digest, joined=origin))


def _with_pictures(
    rows: Sequence[AnnotatedCaption], folder: Path, dataset: str, check_images: bool
) -> tuple[list[AnnotatedCaption], str | None]:
    """The rows, each with its picture, and the contest dataset if pictures are from there.

    The dataset is named with its revision (`contests.JoinedDepictions.origin`); None otherwise.

    Raises:
        DataError: a picture is missing or, with `check_images`, damaged.
    """
    joined = contests.join([row for row in rows if not row.image], "image")
    completed: list[AnnotatedCaption] = []
    for row in rows:
        picture = joined.by_row_id.get(row.id)  # None if the row has a picture of its own
        completed.append(replace(row, image=picture) if isinstance(picture, bytes) else row)
    faults = list(joined.faults)
    if check_images:
        faults += _picture_faults(completed, folder, dataset)
    row_files.raise_first_fault(faults, "nykms")
    return completed, joined.origin


def _picture_faults(rows: Sequence[AnnotatedCaption], folder: Path, dataset: str) -> list[str]:
    """The faults of the pictures of rows, each with the first row that shows it.

    Rows without a picture are passed over.
    """
    first_row_by_image: dict[Path | bytes, AnnotatedCaption] = {}  # a cartoon has several captions
    for row in rows:
        if row.image:
            first_row_by_image.setdefault(row.image, row)

    def check(cell: Mapping[str, object], location: str) -> None:
        """Decode a picture; raise a `DataError` if it is damaged."""
        images.check(cell, location, dataset)

    located_cells = [
        (row.location, _image_cell(row, folder)) for row in first_row_by_image.values()
    ]
    _, faults = row_files.validate_rows(located_cells, check)  # `check` returns nothing to keep
    return faults


def _with_descriptions(
    rows: Sequence[AnnotatedCaption],
) -> tuple[list[AnnotatedCaption], str | None]:
    """The rows, each with its description, and the contest dataset if some are from there.

    The dataset is named with its revision (`contests.JoinedDepictions.origin`); None otherwise.

    Raises:
        PartMissing: a description is missing; the tasks that show cartoons do not need it.
        DataError: a description of the contest dataset holds a placeholder of a picture.
    """
    joined = contests.join([row for row in rows if not row.description], "description")
    if joined.faults:
        raise PartMissing(joined.faults[0])

    completed: list[AnnotatedCaption] = []
    joined_rows: list[tuple[str, AnnotatedCaption]] = []  # with their locations
    for row in rows:
        description = joined.by_row_id.get(row.id)
        if isinstance(description, str):
            row = replace(row, description=description)
            joined_rows.append((row.location, row))
        completed.append(row)
    # Only the faults count: the check returns nothing to keep.
    _, faults = row_files.validate_rows(joined_rows, _check_joined_description)
    row_files.raise_first_fault(faults, "nykms")
    return completed, joined.origin


def _check_joined_description(row: AnnotatedCaption, location: str) -> None:
    """Raise a `DataError` if a description of the contest dataset holds a placeholder."""
    row_files.require_no_placeholder(
        row.description, f"description (from {contests.CONTESTS})", location
    )


def _digest_of_texts(rows: Sequence[AnnotatedCaption], *, with_descriptions: bool) -> str:
    """The first 12 hex digits of a SHA-256 of the texts of all rows, in their order."""
    texts: list[list[object]] = []
    for row in rows:
        description = row.description if with_descriptions else ""
        texts.append([row.id, row.caption, row.label, row.answers, description])
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:12]


def _image_cell(row: AnnotatedCaption, folder: Path) -> dict[str, object]:
    """The picture of a row as an undecoded ``datasets.Image``; its path is relative to `folder`."""
    if isinstance(row.image, Path):
        return {"bytes": None, "path": row.image.relative_to(folder).as_posix()}
    return {"bytes": row.image, "path": None}
