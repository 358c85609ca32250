"""A run overwrites another's files, or leaves half a file that looks whole, if this fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from figlang_tasks.core import notes
from figlang_tasks.harness.saving import CheckedTracker


def test_runs_that_began_in_the_same_second_have_files_of_their_own(tmp_path: Path) -> None:
    """Two GPUs, one folder: the harness alone replaces the results of the first, and mixes the
    samples.
    """
    for seed in (1, 2):
        tracker = CheckedTracker(output_path=str(tmp_path))
        tracker.general_config_tracker.model_name_sanitized = "a_model"
        sample = {
            "doc": {},
            "arguments": ("", ""),
            "resps": [["a"]],
            "filtered_resps": ["a"],
            "doc_hash": "x",
        }
        samples: list[dict[str, Any]] = [{**sample, "target": seed}]
        tracker.save_results_aggregated(
            {"seed": seed}, {"figlang_mini": samples}, "20260102_030405"
        )
        tracker.save_results_samples("figlang_mini", samples)
    folder = tmp_path / "a_model"
    for seed, name in ((1, "20260102_030405"), (2, "20260102_030405-2")):
        assert json.loads((folder / f"{name}_results.json").read_text())["seed"] == seed
        (line,) = (folder / f"{name}_samples_figlang_mini.jsonl").read_text().splitlines()
        assert json.loads(line)["target"] == str(seed)


class Interrupting:
    def __str__(self) -> str:
        raise KeyboardInterrupt


def test_half_a_file_has_another_name(tmp_path: Path) -> None:
    """A file of samples is whole, also if a run was interrupted while it wrote them."""
    tracker = CheckedTracker(output_path=str(tmp_path))
    tracker.date_id, tracker.general_config_tracker.model_name_sanitized = (
        "20260102_030405",
        "a_model",
    )
    sample = {"doc": {}, "arguments": ("", ""), "resps": [["a"]], "filtered_resps": ["a"]}
    samples: list[dict[str, Any]] = [
        {**sample, "target": target} for target in ("one", "two", Interrupting(), "four")
    ]
    with pytest.raises(KeyboardInterrupt):
        tracker.save_results_samples("figlang_mini", samples)
    (half,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert half.name == "20260102_030405_samples_figlang_mini.jsonl.partial"
    assert [json.loads(line)["target"] for line in half.read_bytes().splitlines()] == ["one", "two"]
    noted = notes.take_failures()[-1]
    assert half.name in noted
