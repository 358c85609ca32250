"""All tasks through the harness: with the demo model, a tiny CLIP, the baselines, and data of the paper's size."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import demo_runs
import numpy as np
import pytest
import tiny_encoders
from lmms_eval.tasks import get_task_dict
from metaclue_rows import negative, row, write
from PIL import Image

import figlang_tasks
from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import candidates, rows
from figlang_tasks.core import hub, notes
from figlang_tasks.core.score_requests import read_answer
from figlang_tasks.harness.task_index import choose_blocks
from figlang_tasks.scoring import OVERALL, flat, from_json, full_name

MINI = "figlang_mini_metaclue"


@pytest.fixture(autouse=True)
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


def evaluate(task: str, model: str, arguments: str = "", **more: Any) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Values by full name, and samples."""
    results = demo_runs.evaluate(task, model, arguments, **more)
    estimates = from_json(results["configs"][task]["metadata"]["measures"])
    for _, _, (value, low, high, *_) in flat(estimates):
        assert (low is None) == (high is None)
        assert low is None or low - 1e-9 <= value <= high + 1e-9  # type: ignore[operator]
    metrics = {full_name(measure, scope): estimate.value for measure, scope, estimate in flat(estimates)}
    shown = {name: value for name, value in demo_runs.metrics(results, task).items() if name != "alias"}
    assert 0 < len(shown) <= 10 and {name.partition(",")[0] for name in shown} <= metrics.keys()
    for measure, scopes in estimates.items():
        assert shown.get(f"{measure},none", scopes[OVERALL].value) == scopes[OVERALL].value
    return metrics, results["samples"][task]


# --- the majority baseline of Table 1 --------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "negatives", "first"), [("symbolic", 14, "No"), ("literal", 10, "Yes")])
def test_majority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, negatives: int, first: str) -> None:
    """In the proportions of the paper, whose numbers are those of test_scoring.py."""
    found = [row(number) for number in range(13)]
    found += [negative(20 + number, kind) for number in range(negatives)]
    found += [row(50 + number, split="train") for number in range(20)]
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(write(tmp_path, found, same=True)))
    metrics, samples = evaluate(f"metaclue_classify_{kind}", "figlang_majority")
    assert metrics["acc"] == max(13, negatives) / (13 + negatives)
    assert {sample["resps"][0][0] for sample in samples} == {first}
    assert metrics["parse_rate"] == 1 and len(samples) == 13 + negatives


def test_other_counts_than_the_papers_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(write(tmp_path, [row(0), row(1, metaphors=[], boxes=None)])))
    assert len(rows.load("MetaCLUE", "caption")) == 1
    assert any("1 test images of the set metaphor, the paper has 1331" in each for each in warnings_of_loguru)


def test_results_say_which_annotations_and_candidates_were_read() -> None:
    task = f"{MINI}_retrieve_swap"
    results = demo_runs.evaluate(task, "figlang_random", limit=2)
    digest = candidates.digest(candidates.draw(MINI, "swap"))
    metadata = results["configs"][task]["metadata"]
    assert metadata["data"] == rows.load(MINI, "retrieve_swap")[0]["data"]
    assert metadata["data"] == f"{MINI}/retrieve_swap@package:{annotation_file.read(MINI).digest}+{digest}"


def test_a_baseline_runs_the_group_and_what_has_no_chance_level() -> None:
    without = [f"{MINI}_{name}" for name in ("caption", "caption_careful", "vqa", "localize", "generate")]
    results = demo_runs.evaluate([MINI, *without], "figlang_majority", limit=1)
    for task, samples in results["samples"].items():
        (answer,) = [sample["resps"][0][0] for sample in samples]
        assert (answer == "") == (task in without)


