"""NYK-MS rows as documents: the import format, its checks, and cartoons joined from their public
source.

The annotations have no public release, so the user brings them; what a row has, the template says
(`template`). A picture or description that it lacks is taken from the New Yorker Caption Contest
dataset, from which the paper took both, by the contest that the id names
(``NYK_{contest}_{caption}``).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.benchmarks.nykms.counts import part
from figlang_tasks.benchmarks.nykms.parse import (
    FIELDS,
    LABELS,
    MARKED_FIELDS,
    QUESTIONS,
    read_annotation,
)
from figlang_tasks.core import hub, images, parquet_files, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

# What is shown of the cartoon: the picture, or its description in words
MODALITIES = ("image", "text")
CONTESTS = "NewYorkerCaptionContest"
CONTEST_CONFIG = (  # holds all 679 cartoons that the paper drew its captions from (section 3.1)
    "ranking"
)
_ANSWERS = {"nyk_m": FIELDS["metaphor"], "nyk_s": FIELDS["sarcasm"]}
SPLITS = ("train", "validation", "test")
_CONTEST_IN_ID = re.compile(r"NYK_([0-9]{1,9})_[0-9]+\Z")


@dataclass(frozen=True)
class AnnotatedCaption:
    """A valid row of a file; description, image and split are empty where it has none.

    Attributes:
        contest: contest number, None if the id tells none.
        image: file of the cartoon, or its content from the contest dataset.
        answers: the annotated answers beside the label, by field, with their marks.
    """

    where: str
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
        """What rows about one cartoon share: its contest, else its file; without either the row's
        id.
        """
        if self.contest is not None:
            return f"contest {self.contest}"
        return (
            f"{self.image.parent.name}/{self.image.name}"
            if isinstance(self.image, Path)
            else self.id
        )


def split_of(row: AnnotatedCaption) -> str:
    """One of `SPLITS`: what the row says, else by a digest of its cartoon, about 8:1:1.

    The paper's split is not published. So all captions of a cartoon, in both files, are in the same
    split.
    """
    tenth = int(hashlib.sha256(row.cartoon.encode()).hexdigest(), 16) % 10
    return row.split or {0: "test", 1: "validation"}.get(tenth, "train")


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request, as ``NYK-MS,question=mc,modality=image``; errors as of
    `load`.
    """
    return load(
        request.dataset,
        request["question"],
        request["modality"],
        check_images,
        request.get("split"),
    )


@hub.cached(maxsize=18)
def load(
    name: str, question: str, modality: str, check_images: bool = True, split: str | None = None
) -> datasets.Dataset:
    """The documents of one task.

    MW, ME, SW, ST and SE are asked of rows whose label is 1: they presuppose a metaphor (sarcasm),
    and the paper's scores of words are shares of all positives.
    """
    import datasets

    for what, value, known in (
        ("question", question, QUESTIONS),
        ("modality", modality, MODALITIES),
        ("split", split, (None, *SPLITS)),
    ):
        if value not in known:
            raise DataError(f"unknown {what} {value!r}; known: {', '.join(filter(None, known))}")
    folder = hub.snapshot(source_of(name), ["*.jsonl", "images/*"]).folder.absolute()
    path = folder / f"{part(question)}.jsonl"
    everything, data = _shown(name, path, modality, check_images)
    asks_for_label = FIELDS[question][0] in LABELS
    rows = [
        row
        for row in everything
        if (row.label or asks_for_label) and split in (None, split_of(row))
    ]
    if not rows:
        wanted = (
            f"of the split {split}: name it in the field split"
            if split
            else f"with the label 1, for {question}"
        )
        raise DataError(f"{path}: no row {wanted}")
    documents = datasets.Dataset.from_list(
        [
            {
                "dataset": name,
                "data": data,
                "id": row.id,
                "cartoon": row.cartoon,
                "question": question,
                "modality": modality,
                "caption": row.caption,
                "label": row.label,
                **row.answers,
                **(
                    {"description": row.description}
                    if modality == "text"
                    else {"image": _cell(row, folder)}
                ),
            }
            for row in rows
        ]
    )
    return (
        documents
        if modality == "text"
        else documents.cast_column("image", datasets.Image(decode=False))
    )


