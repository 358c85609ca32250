"""What NYK-MS asks, or how an answer is read and kept, is wrong if this fails."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from rows_with_images import NYKMS_CAPTION, nykms_document

from figlang_tasks.benchmarks.nykms import tasks
from figlang_tasks.metrics import overlap
from figlang_tasks.scoring import process_results


def joint_prompt(topic: str, third: str) -> str:
    """Table 4."""
    return f"""You are given a cartoon and its caption.
Caption: {NYKMS_CAPTION}
Please tell me:
1. Does it contain {topic}?
2. If so, which word or object contains {topic}?
3. {third}
4. Why do you think so?
You should answer these questions as brief as you can.
For question 1, the answer must be Yes or No."""


METAPHOR_PROMPT = joint_prompt("metaphor", "What is the word's real meaning?")


# --- prompts ---


def test_the_joint_prompts_are_those_of_table_4() -> None:
    assert tasks.doc_to_text(nykms_document()) == METAPHOR_PROMPT
    assert tasks.doc_to_text(nykms_document("sarcasm")) == joint_prompt(
        "sarcasm", "What does it satirize?"
    )


def test_a_description_replaces_the_cartoon() -> None:
    described = nykms_document(modality="text", description="A piano in a house.")
    introduction = "Here is the description of the cartoon: A piano in a house."
    assert tasks.doc_to_text(described) == f"{introduction}\n{METAPHOR_PROMPT}"
    assert tasks.doc_to_visual(described) == []
    single = tasks.doc_to_text(nykms_document("sw", modality="text", description="A piano."))
    assert single.startswith("Here is the description of the cartoon: A piano.\nYou are given")


@pytest.mark.parametrize(
    ("question", "asks", "ends"),
    [
        ("mc", "Does it contain metaphor?", "The answer must be Yes or No."),
        ("sc", "Does it contain sarcasm?", "The answer must be Yes or No."),
        ("mw", "Which word or object contains metaphor?", "The answer must be the word or object."),
        ("sw", "Which word or object contains sarcasm?", "The answer must be the word or object."),
        (
            "me",
            (
                "What is the real meaning of the word or object that contains metaphor? Why do you"
                " think so?"
            ),
            "",
        ),
        ("st", "What does it satirize?", ""),
        ("se", "Why do you think so?", ""),
    ],
)
def test_single_questions_ask_in_these_words(question: str, asks: str, ends: str) -> None:
    text = tasks.doc_to_text(nykms_document(question))
    topic = "metaphor" if question.startswith("m") else "sarcasm"
    presupposition = "" if question in ("mc", "sc") else f"It contains {topic}.\n"
    brief = f"You should answer this question as brief as you can. {ends}".strip()
    assert (
        text
        == f"You are given a cartoon and its caption.\nCaption: {NYKMS_CAPTION}\n{presupposition}"
        f"Please tell me:\n{asks}\n{brief}"
    )


@pytest.mark.parametrize(
    ("question", "changes", "target"),
    [
        ("metaphor", {"label": 0}, "1. No"),
        ("sarcasm", {}, "1. Yes\n2. the whole image\n3. home owners\n4. A house has no pitch."),
        ("mc", {}, "Yes"),
        ("mw", {"MW": "[I] horse"}, "horse"),
    ],
)
def test_targets_are_answers_that_are_judged_right(
    question: str, changes: dict[str, Any], target: str
) -> None:
    doc = nykms_document(question, **changes)
    assert tasks.doc_to_target(doc) == target
    record = process_results(doc, [target])["sample"]
    assert record["status"] == "read"
    assert tasks.answered_as_annotated(record)
    scores: list[float] = []
    for word_scores in record["words"].values():
        scores += [score for name, score in word_scores.items() if name != "bleu4_sums"]
    assert set(scores) <= {1.0}
    assert bool(scores) == (doc["label"] == 1 and question != "mc")


# --- judging ---

SE = [3, 6, 2, 1, 0, 0, 3, 2, 1, 0]  # "No pitch ." for "A house has no pitch ."


def test_the_record_holds_gold_predicted_and_scores() -> None:
    judged = process_results(
        nykms_document("sarcasm"), ['1. Yes\n2. "[I]"\n3. [S] home owners\n4. No pitch.']
    )
    assert judged["sample"] == {
        "task": "nykms_sarcasm",
        "request": "NYK-MS,question=sarcasm,modality=image",
        "id": "NYK_722_3",
        "data": "NYK-MS/x:0123456789ab",
        "unit": "contest 722",
        "question": "sarcasm",
        "modality": "image",
        "gold": {"SC": 1, "SW": "[I]", "ST": "[S] home owners", "SE": "A house has no pitch."},
        "predicted": {"SC": 1, "SW": "[I]", "ST": "[S] home owners", "SE": "No pitch."},
        "status": "read",
        "rule": "yes",
        "predicted_strict": 1,
        "kinds": {"SW": "image", "ST": "free"},
        "words": {
            "SW": {
                "em": True,
                "relaxed_em": True,
                "bleu4": 1.0,
                "bleu4_sums": [3, 3, 3, 2, 1, 0, 3, 2, 1, 0],
            },
            "ST": {"bleu4": 1.0, "bleu4_sums": [2, 2, 2, 1, 0, 0, 2, 1, 0, 0]},
            # Right are 2 of 3 tokens, 1 of 2 pairs, of the one triple none (counts half); half as
            # long as annotated.
            "SE": {
                "bleu4": pytest.approx(math.exp(1 - 6 / 3) * (2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3)),
                "bleu4_sums": SE,
            },
        },
        "predicted_marks": ["SW", "ST"],
        "bleu": overlap.signature(),
    }
    json.dumps(judged)
    assert judged["sw_em"] == judged["st_bleu4"] == 1.0
