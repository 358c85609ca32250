"""examples/my_vlm, a model class of one's own: its package installs, and docs/adding_a_vlm.md's
command runs it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from demo_runs import DEMO, answers, evaluate
from documents import ROOT, blocks

from figlang_tasks.core.score_requests import read_answer
from figlang_tasks.mini import DEMO_MODEL_DIR

EXAMPLE = ROOT / "examples" / "my_vlm"
# What the harness and its command do when they start, in a process that has imported them.
START = """
import lmms_eval.models
from figlang_tasks.cli.lmms_eval import main
lmms_eval.models.MODEL_REGISTRY_V2.load_entrypoint_manifests(overwrite=True)
main()
"""


@pytest.mark.slow
def test_it_is_installed_and_evaluated_as_described(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    ]
    subprocess.run([*install, "--target", str(site), str(EXAMPLE)], check=True)
    document = (ROOT / "docs" / "adding_a_vlm.md").read_text(encoding="utf-8")
    (command,) = [block.text for block in blocks(document) if "lmms_eval --tasks" in block.text]
    command = command[command.index("lmms_eval --tasks") :].replace("\\\n", " ")
    arguments = shlex.split(command.replace("$MODEL", str(DEMO_MODEL_DIR)))[1:]
    python_path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    environment = {
        "PYTHONPATH": python_path.rstrip(os.pathsep),
        "HF_HUB_OFFLINE": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    done = warm.run(
        [sys.executable, "-c", START, *arguments], cwd=tmp_path, env=os.environ | environment
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    def saved_answers(task: str) -> dict[int, str]:
        """The answers in the samples file of a task, by the number of the document."""
        (file,) = tmp_path.glob(f"results/*/*_samples_{task}.jsonl")
        samples = [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
        return {sample["doc_id"]: sample["filtered_resps"] for sample in samples}

    expected = evaluate("figlang_mini", "llava_hf", DEMO, limit=4)
    assert saved_answers("figlang_mini") == answers(expected, "figlang_mini")
    scored_task = "figlang_mini_irfl_match_idiom"
    our_scores = answers(evaluate(scored_task, "figlang_vlm", DEMO, limit=4), scored_task)
    its_scores = saved_answers(scored_task)
    assert its_scores.keys() == our_scores.keys()
    for number, scores in its_scores.items():
        assert read_answer(scores) == pytest.approx(read_answer(our_scores[number]), abs=1e-5)
