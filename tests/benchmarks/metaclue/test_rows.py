"""Models are asked about other images, in another way, or without the picture, if this fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from lmms_eval.tasks import get_task_dict
from metaclue_rows import negative, row, write

import figlang_tasks
from figlang_tasks.benchmarks.metaclue import rows, tasks
from figlang_tasks.harness.task_preparation import choose_prompts

MINI = "figlang_mini_metaclue"


def test_metaphors_and_negatives_of_the_test_split_are_classified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [row(0), negative(1), negative(2), negative(3, "literal"), row(4, split="train")]
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(write(tmp_path, found, pictures=False)))
    assert rows.load("MetaCLUE", "classify_symbolic")["metaphor"] == [True, False, False]
    assert rows.load("MetaCLUE", "classify_literal")["image"] == ["0/0.jpg", "3/3.jpg"]


def test_candidates_are_numbered_unless_their_probability_is_asked() -> None:
    doc = rows.load(MINI, "retrieve_random50")[0]
    text = tasks.doc_to_text(doc, {"prompt": "choose"})
    assert f"{doc['answer'] + 1}. {doc['candidates'][doc['answer']]}\n" in text and text.endswith(
        "1 to 50."
    )
    assert "candidates" not in tasks.doc_to_text(doc, {"prompt": "state"})


def test_requests_for_many_candidates_are_built_without_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path, [row(number) for number in range(30)], same=True)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(folder))
    name = "metaclue_retrieve_random100"
    manager = figlang_tasks.task_manager(include_defaults=False, model_name="figlang_clip")
    task = get_task_dict([name], manager, "simple")[name]
    choose_prompts(None, {name: task})  # as `evaluate` does
    for path in (folder / "MetaCLUE").glob("*/*.jpg"):
        # All were looked at once, when the data was read
        path.write_bytes(b"to decode this would be an error")
    task.build_all_requests(rank=0, world_size=1)
    assert len(task.instances) == 30 and len(task.dataset_no_image["test"][7]["candidates"]) == 100
    # a dual encoder's prompt does not list the candidates
    assert "thing" not in task.instances[7].args[0]


def test_questions_are_the_papers_where_it_shows_any() -> None:
    first = rows.load(MINI, "vqa_best")[0]["image"]
    docs = [doc for doc in rows.load(MINI, "vqa_best") if doc["image"] == first]
    asked = {doc["id"].partition("#")[2]: (doc["question"], doc["references"]) for doc in docs}
    words = rows.load(MINI, "generate")[0]
    p, r, s = words["primary"], words["relationship"], words["secondary"]
    assert asked == {
        "primary-1-1": (f"What is as {r} as {s}?", [p]),
        "primary-2-1": (f"What is used as a visual metaphor for {s}?", [p]),
        "relationship-1-1": (f"What is {p} compared to {s}?", [r]),
        "relationship-2-1": (f"What is {p} as compared to {s}?", [r]),
        "secondary-1-1": (f"What is {p} as {r} as?", [s]),
        "secondary-2-1": (f"What is {p} compared to?", [s]),
    }


def test_equal_questions_share_their_answers() -> None:
    docs = list(rows.load(MINI, "vqa"))
    questions = {(doc["image"], doc["role"], doc["question"]) for doc in docs}
    assert len(questions) == len(docs) == len({doc["id"] for doc in docs})
    first = [doc for doc in docs if doc["id"].startswith(f"{docs[0]['image']}#primary-2")]
    # three wordings of the secondary concept; each may be said of three wordings of the primary one
    assert [len(doc["references"]) for doc in first] == [3, 3, 3]
