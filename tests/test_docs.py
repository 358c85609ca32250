"""What the documents tell users to type works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import lmms_eval.models
import pytest
from demo_runs import DEMO, answers, evaluate, register
from docs.documents import blocks, files_of

from figlang_tasks.mini import DEMO_MODEL_DIR

DOCS = Path(__file__).resolve().parent.parent / "docs"
BIN = Path(sys.executable).parent


def test_a_new_vlm_is_evaluated_as_described(tmp_path: Path) -> None:
    document = (DOCS / "adding_a_vlm.md").read_text(encoding="utf-8")
    files = files_of(document)
    assert files.keys() == {"my_vlm.py", "pyproject.toml"}
    # What pip would make of the two files.
    site = tmp_path / "site"
    info = site / "my_vlm-0.1.dist-info"
    info.mkdir(parents=True)
    (site / "my_vlm.py").write_text(files["my_vlm.py"])
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-vlm\nVersion: 0.1\n")
    (point,) = re.findall(r'\[project.entry-points."lmms_eval.models"\]\n(\w+) = "(.*)"\n', files["pyproject.toml"])
    (info / "entry_points.txt").write_text(f"[lmms_eval.models]\n{point[0]} = {point[1]}\n")

    (command,) = [block.text for block in blocks(document) if block.language == "sh"]
    environment = {
        **{"PYTHONPATH": str(site), "MODEL": str(DEMO_MODEL_DIR), "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""},
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "figlang tasks, shares in percent" in done.stdout
    (file,) = tmp_path.glob("results/*/*_samples_figlang_mini.jsonl")
    said = [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
    expected = evaluate("figlang_mini", "llava_hf", DEMO, limit=4)
    assert {sample["doc_id"]: sample["filtered_resps"] for sample in said} == answers(expected, "figlang_mini")


@pytest.mark.parametrize("name", ["adding_a_vlm.md", "model_classes.md"])
def test_every_model_that_is_named_exists(name: str) -> None:
    register()
    known = {*lmms_eval.models.MODEL_REGISTRY_V2.list_model_names(), "my_vlm", "NAME"}
    named = set(re.findall(r"--model (\w+)", (DOCS / name).read_text(encoding="utf-8")))
    assert named and named <= known | {"figlang_vlm", "figlang_clip"}


@pytest.mark.parametrize("name", ["adding_a_vlm.md", "model_classes.md"])
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", (DOCS / name).read_text(encoding="utf-8")):
        assert (DOCS / target).is_file(), target
