"""IRFL's rows: if this fails, tables lose rows, digits or roles, or answers stand elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from irfl_release import copy_tables, metaphor_row, uuid, write_pictures, write_table

from figlang_tasks.benchmarks.irfl import counts, rows, tables
from figlang_tasks.core.errors import DataError

FIRST_RELEASED = "data/irfl/idiom_detection_task.csv"  # the other tables lie beside it
released_tables = pytest.mark.parametrize("shared_file", [FIRST_RELEASED], indirect=True)


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the released tables, which are not to be changed."""
    return tmp_path_factory.mktemp("released")


@pytest.fixture
def released(shared_file: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The released tables as IRFL, with pictures that the first test draws."""
    if not (data_folder / "IRFL").exists():
        copy_tables(shared_file.parent, data_folder / "IRFL")
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(data_folder))


@pytest.fixture
def two_metaphors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A detection table of two metaphors as figlang_mini_irfl, with the pictures 0 to 19."""
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    folder = tmp_path / "figlang_mini_irfl"
    metaphors = [metaphor_row(), metaphor_row(10, phrase="a sea of troubles")]
    write_table(folder, "metaphor-detection-task", metaphors)
    write_pictures(folder, [uuid(number) for number in range(20)])
    return folder


# --- the released tables ---


def literal_counts(table: tables.Table) -> Counter[int]:
    """How many rows of a table have how many partially literal distractors."""
    row_counts: Counter[int] = Counter()
    for row in table.rows:
        row_counts[list(row.roles.values()).count("literal")] += 1
    return row_counts


@released_tables
@pytest.mark.usefixtures("released")
def test_released_idioms_have_types_definitions_and_one_or_two_literal_distractors() -> None:
    table = tables.read_detection_table("IRFL", "idiom-detection-task")
    assert len(table.rows) == 200
    assert Counter(row.type for row in table.rows) == {"figurative": 131, "figurative+literal": 69}
    assert {len(row.definitions) for row in table.rows} == {1, 2, 3, 4}
    assert literal_counts(table) == {1: 120, 2: 80}


@released_tables
@pytest.mark.usefixtures("released")
def test_released_metaphors_have_up_to_three_literal_distractors() -> None:
    table = tables.read_detection_table("IRFL", "metaphor-detection-task")
    assert len(table.rows) == 333
    assert len({row.phrase for row in table.rows}) == 35
    assert literal_counts(table) == {3: 197, 2: 124, 1: 10, 0: 2}
    assert not any(row.definitions for row in table.rows)


@released_tables
@pytest.mark.usefixtures("released")
def test_released_similes_have_a_source_a_target_and_a_random_distractor() -> None:
    table = tables.read_detection_table("IRFL", "simile-detection-task")
    assert len(table.rows) == 277
    assert len({row.phrase for row in table.rows}) == 142
    for row in table.rows:
        assert sorted(row.roles.values()) == ["random", "source", "target"]
        assert not row.definitions


@released_tables
@pytest.mark.usefixtures("released")
@pytest.mark.parametrize("figure", ["idiom", "metaphor", "simile"])
def test_released_uuids_keep_all_their_digits(figure: str) -> None:
    table = tables.read_detection_table("IRFL", f"{figure}-detection-task")
    for row in table.rows:
        assert {len(picture_uuid) for picture_uuid in row.uuids} <= set(range(72, 79))


@released_tables
@pytest.mark.usefixtures("released")
def test_the_first_answer_of_the_released_idioms_is_read_to_the_last_digit() -> None:
    table = tables.read_detection_table("IRFL", "idiom-detection-task")
    first_answer = "63706241105000335873917995039219892466282882761200412752654159602345548098977"
    assert table.rows[0].answer == first_answer


@released_tables
@pytest.mark.usefixtures("released")
@pytest.mark.parametrize(
    ("figure", "row_count", "positive_count", "negative_count", "fewest", "most"),
    [("metaphor", 34, 323, 729, 4, 15), ("simile", 142, 1107, 3314, 1, 38)],
)
def test_released_retrieval_tables_have_all_images(
    figure: str, row_count: int, positive_count: int, negative_count: int, fewest: int, most: int
) -> None:
    table = tables.read_retrieval_table("IRFL", f"{figure}-retrieval-task")
    positives = [len(row.positives) for row in table.rows]
    assert len(table.rows) == row_count
    assert {row.type for row in table.rows} == {"FvsPL"}
    assert (sum(positives), min(positives), max(positives)) == (positive_count, fewest, most)
    assert sum(len(row.negatives) for row in table.rows) == negative_count


def chi_square(answers: Counter[int]) -> float:
    """How far the answers are from standing at each of four places equally often."""
    expected = sum(answers.values()) / 4
    return sum((answers[index] - expected) ** 2 / expected for index in range(4))


@released_tables
@pytest.mark.usefixtures("released")
def test_answers_of_the_released_rows_stand_anywhere() -> None:
    most = 11.3  # with 3 degrees of freedom, 1 % of uniform draws exceed it
    all_answers: Counter[int] = Counter()
    for figure in ("idiom", "metaphor", "simile"):
        table = f"{figure}-detection-task"
        answers = Counter(rows.load("IRFL", table)["answer"])
        assert sum(answers.values()) == counts.ROWS[table]
        assert chi_square(answers) < most
        all_answers += answers
    assert sum(all_answers.values()) == 810
    assert chi_square(all_answers) < most


# --- detection ---


def test_a_row_is_named_by_its_line_where_cells_before_it_have_line_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    metaphors = [metaphor_row(phrase="a\nb\nc"), metaphor_row(10, phrase="d\ne", type="?")]
    write_table(tmp_path / "figlang_mini_irfl", "metaphor-detection-task", metaphors)
    with pytest.raises(DataError, match=r"csv, line 5: type is '\?'"):
        tables.read_detection_table("figlang_mini_irfl", "metaphor-detection-task")


def test_the_place_of_an_answer_depends_on_table_row_and_phrase() -> None:
    def indices(table: str, phrase: str) -> list[int]:
        return [rows.answer_index(table, number, phrase, 4) for number in range(64)]

    assert indices("a", "p") == indices("a", "p")
    assert indices("a", "p") != indices("b", "p")
    assert indices("a", "p") != indices("a", "q")
    assert len(set(indices("a", "p"))) == 4


def test_documents_of_detection_hold_candidates_roles_and_answer(two_metaphors: Path) -> None:
    documents = rows.load("figlang_mini_irfl", "metaphor-detection-task")
    assert documents["id"] == ["metaphor-detection-task-0", "metaphor-detection-task-1"]
    for number, doc in enumerate(documents):
        answer, *_, random_image = uuids = [uuid(10 * number + offset) for offset in range(4)]
        role_by_uuid = dict(zip(doc["candidates"], doc["roles"], strict=True))
        assert sorted(doc["candidates"]) == uuids
        assert doc["candidates"][doc["answer"]] == answer
        assert role_by_uuid[answer] == "answer"
        assert role_by_uuid[random_image] == "random"
        assert (doc["figurative_type"], doc["type"]) == ("metaphor", "figurative")


def test_rotations_show_each_candidate_at_each_place(two_metaphors: Path) -> None:
    documents = rows.load("figlang_mini_irfl", "metaphor-detection-task")
    rotated_documents = rows.load("figlang_mini_irfl", "metaphor-detection-task", rotations=True)
    assert len(set(rotated_documents["id"])) == len(rotated_documents) == 8
    for number, doc in enumerate(documents):
        role_by_uuid = dict(zip(doc["candidates"], doc["roles"], strict=True))
        for turn in range(4):
            rotated = rotated_documents[4 * number + turn]
            assert rotated["row"] == doc["row"]
            assert rotated["candidates"] == doc["candidates"][turn:] + doc["candidates"][:turn]
            roles = [role_by_uuid[picture_uuid] for picture_uuid in rotated["candidates"]]
            assert rotated["roles"] == roles


def test_rotations_bring_the_answer_to_each_place(two_metaphors: Path) -> None:
    documents = rows.load("figlang_mini_irfl", "metaphor-detection-task", rotations=True)
    for number in range(2):
        rotations = [documents[4 * number + turn] for turn in range(4)]
        assert sorted(doc["answer"] for doc in rotations) == [0, 1, 2, 3]
        for doc in rotations:
            assert doc["candidates"][doc["answer"]] == uuid(10 * number)


# --- retrieval ---


@released_tables
@pytest.mark.usefixtures("released")
def test_documents_of_retrieval_are_the_images_of_all_rows() -> None:
    documents = rows.load("IRFL", "metaphor-retrieval-task")
    assert len(documents) == 323 + 729
    assert sum(documents["positive"]) == 323
    row_sizes = Counter(documents["row"])
    assert all(row_sizes[doc["row"]] == doc["images"] for doc in documents)
    assert {doc["role"] for doc in documents if doc["positive"]} == {"answer"}


@released_tables
@pytest.mark.usefixtures("released")
def test_the_order_of_a_rows_images_does_not_say_which_are_positive() -> None:
    relative_places: list[float] = []
    for doc in rows.load("IRFL", "metaphor-retrieval-task"):
        if doc["positive"]:
            image_number = int(doc["id"].rpartition("-")[2])
            relative_places.append(image_number / doc["images"])
    assert abs(sum(relative_places) / len(relative_places) - 0.5) < 0.06


def test_images_of_a_ranking_stand_in_the_order_of_their_uuids(two_metaphors: Path) -> None:
    ranking = {
        "images_metadata": [{"uuid": uuid(number), "category": "x"} for number in range(6)],
        "type": "FvsPL",
        "phrase": "time is a thief",
        "first_category": [uuid(4), uuid(1)],
        "second_category": [uuid(5), uuid(0), uuid(3), uuid(2)],
    }
    write_table(two_metaphors, "metaphor-retrieval-task", [ranking])
    documents = rows.load("figlang_mini_irfl", "metaphor-retrieval-task")
    assert documents["candidates"] == [[uuid(number)] for number in range(6)]
    assert documents["positive"] == [False, True, False, False, True, False]


# --- the text of a row ---


@pytest.mark.parametrize(
    ("definitions", "phrase_only", "text"),
    [
        (["A good person", "A hero"], False, "white hat.A good person.A hero."),
        (["A good person", "A hero"], True, "white hat"),
        ([], False, "white hat"),
    ],
)
def test_the_text_is_what_the_authors_give_to_matching_models(
    definitions: list[str], phrase_only: bool, text: str
) -> None:
    doc = {"phrase": "white hat", "definitions": definitions}
    assert rows.phrase_text(doc, phrase_only=phrase_only) == text
