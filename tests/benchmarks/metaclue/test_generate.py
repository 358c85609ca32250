"""If this fails, a picture is scored for another prompt, or a mean of some pictures passes for
that of all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tiny_models
from commands import done, figlang
from PIL import Image
from rows_with_images import metaclue_row, write_metaclue
from tasks_without_harness import measures_of

from figlang_tasks.benchmarks.metaclue import rows
from figlang_tasks.benchmarks.metaclue.benchmark import BENCHMARK
from figlang_tasks.core import notes
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import generated_images
from figlang_tasks.metrics.generated_images import Similarity
from figlang_tasks.results import runs
from figlang_tasks.scoring import Estimate, evaluate, process_results
from figlang_tasks.scoring.task import Document
from figlang_tasks.scoring.task_file import TaskFile

MINI = "figlang_mini_metaclue"


def first_documents(count: int) -> list[Document]:
    """The first documents of generation in the mini benchmark."""
    documents = BENCHMARK.documents(Request.of(MINI, task="generate"))
    return [documents[index] for index in range(count)]


# --- which picture? ---


@pytest.mark.parametrize(
    ("document_number", "output", "file_name"),
    [
        (0, "FOLDER", "0000.png"),
        (1, "FOLDER", "0001_s0.png"),
        (2, "FOLDER", None),
        (2, "FOLDER/other.png", "other.png"),
        (2, '{"text": "", "images": ["FOLDER/other.png"]}', "other.png"),
        (2, '{"text": "", "images": []}', None),
        (2, "An advertisement.", None),
        (2, "", None),
    ],
)
def test_a_picture_is_found_wherever_classes_of_the_harness_say(
    document_number: int, output: str, file_name: str | None, tmp_path: Path
) -> None:
    for name in ("0000.png", "0001_s0.png", "other.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    doc = first_documents(3)[document_number]
    values = process_results(doc, [output.replace("FOLDER", str(tmp_path))])
    file = values["sample"]["file"]
    assert (None if file is None else Path(file).name) == file_name
    assert values["image_rate"] == float(file_name is not None)


def test_the_order_of_annotations_gives_no_picture_to_another_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotations = [metaclue_row(number) for number in range(8)]
    prompts_of_orders: list[list[tuple[int, str, str]]] = []
    for name, ordered_annotations in (("given", annotations), ("reversed", annotations[::-1])):
        folder = write_metaclue(tmp_path / name, ordered_annotations, same=True)
        monkeypatch.setenv("FIGLANG_DATA_DIR", str(folder))
        prompts: list[tuple[int, str, str]] = []
        for doc in rows.load("MetaCLUE", "generate"):
            prompts.append((doc["number"], doc["image"], doc["primary"]))
        prompts_of_orders.append(prompts)
    assert prompts_of_orders[0] == prompts_of_orders[1]
    assert [number for number, _, _ in prompts_of_orders[0]] == list(range(8))


# --- a damaged picture ---


@pytest.fixture
def records_with_damaged_picture(
    tmp_path: Path,
    warnings_of_loguru: list[str],  # Judging logs warnings, which tests look for.
) -> list[dict[str, Any]]:
    """The records of three pictures, the second of which is cut in half."""
    for number in range(3):
        Image.effect_noise((64, 64), 90).save(tmp_path / f"{number:04d}.png")
    damaged_path = tmp_path / "0001.png"
    content = damaged_path.read_bytes()
    damaged_path.write_bytes(content[: len(content) // 2])
    return [process_results(doc, [str(tmp_path)])["sample"] for doc in first_documents(3)]


def evaluate_as_full_benchmark(
    records: Sequence[dict[str, Any]],
) -> dict[str, dict[str, Estimate]]:
    """The estimates of records of the mini benchmark as if they were MetaCLUE's, which has FID."""
    full_records = [{**record, "data": "MetaCLUE/generate@local:x"} for record in records]
    return evaluate(full_records, measures_of(full_records), stderr_resamples=9)


def test_a_damaged_picture_counts_as_none(
    records_with_damaged_picture: list[dict[str, Any]], warnings_of_loguru: list[str]
) -> None:
    has_file = [record["file"] is not None for record in records_with_damaged_picture]
    assert has_file == [True, False, True]
    damaged_id = records_with_damaged_picture[1]["id"]
    warning = f"{damaged_id}: counts as no picture: generated picture"
    assert warning in "\n".join(warnings_of_loguru)


