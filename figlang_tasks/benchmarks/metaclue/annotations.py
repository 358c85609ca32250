"""MetaCLUE's annotations: read and checked, imported from the Pitt Ads and a table.

The annotations have no public release. What a user prepares is a folder ``$FIGLANG_DATA_DIR/MetaCLUE`` with
``annotations.jsonl`` (module ``schema``) and the pictures of the Pitt Ads in their own layout, ``0/``
to ``10/``. :func:`import_files` makes it (``figlang data import metaclue``).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from figlang_tasks.benchmarks.metaclue import pictures, schema
from figlang_tasks.benchmarks.metaclue.schema import Annotation, Box, Metaphor, SchemaError
from figlang_tasks.core import hub, images, json_lines, row_files
from figlang_tasks.core.checks import end_with_the_first
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, DataError
from figlang_tasks.metrics.files import write_whole

DATASET = "MetaCLUE"
FILE = "annotations.jsonl"
TOPICS_FILES = ("Topics.json", "image/Topics.json", "annotations/Topics.json")
# (set, split) -> images, sections 3.1 and 3.2 of the paper
PAPER = {
    ("metaphor", "train"): 3730,
    ("metaphor", "test"): 1331,
    ("symbolic_negative", "train"): 2000,
    ("symbolic_negative", "test"): 1419,
    ("literal_negative", "train"): 2000,
    ("literal_negative", "test"): 1000,
}


@dataclass(frozen=True)
class Table:
    """All rows of an annotation file.

    Attributes:
        rows: in the order of the file.
        folder: where the file and the pictures are.
        revision: ``local`` or ``package``.
        digest: first 12 hex digits of the file's SHA-256.
    """

    rows: tuple[Annotation, ...]
    folder: Path
    revision: str
    digest: str

    def select(self, split: str, *sets: str) -> list[Annotation]:
        """The rows of a split and of some sets."""
        return [row for row in self.rows if row.split == split and row.set in sets]


@hub.kept(maxsize=4)
def read(dataset: str) -> Table:
    """Read the annotations of ``MetaCLUE`` or ``figlang_mini_metaclue``.

    Raises:
        DataError: the file is missing or a line is not valid; names file, line, field and what is valid.
    """
    table, faults = load(dataset)
    end_with_the_first(faults, "metaclue")
    return table


def load(dataset: str) -> tuple[Table, list[str]]:
    """The valid rows of the annotations, and the faults of the others.

    Raises:
        DataError: there is no such file.
    """
    found = hub.snapshot(hub.source(dataset), [FILE])
    path = found.folder / FILE
    content = _content(path)
    rows, faults = parse_rows(content, path)
    if not rows and not faults:
        faults = [f"{path} has no rows: import the annotations again (`figlang data import metaclue`)"]
    return Table(tuple(rows), found.folder, found.revision, hashlib.sha256(content).hexdigest()[:12]), faults


def _content(path: Path) -> bytes:
    try:
        return json_lines.content_of(path)
    except DataError as error:
        raise DataError(
            f"{error}. MetaCLUE's annotations have no public release: make the file with `figlang data import "
            f"metaclue`, or write it yourself (docs/cards/metaclue.md), and set {DATA_DIR_VARIABLE} to the folder "
            f"above {path.parent.name}"
        ) from error


def parse_rows(content: bytes, path: Path) -> tuple[list[Annotation], list[str]]:
    """The valid rows of a file, and one message for each line that holds none."""
    rows: list[Annotation] = []
    faults: list[str] = []
    seen: dict[str, int] = {}
    for number, values in json_lines.objects(content):
        if isinstance(values, str):
            faults.append(f"{path}, line {number} {values}")
            continue
        try:
            found = schema.check(values, number)
            if found.image in seen:
                raise SchemaError(f"image {found.image} is also in line {seen[found.image]}: delete one")
        except SchemaError as error:
            faults.append(f"{path}, line {number}: {error}")
            continue
        seen[found.image] = number
        rows.append(found)
    return rows, faults


def where(dataset: str, row: Annotation) -> str:
    """Name a row in messages."""
    return f"{dataset}/{FILE}, line {row.row} ({row.image})"


def picture_faults(
    dataset: str, table: Table, rows: Iterable[Annotation], whole: bool = True, boxes: bool = True
) -> list[str]:
    """The faults of the pictures of some rows.

    Args:
        dataset: of the table, for messages.
        table: where the pictures are.
        rows: of the table.
        whole: also whether each can be decoded, which takes some milliseconds.
        boxes: also whether the boxes lie within it.
    """
    faults = []
    for row in rows:
        name = where(dataset, row)
        try:
            file = images.below(table.folder, row.image, name)
            if not images.is_file(file):
                raise DataError(
                    f"{name}: there is no picture {row.image} in {table.folder}. Put the pictures of the Pitt Ads "
                    "there, in their folders 0 to 10, or delete the row."
                )
            if whole:
                _check_whole(dataset, row.image, name, file, file.stat().st_mtime_ns)
            if boxes and row.boxes:
                check_boxes(row, pictures.size(file, name), name)
        except DataError as error:
            faults.append(str(error))
    return faults


@cache  # the tasks of a group have the same pictures
def _check_whole(dataset: str, image: str, name: str, file: Path, changed: int) -> None:
    try:
        images.check({"path": image}, name, dataset)
    except OSError as error:
        raise DataError(f"{name}: {file} cannot be read: {error.strerror or error}") from error


def check_boxes(row: Annotation, size: tuple[int, int], name: str) -> None:
    """Check that boxes lie within the picture; half a pixel more is rounding.

    Raises:
        DataError: one does not.
    """
    for number, box in enumerate(row.boxes):
        if box.bbox[2] > size[0] + 0.5 or box.bbox[3] > size[1] + 0.5:
            raise DataError(
                f"{name}: boxes[{number}].bbox is {list(box.bbox)}, but the picture is {size[0]} x {size[1]} pixels. "
                f"Boxes are in pixels of the picture as it lies in the folder, upright."
            )


# --- import ----------------------------------------------------------------------------------------------------------

_TABLE_COLUMNS = ("image", "split", "primary", "relationship", "secondary")
_OPTIONAL_COLUMNS = ("set", "votes", "topic", "best", *(f"votes_{kind}" for kind in schema.VOTE_KINDS))
_BOX_COLUMNS = ("image", "role", "type", "left", "top", "right", "bottom")


def import_files(
    pitt: Annotated[Path, "The Pitt Ads: folders 0 to 10 of pictures, and Topics.json."],
    table: Annotated[Path, "CSV or JSON lines with the metaphors of each picture."],
    output: Annotated[Path | None, f"Output folder.  [default: ${DATA_DIR_VARIABLE}/{DATASET}]"] = None,
    boxes: Annotated[Path | None, "CSV or JSON lines with boxes."] = None,
    topics: Annotated[Path | None, "Topics.json, if it is not in the folder of the pictures."] = None,
) -> str:
    """Make the folder that the MetaCLUE tasks read, from the Pitt Ads and a table (docs/cards/metaclue.md).

    \b
    figlang data import metaclue pitt_ads metaphors.csv --boxes boxes.csv --output my_data/MetaCLUE

    Args:
        pitt: the Pitt Ads: folders ``0`` to ``10`` of pictures, and ``Topics.json`` if it is there.
        table: CSV (with a header) or JSON lines, one row for each metaphor of each image, or one with empty parts for
            an image without. Columns ``image``, ``split``, ``primary``, ``relationship``, ``secondary``; optional
            ``set`` (else by ``votes``), ``votes``, ``topic`` (else by Topics.json), ``best``, ``votes_grammar``,
            ``votes_concepts``, ``votes_relationship``. What is said of the image must be the same in all its rows.
        output: the folder to make; default ``$FIGLANG_DATA_DIR/MetaCLUE``.
        boxes: CSV or JSON lines, one row for each box, of the best metaphor: ``image``, ``role``, ``type``, ``left``,
            ``top``, ``right``, ``bottom`` in pixels.
        topics: ``Topics.json``, if it is not in `pitt`.

    Returns:
        What was made, in one line. Pictures become hard links, or copies where the file system has none.

    Raises:
        DataError: a file is missing or a row is not valid; names file, line (of CSV that where a row starts),
            field and remedy. Nothing is written then.
    """
    target = _output(output)
    if not _is_folder(pitt):
        raise DataError(f"{pitt} is not a folder; give the folder of the Pitt Ads, with the folders 0 to 10")
    by_topic = _topics(pitt, topics)
    groups: dict[str, list[tuple[str, Mapping[str, str]]]] = defaultdict(list)
    for place, cells in _rows(table, _TABLE_COLUMNS, _OPTIONAL_COLUMNS):
        groups[cells["image"]].append((place, cells))
    drawn = _boxes(boxes, set(groups))
    rows = []
    for number, (image, group) in enumerate(groups.items(), start=1):
        place = group[0][0]
        if not schema.FIELDS["image"].check(image):
            raise DataError(f"{place}: image is {image!r}, must be {schema.FIELDS['image'].valid}. Correct the table.")
        if not images.is_file(images.below(pitt, image, place)):
            raise DataError(
                f"{place}: there is no picture {image} in {pitt}. Complete the Pitt Ads, or delete the row."
            )
        row = _annotation(group, by_topic.get(image), drawn.get(image, []), number)
        try:
            checked = schema.check(json.loads(schema.as_json(row)), number)
        except SchemaError as error:
            raise DataError(f"{place}: {error}. Correct the table.") from error
        if checked.boxes:
            check_boxes(checked, pictures.size(pitt / image, place), f"{place}: {image}")
        rows.append(checked)
    try:
        _write(target, pitt, rows)
    except OSError as error:
        raise DataError(f"{target} cannot be written ({error}). Choose another folder, or free some space.") from error
    without = sum(row.topic is None for row in rows)
    return (
        f"{target}: {len(rows)} images, {sum(len(row.metaphors) for row in rows)} metaphors, "
        f"{sum(len(row.boxes) for row in rows)} boxes, {without} images without a topic"
    )


def _output(output: Path | None) -> Path:
    if output is not None:
        return output
    if root := os.environ.get(DATA_DIR_VARIABLE):
        return Path(root).expanduser() / DATASET
    raise DataError(f"the output folder is missing: give one, or set {DATA_DIR_VARIABLE} to the folder above {DATASET}")


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # such as a name that is too long
        return False


def _topics(pitt: Path, given: Path | None) -> dict[str, str]:
    """The topic of each image: the most frequent answer, of several the first given; ids go before free texts."""
    candidates = [given] if given else [pitt / name for name in TOPICS_FILES]
    path = next((each for each in candidates if images.is_file(each)), None)
    if path is None:
        if given:
            raise DataError(f"{given} does not exist; it must be Topics.json of the Pitt Ads")
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
        if not isinstance(found, dict):
            raise ValueError("not an object of images")
        return _most_frequent(found)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} is not Topics.json of the Pitt Ads ({error})") from error


def _most_frequent(found: Mapping[str, Any]) -> dict[str, str]:
    topics = {}
    for image, answers in found.items():
        texts = [" ".join(str(answer).split()) for answer in (answers if isinstance(answers, list) else [answers])]
        texts = [text for text in texts if text.isdigit()] or [text for text in texts if text]
        if texts:
            topics[image] = Counter(texts).most_common(1)[0][0]
    return topics


def _rows(path: Path, required: Sequence[str], optional: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The rows of a CSV or JSON lines table as texts, each with its place for messages."""
    count = 0
    for number, found in row_files.read(path, required):
        place = f"{path}, line {number}"
        if isinstance(found, str):
            raise DataError(f"{place} {found}")
        if unknown := [column for column in found if column not in required and column not in optional]:
            raise DataError(f"{place}: unknown column {', '.join(unknown)}; valid: {', '.join([*required, *optional])}")
        count += 1
        yield place, {column: _cell(value, f"{place}: {column}") for column, value in found.items()}
    if not count:
        raise DataError(f"{path} has no rows")


