"""Models are asked another question than the paper's, or without the picture, if this fails."""

from __future__ import annotations

from figlang_tasks.benchmarks.metaclue import rows, task

MINI = "figlang_mini_metaclue"


def test_candidates_are_numbered_unless_their_probability_is_asked() -> None:
    doc = rows.load(MINI, "retrieve_random50")[0]
    text = task.doc_to_text(doc, {"prompt": "choose"})
    assert f"{doc['answer'] + 1}. {doc['candidates'][doc['answer']]}\n" in text and text.endswith("1 to 50.")
    assert "candidates" not in task.doc_to_text(doc, {"prompt": "state"})


def test_questions_are_the_papers_where_it_shows_any() -> None:
    asked = {}
    for doc in rows.load(MINI, "vqa_best"):
        if doc["image"] == rows.load(MINI, "vqa_best")[0]["image"]:
            asked[doc["id"].partition("#")[2]] = (doc["question"], doc["references"])
    assert len(asked) == 6
    words = next(row for row in rows.load(MINI, "generate"))
    p, r, s = words["primary"], words["relationship"], words["secondary"]
    assert asked["primary-1-1"] == (f"What is as {r} as {s}?", [p])
    assert asked["primary-2-1"] == (f"What is used as a visual metaphor for {s}?", [p])
    assert asked["relationship-1-1"] == (f"What is {p} compared to {s}?", [r])
    assert asked["relationship-2-1"] == (f"What is {p} as compared to {s}?", [r])
    assert asked["secondary-1-1"] == (f"What is {p} as {r} as?", [s])
    assert asked["secondary-2-1"] == (f"What is {p} compared to?", [s])


def test_equal_questions_share_their_answers() -> None:
    docs = list(rows.load(MINI, "vqa"))
    assert (
        len({(doc["image"], doc["role"], doc["question"]) for doc in docs}) == len(docs) == len({d["id"] for d in docs})
    )
    first = [doc for doc in docs if doc["image"] == docs[0]["image"]]
    by_template = {key: [doc for doc in first if doc["id"].partition("#")[2].startswith(key)] for key in ("primary-2",)}
    # three wordings of the secondary concept; each may be said of three wordings of the primary one
    assert [len(doc["references"]) for doc in by_template["primary-2"]] == [3, 3, 3]