@hub.cached(maxsize=8)
def _shown(
    name: str, path: Path, modality: str, check_images: bool
) -> tuple[list[AnnotatedCaption], str]:
    """The rows of a file, each with what is shown of its cartoon, and the identity of the data."""
    if not path.exists():
        present = ", ".join(sorted(found.name for found in path.parent.glob("*.jsonl"))) or "none"
        raise PartMissing(
            f"{name}: {path} does not exist (.jsonl files there: {present}). Put the annotations"
            " there; `figlang data template nykms` writes example files"
        )
    rows, faults = read(path)
    row_files.raise_first_fault(faults, "nykms")
    what = "image" if modality == "image" else "description"
    joined, origin, faults = _join([row for row in rows if not getattr(row, what)], what)
    rows = [replace(row, **{what: joined[row.id]}) if row.id in joined else row for row in rows]
    if modality == "image":
        first: dict[Path | bytes, AnnotatedCaption] = {}  # one cartoon has several captions
        for row in rows if check_images else ():
            if row.image:
                first.setdefault(row.image, row)
        shown = ((row.where, _cell(row, path.parent)) for row in first.values())
        wrong = row_files.validate_rows(shown, lambda cell, where: images.check(cell, where, name))[
            1
        ]
        row_files.raise_first_fault([*faults, *wrong], "nykms")
    elif faults:  # which the tasks that show cartoons do not need
        raise PartMissing(faults[0])
    else:
        described = ((row.where, row) for row in rows if row.id in joined)
        row_files.raise_first_fault(
            row_files.validate_rows(described, _check_joined_description)[1], "nykms"
        )
    texts = [
        [row.id, row.caption, row.label, row.answers, row.description * (modality == "text")]
        for row in rows
    ]
    digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()
    return rows, str(DataId(name, path.stem, digest[:12], joined=origin))


def _check_joined_description(row: AnnotatedCaption, where: str) -> None:
    row_files.require_no_placeholder(row.description, f"description (from {CONTESTS})", where)


def _cell(row: AnnotatedCaption, folder: Path) -> dict[str, Any]:
    """An undecoded ``datasets.Image`` value; its path is relative to the dataset's folder."""
    if isinstance(row.image, Path):
        return {"bytes": None, "path": row.image.relative_to(folder).as_posix()}
    return {"bytes": row.image, "path": None}


# --- reading and checking ---


def read(path: Path) -> tuple[list[AnnotatedCaption], list[str]]:
    """The valid rows of a file of annotations, whose cartoons may be missing, and its faults."""
    answers = _ANSWERS[path.stem]
    rows, faults = row_files.validate_rows(
        row_files.read_rows(path),
        lambda values, where: _row(values, where, path.parent, answers),
        lambda row: row.id,
    )
    if not (rows or faults):
        faults = [
            f"{path} is empty: put one JSON object on each line (`figlang data template nykms` has"
            " examples)"
        ]
    return rows, faults


def _row(
    values: Mapping[str, Any], where: str, folder: Path, answers: tuple[str, ...]
) -> AnnotatedCaption:
    row_id = row_files.text(values, "id", where)
    where = f"{where} ({row_id[:80]})"
    caption = row_files.text(values, "caption", where)
    description = row_files.text(values, "description", where, optional=True)
    image = row_files.text(values, "image", where, optional=True)
    split = row_files.text(values, "split", where, optional=True)
    if split and split not in SPLITS:
        raise DataError(
            f"{where}: split is {row_files.brief(split)}, must be {', '.join(SPLITS)} or left out"
        )
    label = values.get(answers[0])
    if isinstance(label, bool) or not isinstance(label, int) or label not in (0, 1):
        raise DataError(
            f"{where}: {answers[0]} is {row_files.brief(label)}, must be 0 or 1 (a number)"
        )
    texts = {}
    for field in answers[1:]:
        texts[field] = row_files.text(values, field, where, optional=True)
        if (label == 1) != bool(texts[field]):
            raise DataError(
                f"{where}: {answers[0]} is {label}, but {field} is {row_files.brief(texts[field])}:"
                " a positive has one, and a negative none"
            )
        if label == 1 and field in MARKED_FIELDS:
            try:
                read_annotation(texts[field], field)
            except DataError as error:
                raise DataError(
                    f"{where}: {field} {error}. Correct it (NYK-MS, Appendix C)"
                ) from error
    file = images.below(folder, image, where) if image else None
    told = _CONTEST_IN_ID.match(row_id)
    contest = int(told[1]) if told else None
    return AnnotatedCaption(where, row_id, contest, caption, description, file, label, texts, split)


