"""Released tables lose rows, digits or roles, or answers stand elsewhere in documents, if these
fail.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from irfl_hub import copy_tables, metaphor_row, uuid, write_pictures, write_table

from figlang_tasks.benchmarks.irfl import counts, rows, tables
from figlang_tasks.core.errors import DataError

SHARED = "data/irfl/idiom_detection_task.csv"  # the others lie beside it
TABLES = ["idiom-detection-task", "metaphor-detection-task", "simile-detection-task"]


@pytest.fixture
def released(shared_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_tables(shared_file.parent, tmp_path / "IRFL")
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    folder = tmp_path / "figlang_mini_irfl"
    write_table(
        folder,
        "metaphor-detection-task",
        [metaphor_row(), metaphor_row(10, phrase="a sea of troubles")],
    )
    write_pictures(folder, [uuid(number) for number in range(20)])
    return folder


def chi_square(counts: Counter[int]) -> float:
    expected = sum(counts.values()) / 4
    return sum((counts[place] - expected) ** 2 / expected for place in range(4))


@pytest.mark.parametrize("shared_file", [SHARED], indirect=True)
@pytest.mark.usefixtures("released")
def test_counts_of_the_released_detection_tables() -> None:
    idioms, metaphors, similes = (
        tables.read_detection_table("IRFL", f"{kind}-detection-task").rows
        for kind in ("idiom", "metaphor", "simile")
    )
    assert (len(idioms), len(metaphors), len(similes)) == (200, 333, 277)
    assert Counter(row.type for row in idioms) == {"figurative": 131, "figurative+literal": 69}
    assert set(Counter(len(row.definitions) for row in idioms)) == {1, 2, 3, 4}
    literal = Counter(list(row.roles.values()).count("literal") for row in idioms)
    assert literal == {1: 120, 2: 80}
    assert Counter(list(row.roles.values()).count("literal") for row in metaphors) == {
        3: 197,
        2: 124,
        1: 10,
        0: 2,
    }
    assert {tuple(sorted(row.roles.values())) for row in similes} == {
        ("random", "source", "target")
    }
    assert len({row.phrase for row in metaphors}) == 35
    assert len({row.phrase for row in similes}) == 142
    assert not any(row.definitions for row in (*metaphors, *similes))
    assert (
        idioms[0].answer
        == "63706241105000335873917995039219892466282882761200412752654159602345548098977"
    )
    assert {len(each) for row in idioms for each in row.uuids} <= set(range(72, 79)), (
        "ids keep all their digits"
    )


@pytest.mark.parametrize("shared_file", [SHARED], indirect=True)
@pytest.mark.usefixtures("released")
def test_counts_of_the_released_retrieval_tables() -> None:
    found = {}
    for kind in ("metaphor", "simile"):
        rows = tables.read_retrieval_table("IRFL", f"{kind}-retrieval-task").rows
        assert {row.type for row in rows} == {"FvsPL"}
        sizes = [len(row.positives) for row in rows]
        negatives = sum(len(row.negatives) for row in rows)
        found[kind] = (len(rows), sum(sizes), negatives, min(sizes), max(sizes))
    assert found == {"metaphor": (34, 323, 729, 4, 15), "simile": (142, 1107, 3314, 1, 38)}


@pytest.mark.parametrize("shared_file", [SHARED], indirect=True)
@pytest.mark.usefixtures("released")
def test_answers_of_the_released_rows_stand_anywhere() -> None:
    places: Counter[int] = Counter()
    for table in TABLES:
        documents = rows.load("IRFL", table)
        assert len(documents) == counts.ROWS[table]
        found = Counter(documents["answer"])
        assert chi_square(found) < 11.3  # 3 degrees of freedom: exceeded by 1 % of uniform draws
        places += found
    assert sum(places.values()) == 810
    assert chi_square(places) < 11.3


def test_a_row_is_named_by_its_line_where_cells_before_it_have_line_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    rows = [metaphor_row(phrase="a\nb\nc"), metaphor_row(10, phrase="d\ne", type="?")]
    write_table(tmp_path / "figlang_mini_irfl", "metaphor-detection-task", rows)
    with pytest.raises(DataError, match=r"csv, line 5: type is '\?'"):
        tables.read_detection_table("figlang_mini_irfl", "metaphor-detection-task")


def test_a_place_depends_on_table_row_and_phrase() -> None:
    base = [rows.answer_index("a", number, "p", 4) for number in range(64)]
    assert base == [rows.answer_index("a", number, "p", 4) for number in range(64)]
    assert base != [rows.answer_index("b", number, "p", 4) for number in range(64)]
    assert base != [rows.answer_index("a", number, "q", 4) for number in range(64)]


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
        assert [doc["candidates"] for doc in four] == [
            shown[turn:] + shown[:turn] for turn in range(4)
        ]
        for doc in four:
            assert doc["candidates"][doc["answer"]] == uuid(10 * number)
            by_uuid = dict(zip(plain[number]["candidates"], plain[number]["roles"], strict=True))
            assert doc["roles"] == [by_uuid[each] for each in doc["candidates"]]
    assert len(set(turned["id"])) == 8


@pytest.mark.parametrize("shared_file", [SHARED], indirect=True)
@pytest.mark.usefixtures("released")
def test_documents_of_retrieval() -> None:
    documents = rows.load("IRFL", "metaphor-retrieval-task")
    assert len(documents) == 323 + 729
    assert sum(documents["positive"]) == 323
    sizes = Counter(documents["row"])
    assert all(sizes[doc["row"]] == doc["images"] for doc in documents)
    assert {doc["role"] for doc in documents if doc["positive"]} == {"answer"}
    # The order of the images of a row says nothing about which are positive.
    places = [
        int(doc["id"].rpartition("-")[2]) / doc["images"] for doc in documents if doc["positive"]
    ]
    assert abs(sum(places) / len(places) - 0.5) < 0.06


def test_images_of_a_ranking_stand_in_the_order_of_their_ids(local: Path) -> None:
    metadata = [{"uuid": uuid(number), "category": "x"} for number in range(6)]
    row = {"images_metadata": metadata, "type": "FvsPL", "phrase": "time is a thief"}
    row |= {
        "first_category": [uuid(4), uuid(1)],
        "second_category": [uuid(5), uuid(0), uuid(3), uuid(2)],
    }
    write_table(local, "metaphor-retrieval-task", [row])
    documents = rows.load("figlang_mini_irfl", "metaphor-retrieval-task")
    assert [doc["candidates"] for doc in documents] == [[uuid(number)] for number in range(6)]
    assert documents["positive"] == [False, True, False, False, True, False]


def test_text_as_the_authors_give_it_to_matching_models() -> None:
    doc = {"phrase": "white hat", "definitions": ["A good person", "A hero"]}
    assert rows.phrase_text(doc) == "white hat.A good person.A hero."
    assert rows.phrase_text(doc, phrase_only=True) == "white hat"
    assert rows.phrase_text({"phrase": "He is a fox", "definitions": []}) == "He is a fox"
