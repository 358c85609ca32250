"""Label and explanation from answers to both prompts, by the papers' form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.benchmarks.flute.parse import Prompt, parse_careful, parse_official

E, C, N = 1, 0, None

# output, label, explanation, rule. The first four: what the released script makes of such outputs (its rule: the text
# between the first and the second "Entails."; else the same with "Contradicts."), worked out by hand.
OFFICIAL_V2 = [
    ("Entails. A fortress is strong.", E, "A fortress is strong.", "released-entails"),
    ("Contradicts. A fortress is strong.", C, "A fortress is strong.", "released-contradicts"),
    ("Contradicts. It never says Entails. Or so.", E, "Or so.", "released-entails"),
    ("I think: Contradicts. One. Contradicts. Two.", C, "One.", "released-contradicts"),
    ("Entails.", E, "", "released-entails"),
    ('Entails. "To have a cow" means to be upset.', E, '"To have a cow" means to be upset.', "released-entails"),
    ("**Contradicts.** It is cold.", C, "It is cold.", "released-contradicts"),
    ('The answer is "Entails." It is cold.', E, "It is cold.", "released-entails"),
    ("Contradicts, since the one is cold.", C, "since the one is cold.", "opening-contradicts"),
    ("**Entails**: because it is.", E, "because it is.", "opening-entails"),
    ('"Contradicts" - it is cold.', C, "it is cold.", "opening-contradicts"),
    ("Answer: Entails\nIt is cold.", E, "It is cold.", "opening-entails"),
    ("entailment", E, "", "opening-entails"),
    ('"Contradicts": "to have a cow" is to be upset.', C, '"to have a cow" is to be upset.', "opening-contradicts"),
    ("- Contradiction: cold is not warm.", C, "cold is not warm.", "opening-contradicts"),
    ('"Entails" or "Contradicts"?', N, '"Entails" or "Contradicts"?', "none"),
    ("The premise contradicts the hypothesis.", N, "The premise contradicts the hypothesis.", "none"),
    ("Yes. They differ.", N, "Yes. They differ.", "none"),
    ("", N, "", "empty"),
    (" \n", N, "", "empty"),
    (None, N, None, "missing"),
    # the released rules read thoughts, ours do not
    ("<think>Entails. Or not.</think>Contradicts. Cold.", E, "Or not.</think>Contradicts. Cold.", "released-entails"),
    ("<think>Entails, I guess</think>Contradiction: cold.", C, "cold.", "opening-contradicts"),
    ("<think>Entails, I guess", N, "", "thought"),
    ("Entails: <think>no</think>", E, "", "opening-entails"),
    ("<think>Hm", N, "", "thought"),
]
OFFICIAL_V1 = [
    ("Yes. A fortress is strong.", C, "A fortress is strong.", "opening-yes"),
    ('Yes. "To have a cow" is to be upset.', C, '"To have a cow" is to be upset.', "opening-yes"),
    ('"Yes." It is cold.', C, "It is cold.", "opening-yes"),
    ("No.", E, None, "opening-no"),
    ("No. They say the same.", E, None, "opening-no"),
    ("yes, since the one is cold", C, "since the one is cold", "opening-yes"),
    ("Yes", C, "", "opening-yes"),
    ("**No**", E, None, "opening-no"),
    ("Answer: Yes. Cold is not warm.", C, "Cold is not warm.", "opening-yes"),
    ("Yes or No?", N, "Yes or No?", "none"),
    ("Nothing of the kind.", N, "Nothing of the kind.", "none"),
    ("Contradicts. Cold is not warm.", N, "Contradicts. Cold is not warm.", "none"),
    ("<think>No.</think>\nYes. Cold.<|im_end|>", C, "Cold.", "opening-yes"),
    ("No.</think>Yes. Cold.", C, "Cold.", "opening-yes"),
    ("<think>Yes. Cold.", N, "", "thought"),
    ("", N, "", "empty"),
    (None, N, None, "missing"),
]


@pytest.mark.parametrize(
    ("prompt", "output", "label", "explanation", "rule"),
    [("v2", *case) for case in OFFICIAL_V2] + [("v1", *case) for case in OFFICIAL_V1],
)
def test_official(prompt: Prompt, output: str | None, label: int | None, explanation: str | None, rule: str) -> None:
    found = parse_official(output, prompt)
    assert (found.value, found.explanation, found.rule) == (label, explanation, rule)
    assert (found.status == "read") == (label is not None)


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
