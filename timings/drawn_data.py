"""Draws data in the layout of benchmarks: as many rows as the release has, with pictures of its
formats and, as far as they are known, its sizes. No two files are equal.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image
from user_rows import LABELS, VFLUTE_ROWS, write_rows

from figlang_tasks.benchmarks.irfl.counts import ROWS as IRFL_ROWS
from figlang_tasks.benchmarks.nycc.counts import TEST as NYCC_ROWS

# --- pictures ---

_TILE = 512
_RATIOS = (4 / 3, 3 / 4, 1.0, 16 / 9)
_COMMENT = b"\xff\xfe"
"""The marker of a JPEG comment."""


class Shape(NamedTuple):
    """Width and height in pixels, and Pillow's names of format and mode."""

    width: int
    height: int
    format: str = "JPEG"
    mode: str = "RGB"


def shape_of(megapixels: float, number: int, mode: str = "RGB") -> Shape:
    """A JPEG of so many megapixels, in one of four ratios of width to height."""
    ratio = _RATIOS[number % len(_RATIOS)]
    height = round((megapixels * 1e6 / ratio) ** 0.5)
    return Shape(round(height * ratio), height, mode=mode)


def draw(shape: Shape, number: int, noise: float) -> bytes:
    """The file of a picture: a texture on coloured ground, in tiles.

    Args:
        shape: of the picture.
        number: seeds the colours and the texture.
        noise: the standard deviation of the texture in grey values. At 9, a JPEG has some 0.3 bytes
            a pixel, and at 3 some 0.15.
    """
    generator = np.random.default_rng(number)
    colours = generator.integers(60, 200, (6, 6, 3), dtype=np.uint8)
    ground = np.asarray(Image.fromarray(colours).resize((_TILE, _TILE)), dtype=np.float64)
    texture = generator.normal(0, noise, (_TILE, _TILE, 1))
    tile = Image.fromarray(np.clip(ground + texture, 0, 255).astype(np.uint8)).convert(shape.mode)
    if shape.mode == "RGBA":
        tile.paste(0, (0, 0, _TILE // 4, _TILE // 4))  # transparent
    picture = Image.new(shape.mode, (shape.width, shape.height))
    for left in range(0, shape.width, _TILE):
        for top in range(0, shape.height, _TILE):
            picture.paste(tile, (left, top))
    stream = io.BytesIO()
    if shape.format == "JPEG":
        picture.save(stream, "JPEG", quality=85)
    else:
        picture.save(stream, shape.format)
    return stream.getvalue()


def distinct(jpeg: bytes, number: int) -> bytes:
    """The same JPEG with a comment, so that no two files are equal."""
    comment = str(number).encode()
    length = (len(comment) + 2).to_bytes(2, "big")
    return jpeg[:2] + _COMMENT + length + comment + jpeg[2:]


def drawings(megapixels: Sequence[float], noise: float, mode: str = "RGB") -> list[bytes]:
    """A JPEG of each size in each ratio."""
    files: list[bytes] = []
    for size in megapixels:
        for number in range(len(_RATIOS)):
            files.append(draw(shape_of(size, number, mode), number, noise))
    return files


# --- data, in the layout of each benchmark ---


def write_single_row(folder: Path, _: Path | None = None) -> None:
    """V-FLUTE as a single row of the user, with a tiny picture."""
    write_rows(folder / "V-FLUTE", ["The kettle is a lantern."])


def write_vflute(folder: Path, _: Path | None) -> None:
    """V-FLUTE's test split: JPEG files of 1 to 5 megapixels, .8 MB on average as in the release."""
    files = drawings((1.0, 1.6, 2.2, 3.0, 3.8, 5.0), noise=9)
    rows: list[dict[str, object]] = []
    for number in range(VFLUTE_ROWS):
        content = distinct(files[number % len(files)], number)
        row = {
            "image": {"bytes": content, "path": f"{number}.jpg"},
            "claim": f"Kettle number {number} is a lantern.",
            "label": LABELS[number % 2],
            "explanation": f"The picture shows the kettle {number}, which glows in the dark.",
            "phenomenon": "sarcasm",
            "source_dataset": "muse",
        }
        rows.append(row)
    write_parquet(folder / "V-FLUTE" / "data" / "test-00000-of-00001.parquet", rows)


def write_irfl(folder: Path, _: Path | None) -> None:
    """IRFL's detection tables, the retrieval tables of similes, and the zip of the pictures.

    Pictures are JPEG files of .3 to 1 megapixel, .17 MB on average as in the release. Similes and
    open similes show the same ones.
    """
    release = folder / "IRFL"
    release.mkdir(parents=True)
    picture_count = 0
    for figures in (("idiom",), ("metaphor",), ("simile", "open-simile")):
        first_picture = picture_count
        for figure in figures:
            name = figure.replace("-", "_")
            row_count = IRFL_ROWS[f"{figure}-detection-task"]
            assert row_count is not None, "the length of each detection table is known"
            rows = [_choice(figure, first_picture + 4 * row) for row in range(row_count)]
            _write_irfl_table(release / f"{name}_detection_task.csv", rows)
            picture_count = first_picture + 4 * row_count
            if "simile" in figure:
                ranking_count = IRFL_ROWS[f"{figure}-retrieval-task"] or 0
                rankings = [_ranking(first_picture + 4 * row) for row in range(ranking_count)]
                _write_irfl_table(release / f"{name}_retrieval_task.csv", rankings)

    files = drawings((0.3, 0.5, 0.7, 1.0), noise=8)
    with zipfile.ZipFile(release / "IRFL_images.zip", "w") as archive:
        for number in range(picture_count):
            content = distinct(files[number % len(files)], number)
            archive.writestr(f"images/{_uuid(number)}.jpeg", content)


def _uuid(number: int) -> str:
    """The id of a picture of IRFL, which has 77 digits."""
    return str(10**76 + number)


def _choice(figure: str, first_picture: int) -> dict[str, object]:
    """A row of a detection table, which shows four pictures; the first one is right."""
    uuids = [_uuid(first_picture + offset) for offset in range(4)]
    roles = (None, "source", "target", None) if "simile" in figure else (None,) * 4
    metadata: list[dict[str, str | None]] = []
    for uuid, role in zip(uuids, roles, strict=True):
        metadata.append({"uuid": uuid, "sub_category": role})
    return {
        "phrase": f"phrase {first_picture}",
        "definition": ["what it means"],
        "answer": uuids[:1],
        "distractors": uuids[1:],
        "images_metadata": metadata,
        "type": "figurative",
    }


def _ranking(first_picture: int) -> dict[str, object]:
    """A row of a retrieval table of similes, with three pictures."""
    uuids = [_uuid(first_picture + offset) for offset in range(3)]
    metadata = [{"uuid": uuid, "sub_category": None} for uuid in uuids]
    return {
        "phrase": f"phrase {first_picture}",
        "first_category": uuids[:1],
        "second_category": uuids[1:],
        "images_metadata": metadata,
        "type": "FvsPL",
    }


def _write_irfl_table(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write a CSV file with JSON in its cells, but for phrase and type."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        for row in rows:
            cells: dict[str, str] = {}
            for column, value in row.items():
                cells[column] = value if isinstance(value, str) else json.dumps(value)
            writer.writerow(cells)


def write_nycc(folder: Path, _: Path | None) -> None:
    """The test rows of NYCC's ranking from pixels: grey JPEG files of .2 to .5 megapixels."""
    files = drawings((0.2, 0.3, 0.5), noise=6, mode="L")
    for fold, row_count in enumerate(NYCC_ROWS["ranking"]):
        rows: list[dict[str, object]] = []
        for number in range(row_count):
            key = 1000 * fold + number
            content = distinct(files[number % len(files)], key)
            row = {
                "image": {"bytes": content, "path": f"{key}.jpeg"},
                "contest_number": key // 2,
                "caption_choices": [f"I have no time, {key}.", f"There is no time, {key}."],
                "winner_source": "crowd_winner",
                "label": "AB"[number % 2],
                "instance_id": f"ranking-{key}",
            }
            rows.append(row)
        name = f"ranking_from_pixels_{fold}" if fold else "ranking_from_pixels"
        write_parquet(folder / "NYCC" / name / "test-00000-of-00001.parquet", rows)


CIIBENCH_MEGAPIXELS = (0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.5, 0.5, 0.6, 0.7, 1.1, 2.6, 5.0)
"""Sizes of CII-Bench's pictures, each as frequent as the others; one has 67 megapixels."""
CIIBENCH_ROWS = {"dev": 35, "test": 765}


def write_ciibench(folder: Path, source: Path | None) -> None:
    """The archive of CII-Bench with drawn pictures: 800 rows of both splits.

    Args:
        folder: the folder above it.
        source: has the real rows, and the shapes of the real pictures; None to make them up.
    """
    release = folder / "CII-Bench"
    (release / "data").mkdir(parents=True)
    if source is None:
        shapes = _made_up_ciibench(release)
    else:
        for split in CIIBENCH_ROWS:
            content = (source / f"{split}.json").read_bytes()
            (release / "data" / f"{split}.json").write_bytes(content)
        shapes = {}
        for path, picture in json.loads((source / "images.json").read_bytes()).items():
            width, height = picture["size"]
            shapes[path] = Shape(width, height, picture["format"], picture["mode"])
    for number, (path, shape) in enumerate(shapes.items()):
        (release / path).parent.mkdir(parents=True, exist_ok=True)
        (release / path).write_bytes(draw(shape, number, noise=3))


def _made_up_ciibench(release: Path) -> dict[str, Shape]:
    """Write made-up rows of both splits; the shape of each picture, by its path."""
    shapes: dict[str, Shape] = {}
    for split, row_count in CIIBENCH_ROWS.items():
        rows: list[dict[str, Any]] = []
        for number in range(1, row_count + 1):
            path = f"images/{split}/{split}-{number}.jpg"
            megapixels = CIIBENCH_MEGAPIXELS[number % len(CIIBENCH_MEGAPIXELS)]
            shapes[path] = shape_of(megapixels, number)
            rows.append(_ciibench_row(f"{split}-{number}", path))
        (release / "data" / f"{split}.json").write_text(json.dumps(rows), encoding="utf-8")
    shapes["images/test/test-1.jpg"] = shape_of(67, 0)
    return shapes


def _ciibench_row(row_id: str, path: str) -> dict[str, Any]:
    """A row as the archive of CII-Bench has it."""
    options = [f"{row_id}: {letter}" for letter in "ABCDEF"]
    question = {
        "id": row_id,
        "question": "这张图片有什么隐喻？",
        "options": options,
        "correct_option": options[0],
        "answer": "A",
    }
    labels = {
        "domain": "生活",
        "emotion": "中性",
        "difficulty": "简单",
        "image_type": "梗图(Meme)",
        "rhetoric": "夸张",
    }
    return {"local_path": path, "questions": [question], "meta_data": labels}


def write_parquet(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows as a Parquet file, in groups of 100 as the hub has them."""
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=100)
