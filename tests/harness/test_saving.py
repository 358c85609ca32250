"""What the harness saves of our runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lmms_eval.loggers import EvaluationTracker

from figlang_tasks.harness import plugin


def test_runs_that_began_in_the_same_second_have_files_of_their_own(tmp_path: Path) -> None:
    """Two GPUs, one folder: the harness alone replaces the results of the first, and mixes the samples."""
    plugin.register()
    for seed in (1, 2):
        tracker = EvaluationTracker(output_path=str(tmp_path))
        tracker.general_config_tracker.model_name_sanitized = "a_model"
        sample = {"doc": {}, "arguments": ("", ""), "resps": [["a"]], "filtered_resps": ["a"], "doc_hash": "x"}
        samples: list[dict[str, Any]] = [{**sample, "target": seed}]
        tracker.save_results_aggregated({"seed": seed}, {"figlang_mini": samples}, "20260102_030405")
        tracker.save_results_samples("figlang_mini", samples)
    folder = tmp_path / "a_model"
    for seed, name in ((1, "20260102_030405"), (2, "20260102_030405-2")):
        assert json.loads((folder / f"{name}_results.json").read_text())["seed"] == seed
        (line,) = (folder / f"{name}_samples_figlang_mini.jsonl").read_text().splitlines()
        assert json.loads(line)["target"] == str(seed)
