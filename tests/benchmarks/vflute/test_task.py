"""Prompts and judgement of V-FLUTE's tasks: if this fails, a model is asked something else than the
options say, or its answer is judged wrongly.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from PIL import Image
from tasks_without_harness import check_task

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.vflute import rows, tasks
from figlang_tasks.scoring import process_results

CLAIM = "My lawyer is a shark"


def png(colour: str) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (4, 4), colour).save(stream, "PNG")
    return stream.getvalue()


def document(**changed_columns: Any) -> dict[str, Any]:
    """A document of the test split with instruction 19, whose question is `QUESTION`."""
    doc = {
        "dataset": "V-FLUTE",
        "request": "V-FLUTE,split=test",
        "data": "V-FLUTE/test:0123456789ab",
        "id": "vismet-test-3",
        "claim": CLAIM,
        "family": "vismet-test-3",
        "label": "entailment",
        "explanation": "The lawyer has fins.",
        "phenomenon": "metaphor",
        "source_dataset": "vismet",
        "report_group": "vismet",
        "instruction": 19,
        "image": {"bytes": png("red"), "path": None},
    }
    return doc | changed_columns


QUESTION = (
    'Does the image entail or contradict the claim "My lawyer is a shark"? '
    "Explain your reasoning and provide a label between entailment or contradiction."
)


@pytest.fixture
def two_exemplars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two exemplars in place of those that are drawn from the train split."""
    exemplars = (
        document(id="a", claim="One", image=Image.new("RGB", (2, 2), "blue")),
        document(
            id="b",
            claim="Two",
            label="contradiction",
            image=Image.new("RGB", (2, 2), "green"),
            instruction=13,
        ),
    )
    monkeypatch.setattr(rows, "exemplars", lambda dataset, count, seed: exemplars[:count])


# --- prompts ---


def test_each_exemplar_is_a_turn_with_its_own_picture_and_instruction(two_exemplars: None) -> None:
    messages = tasks.doc_to_messages(document(), {"num_shots": 2})
    roles = [turn["role"] for turn in messages]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    reference_answer = {"type": "text", "text": "The lawyer has fins.\nLABEL: entailment"}
    assert messages[1]["content"] == [reference_answer]
    second_picture, second_question = messages[2]["content"]
    assert second_picture["url"].getpixel((0, 0)) == (0, 128, 0)
    assert 'the statement "Two"?' in second_question["text"]


def test_a_few_shot_prompt_without_turns_ends_with_the_question(two_exemplars: None) -> None:
    assert tasks.doc_to_text(document(), {"num_shots": 2}).endswith(f"\n{QUESTION}")


def test_label_only_exemplars_are_answered_with_the_label_alone(two_exemplars: None) -> None:
    messages = tasks.doc_to_messages(document(), {"num_shots": 2, "label_only": True})
    answers = [turn["content"][0]["text"] for turn in messages if turn["role"] == "assistant"]
    assert answers == ["entailment", "contradiction"]


def test_blind_shows_a_white_square() -> None:
    (picture,) = tasks.doc_to_visual(document(image=None), {"blind": True})
    assert picture.getextrema() == ((255, 255),) * 3


def test_label_only_asks_for_one_word_behind_the_question() -> None:
    text = tasks.doc_to_text(document(claim='Who said "why?"'), {"label_only": True})
    question = 'Does the image entail or contradict the claim "Who said "why?""?'
    assert text == f"{question} Answer with one word: entailment or contradiction."


def test_the_option_instruction_replaces_the_instruction_of_the_row() -> None:
    text = tasks.doc_to_text(document(), {"instruction": 2})
    assert text.startswith("Does this image confirm or deny the claim")


def test_a_claim_is_never_read_as_a_template_or_an_instruction() -> None:
    claim = "{{ 7 * 7 }} REPLACE_CLAIM {% if %} <image>"
    assert f'"{claim}"' in tasks.doc_to_text(document(claim=claim), {})


# --- the two calls of a scene-graph run ---


def test_the_first_call_asks_for_a_scene_graph_without_the_claims_question_mark() -> None:
    prompt = tasks.scene_graph_doc_to_text(document(claim="Is it a shark? Yes"), {})
    assert isinstance(prompt, str)
    question = 'Question: Does the image entail or contradict the claim "Is it a shark Yes"'
    assert prompt.startswith(f"{question}\nFor the")


