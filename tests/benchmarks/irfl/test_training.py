"""``figlang train irfl``: if this fails, it trains on rows of the test, does not help, or a run
measures something else than the training did.
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
import tiny_models
from demo_runs import evaluate, metrics
from irfl_release import metaphor_row, uuid, write_pictures, write_table
from PIL import Image
from typer.testing import CliRunner

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.irfl import training
from figlang_tasks.cli.figlang import app
from figlang_tasks.models import probe

MINI = "figlang_mini_irfl"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder with random weights, which still tell pictures apart."""
    return tiny_models.write_encoder("clip", tmp_path_factory.mktemp("clip"), seed=5)


def train(clip: Path, output: Path, table: str, **options: Any) -> probe.Probe:
    """Train classifiers on the package's small data, and read what was written about them."""
    training.train(
        encoder=str(clip), dataset=MINI, table=table, output=output, epochs=20, **options
    )
    classifier, _ = probe.read(output)
    return classifier


@pytest.mark.slow
def test_classifiers_of_idioms_rank_metaphors_better_than_their_encoder(
    clip: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "probe"
    classifier = train(clip, folder, "metaphor-retrieval-task")
    encoder_values = classifier.measured["encoder"]
    values_by_seed = classifier.measured["seeds"]
    assert classifier.seeds == (0, 1, 2, 3, 4)
    for values in values_by_seed.values():
        assert values["p@k"] > encoder_values["p@k"] + 0.1

    # A run measures what the training measured.
    task = f"{MINI}_retrieve_metaphor"
    probe_run = metrics(evaluate(task, "figlang_probe", f"probe={folder},seed=3"), task)
    encoder_run = metrics(evaluate(task, "figlang_clip", f"pretrained={clip}"), task)
    for metric in ("p@k", "expected_p@k"):
        assert probe_run[f"{metric},none"] == values_by_seed["3"][metric]
        assert encoder_run[f"{metric},none"] == encoder_values[metric]


@pytest.mark.slow
def test_classifiers_of_idioms_are_less_drawn_to_literal_images_of_metaphors(
    clip: Path, tmp_path: Path
) -> None:
    classifier = train(clip, tmp_path / "probe", "metaphor-detection-task")
    encoder_values = classifier.measured["encoder"]
    for values in classifier.measured["seeds"].values():
        assert values["acc"] > encoder_values["acc"]
        assert values["literal_preference"] < encoder_values["literal_preference"]


def test_a_classifier_finds_its_encoder_from_another_folder(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(clip, tmp_path / "clip")
    monkeypatch.chdir(tmp_path)
    train(Path("clip"), tmp_path / "probe", "metaphor-retrieval-task", seeds=1, hidden=0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    probe.FigLangProbe(probe="../probe")
    (tmp_path / "clip").rename(tmp_path / "moved")
    with pytest.raises(FigLangError, match=r"there is no folder .*/clip"):
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
            "idioms-dataset has only pictures and phrases of idiom-detection-task: nothing to"
            " train on",
        ),
        (["--output", "."], "already exists and is not overwritten"),
        (["--encoder", "/nowhere/at/all"], "there is no folder /nowhere/at/all"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line_and_leaves_no_file(
    options: list[str], message: str, clip: Path, tmp_path: Path
) -> None:
    arguments = ["--dataset", MINI, "--encoder", str(clip), "--output", str(tmp_path / "probe")]
    result = CliRunner().invoke(app, ["train", "irfl", *arguments, *options])
    assert (result.exit_code, result.stdout) == (1, "")
    last_line = result.stderr.splitlines()[-1]
    assert last_line.startswith("figlang: ")
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_phrase_of_the_test_is_not_trained_on_in_another_spelling() -> None:
    test_phrases = ["The tip  of\u00a0the iceberg", "at a snail\u2019s pace ", "burn your bridges"]
    test_documents = [{"phrase": phrase} for phrase in test_phrases]
    documents = training.trainable(MINI, test_documents)
    phrases = {document["phrase"] for document in documents}
    assert "burn your bridges behind you" in phrases
    assert phrases.isdisjoint({"the tip of the iceberg", "at a snail's pace"})


def test_a_picture_of_the_test_is_not_trained_on_under_another_phrase(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / MINI
    write_table(folder, "metaphor-detection-task", [metaphor_row()])  # the pictures 0 to 3
    idioms: list[dict[str, object]] = []
    for number in range(12):
        idioms.append(
            {
                "phrase": f"idiom {number}",
                "category": "Literal" if number % 2 else "Figurative",
                "uuid": uuid(number),
                "definition": ["It means that"],
            }
        )
    write_table(folder, "idioms-dataset", idioms)
    write_pictures(folder, map(uuid, range(12)))
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    classifier = train(clip, tmp_path / "probe", "metaphor-detection-task", seeds=1, hidden=0)
    assert (classifier.trained_on["pictures"], classifier.trained_on["idioms"]) == (8, 8)


@pytest.mark.parametrize(
    ("table", "phrase_only", "values"),
    [
        (
            "idiom-detection-task",
            False,
            {
                "acc_figurative": "58 ± 4.2",
                "acc_figurative_literal": "49 ± 2.6",
                "literal_preference": "41 ± 4.3",
            },
        ),
        ("idiom-detection-task", True, {"acc_figurative": "46.2"}),
        (
            "idiom-retrieval-task",
            False,
            {"p@k_figurative": "68 ± 3.8", "p@k_figurative_literal": "64 ± 2.25"},
        ),
        ("metaphor-detection-task", False, {}),
    ],
)
def test_the_papers_values_are_those_of_tables_6_and_8_and_section_4_1_2(
    table: str, phrase_only: bool, values: dict[str, str]
) -> None:
    assert training.published_values(table, phrase_only) == values


# --- the released table as the test ---

CATEGORIES = ("Figurative", "Figurative+Literal", "Partial Literal", "Literal", "None")


def distinct_picture(number: int) -> bytes:
    """A PNG of 8 x 8 pixels that shows a number in binary, four pixels for each bit."""
    pixels = bytearray()
    for bit in range(16):
        pixels += bytes([255 * (number >> bit & 1)] * 4)
    file = io.BytesIO()
    Image.frombytes("L", (8, 8), bytes(pixels)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("shared_file", ["data/irfl/idiom_detection_task.csv"], indirect=True)
def test_what_the_released_table_shows_is_not_trained_on(
    shared_file: Path, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shared_file.open(newline="", encoding="utf-8") as file:
        test_rows = list(csv.DictReader(file))
    phrase_by_uuid: dict[str, str] = {}
    for row in test_rows:
        for image in json.loads(row["images_metadata"]):
            phrase_by_uuid[image["uuid"]] = image["phrase"]
    # The base table has the pictures of the test, one of its idioms, and a copy of its first
    # picture under another uuid; then 90 pictures to train on, and the last of them again and again
    # until there are as many rows as were released.
    images = list(phrase_by_uuid.items())
    images += [(uuid(0), test_rows[0]["phrase"]), (uuid(1), "a copy")]
    images += [(uuid(number), f"idiom {number % 50}") for number in range(2, 92)]
    repeated_image = (uuid(99), "idiom 0")
    repetitions = 6697 - len(images)

    folder = tmp_path / "IRFL"
    idioms: list[dict[str, object]] = []
    for number, (picture_uuid, phrase) in enumerate([*images, *[repeated_image] * repetitions]):
        idioms.append(
            {
                "phrase": phrase,
                "category": CATEGORIES[number % 5],
                "uuid": picture_uuid,
                "definition": ["What it means"],
            }
        )
    write_table(folder, "idioms-dataset", idioms)
    (folder / shared_file.name).write_bytes(shared_file.read_bytes())
    with zipfile.ZipFile(folder / "IRFL_images.zip", "w") as archive:
        for number, (picture_uuid, phrase) in enumerate([*images, repeated_image]):
            shown_number = 0 if phrase == "a copy" else number
            archive.writestr(f"images/{picture_uuid}.jpeg", distinct_picture(shown_number))
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    output = training.train(str(clip), output=tmp_path / "probe", seeds=1, epochs=1, hidden=0)
    assert output.startswith(f"trained on {90 + repetitions:,} pictures of 50 idioms (")
    assert re.search(r"acc_figurative_literal +\| +[\d.]+ \| +[\d.]+ \| +49 ± 2\.6 \|", output)