def _cell(value: Any, what: str) -> str:
    if value is None:
        return ""
    if isinstance(value, dict | list) or (isinstance(value, float) and not math.isfinite(value)):
        kind = "a list or an object" if isinstance(value, dict | list) else value  # NaN: an empty cell of pandas
        raise DataError(f"{what} is {kind}, must be a text, a number, true, false, or null if it is empty")
    return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())


def _annotation(
    group: Sequence[tuple[str, Mapping[str, str]]], topic: str | None, boxes: list[Box], number: int
) -> Annotation:
    """One image from its rows."""
    place, first = group[0]
    for other, cells in group[1:]:
        for column in ("split", "set", "votes", "topic"):
            if cells.get(column, "") != first.get(column, ""):
                raise DataError(
                    f"{other}: {column} is {cells.get(column, '')!r}, but {first.get(column, '')!r} in {place}, of the "
                    f"same image"
                )
    votes = _whole(first.get("votes", ""), f"{place}: votes")
    kind = first.get("set", "")
    if not kind:
        if votes is None:
            raise DataError(f"{place}: set and votes are both missing; one of them must say whether this is a metaphor")
        kind = "metaphor" if votes >= schema.YES_VOTES else "symbolic_negative"
    metaphors = [_metaphor(other, cells) for other, cells in group if any(cells[part] for part in schema.PARTS)]
    if kind != "metaphor" and metaphors:
        raise DataError(f"{place}: an image of the set {kind} has no metaphors")
    return Annotation(
        row=number,
        image=first["image"],
        split=first["split"],
        set=kind,
        votes=votes,
        topic=first.get("topic") or topic,
        metaphors=_with_best(metaphors, place),
        boxes=tuple(boxes),
    )