def test_a_mean_of_some_pictures_is_not_given(
    records_with_damaged_picture: list[dict[str, Any]], warnings_of_loguru: list[str]
) -> None:
    notes.take_failures()  # Those of earlier tests.
    estimates = evaluate_as_full_benchmark(records_with_damaged_picture)
    assert estimates.keys() == {"image_rate"}
    assert estimates["image_rate"]["all"].value == pytest.approx(2 / 3)
    missing_metrics = [note.partition(" is left out")[0] for note in notes.take_failures()]
    assert missing_metrics == ["CLIP similarity", "FID"]
    text = "\n".join(warnings_of_loguru)
    assert "CLIP similarity is left out: 1 of 3 pictures are missing or damaged" in text
    assert "FID is left out: 1 of 3 pictures" in text


# --- a whole run ---


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLIP model with small random weights."""
    return tiny_models.write_encoder("clip", tmp_path_factory.mktemp("clip"))


class GeneratedRun(NamedTuple):
    """A run whose pictures come from another program.

    Attributes:
        prompts: the prompts of the task.
        estimates: the estimates of the run that `figlang score` writes, by metric.
        similarity: the CLIP similarity of the pictures with their prompts.
    """

    prompts: list[str]
    estimates: dict[str, Estimate]
    similarity: Similarity


@pytest.fixture
def generated_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_clip: Path) -> GeneratedRun:
    """A run as the card has it: a table of ids and paths, beside a folder with the pictures."""
    weights_name = generated_images.CLIP_MODEL.rpartition("/")[2]
    (tmp_path / weights_name).symlink_to(tiny_clip)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    documents = first_documents(5)
    made_folder = tmp_path / "work" / "made"
    made_folder.mkdir(parents=True)
    pictures: list[Image.Image] = []
    lines = ["id,output"]
    for number, document in enumerate(documents):
        pictures.append(Image.new("RGB", (16, 16), (50 * number, 0, 200)))
        pictures[-1].save(made_folder / f"picture of {number}.png")
        lines.append(f"{document['id']},made/picture of {number}.png")
    table = made_folder.parent / "pictures.csv"
    table.write_text("\n".join(lines))

    scored = tmp_path / "scored"
    done("score", table, "--task", f"{MINI}_generate", "--partial", "-o", scored)
    reported = runs.read(str(scored)).tasks[f"{MINI}_generate"].reported
    estimates = {metric: scopes["all"] for metric, scopes in reported.items()}
    task_file = TaskFile.read(f"{MINI}_generate")
    prompts = [task_file.prompt(document) for document in documents]
    similarity = generated_images.clip_similarity(pictures, prompts, str(tiny_clip))
    return GeneratedRun(prompts, estimates, similarity)


def test_pictures_of_any_generator_are_scored_from_a_table_of_paths(
    generated_run: GeneratedRun,
) -> None:
    metaphor = rows.load(MINI, "generate")[1]
    assert generated_run.prompts[1] == (
        f"An advertisement where {metaphor['primary']} is as {metaphor['relationship']} as"
        f" {metaphor['secondary']}."
    )
    # There is no FID of so few pictures.
    assert generated_run.estimates.keys() == {"clip_similarity", "image_rate"}
    assert generated_run.estimates["image_rate"].value == 1

    expected = generated_run.similarity
    value, low, high, stderr, row_count = generated_run.estimates["clip_similarity"]
    assert (value, row_count) == (pytest.approx(expected.value), 5)
    assert low is not None
    assert high is not None
    assert low <= expected.value <= high
    assert stderr == pytest.approx(np.std(expected.per_image, ddof=1) / np.sqrt(5), rel=0.1)


@pytest.mark.parametrize("output", ["../secret.png", "/etc/passwd", "link/secret.png"])
def test_a_table_opens_no_picture_outside_of_its_folder(output: str, tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "secret.png")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    table = folder / "pictures.csv"
    table.write_text(f"id,output\n{first_documents(1)[0]['id']},{output}\n")
    result = figlang("score", table, "--task", f"{MINI}_generate", "--partial")
    assert result.exit_code == 1
    assert (
        f"pictures.csv, line 2: the picture {output} does not lie below {folder}" in result.stderr
    )


@pytest.mark.parametrize("output", ["An advertisement.", '{"images": []}', "x" * 5000, "a\0b"])
def test_an_output_that_names_no_picture_has_none(output: str, tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "0000.png")  # is of the row if a folder is named
    lines = [
        json.dumps({"id": document["id"], "output": output}) for document in first_documents(2)
    ]
    table = tmp_path / "pictures.jsonl"
    table.write_text("\n".join(lines))
    result = figlang(
        "score", table, "--task", f"{MINI}_generate", "--partial", "-o", tmp_path / "scored"
    )
    assert result.exit_code == 1, "a mean of no pictures is no value"
    reported = runs.read(str(tmp_path / "scored")).tasks[f"{MINI}_generate"].reported
    assert reported["image_rate"]["all"].value == 0
