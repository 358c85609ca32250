"""``figlang data import metaclue``: the folder that the tasks read, from the Pitt Ads and a table."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from figlang_tasks.benchmarks.metaclue import schema
from figlang_tasks.benchmarks.metaclue.annotations import DATASET, FILE, check_boxes
from figlang_tasks.core import images, row_files
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, DataError
from figlang_tasks.metrics.files import write_whole

_TABLE_COLUMNS = ("image", "split", "primary", "relationship", "secondary")
_OPTIONAL_COLUMNS = ("set", "votes", "topic", "best")
_EDGES = ("left", "top", "right", "bottom")
_BOX_COLUMNS = ("image", "role", "type", *_EDGES)
_BEST = {"": False, "0": False, "false": False, "1": True, "true": True}

Cells = Mapping[str, str]


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

    The table is CSV (with a header) or JSON lines, one row for each metaphor of each image, or one with empty parts for
    an image without. Columns ``image``, ``split``, ``primary``, ``relationship``, ``secondary``; optional ``set`` (else
    by ``votes``), ``votes``, ``topic`` (else by Topics.json) and ``best`` (else the first is). What is said of the
    image must be the same in all its rows. Boxes, of the best metaphor: ``image``, ``role``, ``type``, ``left``,
    ``top``, ``right``, ``bottom`` in pixels. Pictures become hard links, or copies where the file system has none.
    """
    root = os.environ.get(DATA_DIR_VARIABLE)
    if output is None and not root:
        raise DataError(
            f"the output folder is missing: give one, or set {DATA_DIR_VARIABLE} to the folder above {DATASET}"
        )
    target = output or Path(root or "").expanduser() / DATASET
    if not pitt.is_dir():
        raise DataError(f"{pitt} is not a folder; give the folder of the Pitt Ads, with the folders 0 to 10")
    by_topic = _topics(pitt, topics)
    groups: dict[str, list[tuple[str, Cells]]] = defaultdict(list)
    for place, cells in _rows(table, _TABLE_COLUMNS, _OPTIONAL_COLUMNS):
        groups[cells["image"]].append((place, cells))
    drawn = _boxes(boxes, groups)
    rows = []
    for image, group in groups.items():
        place = group[0][0]
        row = _row(group, by_topic.get(image), drawn.get(image, []))
        checked = schema.check(row, place)
        if not images.is_file(images.below(pitt, image, place)):
            raise DataError(
                f"{place}: there is no picture {image} in {pitt}. Complete the Pitt Ads, or delete the row."
            )
        if checked.boxes:
            check_boxes(checked, pitt / image)
        rows.append(row)
    try:
        _write(target, pitt, rows)
    except OSError as error:
        raise DataError(f"{target} cannot be written ({error}). Choose another folder, or free some space.") from error
    counts = (sum(len(row.get(name, ())) for row in rows) for name in ("metaphors", "boxes"))
    return "{}: {} images, {} metaphors, {} boxes, {} images without a topic".format(
        target, len(rows), *counts, sum("topic" not in row for row in rows)
    )


def _topics(pitt: Path, given: Path | None) -> dict[str, str]:
    """The topic of each image: the most frequent answer, of several the first given; ids go before free texts."""
    path, topics = given or pitt / "Topics.json", dict[str, str]()
    if not given and not path.exists():
        return topics
    try:
        for image, answers in json.loads(path.read_text(encoding="utf-8-sig")).items():
            texts = [" ".join(str(answer).split()) for answer in (answers if isinstance(answers, list) else [answers])]
            texts = [text for text in texts if text.isdigit()] or [text for text in texts if text]
            if texts:
                topics[image] = Counter(texts).most_common(1)[0][0]
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"{path} is not Topics.json of the Pitt Ads ({error})") from error
    return topics


def _rows(path: Path, required: Sequence[str], optional: Sequence[str]) -> Iterator[tuple[str, Cells]]:
    """The rows of a CSV or JSON lines table as texts, each with its place for messages."""
    count = 0
    for number, found in row_files.read(path, required):
        place = f"{path}, line {number}"
        if isinstance(found, str):
            raise DataError(f"{place} {found}")
        if unknown := [column for column in found if column not in required and column not in optional]:
            raise DataError(f"{place}: unknown column {', '.join(unknown)}; valid: {', '.join([*required, *optional])}")
        for column, value in found.items():
            if not isinstance(value, str | int | float | None) or value != value:  # NaN: an empty cell of pandas
                raise DataError(f"{place}: {column} is {row_files.brief(value)}, must be a text, a number or null")
        count += 1
        yield place, {name: "" if cell is None else " ".join(str(cell).split()) for name, cell in found.items()}
    if not count:
        raise DataError(f"{path} has no rows")


def _row(group: Sequence[tuple[str, Cells]], topic: str | None, boxes: list[dict[str, Any]]) -> dict[str, Any]:
    """The object of one image in the annotation file, from its rows."""
    place, first = group[0]
    for other, cells in group[1:]:
        for column in ("split", "set", "votes", "topic"):
            if cells.get(column, "") != first.get(column, ""):
                raise DataError(
                    f"{other}: {column} is {cells.get(column, '')!r}, but {first.get(column, '')!r} in {place}, of the "
                    "same image"
                )
    votes, kind = _number(first.get("votes", "")), first.get("set", "")
    if not kind and not isinstance(votes, int):
        raise DataError(f"{place}: set and votes are both missing; one of them must say whether this is a metaphor")
    row = {"schema": schema.VERSION, "image": first["image"], "split": first["split"]}
    row["set"] = kind or ("metaphor" if int(votes) >= schema.YES_VOTES else "symbolic_negative")
    found = {"votes": votes, "topic": first.get("topic") or topic, "boxes": boxes}
    metaphors = [_metaphor(other, cells) for other, cells in group if any(cells[part] for part in schema.PARTS)]
    if metaphors and not any(each["best"] for each in metaphors):
        metaphors[0]["best"] = True
    if metaphors or row["set"] == "metaphor":
        found["metaphors"] = metaphors
    return row | {name: value for name, value in found.items() if value or name == "metaphors" or value == 0}


def _metaphor(place: str, cells: Cells) -> dict[str, Any]:
    best = cells.get("best", "").lower()
    if best not in _BEST:
        raise DataError(f"{place}: best is {cells['best']!r}, must be true, false or empty")
    return {part: cells[part] for part in schema.PARTS} | {"best": _BEST[best]}


def _number(text: str) -> Any:
    """A whole number, also from ``5.0``, as tables of pandas have it; another text stays for the schema to refuse."""
    return int(text.removesuffix(".0")) if text.removesuffix(".0").isdecimal() else text


def _boxes(path: Path | None, known: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for place, cells in _rows(path, _BOX_COLUMNS, ()) if path else ():
        if cells["image"] not in known:
            raise DataError(f"{place}: the image {cells['image']} is not in the table of metaphors")
        try:
            edges = [float(cells[edge]) for edge in _EDGES]
        except ValueError as error:
            raise DataError(f"{place}: {error}; {', '.join(_EDGES)} must be numbers of pixels") from error
        found[cells["image"]].append({"role": cells["role"], "type": cells["type"], "bbox": edges})
    return found


def _write(target: Path, pitt: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        source, picture = (pitt / row["image"]).resolve(), target / row["image"]  # of a link the picture, not the link
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
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    write_whole(target / FILE, lines.encode())
