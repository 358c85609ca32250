"""Cartoons and descriptions that rows lack come from the New Yorker Caption Contest dataset, by
contest number.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from drawings import drawing

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import rows, tasks
from figlang_tasks.core import hub


def png(contest: int | None) -> bytes:
    stream = io.BytesIO()
    drawing(f"{contest}", 32).save(stream, "PNG")
    return stream.getvalue()


def instance(contest: int | None, description: str, captions: list[str]) -> dict[str, Any]:
    return {
        "image": {"bytes": png(contest), "path": f"{contest}.jpeg"},
        "contest_number": contest,
        "image_description": description,
        "caption_choices": captions,
        "entities": [],  # is not read
    }


INSTANCES = {
    "train-00000-of-00002": [
        instance(9001, "The first description of the cage.", ["Another one.", "And another."]),
        instance(
            9001,
            "The description beside the caption.",
            ["no", "The  corner office comes with a LOVELY view."],
        ),
        instance(
            9001,
            "A later description beside the caption.",
            ["The corner office comes with a lovely view.", "x"],
        ),
    ],
    "train-00001-of-00002": [
        instance(9002, " ", ["x", "y"]),
        instance(9002, "A house on fire.", ["x", "y"]),
    ],
    "validation-00000-of-00001": [instance(9003, "A snail.", ["x", "y"])],
    "test-00000-of-00002": [
        instance(9010, "A lion.", ["x", "y"]),
        instance(9002, "Too late.", ["x", "y"]),
    ],
    "test-00001-of-00002": [instance(None, "Of no contest.", ["x", "y"])],
}
# Of 9001, 9002, 9003 and 9010: of the first instance with the row's caption; else the first of the
# contest with words.
DESCRIPTIONS = ["The description beside the caption.", "A house on fire.", "A snail.", "A lion."]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FIGLANG_DATA_DIR with the contest dataset in the hub's layout."""
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    ranking = tmp_path / "NewYorkerCaptionContest" / "ranking"
    ranking.mkdir(parents=True)
    for name, found in INSTANCES.items():
        Dataset.from_list(found).to_parquet(str(ranking / f"{name}.parquet"))
    return tmp_path


def labels_only(folder: Path, contests: tuple[int, ...], **changes: Any) -> None:
    """NYK-MS with rows of the shipped benchmark, without their cartoons and descriptions."""
    (folder / "NYK-MS").mkdir()
    lines = (mini.NYKMS_DIR / "nyk_m.jsonl").read_text(encoding="utf-8").splitlines()
    found = [record for record in map(json.loads, lines) if record["contest_number"] in contests]
    for record in found:
        del record["image"], record["description"]
        record |= changes
    text = "".join(json.dumps(record) + "\n" for record in found)
    (folder / "NYK-MS" / "nyk_m.jsonl").write_text(text, encoding="utf-8")


def test_by_contest_number(folder: Path) -> None:
    labels_only(folder, (9001, 9002, 9003, 9010))
    shown, told = (rows.load("NYK-MS", "metaphor", modality) for modality in rows.MODALITIES)
    assert [doc["image"]["bytes"] for doc in shown] == [
        png(contest) for contest in (9001, 9002, 9003, 9010)
    ]
    assert tasks.doc_to_visual(shown[0])[0].size == (32, 32)
    assert told["description"] == DESCRIPTIONS
    assert {doc["data"].partition("+")[2] for doc in (*shown, *told)} == {
        "NewYorkerCaptionContest:local"
    }


def test_what_a_row_has_is_not_replaced(folder: Path) -> None:
    labels_only(folder, (9003, 9010), description="My own words.")
    documents = rows.load("NYK-MS", "mc", "text")
    assert documents["description"] == ["My own words."] * 2
    assert "NewYorker" not in documents[0]["data"]
