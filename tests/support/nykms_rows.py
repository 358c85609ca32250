"""NYK-MS: a folder of the shipped rows with the contest dataset beside them, contest 1 alone; a row
as it is loaded.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from drawings import drawing

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms.counts import file_stem


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


CAPTION = 'The piano\'s "in tune", but the house is a little flat.'


def document(question: str = "metaphor", **changes: Any) -> dict[str, Any]:
    """A row, of which the annotations say Yes unless `changes` has label 0."""
    answers = {"MW": "flat", "ME": "It is dull."}
    if file_stem(question) == "nyk_s":
        answers = {"SW": "[I]", "ST": "[S] home owners", "SE": "A house has no pitch."}
    if changes.get("label") == 0:
        answers = dict.fromkeys(answers, "")
    doc = {
        "dataset": "NYK-MS",
        "data": "NYK-MS/x:0123456789ab",
        "id": "NYK_722_3",
        "caption": CAPTION,
        "label": 1,
    }
    doc["cartoon"] = "contest 722"
    doc |= answers | {"question": question, "modality": "image"} | changes
    return {"request": f"NYK-MS,question={question},modality={doc['modality']}", **doc}
