"""``figlang train irfl``: what is trained on, that it helps, and that a run measures what the
training measured.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
import tiny_encoders
from demo_runs import evaluate, metrics
from irfl_hub import metaphor_row, uuid, write_pictures, write_table
from PIL import Image
from typer.testing import CliRunner

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.irfl import training
from figlang_tasks.cli.figlang import app
from figlang_tasks.models import probe

MINI = "figlang_mini_irfl"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights: the network on top has what they make of the pictures."""
    return tiny_encoders.write("clip", tmp_path_factory.mktemp("clip"), seed=5)


def train(clip: Path, output: Path, table: str, **options: Any) -> probe.Probe:
    training.train(
        encoder=str(clip), dataset=MINI, table=table, output=output, epochs=20, **options
    )
    return probe.read(output)[0]


@pytest.mark.slow
def test_a_probe_beats_its_encoder(clip: Path, tmp_path: Path) -> None:
    """Trained on idioms, tested on metaphors: every one of five seeds, and less drawn to what is
    literal.
    """
    found = train(clip, tmp_path / "ranks", "metaphor-retrieval-task")
    assert found.seeds == (0, 1, 2, 3, 4)
    assert all(
        of["p@k"] > found.measured["encoder"]["p@k"] + 0.1
        for of in found.measured["seeds"].values()
    )
    task = f"{MINI}_retrieve_metaphor"
    run = metrics(evaluate(task, "figlang_probe", f"probe={tmp_path / 'ranks'},seed=3"), task)
    encoder = metrics(evaluate(task, "figlang_clip", f"pretrained={clip}"), task)
    for name in ("p@k", "expected_p@k"):
        assert run[f"{name},none"] == found.measured["seeds"]["3"][name]
        assert encoder[f"{name},none"] == found.measured["encoder"][name]

    found = train(clip, tmp_path / "chooses", "metaphor-detection-task")
    for of in found.measured["seeds"].values():
        assert of["acc"] > found.measured["encoder"]["acc"]
        assert of["literal_preference"] < found.measured["encoder"]["literal_preference"]


def test_it_runs_from_another_folder_than_the_one_it_was_trained_in(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(clip, tmp_path / "clip")
    monkeypatch.chdir(tmp_path)
    train(Path("clip"), tmp_path / "probe", "metaphor-retrieval-task", seeds=1, hidden=0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    probe.FigLangProbe(probe="../probe")
    (tmp_path / "clip").rename(tmp_path / "moved")
    with pytest.raises(FigLangError, match="there is no folder .*/clip"):
        probe.FigLangProbe(probe="../probe")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--table", "idioms-dataset"],
            "--table idioms-dataset: must be a table of detection or retrieval",
        ),
        (["--table", "x-detection-task"], "figlang_mini_irfl"),
        (
            [],
            (
                "idioms-dataset has only pictures and phrases of idiom-detection-task: nothing to"
                " train on"
            ),
        ),
        (["--output", "."], "already exists and is not overwritten"),
        (["--encoder", "/nowhere/at/all"], "there is no folder /nowhere/at/all"),
    ],
)
def test_what_will_not_do(options: list[str], message: str, clip: Path, tmp_path: Path) -> None:
    given = [
        "--dataset",
        MINI,
        "--encoder",
        str(clip),
        "--output",
        str(tmp_path / "probe"),
        *options,
    ]
    done = CliRunner().invoke(app, ["train", "irfl", *given])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("figlang: ") and message in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_phrase_of_the_test_is_not_trained_on_in_another_spelling() -> None:
    tested = ["The tip  of\u00a0the iceberg", "at a snail\u2019s pace ", "burn your bridges"]
    kept = training.trainable(MINI, [{"phrase": phrase} for phrase in tested])
    found = {document["phrase"] for document in kept}
    assert "burn your bridges behind you" in found
    assert found.isdisjoint({"the tip of the iceberg", "at a snail's pace"})


def test_a_picture_of_the_test_is_not_trained_on_under_another_phrase(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / MINI
    write_table(folder, "metaphor-detection-task", [metaphor_row()])  # the pictures 0 to 3
    kinds = ("Figurative", "Literal")
    write_table(
        folder,
        "idioms-dataset",
        [
            {
                "phrase": f"idiom {n}",
                "category": kinds[n % 2],
                "uuid": uuid(n),
                "definition": ["It means that"],
            }
            for n in range(12)
        ],
    )
    write_pictures(folder, map(uuid, range(12)))
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    train(clip, tmp_path / "probe", "metaphor-detection-task", seeds=1, hidden=0)
    trained, _ = probe.read(tmp_path / "probe")
    assert (trained.trained_on["pictures"], trained.trained_on["idioms"]) == (8, 8)


def test_the_papers_classifier() -> None:
    """Tables 6 and 8 and section 4.1.2."""
    assert training.published_values("idiom-detection-task", False) == {
        "acc_figurative": "58 ± 4.2",
        "acc_figurative_literal": "49 ± 2.6",
        "literal_preference": "41 ± 4.3",
    }
    assert training.published_values("idiom-detection-task", True) == {"acc_figurative": "46.2"}
    assert training.published_values("idiom-retrieval-task", False) == {
        "p@k_figurative": "68 ± 3.8",
        "p@k_figurative_literal": "64 ± 2.25",
    }
    assert training.published_values("metaphor-detection-task", False) == {}


@pytest.mark.slow
@pytest.mark.parametrize("shared_file", ["data/irfl/idiom_detection_task.csv"], indirect=True)
def test_what_the_released_table_shows_is_not_trained_on(
    shared_file: Path, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shared_file.open(newline="", encoding="utf-8") as file:
        tested = list(csv.DictReader(file))
    shown = {
        each["uuid"]: each["phrase"]
        for row in tested
        for each in json.loads(row["images_metadata"])
    }
    # its own pictures; one of its idioms; one that shows what a picture of the test shows; and 90
    # others
    base = [*shown.items(), (uuid(0), tested[0]["phrase"]), (uuid(1), "a copy")]
    base += [(uuid(number), f"idiom {number % 50}") for number in range(2, 92)]
    kinds = ("Figurative", "Figurative+Literal", "Partial Literal", "Literal", "None")
    folder = tmp_path / "IRFL"
    table = [
        {
            "phrase": phrase,
            "category": kinds[place % 5],
            "uuid": each,
            "definition": ["What it means"],
        }
        for place, (each, phrase) in enumerate(
            [*base, *((uuid(99), "idiom 0") for _ in range(6697 - len(base)))]
        )
    ]
    write_table(folder, "idioms-dataset", table)
    (folder / shared_file.name).write_bytes(shared_file.read_bytes())
    with zipfile.ZipFile(folder / "IRFL_images.zip", "w") as archive:
        for place, (each, phrase) in enumerate([*base, (uuid(99), "idiom 0")]):
            picture = io.BytesIO()
            seen = 0 if phrase == "a copy" else place
            Image.frombytes(
                "L", (8, 8), bytes(255 * (seen >> bit & 1) for bit in range(16) for _ in range(4))
            ).save(picture, "PNG")
            archive.writestr(f"images/{each}.jpeg", picture.getvalue())
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    told = training.train(str(clip), output=tmp_path / "probe", seeds=1, epochs=1, hidden=0)
    assert told.startswith(f"trained on {90 + len(table) - len(base):,} pictures of 50 idioms (")
    assert re.search(r"acc_figurative_literal +\| +[\d.]+ \| +[\d.]+ \| +49 ± 2\.6 \|", told)