# --- the New Yorker Caption Contest dataset ---


def _join(
    rows: Sequence[AnnotatedCaption], what: str
) -> tuple[Mapping[str, Any], str | None, list[str]]:
    """The image, or the description, of rows by id; which contest dataset it is from; faults of
    other rows.
    """
    found: Mapping[str, Any] = {}
    origin = None
    if of_contests := [row for row in rows if row.contest is not None]:
        try:
            files, origin = _tables()
            found = _of_contests(of_contests, files, what)
        except DataError as error:
            return {}, None, [str(error)]
    faults = []
    for row in rows:
        if row.id not in found:
            has_none = f"{CONTESTS} has no {what} of contest {row.contest}"
            why = "the id names no contest" if row.contest is None else has_none
            faults.append(
                f"{row.where}: {what} is missing, and {why}: give the {what}, or an id like"
                " NYK_722_3"
            )
    return found, origin, faults


def fetch_contests() -> hub.Snapshot:
    """The cartoons and descriptions of the contest dataset, downloaded."""
    _tables()
    return hub.snapshot(source_of(CONTESTS))


def _tables() -> tuple[list[Path], str]:
    """The files of the contest dataset, and what to say of them under ``data``
    (:attr:`DataId.joined`).
    """
    snapshot = hub.snapshot(source_of(CONTESTS), [f"{CONTEST_CONFIG}/*.parquet"])
    found = snapshot.folder / CONTEST_CONFIG
    files = [path for split in SPLITS for path in sorted(found.glob(f"{split}-*.parquet"))]
    if not files:
        raise DataError(
            f"{CONTESTS}: no file {CONTEST_CONFIG}/<split>-*.parquet in {snapshot.folder}: load the"
            " dataset again"
        )
    return files, f"{CONTESTS}:{snapshot.revision[:12]}"


def _of_contests(
    rows: Sequence[AnnotatedCaption], files: Sequence[Path], what: str
) -> dict[str, Any]:
    """The cartoon of each row's contest, or its description, by row id.

    A cartoon has several descriptions, by different people. The paper took cartoon, caption and
    description from one instance, so an instance with the row's caption goes first; else the first
    of the contest, in the order of the files.
    """
    columns = [
        "contest_number",
        *(["image"] if what == "image" else ["image_description", "caption_choices"]),
    ]
    where = f"{CONTESTS}: {files[0].parent}"
    table = parquet_files.read_parquet(files, columns, where)
    table = images.undecoded(table, where) if what == "image" else table
    wanted = {row.contest for row in rows}
    found: dict[Any, Any] = {}
    for each in table.select(
        [place for place, number in enumerate(table["contest_number"]) if number in wanted]
    ):
        contest = each["contest_number"]
        value = (
            (each["image"] or {}).get("bytes")
            if what == "image"
            else (each["image_description"] or "").strip()
        )
        for key in [
            contest,
            *((contest, _comparable(caption)) for caption in each.get("caption_choices") or ()),
        ]:
            if value:
                found.setdefault(key, value)
    return {
        row.id: found.get((row.contest, _comparable(row.caption)), found[row.contest])
        for row in rows
        if row.contest in found
    }


def _comparable(caption: str) -> str:
    return " ".join(caption.casefold().split())
