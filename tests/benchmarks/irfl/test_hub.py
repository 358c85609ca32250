"""The released tables, with drawn pictures in a real zip, through the hub stand-in and the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tiny_encoders
import warm
from hub_server import HubServer
from irfl_hub import REPO_ID, copy_tables

TASKS = [
    "irfl_match_idiom",
    "irfl_match_metaphor",
    "irfl_match_simile",
    "irfl_retrieve_metaphor",
]


def run(hub: HubServer, home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "figlang_tasks.cli.lmms_eval", "--verbosity", "WARNING", *arguments]
    environment = hub.env(home) | {"OMP_NUM_THREADS": "1", "FIGLANG_CACHE": str(home / "cache")} | variables
    return warm.run(command, env=environment, cwd=home, timeout=600)


@pytest.mark.slow
@pytest.mark.parametrize("shared_file", ["data/irfl/idiom_detection_task.csv"], indirect=True)
def test_the_released_tables_by_a_tiny_clip(shared_file: Path, tmp_path: Path) -> None:
    repository = copy_tables(shared_file.parent, tmp_path / "repository")
    checkpoint = tiny_encoders.write("clip", tmp_path / "clip")
    with HubServer() as hub:
        commit = hub.add_repo(REPO_ID, repository)
        output = tmp_path / "out"
        done = run(
            hub, tmp_path, "--tasks", ",".join(TASKS), "--model", "figlang_clip", "--model_args",
            f"pretrained={checkpoint},device=cpu", "--batch_size", "64", "--log_samples", "--output_path", str(output),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        fetched = [request.path for request in hub.requests if "/resolve/" in request.path]
    assert all(commit in path for path in fetched)
    assert not any("open_simile" in path or path.endswith("s_dataset.csv") for path in fetched)  # only what is needed

    (results_file,) = output.glob("*/*_results.json")
    results = json.loads(results_file.read_text(encoding="utf-8"))
    counts = {"idiom": 200, "metaphor": 333, "simile": 277}
    for name, count in counts.items():
        found = results["results"][f"irfl_match_{name}"]
        assert len(samples(output, f"irfl_match_{name}")) == count
        assert 0 < found["acc,none"] < 0.5
        assert results["configs"][f"irfl_match_{name}"]["metadata"]["data"].startswith(
            f"IRFL/{name}-detection-task@{commit}:"
        )
    scopes = {
        (name, measure, scope)
        for name in counts
        for measure, of in results["configs"][f"irfl_match_{name}"]["metadata"]["measures"]["values"].items()
        for scope in of
    }
    assert {("idiom", "acc", scope) for scope in ("all", "figurative", "figurative_literal")} <= scopes
    assert {("metaphor", "literal_preference", "all"), ("simile", "figurative_over_source", "all")} <= scopes
    assert ("simile", "source_over_target", "all") in scopes and ("simile", "acc", "figurative") not in scopes
    assert len(samples(output, "irfl_retrieve_metaphor")) == 323 + 729
    uuids = {each for sample in samples(output, "irfl_match_idiom") for each in sample["sample"]["candidates"]}
    assert all(isinstance(each, str) and len(each) >= 72 for each in uuids)
    assert "CLIP" in done.stdout  # the paper's numbers beside ours


def samples(output: Path, task: str) -> list[dict[str, Any]]:
    (path,) = output.glob(f"*/*_samples_{task}.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