def _metaphor(place: str, cells: Mapping[str, str]) -> Metaphor:
    votes = [_whole(cells.get(f"votes_{kind}", ""), f"{place}: votes_{kind}") for kind in schema.VOTE_KINDS]
    given = tuple(vote for vote in votes if vote is not None)
    if given and len(given) < len(votes):
        raise DataError(f"{place}: votes_{', votes_'.join(schema.VOTE_KINDS)} must all be given, or none")
    best = cells.get("best", "").lower()
    if best not in ("", "0", "1", "true", "false"):
        raise DataError(f"{place}: best is {cells['best']!r}, must be true, false or empty")
    return Metaphor(cells["primary"], cells["relationship"], cells["secondary"], best in ("1", "true"), given)


def _with_best(metaphors: Sequence[Metaphor], place: str) -> tuple[Metaphor, ...]:
    """The metaphors with one best: the one marked, else that with the most votes, of several the first."""
    marked = sum(metaphor.best for metaphor in metaphors)
    if marked > 1:
        raise DataError(f"{place}: {marked} metaphors of the image are marked as the best; mark one")
    if marked or not metaphors:
        return tuple(metaphors)
    best = max(range(len(metaphors)), key=lambda number: (sum(metaphors[number].votes), -number))
    return tuple(replace(metaphor, best=number == best) for number, metaphor in enumerate(metaphors))


