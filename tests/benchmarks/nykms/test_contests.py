"""A row that lacks its cartoon or its description gets that of another contest if this fails."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from rows_with_images import drawing

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import rows, tasks
from figlang_tasks.core import hub


def png(contest: int | None) -> bytes:
    stream = io.BytesIO()
    drawing(f"{contest}", 32).save(stream, "PNG")
    return stream.getvalue()


def instance(contest: int | None, description: str, captions: list[str]) -> dict[str, Any]:
    """A row of the contest dataset; one of several that a contest has."""
    return {
        "image": {"bytes": png(contest), "path": f"{contest}.jpeg"},
        "contest_number": contest,
        "image_description": description,
        "caption_choices": captions,
        "entities": [],  # a column that is not read
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
# Those of 9001, 9002, 9003 and 9010: from the first instance with the row's caption; else the first
# of the contest that has words.
DESCRIPTIONS = ["The description beside the caption.", "A house on fire.", "A snail.", "A lion."]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FIGLANG_DATA_DIR with the contest dataset in the hub's layout."""
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    ranking = tmp_path / "NewYorkerCaptionContest" / "ranking"
    ranking.mkdir(parents=True)
    for name, instances in INSTANCES.items():
        Dataset.from_list(instances).to_parquet(str(ranking / f"{name}.parquet"))
    return tmp_path


def write_rows(folder: Path, contests: tuple[int, ...], **changes: Any) -> None:
    """Write rows of the shipped benchmark without their cartoons and descriptions as NYK-MS.

    Args:
        folder: FIGLANG_DATA_DIR.
        contests: the contests whose rows are written.
        changes: what every row gets.
    """
    json_lines: list[str] = []
    for line in (mini.NYKMS_DIR / "nyk_m.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["contest_number"] in contests:
            del row["image"], row["description"]
            json_lines.append(json.dumps({**row, **changes}) + "\n")
    (folder / "NYK-MS").mkdir()
    (folder / "NYK-MS" / "nyk_m.jsonl").write_text("".join(json_lines), encoding="utf-8")


def test_a_missing_cartoon_is_that_of_the_contest(folder: Path) -> None:
    contests = (9001, 9002, 9003, 9010)
    write_rows(folder, contests)
    documents = rows.load("NYK-MS", "metaphor", "image")
    pictures = [document["image"]["bytes"] for document in documents]
    assert pictures == [png(contest) for contest in contests]
    assert tasks.doc_to_visual(documents[0])[0].size == (32, 32)
    check_origin(documents)


def test_a_missing_description_is_that_beside_the_caption(folder: Path) -> None:
    write_rows(folder, (9001, 9002, 9003, 9010))
    documents = rows.load("NYK-MS", "metaphor", "text")
    assert documents["description"] == DESCRIPTIONS
    check_origin(documents)


def check_origin(documents: Dataset) -> None:
    """Check that the identity of the data names the contest dataset."""
    for data_id in documents["data"]:
        assert data_id.partition("+")[2] == "NewYorkerCaptionContest:local"


def test_what_a_row_has_is_not_replaced(folder: Path) -> None:
    write_rows(folder, (9003, 9010), description="My own words.")
    documents = rows.load("NYK-MS", "mc", "text")
    assert documents["description"] == ["My own words."] * 2
    assert "NewYorker" not in documents[0]["data"]
