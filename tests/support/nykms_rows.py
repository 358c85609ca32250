"""Writes NYK-MS: the rows of the shipped benchmark, and the contest dataset beside them, with contest 1 alone."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from drawings import drawing

from figlang_tasks import mini


def valid(folder: Path) -> Path:
    shutil.copytree(mini.NYKMS_DIR, folder / "NYK-MS")
    picture = io.BytesIO()
    drawing(1, 8).save(picture, "PNG")
    contests = folder / "NewYorkerCaptionContest" / "ranking"
    contests.mkdir(parents=True)
    row = {
        "contest_number": 1,
        "image_description": "A cat.",
        "caption_choices": ["Meow."],
        "image": {"bytes": picture.getvalue()},
    }
    pq.write_table(pa.Table.from_pylist([row]), contests / "train-0.parquet")
    return folder / "NYK-MS"