def _boxes(path: Path | None, known: set[str]) -> dict[str, list[Box]]:
    found: dict[str, list[Box]] = defaultdict(list)
    for place, cells in _rows(path, _BOX_COLUMNS, ()) if path else ():
        if cells["image"] not in known:
            raise DataError(f"{place}: the image {cells['image']} is not in the table of metaphors")
        edges = []
        for column in _BOX_COLUMNS[3:]:
            try:
                edges.append(float(cells[column]))
            except (ValueError, OverflowError) as error:
                raise DataError(f"{place}: {column} is {cells[column]!r}, must be a number of pixels") from error
        box = {"role": cells["role"], "type": cells["type"], "bbox": edges}
        for name, field in schema.BOX_FIELDS.items():
            if not field.check(box[name]):
                raise DataError(f"{place}: {name} is {box[name]}, must be {field.valid}")
        found[cells["image"]].append(Box(cells["role"], cells["type"], (edges[0], edges[1], edges[2], edges[3])))
    return found


def _whole(text: str, what: str) -> int | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= schema.VOTERS or number != int(number):  # in this order: nan and inf are no int
        raise DataError(f"{what} is {text!r}, must be a whole number from 0 to {schema.VOTERS}, or empty")
    return int(number)


def _write(target: Path, pitt: Path, rows: Sequence[Annotation]) -> None:
    for row in rows:
        source, picture = (pitt / row.image).resolve(), target / row.image  # of a link the picture, not the link
        if picture.exists():
            if picture.stat().st_size == source.stat().st_size:
                continue
            picture.unlink()  # of an older import
        picture.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, picture)
        except OSError:  # another file system, or one without hard links
            shutil.copyfile(source, picture)
    target.mkdir(parents=True, exist_ok=True)
    write_whole(target / FILE, "".join(f"{schema.as_json(row)}\n" for row in rows).encode())
