"""FLUTE's prompts are not the papers', or an answer is judged in another way, if this fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flute_rows import blind_rows, invented_flute_rows, write_lines
from tasks_without_harness import check_task, measures_of

from figlang_tasks.benchmarks.flute import rows, tasks
from figlang_tasks.benchmarks.flute.benchmark import BENCHMARK
from figlang_tasks.benchmarks.flute.blind import BLIND_FILE
from figlang_tasks.benchmarks.flute.pairs import LABELS
from figlang_tasks.core import hub
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import evaluate, process_results


def document(**changes: Any) -> dict[str, Any]:
    """A row, with changes to its columns."""
    doc = {
        "dataset": "FLUTE",
        "data": "FLUTE/heldout:0123456789ab",
        "id": "simile-3-01234567",
        "premise": 'He said "no" {{ 7 * 7 }}.',
        "hypothesis": "He was as quiet as snow.",
        "label": "Contradiction",
        "explanation": "Snow makes no sound.",
        "report_group": "simile",
        "family": "simile-3-01234567",
        "revision": "local",
        "prompt": "v2",
        "scorer": "",
    }
    doc |= changes
    return {"request": f"FLUTE,part=heldout,prompt={doc['prompt']}", **doc}


def test_the_prompts_are_the_papers_word_for_word() -> None:
    """v1 is printed in arXiv 2205.12404v1, section 3; v2 is that of the released code."""
    assert (
        tasks.doc_to_text(document())
        == 'Does the sentence "He said "no" {{ 7 * 7 }}." entail or contradict the sentence "He was'
        ' as quiet as snow."? Please answer between "Entails" or "Contradicts" and explain your'
        " decision in a sentence."
    )
    assert (
        tasks.doc_to_text(document(prompt="v1"))
        == 'Do the sentences "He said "no" {{ 7 * 7 }}." and "He was as quiet as snow.", contradict'
        ' each other? Please answer between "Yes" or "No". If "Yes", please explain why.'
    )


def test_four_exemplars_are_turns_before_the_question_word_for_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    write_lines(tmp_path / "FLUTE" / "train.jsonl", invented_flute_rows())
    question = (
        'Does the sentence "{}" entail or contradict the sentence "{}"? '
        + 'Please answer between "Entails" or "Contradicts" and explain your decision in a'
        " sentence."
    )
    answer = "{}. What {} says of {!r} is why it is {}."
    expected = [
        (
            "user",
            question.format("The kettle number 268 broke again.", "I adore how kettle 268 broke."),
        ),
        (
            "assistant",
            answer.format("Contradicts", 268, "I adore how kettle 268 broke.", "Contradiction"),
        ),
        ("user", question.format("Entailment of metaphor 525.", "He was wall 525.")),
        ("assistant", answer.format("Entails", 525, "He was wall 525.", "Entailment")),
        ("user", question.format("Entailment of simile 485.", "Her voice was like bell 485.")),
        ("assistant", answer.format("Entails", 485, "Her voice was like bell 485.", "Entailment")),
        ("user", question.format("Contradiction of idiom 730.", "They spilled bean 730.")),
        ("assistant", answer.format("Contradicts", 730, "They spilled bean 730.", "Contradiction")),
        ("user", question.format('He said "no" {{ 7 * 7 }}.', "He was as quiet as snow.")),
    ]
    turns: list[tuple[str, str]] = []
    for turn in tasks.doc_to_messages(document(), {"num_shots": 4}):
        (content,) = turn["content"]
        turns.append((turn["role"], content["text"]))
    assert turns == expected

    *shot_texts, last_question = [text for _, text in expected]
    paragraphs = ["\n".join(shot_texts[index : index + 2]) for index in range(0, 8, 2)]
    # lm-eval has them as one text.
    text = tasks.doc_to_text(document(num_shots=4))
    assert text == "\n\n".join([*paragraphs, last_question])


def test_exemplars_share_no_sentence_with_the_held_out_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    write_lines(tmp_path / "FLUTE" / "train.jsonl", invented_flute_rows())
    heldout = rows.load("FLUTE", "heldout")
    exemplar_sentences: set[str] = set()
    for exemplar in rows.exemplars("FLUTE", 60, "v2"):
        exemplar_sentences |= {exemplar["premise"], exemplar["hypothesis"]}
    assert not exemplar_sentences & {*heldout["premise"], *heldout["hypothesis"]}


@pytest.mark.parametrize(
    ("changes", "target"),
    [
        ({}, "Contradicts. Snow makes no sound."),
        ({"prompt": "v1"}, "Yes. Snow makes no sound."),
        ({"prompt": "v1", "label": "Entailment"}, "No."),
    ],
)
def test_targets_have_the_papers_form_and_read_back(changes: dict[str, str], target: str) -> None:
    doc = document(**changes)
    assert tasks.doc_to_target(doc) == target
    judged = process_results(doc, [target])
    assert (judged["acc"], judged["parse_rate"], judged["parse_disagreement"]) == (1, 1, 0)
    answers, label = tasks.chance_answers(doc)
    assert label == doc["label"]
    assert set(answers) == set(LABELS)
    for name, answer in answers.items():
        assert process_results(doc, [answer])["sample"]["predicted"] == LABELS[name]


def test_the_record_holds_gold_predicted_and_explanations() -> None:
    judged = process_results(document(), ["Entails. It never Contradicts it."])
    assert judged["sample"] == {
        "task": "flute",
        "request": "FLUTE,part=heldout,prompt=v2",
        "id": "simile-3-01234567",
        "data": "FLUTE/heldout:0123456789ab",
        "gold": 0,
        "predicted": 1,
        "explanation": "It never Contradicts it.",
        "status": "read",
        "rule": "released-entails",
        "predicted_strict": 1,
        "report_group": "simile",
        "reference": "Snow makes no sound.",
        "unit": "simile-3-01234567",
        "revision": "local",
        "predicted_official": 1,
    }
    assert json.loads(json.dumps(judged)) == judged
    assert (judged["acc"], judged["acc@50"], judged["v1_acc@60"]) == (0, None, None)


@pytest.mark.parametrize(
    ("prompt", "output", "predicted", "official", "rule", "explanation"),
    [
        (
            "v2",
            'The sentence "He is " loud" does entail the sentence "He is not".',
            1,
            None,
            "statement",
            "whole",
        ),
        ("v2", "Contradicts, as snow is quiet.", 0, 0, "opening-contradicts", "as snow is quiet."),
        ("v2", "It does entail it, but it does contradict it.", None, None, "conflict", "whole"),
        (
            "v1",
            'The sentences "A b" and "C d" do not contradict each other.',
            1,
            None,
            "statement",
            None,
        ),
    ],
)
def test_the_released_rule_comes_first_then_the_common_reader(
    prompt: str,
    output: str,
    predicted: int | None,
    official: int | None,
    rule: str,
    explanation: str | None,
) -> None:
    record = process_results(document(prompt=prompt), [output])["sample"]
    assert record["predicted"] == predicted
    assert record["predicted_official"] == official
    assert record["rule"] == rule
    assert record["explanation"] == (output if explanation == "whole" else explanation)
    scores = evaluate([record], measures_of([record]))
    assert scores["acc"]["all"].value == (predicted == 0)
    assert scores["acc_official"]["all"].value == (official == 0)


@pytest.mark.parametrize(
    ("prompt", "output", "predicted", "explanation"),
    [
        ("v2", "<reasoning>Snow is quiet.</reasoning>\nContradicts.", 0, "Snow is quiet."),
        ("v2", "<rationale>Snow is quiet.</rationale>**Contradiction**", 0, "Snow is quiet."),
        ("v2", "Contradicts\n<reason>Snow is quiet.</reason>", 0, "Snow is quiet."),
        ("v2", "<analysis>It entails it.</analysis>LABEL: contradiction", 0, "It entails it."),
        (
            "v2",
            "<reflection>Snow is quiet.</reflection>So the final answer is contradiction.",
            0,
            "Snow is quiet.",
        ),
        ("v2", "<reasoning>Hm.</reasoning>Contradicts. Snow is quiet.", 0, "Snow is quiet."),
        ("v2", "<think>Snow is quiet.</think>Contradicts.", 0, ""),
        (
            "v2",
            "<reasoning>The label is contradiction.</reasoning>",
            None,
            "The label is contradiction.",
        ),
        ("v2", "<reasoning>Snow is", None, ""),
        ("v1", "<reason>Snow is quiet.</reason>Yes", 0, "Snow is quiet."),
        ("v1", "<reason>They say the same.</reason>No.", 1, None),
        # By the released rule, which knows no tags, what is behind the label is the explanation,
        # tags and all.
        (
            "v2",
            "Contradicts. <reason>Snow is quiet.</reason>",
            0,
            "<reason>Snow is quiet.</reason>",
        ),
    ],
)
def test_a_thought_for_a_reader_is_the_explanation_where_none_stands_outside(
    prompt: str, output: str, predicted: int | None, explanation: str | None
) -> None:
    record = process_results(document(prompt=prompt), [output])["sample"]
    assert (record["predicted"], record["explanation"]) == (predicted, explanation)


def test_prompt_v1_has_one_definition_and_asks_no_explanation_of_entailments() -> None:
    judged = process_results(document(prompt="v1", label="Entailment", scorer="embedded"), ["No."])
    record = judged["sample"]
    assert not any(name.startswith("v1_") for name in judged)
    assert not tasks.V1.measures.by_name["explanation_score"].counted([record])
    assert judged["explanation_score"] is None
    assert (record["task"], record["scorer"]) == ("flute_v1", "embedded")


@pytest.mark.parametrize(
    ("group", "scopes"),
    [("creative_paraphrase", {"creative_paraphrase", "paraphrase_sarcasm"}), ("idiom", {"idiom"})],
)
def test_a_row_counts_for_its_type_and_the_papers_portion(group: str, scopes: set[str]) -> None:
    judged = process_results(document(report_group=group), ["Entails. Why."])
    accuracy = tasks.V2.measures.by_name["acc@0"]
    records_by_scope = accuracy.records_by_scope([judged["sample"]])
    assert records_by_scope.keys() == {"all", *scopes}


def test_blind_rows_are_read_and_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    write_lines(tmp_path / "FLUTE" / BLIND_FILE, blind_rows())
    check_task({"dataset_name": "FLUTE,part=codalab"})
    doc = BENCHMARK.documents(Request.of("FLUTE", part="codalab"))[8]
    assert tasks.doc_to_target(doc) == ""
    judged = process_results(doc, ["Contradicts. It is cold."])
    assert judged.pop("sample") == {
        "task": "flute_blind",
        "request": "FLUTE,part=codalab",
        "id": "codalab-8",
        "data": doc["data"],
        "codalab_id": 8,
        "source_id": 1,
        "premise": "Premise 8.",
        "hypothesis": "Hypothesis 8.",
        "predicted": 0,
        "explanation": "It is cold.",
        "status": "read",
        "rule": "released-contradicts",
        "predicted_strict": 0,
    }
    assert judged == {"parse_rate": 1, "parse_disagreement": 0}
    answers, label = tasks.chance_answers(doc)
    assert label in answers
