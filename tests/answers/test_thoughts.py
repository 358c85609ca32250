"""A thought is read as an answer, or an answer is lost as a thought, if this fails."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.answers.option import option
from figlang_tasks.answers.thought_tags import EXPLAINING, NAMES, TOKENS
from figlang_tasks.answers.thoughts import (
    explanation_in_thought,
    open_thought,
    without_thoughts,
)
from figlang_tasks.judge.questions import read_answer

# --- every tag of the list ---

FORMS = [
    ("<{}>", "</{}>"),
    ("<|{}|>", "<|/{}|>"),
    ("<|{}|>", "</|{}|>"),
    ("<|start_{}|>", "<|end_{}|>"),
    ("<|begin_of_{}|>", "<|end_of_{}|>"),
    ("<\uff5cbegin\u2581of\u2581{}\uff5c>", "<\uff5cend\u2581of\u2581{}\uff5c>"),
    ("<|{}_start|>", "<|{}_end|>"),
    ("<seed:{}>", "</seed:{}>"),
    ("<ifm|{}>", "</ifm|{}>"),
    ("<{}:opensource>", "</{}:opensource>"),
    ("<{} 1>", "</{} 1>"),
    ('<{} seconds="3.5">', "</{} >"),
]
PAIRS = list(TOKENS)
for name in NAMES:
    PAIRS += [(opening.format(name), closing.format(name)) for opening, closing in FORMS]
SQUARE_PAIRS = [(f"[{name}]", f"[/{name}]") for name in NAMES]


@pytest.mark.parametrize("change", [str, str.upper, str.title], ids=["as_it_is", "upper", "title"])
def test_readers_know_every_tag(change: Callable[[str], str]) -> None:
    for opening, closing in [*PAIRS, *SQUARE_PAIRS]:
        closing = change(closing)
        output = f"{change(opening)}The answer is A.{closing}\nB"
        assert option(output, 4).value == 1, output
        assert option(f"The answer is A.{closing}\nB", 4).value == 1, "the prompt opened it"
        assert option(f"The answer is A.{closing}", 4).status == "empty", closing
        assert option(closing, 4).rule == "thought", closing


def test_thoughts_that_were_cut_off_are_no_answers() -> None:
    for opening, _ in PAIRS:
        cut_off = option(f"{opening}The answer is A.", 4)
        assert (cut_off.status, cut_off.rule) == ("empty", "thought"), opening


def test_the_judge_knows_every_tag() -> None:
    for opening, closing in [*PAIRS, *SQUARE_PAIRS]:
        thought = f'{opening}{{"label": "contradiction"}}'
        answer = 'So {"label": "entailment"}.'
        assert read_answer("label", f"{thought}{closing}{answer}") == {"label": "entailment"}
        assert read_answer("label", f"{answer}{thought}{closing}") == {"label": "entailment"}


def test_a_prompt_opens_a_thought_by_every_tag() -> None:
    """As chat templates do; the tests of models/ use the templates themselves."""
    for opening, closing in PAIRS:
        assert open_thought(f"What is it?<|im_end|>\nassistant\n{opening}\n") == opening
        assert open_thought(f"What is it?<|im_end|>\nassistant\n{opening}\n\n{closing}\n\n") == ""
        assert open_thought(f"What comes before {opening}?\nASSISTANT:") == ""


# --- what remains ---

REMAINS = {
    # closed, and the answer after it
    "<think>\nA or B?\n</think>\n\nB": "B",
    "<think>\n\n</think>\n\nB": "B",
    "<reasoning>A is literal.</reasoning><answer>B</answer>": "<answer>B</answer>",
    "<rationale>A is literal.</rationale>\n<final_answer>B</final_answer>": (
        "<final_answer>B</final_answer>"
    ),
    "<analysis>Simple.</analysis><think>A?</think><answer>B</answer>": "<answer>B</answer>",
    "<SUMMARY>Ice.</SUMMARY><REASONING>A?</REASONING><CONCLUSION>B</CONCLUSION>": (
        "<SUMMARY>Ice.</SUMMARY> <CONCLUSION>B</CONCLUSION>"
    ),
    '<thoughts>{"answer": "A"}</thoughts>{"answer": "B"}': '{"answer": "B"}',
    "<think>The box is \\boxed{A}.</think>\\boxed{B}": "\\boxed{B}",
    "<antThinking>A?</antThinking>B": "B",
    "<think/>B": "B",
    "```xml\n<think>\nA?\n</think>\n```\nB": "```xml ``` B",
    # the answer first
    "<answer>B</answer><reasoning>A is literal.</reasoning>": "<answer>B</answer>",
    "B\n<reason>A is literal.</reason>": "B",
    "B\n<think>Was it A? The": "B",
    # several thoughts: what is outside counts
    "<think>A?</think>It floats.<think>C?</think>So B.": "It floats. So B.",
    "It floats. <reflection>A?</reflection> So B.": "It floats. So B.",
    "<scratchpad>A</scratchpad>\n<think>C</think>\n": "",
    # thoughts in thoughts
    "<think>A <think>C</think> D</think> B": "B",
    "<think>A <think>C</think> B": "B",
    "<think>A <reflection>C</reflection> D</think> B": "B",
    "<think>A <reflection>C</reflection> so D, or": "",
    "<reasoning><think>A</think>D</reasoning>B": "B",
    "<think>I reason in <reasoning> tags. A?</think>B": "B",
    "<think>A?</think>Once more: D?</think>B": "B",
    # cut off
    "<think>\nThe answer is A.": "",
    "<reasoning>The rope is cut, so the answer is A": "",
    "<|begin_of_thought|>The answer is A.": "",
    "<unused94>thought\nThe answer is A.": "",
    "<think>A?</thi": "",
    # opened by the prompt
    "The rope is cut, A?</think>\n\nB": "B",
    "The rope is cut, A?\n</reasoning>\n<answer>B</answer>": "<answer>B</answer>",
    "The answer is A.</reason>": "",
    "A</think>": "",
    "</think>\n\nB": "B",
    # closing tags too many: a word or two are no reason, and a thought that was closed has no
    # second end
    "B</reason>": "B",
    "Answer: B</rationale>\n": "Answer: B",
    "<answer>B</answer></reasoning>": "<answer>B</answer>",
    "<think>A?</think>B</think>": "B",
    "<think>A <think>C</think> D</think>": "",
    "<think>A?</think>B</reason>": "B",
    # a closing tag of another name
    "<think>A?</thinking>\nB": "B",
    "<thinking>A?</thought>\nB": "B",
    # an answer tag ends a thought that has no end of its own, not one that has
    "<think>\nA?\n<answer>B</answer>": "<answer>B</answer>",
    "<think>A? No. <answer>B</answer>": "<answer>B</answer>",
    "<think>A? No. <answer>B": "<answer>B",
    "<reasoning>\nA?\n<conclusion>B</conclusion>": "<conclusion>B</conclusion>",
    "<think>\n<answer>A</answer>\nNo.\n</think>\n<answer>B</answer>": "<answer>B</answer>",
    "<think>\nSo\n<answer>B</answer>\n</think>": "",
    "<think>\nA?\n<reflection>\n<answer>B</answer>\n</reflection>\nOr not": "",
    "<think>I write the letter in <answer> tags. Is it A or": "",
    "<think>Say <answer>A</answer>? No, the rope is cut": "",
    "<think>\nA?\n<answer>B</answer>\n<think>Was it A?</think>": "<answer>B</answer>",
    # tags that are spoken of
    "I think in `<think>` tags. B": "I think in `<think>` tags. B",
    "<think>I close it by '</think>'. A?</think>B": "B",
    '"<think>" begins my thoughts. B': '"<think>" begins my thoughts. B',
    "<think>It may be 'A'</think>'B'": "'B'",
    "<|im_start|>think\nA?\n<|im_start|>answer\nB": "B",
    # no tags
    "I think B. My reasoning: A < C, and it floats.": (
        "I think B. My reasoning: A < C, and it floats."
    ),
    "<reason why it is B>": "<reason why it is B>",
    "<p>B</p>": "<p>B</p>",
    "[Reasoning]\nA is literal.\n[Answer]\nB": "[Reasoning] A is literal. [Answer] B",
    "[Reasoning] A is literal. [/Reasoning] B": "B",
    # tokens of models
    "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B": "B",
    (
        "<|channel|>commentary to=functions.look <|constrain|>json<|message|>{}"
        "<|channel|>final<|message|>B"
    ): "B",
    "analysisA? The rope is cut.assistantfinalB": "B",
    "<|think|>A?<|end|><|begin|>assistant<|content|>B": "B",
    "<|begin_of_thought|>A?<|end_of_thought|>\n\n<|begin_of_solution|>B": "B",
    "<|begin_of_thought|>A?\n\n<|begin_of_solution|>B": "B",
    "<|START_THINKING|>A?<|END_THINKING|><|START_RESPONSE|>B": "B",
    "My steps: A?\n[BEGIN FINAL RESPONSE]\nB": "B",
    "<|open|>think<|sep|>A?<|close|>think<|sep|><|open|>response<|sep|>B": "B",
}


@pytest.mark.parametrize("output", REMAINS)
def test_what_stands_outside_remains(output: str) -> None:
    assert " ".join(without_thoughts(output).split()) == REMAINS[output]


TAGS = [*itertools.chain(*TOKENS, *PAIRS[::7], *SQUARE_PAIRS[::5])]
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=10),
        st.sampled_from(TAGS),
        st.sampled_from(
            ["<answer>", "</answer>", "assistantfinal", "<", ">", "'", "`", "\n", "<think ", "/"]
        ),
    ),
    max_size=12,
).map("".join)


@given(TEXTS)
def test_characters_keep_their_places_in_any_text(text: str) -> None:
    remains = without_thoughts(text)
    assert len(remains) == len(text)
    for character, remaining in zip(text, remains, strict=True):
        assert remaining in (character, "\n")
    assert open_thought(text) in text
    assert explanation_in_thought(text) != ""


# --- explanations ---

EXPLANATIONS = {
    "<reasoning>Snow makes no sound.</reasoning>\nContradiction": "Snow makes no sound.",
    "Contradiction\n<reason>Snow makes no sound.</reason>": "Snow makes no sound.",
    "<think>Loud?</think><rationale>\nSnow makes no sound.\n</rationale>": "Snow makes no sound.",
    "<analysis>Snow is quiet.</analysis><reflection>He was loud.</reflection>No": (
        "Snow is quiet.\nHe was loud."
    ),
    "<reasoning>Snow <think>loud?</think>is quiet.</reasoning>No": "Snow\nis quiet.",
    "Snow makes no sound.</reasoning>\nContradiction": "Snow makes no sound.",
    "<think>Snow makes no sound.</think>Contradiction": None,
    "<think><reasoning>Snow is loud.</reasoning></think>Contradiction": None,
    "<reasoning>Snow makes no": None,
    "<|channel|>analysis<|message|>Snow is quiet.<|channel|>final<|message|>Contradiction": None,
    "<reasoning> </reasoning>Contradiction": None,
    "Contradiction. Snow makes no sound.": None,
}


@pytest.mark.parametrize("output", EXPLANATIONS)
def test_a_closed_thought_for_a_reader_explains(output: str) -> None:
    assert explanation_in_thought(output) == EXPLANATIONS[output]


def test_what_explains_is_a_thought() -> None:
    assert set(EXPLAINING) < set(NAMES)
