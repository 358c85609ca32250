"""Boxes are scored in another convention, or mAP is of other boxes, if this fails."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from judging import measures_of
from lmms_eval.utils import load_yaml_config
from run_and_check import preflight

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.metaclue import measures, rows
from figlang_tasks.benchmarks.metaclue.annotations import BOX_TYPES, ROLES
from figlang_tasks.benchmarks.metaclue.benchmark import BENCHMARK
from figlang_tasks.benchmarks.metaclue.resizing import resized
from figlang_tasks.core.request import Request
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.metrics import boxes
from figlang_tasks.scoring import evaluate, process_results

MINI = "figlang_mini_metaclue"


def documents(name: str) -> Any:
    return BENCHMARK.documents(Request.of(MINI, task=name))


def written(doc: Any, found: Sequence[Sequence[float]]) -> str:
    """Boxes in pixels as an output in the convention of the document."""
    width, height = doc["width"], doc["height"]
    unit = [[x0 / width, y0 / height, x1 / width, y1 / height] for x0, y0, x1, y1 in found]
    convention = doc["convention"]
    if convention == "loc1024":
        places = [[box[1], box[0], box[3], box[2]] for box in unit]
        return " ; ".join(
            "".join(f"<loc{round(edge * 1024):04d}>" for edge in box) + " it" for box in places
        )
    scale = {
        "unit": (1.0, 1.0),
        "thousand": (1000.0, 1000.0),
        "thousand_yx": (1000.0, 1000.0),
        "pixel": (width, height),
        "pixel28": resized(width, height),
    }[convention]
    boxes_of = [[edge * scale[place % 2] for place, edge in enumerate(box)] for box in unit]
    if convention == "thousand_yx":
        return json.dumps(
            [{"box_2d": [y0, x0, y1, x1], "label": doc["role"]} for x0, y0, x1, y1 in boxes_of]
        )
    return json.dumps([{"bbox_2d": box, "label": doc["role"]} for box in boxes_of])


@pytest.mark.parametrize("name", rows.BOX_CONVENTIONS)
def test_right_boxes_are_found_in_each_convention(name: str) -> None:
    for doc in documents(name):
        record = process_results(doc, [written(doc, doc["boxes"])])["sample"]
        assert record["status"] == "read" and np.allclose(
            record["predicted"], record["truth"], atol=0.2
        )


def test_average_precision_is_that_of_the_evaluator_by_role_and_type() -> None:
    generator, records = random.Random(3), []
    for doc in documents("localize"):
        shown = [[edge + generator.uniform(-9, 9) for edge in box] for box in doc["boxes"]]
        shown = [
            [max(0.0, x0), max(0.0, y0), min(x1, 159.0), min(y1, 127.0)] for x0, y0, x1, y1 in shown
        ]
        output = written(doc, [*shown[: generator.randint(0, 2)], [1, 1, 30, 30]])
        records.append(process_results(doc, [output])["sample"])
    found = evaluate(records, measures_of(records), stderr_resamples=9)
    mixed = random.Random(5).sample(records, len(records))
    assert evaluate(mixed, measures.LOCALIZE, stderr_resamples=9) == found
    seen = set()
    role: Any
    for role in ROLES:
        shown = [
            boxes.BoxImage(
                each["id"],
                tuple(
                    boxes.TrueBox(tuple(b), role, of)
                    for b, of in zip(each["truth"], each["types"], strict=True)
                ),
                tuple(
                    boxes.PredictedBox(tuple(b), role, 1 / (1 + n))
                    for n, b in enumerate(each["predicted"])
                ),
            )
            for each in records
            if each["role"] == role
        ]
        of_type: Any
        for of_type in (None, *BOX_TYPES):
            both = boxes.average_precision(shown, role, of_type)
            for place, metric in enumerate(("mAP50", "mAP70")):
                of_scope = found[f"{metric}_{role}"].get(of_type or "all")
                assert (of_scope is None) == (both is None)
                if both is not None and of_scope is not None:
                    seen.add(of_scope.value)
                    assert of_scope.value == both[place].value
    assert len(seen) > 4  # not all 0 or 1


def test_size_that_qwen_sees_is_that_of_transformers() -> None:
    module = pytest.importorskip("transformers.models.qwen2_vl.image_processing_qwen2_vl")
    generator = random.Random(1)
    for _ in range(300):
        width, height = generator.randint(60, 3000), generator.randint(60, 3000)
        expected = module.smart_resize(
            height, width, factor=28, min_pixels=256 * 28 * 28, max_pixels=1605632
        )
        assert resized(width, height) == expected[::-1]


def test_a_model_of_another_convention_is_sent_to_the_right_task() -> None:
    config = load_yaml_config(
        str(tasks_dir() / "mini" / "metaclue" / "figlang_mini_metaclue_localize.yaml")
    )
    preflight(config | {"model": "qwen3_vl"})
    preflight(config | {"model": None})
    for model, convention, right in (
        ("qwen2_5_vl", "pixel28", "_pixel28"),
        ("llava_hf", "unit", "_unit"),
    ):
        message = (
            f"convention {convention}, but metaclue_localize reads thousand:"
            f" .*MetaCLUE,task=localize{right}`"
        )
        with pytest.raises(FigLangError, match=message):
            preflight(config | {"model": model})


def test_boxes_of_the_other_concept_are_counted() -> None:
    doc = documents("localize")[0]
    other = {"primary": "secondary", "secondary": "primary"}[doc["role"]]
    box = {"bbox_2d": [10, 20, 300, 400]}
    found = [box | {"label": doc["role"]}, box | {"label": other}, box | {"label": other}]
    sample = process_results(doc, [json.dumps(found)])["sample"]
    assert (len(sample["predicted"]), sample["dropped"]) == (1, 2)
