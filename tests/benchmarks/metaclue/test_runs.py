"""Counts of the paper, and data of its size, through the harness."""

from __future__ import annotations

import time
from pathlib import Path

import demo_runs
import pytest
from lmms_eval.tasks import get_task_dict
from metaclue_rows import negative, row, write

import figlang_tasks
from figlang_tasks.harness.task_index import choose_blocks

# --- the majority baseline of Table 1 --------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "negatives", "first"), [("symbolic", 14, "No"), ("literal", 10, "Yes")])
def test_majority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, negatives: int, first: str) -> None:
    """In the proportions of the paper, whose numbers are those of test_scoring.py."""
    found = [row(number) for number in range(13)]
    found += [negative(20 + number, kind) for number in range(negatives)]
    found += [row(50 + number, split="train") for number in range(20)]
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(write(tmp_path, found, same=True)))
    task = f"metaclue_classify_{kind}"
    results = demo_runs.evaluate(task, "figlang_majority")
    samples = results["samples"][task]
    assert demo_runs.metrics(results, task)["acc,none"] == max(13, negatives) / (13 + negatives)
    assert {sample["resps"][0][0] for sample in samples} == {first}
    assert len(samples) == 13 + negatives


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
