"""If this fails, boxes are read in another convention, or mAP is that of other boxes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from lmms_eval.utils import load_yaml_config
from tasks_without_harness import check_task, measures_of

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.metaclue import measures, rows
from figlang_tasks.benchmarks.metaclue.annotations import BOX_TYPES, ROLES
from figlang_tasks.benchmarks.metaclue.benchmark import BENCHMARK
from figlang_tasks.benchmarks.metaclue.records import BoxesRecord
from figlang_tasks.benchmarks.metaclue.resizing import resized
from figlang_tasks.core.request import Request
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.metrics import boxes
from figlang_tasks.scoring import evaluate, process_results
from figlang_tasks.scoring.task import Document

MINI = "figlang_mini_metaclue"


def documents(task: str) -> Iterable[Document]:
    """The documents of a task of the mini benchmark."""
    return BENCHMARK.documents(Request.of(MINI, task=task))


# --- conventions ---


def write_boxes(doc: Document, pixel_boxes: Iterable[Sequence[float]]) -> str:
    """Boxes in pixels as an output in the convention of a document."""
    if doc["convention"] == "loc1024":
        return write_loc_tokens(doc, pixel_boxes)
    full_width, full_height = {
        "unit": (1.0, 1.0),
        "thousand": (1000.0, 1000.0),
        "thousand_yx": (1000.0, 1000.0),
        "pixel": (doc["width"], doc["height"]),
        "pixel28": resized(doc["width"], doc["height"]),
    }[doc["convention"]]
    written_boxes: list[dict[str, object]] = []
    for pixel_box in pixel_boxes:
        left, top, right, bottom = shares(doc, pixel_box)
        x1, x2 = left * full_width, right * full_width
        y1, y2 = top * full_height, bottom * full_height
        if doc["convention"] == "thousand_yx":
            written_boxes.append({"box_2d": [y1, x1, y2, x2], "label": doc["role"]})
        else:
            written_boxes.append({"bbox_2d": [x1, y1, x2, y2], "label": doc["role"]})
    return json.dumps(written_boxes)


def write_loc_tokens(doc: Document, pixel_boxes: Iterable[Sequence[float]]) -> str:
    """Boxes in pixels as PaliGemma writes them."""
    written_boxes: list[str] = []
    for pixel_box in pixel_boxes:
        left, top, right, bottom = shares(doc, pixel_box)
        tokens = [f"<loc{round(edge * 1024):04d}>" for edge in (top, left, bottom, right)]
        written_boxes.append("".join(tokens) + " it")
    return " ; ".join(written_boxes)


def shares(doc: Document, pixel_box: Sequence[float]) -> tuple[float, float, float, float]:
    """The edges of a box as shares of the picture's width and height."""
    left, top, right, bottom = pixel_box
    width, height = doc["width"], doc["height"]
    return left / width, top / height, right / width, bottom / height


@pytest.mark.parametrize("task", rows.BOX_CONVENTIONS)
def test_right_boxes_are_read_in_each_convention(task: str) -> None:
    for doc in documents(task):
        record = process_results(doc, [write_boxes(doc, doc["boxes"])])["sample"]
        assert record["status"] == "read"
        assert np.allclose(record["predicted"], record["truth"], atol=0.2)


def test_the_size_that_qwen_sees_is_that_of_transformers() -> None:
    module = pytest.importorskip("transformers.models.qwen2_vl.image_processing_qwen2_vl")
    generator = random.Random(1)
    for _ in range(300):
        width = generator.randint(60, 3000)
        height = generator.randint(60, 3000)
        expected_height, expected_width = module.smart_resize(
            height, width, factor=28, min_pixels=256 * 28 * 28, max_pixels=1605632
        )
        assert resized(width, height) == (expected_width, expected_height)


def localize_config() -> dict[str, Any]:
    """The task file of localization in the mini benchmark."""
    path = tasks_dir() / "mini" / "metaclue" / "figlang_mini_metaclue_localize.yaml"
    config: dict[str, Any] = load_yaml_config(str(path))
    return config


@pytest.mark.parametrize("model", ["qwen3_vl", None])
def test_a_model_of_the_convention_or_of_an_unknown_one_may_run(model: str | None) -> None:
    check_task({**localize_config(), "model": model})


