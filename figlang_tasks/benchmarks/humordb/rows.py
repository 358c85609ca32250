"""HumorDB's rows as documents, from the Parquet files of the hub.

The release has no names of pictures. A row gets its id from its number and a digest of its picture:
``test-17-3f2a91bc``. `figlang_tasks.benchmarks.humordb.names` finds names, and with them pairs.
Documents have no pictures, which a comparison would repeat eight times; `picture_of` finds them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from figlang_tasks.benchmarks.humordb import names
from figlang_tasks.benchmarks.humordb.names import ANCHORS, Fingerprint
from figlang_tasks.core import hub, images, parquet_files, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.hub import USE_THE_RELEASE
from figlang_tasks.core.record import Row
from figlang_tasks.core.request import Request
from figlang_tasks.core.row_files import brief

if TYPE_CHECKING:
    import datasets


QUESTIONS: Final = ("binary", "range", "comparison")
"""What a request can ask about the pictures of a split."""

NAME: Final = "HumorDB"

_COLUMNS: Final = ("image", "range_ratings_mean", "comparison_ratings", "binary_rating", "words")


class Split(NamedTuple):
    """The rows of a split, in their order.

    Attributes:
        ids: of the rows.
        fingerprints: what people said of each picture.
        pictures: the pictures, undecoded, in the column ``image``.
        revision: of the data.
    """

    ids: list[str]
    fingerprints: list[Fingerprint]
    pictures: datasets.Dataset
    revision: str


# --- documents ---


def splits_of(request: Request) -> list[str]:
    """The splits that a request reads: its own, and for comparisons those of the anchors."""
    splits = {request["split"]}
    if request["question"] == "comparison":
        splits.update(anchor.split for anchor in ANCHORS.values())
    return sorted(splits)


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request such as ``HumorDB,question=range,split=test``.

    Beside ``data`` and what `_about` adds, they have ``id``, ``unit``, ``kind`` and ``pair``. The
    binary task has two documents for each row, and ``row`` is the id of the row. The comparison has
    a document for each anchor with another label than 0.

    Raises:
        DataError: the request is wrong, or rows have faults.
        PartMissing: a split is missing.
    """
    question = request["question"]
    if question not in QUESTIONS:
        raise DataError(f"dataset_name: question={question}; valid: {', '.join(QUESTIONS)}")
    for split_name in splits_of(request):  # those of the anchors are checked too
        load_split(split_name, check_images)
    split = load_split(request["split"], check_images)
    pictures = _pictures_of(request["split"])
    rows: list[Row] = []
    for row_id, fingerprint, picture in zip(split.ids, split.fingerprints, pictures, strict=True):
        unit = picture.pair or row_id
        shared = {"unit": unit, "kind": picture.kind, "pair": picture.pair}
        if question != "comparison":  # comparisons count one by one
            shared["row"] = row_id
        for suffix, columns in _about(fingerprint, question):
            rows.append({"id": f"{row_id}{suffix}", **shared, **columns})
    part = f"{request['split']}-{question}"
    if any(picture.kind for picture in pictures):
        part += "-named"
    return row_files.as_documents(rows, NAME, part, split.revision)


def _about(fingerprint: Fingerprint, question: str) -> Iterator[tuple[str, Row]]:
    """Yield the end of the id of each document of a row, and its columns of the question."""
    if question == "range":
        yield "", {"question": "range", "gold": fingerprint.rating}
    elif question == "binary":
        yield "-funny", {"question": "funny", "gold": "Yes" if fingerprint.is_funny else "No"}
        answer = "No" if fingerprint.is_funny else "Yes"
        yield "-not_funny", {"question": "not_funny", "gold": answer}
    else:
        for anchor, label in zip(ANCHORS, fingerprint.comparisons, strict=True):
            if label != 0:  # as the released loader, which leaves out draws
                winner = "first" if label == 1 else "second"
                columns = {"question": "comparison", "anchor": anchor, "gold": winner}
                yield f"-{anchor.removesuffix('.jpg')}", columns


@hub.cached(maxsize=3)
def _pictures_of(split: str) -> list[names.Picture]:
    """Kind and pair of each row of a split, where the authors' files tell them; says so once."""
    return names.find_pictures(load_split(split).fingerprints, split, f"{NAME}/{split}")


def picture_of(document_id: str) -> images.ImageCell:
    """The picture of a document, undecoded."""
    split, index, *_ = document_id.split("-")
    cell: images.ImageCell = load_split(split).pictures[int(index)]["image"]
    return cell


