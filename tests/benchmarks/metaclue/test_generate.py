"""Another picture is scored than the prompt's, or a mean of some pictures passes for that of all,
if this fails.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import demo_runs
import numpy as np
import pytest
import tiny_encoders
from judging import measures_of
from metaclue_rows import row, write
from PIL import Image

from figlang_tasks.benchmarks.metaclue import rows
from figlang_tasks.benchmarks.metaclue.benchmark import BENCHMARK
from figlang_tasks.core import notes
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import generated_images
from figlang_tasks.scoring import Estimate, evaluate, process_results

MINI = "figlang_mini_metaclue"


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoders.write("clip", tmp_path_factory.mktemp("clip"))


def records_of(docs: Sequence[Any], folder: Path) -> list[dict[str, Any]]:
    return [process_results(doc, [str(folder)])["sample"] for doc in docs]


def estimates_of(records: Sequence[dict[str, Any]]) -> dict[str, dict[str, Estimate]]:
    return evaluate(records, measures_of(records), stderr_resamples=9)


def test_generated_pictures_are_found_wherever_classes_of_the_harness_say(tmp_path: Path) -> None:
    docs = list(BENCHMARK.documents(Request.of(MINI, task="generate")))[:3]
    for name in ("0000.png", "0001_s0.png", "other.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    single = str(tmp_path / "other.png")
    for doc, output, expected in (
        (docs[0], str(tmp_path), "0000.png"),
        (docs[1], str(tmp_path), "0001_s0.png"),
        (docs[2], str(tmp_path), None),
        (docs[2], single, "other.png"),
        (docs[2], json.dumps({"text": "", "images": [single]}), "other.png"),
        (docs[2], json.dumps({"text": "", "images": []}), None),
        (docs[2], "An advertisement.", None),
        (docs[2], "", None),
    ):
        found = process_results(doc, [output])
        file = found["sample"]["file"]
        assert (None if file is None else Path(file).name) == expected
        assert found["image_rate"] == float(expected is not None)


def test_a_damaged_picture_is_none_and_a_mean_of_the_others_is_not_given(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    docs = list(BENCHMARK.documents(Request.of(MINI, task="generate")))[:3]
    for place in range(3):
        Image.effect_noise((64, 64), 90).save(tmp_path / f"{place:04d}.png")
    whole = (tmp_path / "0001.png").read_bytes()
    (tmp_path / "0001.png").write_bytes(whole[: len(whole) // 2])
    records = records_of(docs, tmp_path)
    assert [record["file"] is not None for record in records] == [True, False, True]
    notes.take_failures()
    found = estimates_of([record | {"data": "MetaCLUE/generate@local:x"} for record in records])
    assert found.keys() == {"image_rate"} and found["image_rate"]["all"].value == pytest.approx(
        2 / 3
    )
    assert [note.partition(" is left out")[0] for note in notes.take_failures()] == [
        "CLIP similarity",
        "FID",
    ]
    text = "\n".join(warnings_of_loguru)
    assert f"{docs[1]['id']}: counts as no picture: generated picture" in text
    assert "CLIP similarity is left out: 1 of 3 pictures are missing or damaged" in text
    assert "FID is left out: 1 of 3 pictures" in text


def test_the_order_of_annotations_gives_no_picture_to_another_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = [row(number) for number in range(8)]
    numbers = []
    for place, found in enumerate((given, given[::-1])):
        monkeypatch.setenv("FIGLANG_DATA_DIR", str(write(tmp_path / str(place), found, same=True)))
        numbers.append(
            [
                (doc["number"], doc["image"], doc["primary"])
                for doc in rows.load("MetaCLUE", "generate")
            ]
        )
    assert numbers[0] == numbers[1] and [number for number, _, _ in numbers[0]] == [*range(8)]


def test_pictures_of_any_generator_are_scored_as_saved_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_clip: Path
) -> None:
    """As the card has it: the prompts are in the samples of a baseline, and a folder of pictures is
    the answer.
    """
    (tmp_path / generated_images.CLIP_MODEL.rpartition("/")[2]).symlink_to(tiny_clip)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    name, made = f"{MINI}_generate", tmp_path / "made"
    demo_runs.evaluate(
        name, "figlang_majority", saved=tmp_path / "prompts", log_samples=True, limit=5
    )
    (path,) = (tmp_path / "prompts").rglob(f"*_samples_{name}.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    best = rows.load(MINI, "generate")[1]
    prompt = (
        f"An advertisement where {best['primary']} is as {best['relationship']} as"
        f" {best['secondary']}."
    )
    assert lines[1]["sample"]["prompt"] == prompt
    made.mkdir()
    shown = [Image.new("RGB", (16, 16), (50 * place, 0, 200)) for place in range(5)]
    for line in lines:
        shown[line["doc_id"]].save(made / f"{line['doc_id']:04}.png")
        line["filtered_resps"] = line["resps"] = [str(made)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    results = demo_runs.evaluate(name, "figlang_replay", f"samples={tmp_path / 'prompts'}", limit=5)
    expected = generated_images.clip_similarity(
        shown, [line["sample"]["prompt"] for line in lines], str(tiny_clip)
    )
    found = demo_runs.estimates(results, name)
    assert found.keys() == {"clip_similarity", "image_rate"}  # of so few pictures there is no FID
    assert found["image_rate"].value == 1
    value, low, high, stderr, count = found["clip_similarity"]
    assert value == pytest.approx(expected.value) and count == 5
    assert low is not None and high is not None and low <= expected.value <= high
    assert stderr == pytest.approx(np.std(expected.per_image, ddof=1) / np.sqrt(5), rel=0.1)
