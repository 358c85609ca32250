"""Rows with labels only: cartoons and descriptions come from the New Yorker Caption Contest dataset, by contest number.

The dataset is a small one with its layout, its columns and our drawings, served by the hub stand-in over real HTTP.
"""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import warm
from datasets import Dataset, Features, Image, List, Value
from drawings import drawing
from hub_server import HubServer

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.core import hub

REPOSITORY = "jmhessel/newyorker_caption_contest"
REVISION = "508076d8e54f6e96c9af2df092f943d181308f8c"
FEATURES = Features(  # of its configuration "ranking", those that are read and one more
    {
        "image": Image(),
        "contest_number": Value("int32"),
        "image_description": Value("string"),
        "caption_choices": List(Value("string")),
        "instance_id": Value("string"),
    }
)


def png(contest: int) -> bytes:
    stream = io.BytesIO()
    drawing(contest, 32).save(stream, "PNG")
    return stream.getvalue()


def instance(contest: int, description: str, captions: list[str]) -> dict[str, Any]:
    return {
        "image": {"bytes": png(contest), "path": f"{contest}.jpeg"},
        "contest_number": contest,
        "image_description": description,
        "caption_choices": captions,
        "instance_id": f"{contest}-{description}",
    }


INSTANCES = {
    "train-00000-of-00002": [
        instance(9001, "The first description of the cage.", ["Another one.", "And another."]),
        instance(9001, "The description beside the caption.", ["no", "The  corner office comes with a LOVELY view."]),
        instance(9001, "A later description beside the caption.", ["The corner office comes with a lovely view.", "x"]),
    ],
    "train-00001-of-00002": [instance(9002, " ", ["x", "y"]), instance(9002, "A house on fire.", ["x", "y"])],
    "validation-00000-of-00001": [instance(9003, "A snail.", ["x", "y"])],
    "test-00000-of-00002": [instance(9010, "A lion.", ["x", "y"]), instance(9002, "Too late.", ["x", "y"])],
    "test-00001-of-00002": [{**instance(9010, "Of no contest.", ["x", "y"]), "contest_number": None}],
}


# Of 9001, 9002, 9003 and 9010: of the first instance with the row's caption; else the first of the contest with words.
DESCRIPTIONS = ["The description beside the caption.", "A house on fire.", "A snail.", "A lion."]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contest")
    for name, found in INSTANCES.items():
        (folder / "ranking").mkdir(exist_ok=True)
        Dataset.from_list(found, features=FEATURES).to_parquet(str(folder / "ranking" / f"{name}.parquet"))
    (folder / "matching").mkdir()
    (folder / "matching" / "train-00000-of-00001.parquet").write_bytes(b"not asked for")
    (folder / "README.md").write_text("# card\n")
    return folder


def labels_only(folder: Path, contests: tuple[int, ...], **changes: Any) -> None:
    """FIGLANG_DATA_DIR/NYK-MS with rows of the shipped benchmark, without their cartoons and descriptions."""
    (folder / "NYK-MS").mkdir(parents=True)
    lines = (mini.NYKMS_DIR / "nyk_m.jsonl").read_text(encoding="utf-8").splitlines()
    found = [record for record in map(json.loads, lines) if record["contest_number"] in contests]
    for record in found:
        del record["image"], record["description"]
        record |= changes
    text = "".join(json.dumps(record) + "\n" for record in found)
    (folder / "NYK-MS" / "nyk_m.jsonl").write_text(text, encoding="utf-8")


SHOW = """
import json, sys
from figlang_tasks.benchmarks.nykms import rows, task
picture = rows.load("NYK-MS", "metaphor", "image")
text = rows.load("NYK-MS", "metaphor", "text")
print(json.dumps({
    "pictures": [row["image"]["bytes"].hex() for row in picture],
    "descriptions": list(text["description"]),
    "data": [picture[0]["data"], text[0]["data"]],
    "sizes": [list(task.doc_to_visual(row)[0].size) for row in picture],
    "prompt": task.doc_to_text(text[0]),
}))
"""


def test_from_the_hub_at_its_pin_by_contest_number(repository: Path, tmp_path: Path) -> None:
    labels_only(tmp_path / "data", (9001, 9002, 9003, 9010))
    with HubServer() as server:
        server.add_repo(REPOSITORY, repository, commit=REVISION)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))}
        environment |= server.env(home=tmp_path) | {hub.DATA_DIR_VARIABLE: str(tmp_path / "data")}
        done = warm.run([sys.executable, "-c", SHOW], cwd=tmp_path, env=environment, timeout=600)
        assert done.returncode == 0, done.stderr
        fetched = [request.path for request in server.requests if "/resolve/" in request.path]
    assert fetched and all(REVISION in path and "/ranking/" in path for path in fetched)
    shown = json.loads(done.stdout.splitlines()[-1])
    assert shown["pictures"] == [png(contest).hex() for contest in (9001, 9002, 9003, 9010)]
    assert shown["sizes"] == [[32, 32]] * 4
    assert shown["descriptions"] == DESCRIPTIONS
    assert f"Here is the description of the cartoon: {DESCRIPTIONS[0]}\n" in shown["prompt"]
    assert all(data.endswith(f"+NewYorkerCaptionContest:{REVISION[:12]}") for data in shown["data"])


def test_what_a_row_has_is_not_replaced(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    (tmp_path / "NewYorkerCaptionContest").symlink_to(repository)
    labels_only(tmp_path, (9003, 9010), description="My own words.")
    documents = rows.load("NYK-MS", "mc", "text")
    assert documents["description"] == ["My own words."] * 2
    assert "NewYorker" not in documents[0]["data"]
