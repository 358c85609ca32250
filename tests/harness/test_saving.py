"""A run overwrites another's files, or leaves half a file that looks whole, if this fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from figlang_tasks.core import notes
from figlang_tasks.harness.saving import CheckedTracker


def test_runs_that_began_in_the_same_second_have_files_of_their_own(tmp_path: Path) -> None:
    """lmms-eval 0.7.3 replaces the results of the first run, and mixes the samples of both."""
    for seed in (1, 2):
        tracker = CheckedTracker(output_path=str(tmp_path))
        tracker.general_config_tracker.model_name_sanitized = "a_model"
        samples = [sample_with_target(seed)]
        tracker.save_results_aggregated(
            {"seed": seed}, {"figlang_mini": samples}, "20260102_030405"
        )
        tracker.save_results_samples("figlang_mini", samples)
    folder = tmp_path / "a_model"
    for seed, name in ((1, "20260102_030405"), (2, "20260102_030405-2")):
        assert json.loads((folder / f"{name}_results.json").read_text())["seed"] == seed
        (line,) = (folder / f"{name}_samples_figlang_mini.jsonl").read_text().splitlines()
        assert json.loads(line)["target"] == str(seed)


def sample_with_target(target: object) -> dict[str, Any]:
    """A sample as the harness hands it to its tracker."""
    return {
        "doc": {},
        "arguments": ("", ""),
        "resps": [["a"]],
        "filtered_resps": ["a"],
        "doc_hash": "x",
        "target": target,
    }


class Interrupting:
    """Interrupts the run when it is written."""

    def __str__(self) -> str:
        raise KeyboardInterrupt


def test_half_a_file_has_another_name_after_an_interrupt(tmp_path: Path) -> None:
    """A file with the usual name is whole."""
    tracker = CheckedTracker(output_path=str(tmp_path))
    tracker.date_id = "20260102_030405"
    tracker.general_config_tracker.model_name_sanitized = "a_model"
    samples = [sample_with_target(target) for target in ("one", "two", Interrupting(), "four")]
    with pytest.raises(KeyboardInterrupt):
        tracker.save_results_samples("figlang_mini", samples)
    (partial_file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert partial_file.name == "20260102_030405_samples_figlang_mini.jsonl.partial"
    lines = partial_file.read_bytes().splitlines()
    assert [json.loads(line)["target"] for line in lines] == ["one", "two"]
    assert partial_file.name in notes.take_failures()[-1]