def test_retrieval_with_clip(tmp_path: Path) -> None:
    task, clip = f"{MINI}_retrieve_swap", tiny_encoders.write("clip", tmp_path / "clip")
    metrics, samples = evaluate(task, "figlang_clip", f"pretrained={clip}", limit=9)
    docs, ranks = rows.load(MINI, "retrieve_swap"), []
    for sample in samples:
        doc = docs[sample["doc_id"]]
        picture = Image.open(hub.folder(MINI) / doc["image"]).convert("RGB")
        scores = [tiny_encoders.reference(clip, "clip", picture, text) for text in doc["candidates"]]
        assert read_answer(sample["resps"][0][0]) == pytest.approx(scores, abs=1e-5)
        ranks.append(1 + int(scores[1 - doc["answer"]] > scores[doc["answer"]]))
    assert [sample["sample"]["rank"] for sample in samples] == ranks
    assert metrics["rank"] == pytest.approx(np.mean(ranks)) and metrics["p@1"] == np.mean(np.equal(ranks, 1))


LEFT_OUT = {
    **dict.fromkeys(("caption", "caption_careful", "vqa"), ["meteor could not", "spice could not"]),
    "generate": ["CLIP similarity is left out: 2 of 2 pictures are missing"],
}
EXPECTED = {
    "classify_literal": {"acc", "yes_rate", "parse_rate"},
    "retrieve_swap": {"p@1", "rank", "tie_rate", "parse_rate"},
    **dict.fromkeys(("caption", "caption_careful"), {"em", "bleu4_secondary", "rouge_l", "cider_relationship"}),
    "vqa": {"em", "bleu4", "rouge_l", "cider", "em_primary", "em_secondary", "em_relationship"},
    "localize": {"mAP50_primary", "mAP70_primary", "mAP50_secondary", "mAP70_secondary", "parse_rate"},
    "generate": {"image_rate"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_demo_model_answers_and_what_has_no_value_is_left_out(name: str) -> None:
    notes.noted()
    limit = 6 if name == "vqa" else 2  # all roles
    metrics, samples = evaluate(
        f"{MINI}_{name}", "figlang_vlm", demo_runs.DEMO, limit=limit, gen_kwargs="max_new_tokens=8"
    )
    assert set(metrics) >= EXPECTED[name] and len(samples) == limit
    assert not {"meteor", "spice", "clip_similarity", "fid"} & set(metrics)  # no Java, no pictures
    told, expected = notes.noted(), LEFT_OUT.get(name, [])
    assert len(told) == len(expected) and all(any(note.startswith(start) for note in told) for start in expected)


def test_a_backend_without_scores_gets_a_numbered_choice() -> None:
    where = f"{demo_runs.DEMO},device=cpu,device_map=cpu"
    metrics, samples = evaluate(f"{MINI}_retrieve_swap", "llava_hf", where, limit=2)
    assert set(metrics) == {"p@1", "parse_rate"}
    assert all(sample["sample"]["rank"] is None for sample in samples)
    # this class may hand unknown settings on to transformers, which refuses them
    task = get_task_dict([name := f"{MINI}_retrieve_swap"], demo_runs.task_manager(None, "llava_hf"), "simple")[name]
    assert "figlang_score" not in task.config.generation_kwargs


# --- size ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_requests_for_1000_candidates_are_built_fast_and_without_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path, [row(number) for number in range(1331)], same=True)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(folder))
    name = "metaclue_retrieve_random1000"
    manager = figlang_tasks.task_manager(include_defaults=False, model_name="figlang_clip")
    started = time.process_time()
    task = get_task_dict([name], manager, "simple")[name]
    choose_blocks(task, None)  # as `evaluate` does
    for path in (folder / "MetaCLUE").glob("*/*.jpg"):
        path.write_bytes(b"to decode this would be an error")  # all were looked at once, when the data was read
    task.build_all_requests(rank=0, world_size=1)
    assert time.process_time() - started < 20  # some seconds, and twice as many beside other programs
    assert len(task.instances) == 1331
    doc = task.dataset_no_image["test"][7]
    assert len(doc["candidates"]) == 1000
    assert "thing" not in task.instances[7].args[0]  # a dual encoder's prompt does not list the candidates
    assert task.dataset["test"].data.nbytes < 100e6
