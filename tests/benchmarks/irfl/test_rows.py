"""Documents: where answers stand, rotations, texts, and what is checked before a model is loaded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from irfl_hub import copy_tables, metaphor_row, uuid, write_pictures, write_table

from figlang_tasks.benchmarks.irfl import rows, tables

TABLES = ["idiom-detection-task", "metaphor-detection-task", "simile-detection-task"]


@pytest.fixture
def released(shared_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_tables(shared_file.parent, tmp_path / "IRFL")
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    folder = tmp_path / "figlang_mini_irfl"
    write_table(folder, "metaphor-detection-task", [metaphor_row(), metaphor_row(10, phrase="a sea of troubles")])
    write_pictures(folder, [uuid(number) for number in range(20)])
    return folder


def chi_square(counts: Counter[int]) -> float:
    expected = sum(counts.values()) / 4
    return sum((counts[place] - expected) ** 2 / expected for place in range(4))


@pytest.mark.parametrize("shared_file", ["data/irfl/idiom_detection_task.csv"], indirect=True)
@pytest.mark.usefixtures("released")
def test_answers_of_the_released_rows_stand_anywhere() -> None:
    places: Counter[int] = Counter()
    for table in TABLES:
        documents = rows.load("IRFL", table)
        assert len(documents) == tables.ROWS[table]
        found = Counter(documents["answer"])
        assert chi_square(found) < 11.3  # 3 degrees of freedom: exceeded by 1 % of uniform draws
        places += found
    assert sum(places.values()) == 810
    assert chi_square(places) < 11.3


def test_a_place_depends_on_table_row_and_phrase() -> None:
    base = [rows.answer_place("a", number, "p", 4) for number in range(64)]
    assert base == [rows.answer_place("a", number, "p", 4) for number in range(64)]
    assert base != [rows.answer_place("b", number, "p", 4) for number in range(64)]
    assert base != [rows.answer_place("a", number, "q", 4) for number in range(64)]


def test_documents_of_detection(local: Path) -> None:
    documents = rows.load("figlang_mini_irfl", "metaphor-detection-task")
    assert documents["id"] == ["metaphor-detection-task-0", "metaphor-detection-task-1"]
    for number, doc in enumerate(documents):
        first = 10 * number
        assert sorted(doc["candidates"]) == [uuid(first + offset) for offset in range(4)]
        assert doc["candidates"][doc["answer"]] == uuid(first)
        assert doc["roles"][doc["answer"]] == "answer"
        assert dict(zip(doc["candidates"], doc["roles"], strict=True))[uuid(first + 3)] == "random"
        assert (doc["figurative_type"], doc["type"]) == ("metaphor", "figurative")


def test_rotations_bring_the_answer_to_each_place(local: Path) -> None:
    plain = rows.load("figlang_mini_irfl", "metaphor-detection-task")
    turned = rows.load("figlang_mini_irfl", "metaphor-detection-task", rotations=True)
    assert len(turned) == 8
    for number in range(2):
        four = [turned[4 * number + turn] for turn in range(4)]
        assert {doc["row"] for doc in four} == {plain[number]["row"]}
        assert sorted(doc["answer"] for doc in four) == [0, 1, 2, 3]
        shown = plain[number]["candidates"]
        assert [doc["candidates"] for doc in four] == [shown[turn:] + shown[:turn] for turn in range(4)]
        for doc in four:
            assert doc["candidates"][doc["answer"]] == uuid(10 * number)
            by_uuid = dict(zip(plain[number]["candidates"], plain[number]["roles"], strict=True))
            assert doc["roles"] == [by_uuid[each] for each in doc["candidates"]]
    assert len(set(turned["id"])) == 8


@pytest.mark.parametrize("shared_file", ["data/irfl/metaphor_retrieval_task.csv"], indirect=True)
@pytest.mark.usefixtures("released")
def test_documents_of_retrieval() -> None:
    documents = rows.load("IRFL", "metaphor-retrieval-task")
    assert len(documents) == 323 + 729
    assert sum(documents["positive"]) == 323
    sizes = Counter(documents["row"])
    assert all(sizes[doc["row"]] == doc["images"] for doc in documents)
    assert {doc["role"] for doc in documents if doc["positive"]} == {"answer"}
    # The order of the images of a row says nothing about which are positive.
    places = [int(doc["id"].rpartition("-")[2]) / doc["images"] for doc in documents if doc["positive"]]
    assert abs(sum(places) / len(places) - 0.5) < 0.06


def test_text_as_the_authors_give_it_to_matching_models() -> None:
    doc = {"phrase": "white hat", "definitions": ["A good person", "A hero"]}
    assert rows.text(doc) == "white hat.A good person.A hero."
    assert rows.text(doc, phrase_only=True) == "white hat"
    assert rows.text({"phrase": "He is a fox", "definitions": []}) == "He is a fox"