def test_the_second_call_shows_the_scene_graph_and_asks_the_question() -> None:
    scene_graph = ' {"a": 1}\n'
    payload = tasks.scene_graph_doc_to_text(
        document(), {}, previous_output=[scene_graph], round_idx=1
    )
    assert isinstance(payload, tuple)
    pictures, prompt, is_finished, outputs, state = payload
    assert pictures is not None
    assert pictures[0].size == (4, 4)
    assert prompt is not None
    assert prompt.startswith('Scene Graph:\n{"a": 1}\nUse the image and scene graph as context')
    assert prompt.endswith(f"Question:\n{QUESTION}")
    assert (is_finished, outputs, state) == (False, [scene_graph], None)


def test_after_the_second_call_its_answer_is_judged() -> None:
    outputs = ["graph", "It is.\nLABEL: entailment"]
    payload = tasks.scene_graph_doc_to_text(document(), {}, previous_output=outputs, round_idx=2)
    assert isinstance(payload, tuple)
    assert payload[2] is True
    final_outputs = payload[3]
    assert json.loads(final_outputs[0])["scene_graph"] == "graph"
    assert tasks.scene_graph_process_results(document(), final_outputs)["acc"] == 1.0


def test_a_scene_graph_task_refuses_exemplars() -> None:
    config = {
        "task": "mine",
        "dataset_name": "figlang_mini,split=test",
        "output_type": "generate_until_agentic",
    }
    with pytest.raises(FigLangError, match="take neither num_shots nor label_only"):
        check_task(config | {"lmms_eval_specific_kwargs": {"default": {"num_shots": 5}}})


# --- the judgement ---


@pytest.mark.parametrize(
    ("label", "output", "gold_and_predicted", "acc", "parse_rate", "parse_disagreement"),
    [
        ("entailment", "Fins.\nLABEL: entailment", (1, 1), 1.0, 1.0, 0.0),
        ("contradiction", "Fins.\nLABEL: entailment", (0, 1), 0.0, 1.0, 0.0),
        ("contradiction", "I cannot see the image.", (0, None), 0.0, 0.0, 0.0),
        # The authors' rules find "entail" first; a careful reader reads the contradiction.
        (
            "contradiction",
            "It does not entail the claim; it contradicts it.",
            (0, 1),
            0.0,
            1.0,
            1.0,
        ),
    ],
)
def test_an_answer_is_judged_by_the_authors_rules(
    label: str,
    output: str,
    gold_and_predicted: tuple[int, int | None],
    acc: float,
    parse_rate: float,
    parse_disagreement: float,
) -> None:
    values = process_results(document(label=label), [output])
    record = values.pop("sample")
    assert (record["gold"], record["predicted"]) == gold_and_predicted
    values_without_scores = dict.fromkeys(("f1@0", "f1@53", "f1@60", "explanation_score"))
    assert values == values_without_scores | {
        "acc": acc,
        "parse_rate": parse_rate,
        "parse_disagreement": parse_disagreement,
    }


def test_a_record_holds_task_request_source_and_reference() -> None:
    record = process_results(document(), ["Fins.\nLABEL: entailment"])["sample"]
    assert (record["task"], record["request"]) == ("vflute", "V-FLUTE,split=test")
    assert (record["id"], record["report_group"]) == ("vismet-test-3", "vismet")
    assert record["reference"] == "The lawyer has fins."


@pytest.mark.parametrize("output", ["", "a graph", "[1]", '{"answer": "x"}'])
def test_a_scene_graph_run_without_its_second_call_has_no_answer(output: str) -> None:
    record = tasks.scene_graph_process_results(document(), [output])["sample"]
    assert record["predicted"] is None
    assert record["explanation"] == ""


def test_the_answer_of_a_scene_graph_run_may_begin_with_the_rows_question() -> None:
    answer = f"{QUESTION}\nQuestion:\nIt is true.\nLABEL: entailment"
    stages = {"scene_graph": "g", "answer": answer}
    record = tasks.scene_graph_process_results(document(), [json.dumps(stages)])["sample"]
    assert (record["predicted"], record["predicted_strict"]) == (1, 1)


def test_the_explanation_of_a_scene_graph_run_speaks_of_the_image() -> None:
    stages = {"scene_graph": "g", "answer": "The scene graph has a red_dog.\nLABEL: entailment"}
    record = tasks.scene_graph_process_results(document(), [json.dumps(stages)])["sample"]
    assert record["explanation"] == "The image has a red dog."
    assert (record["task"], record["request"]) == ("vflute", "V-FLUTE,split=test")