def anchor_picture(anchor: str) -> images.ImageCell:
    """The picture of an anchor, undecoded."""
    return picture_of(_anchor_ids()[anchor])


@hub.cached(maxsize=1)
def _anchor_ids() -> dict[str, str]:
    """The id of the row of each anchor, by its name.

    Raises:
        DataError: no row, or more than one, has the labels of an anchor.
    """
    id_by_anchor: dict[str, str] = {}
    for name, anchor in ANCHORS.items():
        split = load_split(anchor.split)
        ids: list[str] = []
        for row_id, fingerprint in zip(split.ids, split.fingerprints, strict=True):
            has_rating = abs(fingerprint.rating - anchor.rating) < 1e-6
            if has_rating and fingerprint.comparisons == anchor.comparisons:
                ids.append(row_id)
        if len(ids) != 1:
            raise DataError(
                f"{NAME}/{anchor.split}: {len(ids)} rows have the labels of the anchor {name}, must"
                f" be one. {USE_THE_RELEASE}"
            )
        id_by_anchor[name] = ids[0]
    return id_by_anchor


# --- the rows of a release ---


@hub.cached(maxsize=6)
def _load_split(split: str, check_images: bool) -> Split:
    """What `load_split` returns; kept for later calls."""
    source = source_of(NAME)
    if split not in source.splits:
        raise DataError(f"{NAME} has no split {split!r}; it has: {', '.join(source.splits)}")
    snapshot = hub.snapshot(source, [f"*{split}-*.parquet"])
    location = f"{NAME}: split {split!r} in {snapshot.folder}"
    files = parquet_files.split_files(NAME, split, snapshot.folder)
    if not files:
        raise PartMissing(f"{location}: there is no file {split}-*.parquet. {USE_THE_RELEASE}")
    table = parquet_files.read_parquet(files, _COLUMNS, location)
    table = images.undecoded(table, location)

    def parse(row: Mapping[str, Any], location: str) -> tuple[str, Fingerprint]:
        """The digest of a row's picture, and what people said of it."""
        fingerprint = _fingerprint(row, location)
        cell = row["image"]
        if check_images or not (cell or {}).get("bytes"):
            images.check(cell, location)  # raises an error that says what is missing
        return hashlib.sha256(cell["bytes"]).hexdigest()[:8], fingerprint

    located_rows = ((f"{NAME}/{split} row {index}", row) for index, row in enumerate(table))
    progress = row_files.progress(located_rows, f"{NAME}/{split}")
    rows, faults = row_files.validate_rows(progress, parse)
    if len(table) != source.splits[split]:
        faults.insert(
            0,
            f"{location} has {len(table)} rows, the published one has {source.splits[split]}."
            f" {USE_THE_RELEASE} To run fewer rows use --limit.",
        )
    row_files.raise_first_fault(faults, "humordb")
    ids = [f"{split}-{index}-{digest}" for index, (digest, _) in enumerate(rows)]
    fingerprints = [fingerprint for _, fingerprint in rows]
    return Split(ids, fingerprints, table.select_columns(["image"]), snapshot.revision)


def load_split(split: str, check_images: bool = False) -> Split:
    """The rows of a split; those that are loaded are kept for later calls.

    Args:
        split: ``train``, ``validation`` or ``test``.
        check_images: whether to decode every picture, which finds damaged ones.

    Raises:
        PartMissing: the split is missing.
        DataError: there is no such split, its rows are not as many as published, or have faults.
    """
    return _load_split(split, check_images)


def _fingerprint(row: Mapping[str, Any], location: str) -> Fingerprint:
    """What people said of the picture of a row; a `DataError` for a fault."""
    funny = row["binary_rating"]
    if funny not in (0, 1):
        raise DataError(f"{location}: binary_rating is {brief(funny)}, must be 0 or 1")
    rating = row["range_ratings_mean"]
    if not isinstance(rating, float) or not 1 <= rating <= 10:
        raise DataError(f"{location}: range_ratings_mean is {brief(rating)}, must be 1 to 10")
    labels = row["comparison_ratings"] or {}
    comparisons: list[int] = []
    for anchor in ANCHORS:
        label = labels.get(anchor)
        if label not in (-1, 0, 1):
            raise DataError(
                f"{location}: comparison_ratings has {brief(label)} for {anchor}, must be -1, 0"
                f" or 1. {USE_THE_RELEASE}"
            )
        comparisons.append(int(label))
    words = row["words"] or []
    for word in words:
        row_files.require_no_placeholder(str(word), "words", location)
    return Fingerprint.of(bool(funny), rating, comparisons, words)
