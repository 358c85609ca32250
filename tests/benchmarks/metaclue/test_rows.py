"""If this fails, models are asked about other images, in other words, or without the picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from lmms_eval.tasks import get_task_dict
from rows_with_images import metaclue_negative, metaclue_row, write_metaclue

import figlang_tasks
from figlang_tasks.benchmarks.metaclue import rows, tasks
from figlang_tasks.harness.task_preparation import choose_prompts

MINI = "figlang_mini_metaclue"


def test_metaphors_and_negatives_of_the_test_split_are_classified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotations = [
        metaclue_row(0),
        metaclue_negative(1),
        metaclue_negative(2),
        metaclue_negative(3, "literal"),
        metaclue_row(4, split="train"),
    ]
    monkeypatch.setenv(
        "FIGLANG_DATA_DIR", str(write_metaclue(tmp_path, annotations, pictures=False))
    )
    assert rows.load("MetaCLUE", "classify_symbolic")["metaphor"] == [True, False, False]
    assert rows.load("MetaCLUE", "classify_literal")["image"] == ["0/0.jpg", "3/3.jpg"]


def test_candidates_are_numbered_in_the_prompt_of_a_choice() -> None:
    doc = rows.load(MINI, "retrieve_random50")[0]
    text = tasks.doc_to_text(doc, {"prompt": "choose"})
    assert f"{doc['answer'] + 1}. {doc['candidates'][doc['answer']]}\n" in text
    assert text.endswith("1 to 50.")


def test_candidates_are_not_in_the_prompt_that_asks_for_their_probability() -> None:
    doc = rows.load(MINI, "retrieve_random50")[0]
    assert "candidates" not in tasks.doc_to_text(doc, {"prompt": "state"})


def test_requests_for_many_candidates_are_built_without_decoding_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_metaclue(tmp_path, [metaclue_row(number) for number in range(30)], same=True)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(folder))
    name = "metaclue_retrieve_random100"
    manager = figlang_tasks.task_manager(include_defaults=False, model_name="figlang_clip")
    task = get_task_dict([name], manager, "simple")[name]
    choose_prompts(None, {name: task})  # as `evaluate` does
    for path in (folder / "MetaCLUE").glob("*/*.jpg"):
        # All were decoded once, when the data was checked. To decode this would be an error.
        path.write_bytes(b"no picture")

    task.build_all_requests(rank=0, world_size=1)
    assert len(task.instances) == 30
    assert len(task.dataset_no_image["test"][7]["candidates"]) == 100
    prompt = task.instances[7].args[0]
    assert "thing" not in prompt  # A dual encoder's prompt does not list the candidates.


def test_questions_are_the_papers_where_it_shows_any() -> None:
    documents = list(rows.load(MINI, "vqa_best"))
    first_image = documents[0]["image"]
    questions: dict[str, tuple[str, list[str]]] = {}
    for doc in documents:
        if doc["image"] == first_image:
            name = doc["id"].partition("#")[2]
            questions[name] = (doc["question"], doc["references"])
    metaphor = rows.load(MINI, "generate")[0]
    primary = metaphor["primary"]
    relationship = metaphor["relationship"]
    secondary = metaphor["secondary"]
    assert questions == {
        "primary-1-1": (f"What is as {relationship} as {secondary}?", [primary]),
        "primary-2-1": (f"What is used as a visual metaphor for {secondary}?", [primary]),
        "relationship-1-1": (f"What is {primary} compared to {secondary}?", [relationship]),
        "relationship-2-1": (f"What is {primary} as compared to {secondary}?", [relationship]),
        "secondary-1-1": (f"What is {primary} as {relationship} as?", [secondary]),
        "secondary-2-1": (f"What is {primary} compared to?", [secondary]),
    }


def test_equal_questions_about_an_image_are_asked_once() -> None:
    documents = list(rows.load(MINI, "vqa"))
    questions = {(doc["image"], doc["role"], doc["question"]) for doc in documents}
    ids = {doc["id"] for doc in documents}
    assert len(questions) == len(documents) == len(ids)


def test_equal_questions_share_their_answers() -> None:
    documents = list(rows.load(MINI, "vqa"))
    # The second question for the primary concept names the secondary one, which has three wordings.
    # Each may be said of three wordings of the primary one.
    prefix = f"{documents[0]['image']}#primary-2"
    reference_counts: list[int] = []
    for doc in documents:
        if doc["id"].startswith(prefix):
            reference_counts.append(len(doc["references"]))
    assert reference_counts == [3, 3, 3]
