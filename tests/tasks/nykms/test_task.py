"""Prompts, the judging of outputs, measures."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from figlang_tasks.benchmarks.nykms import measures as nykms_measures
from figlang_tasks.benchmarks.nykms import rows, task
from figlang_tasks.metrics import overlap
from figlang_tasks.scoring import evaluate

CAPTION = 'The piano\'s "in tune", but the house is a little flat.'


def joint_prompt(topic: str, third: str) -> str:
    """Table 4."""
    return f"""You are given a cartoon and its caption.
Caption: {CAPTION}
Please tell me:
1. Does it contain {topic}?
2. If so, which word or object contains {topic}?
3. {third}
4. Why do you think so?
You should answer these questions as brief as you can.
For question 1, the answer must be Yes or No."""


METAPHOR_PROMPT = joint_prompt("metaphor", "What is the word's real meaning?")


def document(question: str = "metaphor", **changes: Any) -> dict[str, Any]:
    answers = {"MW": "flat", "ME": "It is dull."}
    if rows.part(question) == "nyk_s":
        answers = {"SW": "[I]", "ST": "[S] home owners", "SE": "A house has no pitch."}
    if changes.get("label") == 0:
        answers = dict.fromkeys(answers, "")
    doc = {"dataset": "NYK-MS", "data": "NYK-MS/x:0123456789ab", "id": "NYK_722_3", "caption": CAPTION, "label": 1}
    doc["cartoon"] = "contest 722"
    return doc | answers | {"question": question, "modality": "image"} | changes


# --- prompts ---


def test_the_joint_prompts_are_those_of_table_4() -> None:
    assert task.doc_to_text(document()) == METAPHOR_PROMPT
    assert task.doc_to_text(document("sarcasm")) == joint_prompt("sarcasm", "What does it satirize?")


def test_a_description_stands_in_the_place_of_the_cartoon() -> None:
    told = document(modality="text", description="A piano in a house.")
    assert task.doc_to_text(told) == f"Here is the description of the cartoon: A piano in a house.\n{METAPHOR_PROMPT}"
    assert task.doc_to_visual(told) == []
    single = task.doc_to_text(document("sw", modality="text", description="A piano."))
    assert single.startswith("Here is the description of the cartoon: A piano.\nYou are given")


@pytest.mark.parametrize(
    ("question", "asks", "ends"),
    [
        ("mc", "Does it contain metaphor?", "The answer must be Yes or No."),
        ("sc", "Does it contain sarcasm?", "The answer must be Yes or No."),
        ("mw", "Which word or object contains metaphor?", "The answer must be the word or object."),
        ("sw", "Which word or object contains sarcasm?", "The answer must be the word or object."),
        ("me", "What is the real meaning of the word or object that contains metaphor? Why do you think so?", ""),
        ("st", "What does it satirize?", ""),
        ("se", "Why do you think so?", ""),
    ],
)
def test_single_questions(question: str, asks: str, ends: str) -> None:
    text = task.doc_to_text(document(question))
    topic = "metaphor" if question.startswith("m") else "sarcasm"
    said = "" if question in ("mc", "sc") else f"It contains {topic}.\n"
    brief = f"You should answer this question as brief as you can. {ends}".strip()
    assert text == (
        f"You are given a cartoon and its caption.\nCaption: {CAPTION}\n{said}Please tell me:\n{asks}\n{brief}"
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
def test_targets_are_answers_that_are_judged_right(question: str, changes: dict[str, Any], target: str) -> None:
    doc = document(question, **changes)
    assert task.doc_to_target(doc) == target
    record = task.process_results(doc, [target])["sample"]
    assert record["status"] == "read" and task.answered_as_annotated(record)
    scores = [score for of in record["words"].values() for key, score in of.items() if key != "bleu4_sums"]
    assert set(scores) <= {1.0} and bool(scores) == (doc["label"] == 1 and question != "mc")


# --- judging ---

LABELS = {"mc_acc", "mc_macro_precision", "mc_macro_recall", "mc_macro_f1", "parse_disagreement"}
ALWAYS = {"parse_rate", "refusal_rate"}
WORD = {"mw_em", "mw_relaxed_em", "mw_bleu4", "mw_corpus_bleu4"}
EXPLANATION = {"me_bleu4", "me_corpus_bleu4"}
NOT_IN_THE_TABLE = ("_relaxed_em", "_corpus_bleu4", "parse_disagreement")  # the paper's tables have none of them


def record_of(doc: dict[str, Any], output: str) -> dict[str, Any]:
    """The record of an answer, as a samples file has it."""
    record: dict[str, Any] = json.loads(json.dumps(task.process_results(doc, [output])["sample"]))
    return record


def values(records: list[dict[str, Any]]) -> dict[str, float]:
    """The value of each measure of all records."""
    found = evaluate(records, nykms_measures.of_records(records), stderr_resamples=0)
    return {measure: scopes["all"].value for measure, scopes in found.items()}


@pytest.mark.parametrize("output", ["Yes\nflat\nIt is dull.", ""])
def test_what_is_scored_depends_on_the_annotation_alone(output: str) -> None:
    for doc, measured in (
        (document(), LABELS | ALWAYS | WORD | EXPLANATION),
        (document(label=0), LABELS | ALWAYS),
        (document("me"), ALWAYS | EXPLANATION),
    ):
        assert set(values([record_of(doc, output)])) == measured
        judged = task.process_results(doc, [output])
        assert judged.keys() == {"sample"} | {name for name in measured if not name.endswith(NOT_IN_THE_TABLE)}


SE = [3, 6, 2, 1, 0, 0, 3, 2, 1, 0]  # "No pitch ." for "A house has no pitch ."


def test_the_record() -> None:
    judged = task.process_results(document("sarcasm"), ['1. Yes\n2. "[I]"\n3. [S] home owners\n4. No pitch.'])
    assert judged["sample"] == {
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
            "SW": {"em": True, "relaxed_em": True, "bleu4": 1.0, "bleu4_sums": [3, 3, 3, 2, 1, 0, 3, 2, 1, 0]},
            "ST": {"bleu4": 1.0, "bleu4_sums": [2, 2, 2, 1, 0, 0, 2, 1, 0, 0]},
            # Right are 2 of 3 tokens, 1 of 2 pairs, of the one triple none (counts half); half as long as annotated.
            "SE": {"bleu4": pytest.approx(math.exp(1 - 6 / 3) * (2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3)), "bleu4_sums": SE},
        },
        "predicted_marks": ["SW", "ST"],
        "bleu": overlap.signature(),
    }
    json.dumps(judged)
    assert judged["sw_em"] == judged["st_bleu4"] == 1.0


@pytest.mark.parametrize(
    ("gold", "answer", "em", "relaxed"),
    [
        ("flat", "Flat.", 0, 1),
        ("flat", "[I] flat", 1, 1),
        ("[I] horse", "the horse", 0, 1),
        ("[S] power", "power", 1, 1),
        ("[I]", "the cartoon", 1, 1),
        ("[I]", "", 0, 0),
        ("[I]", "[S]", 0, 0),
        ("horse", "[X] horse", 0, 0),  # no mark
        ("flat", "the cartoon", 0, 0),
    ],
)
def test_words_are_compared_without_marks(gold: str, answer: str, em: int, relaxed: int) -> None:
    for record in (record_of(document(MW=gold), f"Yes\n{answer}"), record_of(document("mw", MW=gold), answer)):
        found = values([record])
        assert (found["mw_em"], found["mw_relaxed_em"]) == (em, relaxed)


def test_a_small_yes_is_no_for_the_published_rules_alone() -> None:
    """Refusals, and answers that both read, are in the run that is worked out by hand."""
    record = record_of(document("mc"), "yes")
    assert (record["predicted"], record["predicted_strict"]) == ({"MC": 0}, 1)
    assert {name: values([record])[name] for name in ("mc_acc", "parse_rate", "parse_disagreement")} == {
        "mc_acc": 0,
        "parse_rate": 0,
        "parse_disagreement": 1,
    }


# --- measures ---


def test_bleu() -> None:
    texts = [("the cat sat on the mat", "the cat sat on a mat"), ("a flat house", "the flat house"), ("", "x y")]
    pairs = [overlap.bleu_statistics(*pair) for pair in texts]
    records = [record_of(document("me", ME=reference), said) for said, reference in texts]
    found = values(records)
    assert found["me_bleu4"] == pytest.approx(sum(map(overlap.sentence_bleu4, pairs)) / 3)
    assert found["me_corpus_bleu4"] == pytest.approx(float(overlap.corpus_bleu4(np.sum(pairs, axis=0))), abs=1e-12)


def test_exact_match_by_what_the_annotation_names() -> None:
    golds = {"flat": "word", "[I] horse": "object", "[I]": "image", "[S] power": "free"}
    records = [record_of(document(MW=gold, id=gold), "Yes\nhorse") for gold in golds]
    em = evaluate(records, nykms_measures.of_records(records), stderr_resamples=0)["mw_em"]
    assert [*em] == ["all", "word", "object", "image", "free"]
    assert {scope: (em[scope].value, em[scope].rows) for scope in em} == {
        "all": (0.25, 4),
        **{kind: (float(kind == "object"), 1) for kind in golds.values()},
    }


# Exact match in Table 9, and its numerators over all positives of the run: 689 for metaphor (see
# tests/metrics/test_classification.py), 687 for sarcasm. No whole number of the positives that a model found does.
EXACT_MATCH = [("MW LLaVA", 29.75, 205, 689), ("MW GPT-3.5", 31.20, 215, 689)]
EXACT_MATCH += [("SW LLaVA", 8.15, 56, 687), ("SW GPT-3.5", 18.34, 126, 687)]


@pytest.mark.parametrize(("name", "published", "right", "positives"), EXACT_MATCH)
def test_exact_match_is_over_all_positives(name: str, published: float, right: int, positives: int) -> None:
    doc = document("sarcasm", SW="flat") if name.startswith("SW") else document()
    key = "sw_em" if name.startswith("SW") else "mw_em"
    hit, miss = (record_of(doc, answer) for answer in ("Yes\nflat", "No"))
    negative = record_of(document("sarcasm" if name.startswith("SW") else "metaphor", label=0), "No")
    records = [hit] * right + [miss] * (positives - right) + [negative] * 891
    assert round(100 * values(records)[key], 2) == published


# --- by hand ---

SAID = {  # by a part of the prompt: a right answer, a wrong word, a No, a refusal, words without Yes, nothing
    "lovely view": '1. Yes\n2. "cage"\n3. The job.\n4. The bird cannot leave.',
    "project warm": "1. Yes\n2. Warm.\n3. It is in ruins.\n4. The project is on fire.",
    "refund": "1. Yes\n2. refund\n3. It will be late.\n4. A snail is slow.",
    "small delay": "1. Yes\n2. the cartoon\n3. Trouble that is hidden.",
    "new director": "1. No",
    "Too heavy": "I'm sorry, but I can't provide assistance with that content.",
    "the sofa": "1. Yes\n2. sofa\n3. A lion is in the way.\n4. It was there before.",
}


def test_numbers_of_a_run_worked_out_by_hand() -> None:
    records = []
    for doc in rows.load("figlang_mini_nykms", "metaphor", "text"):
        prompt = task.doc_to_text(doc)
        records.append(record_of(doc, next((answer for part, answer in SAID.items() if part in prompt), "1. No")))
    # Gold: 7 Yes, 5 No. Said Yes to 4 of the 7 and to 1 of the 5. Words, over the 7 positives: cage and the cartoon
    # right; "Warm." only when case and full stop do not count.
    expected = {
        "mc_acc": 8 / 12,
        "mc_macro_precision": (4 / 5 + 4 / 7) / 2,
        "mc_macro_recall": (4 / 7 + 4 / 5) / 2,
        "mc_macro_f1": 8 / 12,
        "mw_em": 2 / 7,
        "mw_relaxed_em": 3 / 7,
        "mw_bleu4": 2 / 7,
        "parse_rate": 11 / 12,
        "refusal_rate": 1 / 12,
        "parse_disagreement": 1 / 12,  # the refusal: No, or no answer
    }
    found = values(records)
    assert {name: found[name] for name in expected} == pytest.approx(expected)
