"""Cartoons and descriptions from the New Yorker Caption Contest dataset, for rows that lack them.

The paper took its cartoons, captions and descriptions from this dataset (section 3.1). The id of a
row names the contest: ``NYK_{contest}_{caption}``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from figlang_tasks.benchmarks.nykms.annotation_files import SPLITS, AnnotatedCaption
from figlang_tasks.core import hub, images, parquet_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError

if TYPE_CHECKING:
    import datasets

CONTESTS = "NewYorkerCaptionContest"

# The configuration of the paper's task Ranking, which holds all 679 cartoons that the paper drew
# its captions from (section 3.1).
CONTEST_CONFIG = "ranking"

Depiction: TypeAlias = Literal["image", "description"]
"""How a cartoon is shown to a model: as a picture or in words."""


class JoinedDepictions(NamedTuple):
    """The pictures, or the descriptions, that the contest dataset has for rows.

    Attributes:
        by_row_id: the bytes of the picture, or the description, by the id of the row.
        origin: the contest dataset with its revision, as `DataId.joined` has it; None if the
            dataset was not needed, or could not be read.
        faults: those of rows that it has nothing for, or why it could not be read.
    """

    by_row_id: Mapping[str, bytes | str]
    origin: str | None
    faults: list[str]


def join(rows: Sequence[AnnotatedCaption], depiction: Depiction) -> JoinedDepictions:
    """Look up in the contest dataset the pictures or descriptions that rows lack, by row id.

    Rows that none is found for become faults. Nothing is loaded if no row names a contest. A
    `DataError` about the dataset is not raised, but returned as the only fault.

    Args:
        rows: the rows that lack a picture, or a description.
        depiction: which of the two is looked up.
    """
    by_row_id: Mapping[str, bytes | str] = {}
    origin: str | None = None
    rows_of_contests = [row for row in rows if row.contest is not None]
    if rows_of_contests:
        try:
            files, origin = _load_files()
            by_row_id = _depictions_by_row_id(rows_of_contests, files, depiction)
        except DataError as error:
            return JoinedDepictions({}, None, [str(error)])

    faults: list[str] = []
    for row in rows:
        if row.id in by_row_id:
            continue
        if row.contest is None:
            reason = "the id names no contest"
        else:
            reason = f"{CONTESTS} has no {depiction} of contest {row.contest}"
        faults.append(
            f"{row.location}: {depiction} is missing, and {reason}: give the {depiction}, or an id"
            " like NYK_722_3"
        )
    return JoinedDepictions(by_row_id, origin, faults)


def fetch() -> hub.Snapshot:
    """Download the files of the contest dataset that rows need; return where they are."""
    _load_files()  # downloads them
    return hub.snapshot(source_of(CONTESTS))


def _load_files() -> tuple[list[Path], str]:
    """The files of the contest dataset in the order of its splits, and its name with revision.

    The name is as `DataId.joined` has it: ``NewYorkerCaptionContest:508076d8e54f``.
    """
    snapshot = hub.snapshot(source_of(CONTESTS), [f"{CONTEST_CONFIG}/*.parquet"])
    folder = snapshot.folder / CONTEST_CONFIG
    files: list[Path] = []
    for split in SPLITS:
        files += sorted(folder.glob(f"{split}-*.parquet"))
    if not files:
        raise DataError(
            f"{CONTESTS}: no file {CONTEST_CONFIG}/<split>-*.parquet in {snapshot.folder}: load the"
            " dataset again"
        )
    return files, f"{CONTESTS}:{snapshot.revision[:12]}"


def _depictions_by_row_id(
    rows: Sequence[AnnotatedCaption], files: Sequence[Path], depiction: Depiction
) -> dict[str, bytes | str]:
    """The picture, or a description, of each row's contest by row id, as far as there is one.

    A cartoon has several descriptions, by different people. The paper took cartoon, caption and
    description from one instance, so an instance with the row's caption goes first; else the first
    of the contest, in the order of the files.

    Args:
        rows: rows whose ids name a contest.
        files: those of the contest dataset.
        depiction: which of the two is read.
    """
    contests = {row.contest for row in rows}
    by_contest: dict[int | None, bytes | str] = {}
    by_contest_and_caption: dict[tuple[int | None, str], bytes | str] = {}
    for instance in _instances_of(contests, files, depiction):
        instance_depiction = _depiction_of(instance, depiction)
        if not instance_depiction:
            continue
        # `setdefault` keeps the first.
        contest = instance["contest_number"]
        by_contest.setdefault(contest, instance_depiction)
        # Pictures are read without captions: the first of a contest serves all its rows.
        for caption in instance.get("caption_choices") or ():
            key = (contest, _comparable(caption))
            by_contest_and_caption.setdefault(key, instance_depiction)

    by_row_id: dict[str, bytes | str] = {}
    for row in rows:
        if row.contest in by_contest:
            key = (row.contest, _comparable(row.caption))
            by_row_id[row.id] = by_contest_and_caption.get(key, by_contest[row.contest])
    return by_row_id


def _instances_of(
    contests: Collection[int | None], files: Sequence[Path], depiction: Depiction
) -> datasets.Dataset:
    """The rows of the contest dataset about some contests, pictures undecoded.

    Args:
        contests: the numbers of the contests.
        files: those of the contest dataset.
        depiction: which columns are read: with "description" also ``caption_choices``.
    """
    if depiction == "image":
        columns = ["contest_number", "image"]
    else:
        columns = ["contest_number", "image_description", "caption_choices"]
    location = f"{CONTESTS}: {files[0].parent}"
    table = parquet_files.read_parquet(files, columns, location)
    if depiction == "image":
        table = images.undecoded(table, location)
    instance_indices: list[int] = []
    for index, contest in enumerate(table["contest_number"]):
        if contest in contests:
            instance_indices.append(index)
    return table.select(instance_indices)


def _depiction_of(instance: Mapping[str, Any], depiction: Depiction) -> bytes | str | None:
    """The picture, or the description, of an instance of the contest dataset; falsy without one.

    Args:
        instance: a row of that dataset, its picture undecoded.
        depiction: which of the two is returned.
    """
    if depiction == "image":
        cell = instance["image"] or {}
        picture: bytes | None = cell.get("bytes")
        return picture
    description: str = instance["image_description"] or ""
    return description.strip()


def _comparable(caption: str) -> str:
    """A caption without the differences of case and white space."""
    return " ".join(caption.casefold().split())