@pytest.mark.parametrize(("model", "convention"), [("qwen2_5_vl", "pixel28"), ("llava_hf", "unit")])
def test_a_model_of_another_convention_is_sent_to_the_right_task(
    model: str, convention: str
) -> None:
    message = (
        f"convention {convention}, but metaclue_localize reads thousand:"
        f" .*MetaCLUE,task=localize_{convention}`"
    )
    with pytest.raises(FigLangError, match=message):
        check_task({**localize_config(), "model": model})


def test_boxes_of_the_other_concept_are_counted_as_dropped() -> None:
    doc = next(iter(documents("localize")))
    other_role = {"primary": "secondary", "secondary": "primary"}[doc["role"]]
    output = []
    for label in (doc["role"], other_role, other_role):
        output.append({"bbox_2d": [10, 20, 300, 400], "label": label})
    record = process_results(doc, [json.dumps(output)])["sample"]
    assert (len(record["predicted"]), record["dropped"]) == (1, 2)


# --- average precision ---


@pytest.fixture(scope="module")
def shaken_records() -> list[BoxesRecord]:
    """Records of answers with some of the right boxes, moved a little, and a wrong one."""
    generator = random.Random(3)
    records: list[BoxesRecord] = []
    for doc in documents("localize"):
        shaken_boxes: list[list[float]] = []
        for box in doc["boxes"]:
            left, top, right, bottom = (edge + generator.uniform(-9, 9) for edge in box)
            # The boxes stay within the pictures of 160 x 128 pixels.
            shaken_boxes.append(
                [max(0.0, left), max(0.0, top), min(right, 159.0), min(bottom, 127.0)]
            )
        wrong_box = [1.0, 1.0, 30.0, 30.0]
        predicted_boxes = [*shaken_boxes[: generator.randint(0, 2)], wrong_box]
        records.append(process_results(doc, [write_boxes(doc, predicted_boxes)])["sample"])
    return records


def box_images(records: Iterable[BoxesRecord], role: Any) -> list[boxes.BoxImage]:
    """The boxes of one role as the evaluator takes them; the first box of an image is surest."""
    images: list[boxes.BoxImage] = []
    for record in records:
        if record["role"] != role:
            continue
        true_boxes: list[boxes.TrueBox] = []
        box_type: Any
        for box, box_type in zip(record["truth"], record["types"], strict=True):
            left, top, right, bottom = box
            true_boxes.append(boxes.TrueBox((left, top, right, bottom), role, box_type))
        predicted_boxes: list[boxes.PredictedBox] = []
        for index, box in enumerate(record["predicted"]):
            left, top, right, bottom = box
            score = 1 / (1 + index)
            predicted_boxes.append(boxes.PredictedBox((left, top, right, bottom), role, score))
        images.append(boxes.BoxImage(record["id"], tuple(true_boxes), tuple(predicted_boxes)))
    return images


def test_average_precision_is_that_of_the_evaluator_by_role_and_type(
    shaken_records: list[BoxesRecord],
) -> None:
    estimates = evaluate(shaken_records, measures_of(shaken_records), stderr_resamples=9)
    expected_values: set[float] = set()
    for role in ROLES:
        images = box_images(shaken_records, role)
        for box_type in (None, *BOX_TYPES):
            precisions = boxes.average_precision(images, role, box_type)
            for index, metric in enumerate(("mAP50", "mAP70")):
                estimate = estimates[f"{metric}_{role}"].get(box_type or "all")
                value = None if estimate is None else estimate.value
                expected_value = None if precisions is None else precisions[index].value
                assert value == expected_value
                if expected_value is not None:
                    expected_values.add(expected_value)
    assert len(expected_values) > 4  # They are not all 0 or 1.


def test_average_precision_does_not_depend_on_the_order_of_records(
    shaken_records: list[BoxesRecord],
) -> None:
    estimates = evaluate(shaken_records, measures_of(shaken_records), stderr_resamples=9)
    shuffled_records = random.Random(5).sample(shaken_records, len(shaken_records))
    assert evaluate(shuffled_records, measures.LOCALIZE, stderr_resamples=9) == estimates
