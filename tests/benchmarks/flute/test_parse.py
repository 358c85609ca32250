"""Label and explanation from answers to both prompts, by the papers' form and by a careful reader."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.benchmarks.flute.parse import Parsed, Prompt, parse_official, parse_strict

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
    ("", N, "", "empty"),
    (None, N, None, "missing"),
]


@pytest.mark.parametrize(("output", "label", "explanation", "rule"), OFFICIAL_V2)
def test_official_v2(output: str | None, label: int | None, explanation: str | None, rule: str) -> None:
    check(parse_official(output, "v2"), output, label, explanation, rule)


@pytest.mark.parametrize(("output", "label", "explanation", "rule"), OFFICIAL_V1)
def test_official_v1(output: str | None, label: int | None, explanation: str | None, rule: str) -> None:
    check(parse_official(output, "v1"), output, label, explanation, rule)


def check(found: Parsed, output: str | None, label: int | None, explanation: str | None, rule: str) -> None:
    assert (found.label, found.explanation, found.rule) == (label, explanation, rule)
    assert (found.status == "labelled") == (label is not None)
    assert found.value == {None: None, 1: "Entailment", 0: "Contradiction"}[label]
    if found.span is not None:
        assert output is not None
        word = output[slice(*found.span)].lower()
        assert word.strip(".").startswith(("entail", "contradict", "yes", "no"))
    else:
        assert label is None


def test_the_released_scripts_case_is_a_switch() -> None:
    output = "Entails. In Rome, the IRS and I agree."
    assert parse_official(output).explanation == "In Rome, the IRS and I agree."
    assert parse_official(output, released_case=True).explanation == "In rome, the irs and i agree."
    assert parse_official("No.", "v1", released_case=True).explanation is None


@pytest.mark.parametrize(
    ("prompt", "output", "label", "explanation", "rule"),
    [
        ("v2", "Entails. A fortress is strong.", E, "A fortress is strong.", "opening"),
        ("v2", "Contradicts. It never says Entails. Or so.", C, "It never says Entails. Or so.", "opening"),
        ("v2", "The first is cold. So the answer is: Contradicts", C, "The first is cold. So the", "marker"),
        ("v2", "Label: Entails. Wait. Label: Contradicts. It is cold.", C, "It is cold.", "marker"),
        ("v2", "<think>Entails, I guess</think>Contradicts. Cold.", C, "Cold.", "opening"),
        ("v2", "It is cold in both.\nEntails", E, "It is cold in both.", "closing"),
        ("v2", "The premise contradicts the hypothesis.", C, "The premise contradicts the hypothesis.", "statement"),
        ("v2", 'Sentence "A" entails sentence "C".', E, 'Sentence "A" entails sentence "C".', "statement"),
        ("v2", "It does not entail the hypothesis.", N, "It does not entail the hypothesis.", "negated"),
        ("v2", "They don't contradict each other.", N, "They don't contradict each other.", "negated"),
        ("v2", "The premise may contradict the hypothesis.", N, "The premise may contradict the hypothesis.", "none"),
        ("v2", "It entails it, no, it contradicts it.", N, "It entails it, no, it contradicts it.", "conflict"),
        ("v2", "Does it entail it? Does it contradict it?", N, "Does it entail it? Does it contradict it?", "none"),
        ("v2", "I cannot determine that.", N, "I cannot determine that.", "refusal"),
        ("v2", "Entails or Contradicts", N, "Entails or Contradicts", "none"),
        ("v2", "It would entail a lot of work", N, "It would entail a lot of work", "none"),
        ("v2", "I would say the premise contradicts it.", C, "I would say the premise contradicts it.", "statement"),
        ("v2", "Contradicts.\n\nThe first sentence entails joy.", C, "The first sentence entails joy.", "opening"),
        ("v2", "Entails, no, it contradicts it.", N, "Entails, no, it contradicts it.", "conflict"),
        ("v2", "Blue.", N, "Blue.", "none"),
        ("v1", "Yes. They differ.", C, "They differ.", "opening"),
        ("v1", "No.", E, None, "opening"),
        ("v1", "No, the sentences do not contradict each other.", E, None, "opening"),
        ("v1", "Yes, they do not contradict each other.", N, "Yes, they do not contradict each other.", "conflict"),
        ("v1", "The sentences contradict each other.", C, "The sentences contradict each other.", "statement"),
        ("v1", "They do not contradict each other.", E, None, "statement"),
        ("v1", "The one is cold. Final answer: yes", C, "The one is cold. Final", "marker"),
        ("v1", "Nothing of the kind.", N, "Nothing of the kind.", "none"),
        ("v1", "", N, "", "empty"),
        ("v2", None, N, None, "missing"),
    ],
)  # fmt: skip
def test_strict(prompt: Prompt, output: str | None, label: int | None, explanation: str | None, rule: str) -> None:
    found = parse_strict(output, prompt)
    assert (found.label, found.explanation, found.rule) == (label, explanation, rule)
    assert (found.status == "labelled") == (label is not None)


def test_a_label_at_the_end_of_a_long_output_is_found_where_it_is() -> None:
    output = "It is cold there. " * 10_000 + "\nAnswer: Contradicts"
    found = parse_strict(output)
    assert found.label == 0
    assert found.span is not None and output[slice(*found.span)] == "Contradicts"


WORDS = st.sampled_from(
    ["Entails", "Contradicts", "Yes", "No", ".", ",", "\n", "not", "or", "Answer:", "premise", "</think>", "?", '"']
)  # fmt: skip


@settings(deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=14).map(" ".join)), st.sampled_from(["v1", "v2"]))
def test_any_text_is_read_and_never_raises(output: str, prompt: Prompt) -> None:
    for found in (parse_official(output, prompt), parse_strict(output, prompt)):
        assert (found.status == "labelled") == (found.label is not None)
        assert (found.status == "empty") == (not output.strip())
        if prompt == "v1" and found.label == 1:
            assert found.explanation is None
        else:
            assert found.explanation is not None
        if found.span is not None:
            assert 0 <= found.span[0] < found.span[1] <= len(output)


@pytest.mark.parametrize(
    "text", ["word ", "entail ", "the premise ", "\n", "Answer: ", '"', "* ", "it does ", "Entails. "]
)
def test_ten_megabytes_take_no_time(text: str) -> None:
    output = text * (10_000_000 // len(text))
    begun = time.process_time()
    for prompt in ("v1", "v2"):
        parse_official(output, prompt)
        parse_strict(output, prompt)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("parse", [parse_official, parse_strict])
def test_wrong_arguments(parse: Any) -> None:
    with pytest.raises(TypeError, match="must be str or None, got list"):
        parse(["Entails."])
    with pytest.raises(ValueError, match="prompt is 'v3'; valid: v1, v2"):
        parse("Entails.", "v3")
