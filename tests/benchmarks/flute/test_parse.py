"""How much of a small chat model's answers is read, beside the outputs of ``outputs.yaml``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from figlang_tasks.benchmarks.flute.parse import Prompt, parse_careful


@pytest.mark.parametrize(
    ("shared_file", "prompt", "least"),
    [
        ("data/outputs/flute_smollm2_135m_instruct.jsonl", "v2", 0.7),
        ("data/outputs/flute_v1_smollm2_135m_instruct.jsonl", "v1", 0.8),
    ],
    indirect=["shared_file"],
)
def test_most_answers_of_a_small_chat_model_are_read(shared_file: Path, prompt: Prompt, least: float) -> None:
    """The released rule reads 1 of the 250 answers to prompt v2."""
    outputs = [json.loads(line)["output"] for line in shared_file.read_text(encoding="utf-8").splitlines()]
    read = [parse_careful(output, prompt).value is not None for output in outputs]
    assert sum(read) >= least * len(outputs)
