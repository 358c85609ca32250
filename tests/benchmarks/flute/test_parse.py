"""Promises on any text, beside the outputs of ``outputs.yaml``; how much of a small chat model is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.benchmarks.flute.parse import Prompt, parse_careful, parse_official


def test_the_released_scripts_case_is_a_switch() -> None:
    output = "Entails. In Rome, the IRS and I agree."
    assert parse_official(output).explanation == "In Rome, the IRS and I agree."
    assert parse_official(output, released_case=True).explanation == "In rome, the irs and i agree."
    assert parse_official("No.", "v1", released_case=True).explanation is None


WORDS = st.sampled_from(
    ["Entails", "Contradicts", "Yes", "No", ".", ",", "\n", "not", "or", "Answer:", "premise", "</think>", "?", '"']
)  # fmt: skip


@given(st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=14).map(" ".join)), st.sampled_from(["v1", "v2"]))
def test_any_text_is_read_and_never_raises(output: str, prompt: Prompt) -> None:
    found = parse_official(output, prompt)
    assert (found.status == "read") == (found.value is not None)
    assert found.status == "empty" if not output.strip() else found.status != "empty" or found.rule == "thought"
    assert (found.explanation is None) == (prompt == "v1" and found.value == 1)


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
