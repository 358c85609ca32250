"""AdMIRe's rows as documents: if this fails, the layout of the release is read wrongly, a fault is
accepted, or the real annotations are not those that the paper counts.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import rows_with_images
from documents import ROOT, blocks

from figlang_tasks import DataError
from figlang_tasks.benchmarks.admire import counts, parse, rows, tasks
from figlang_tasks.core import hub

REAL = "data/admire/targets/a_en_test_targets.tsv"

TABLES_OF_EACH_KIND = ["en_extended", "pt_test", "sequence_both"]


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty FIGLANG_DATA_DIR."""
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path


def load_with_captions(table: str) -> Any:
    """The documents of a table, read from the files as they are now."""
    hub.clear_caches()
    return rows.load("AdMIRe", table, "captions")


def part_of(document: dict[str, Any]) -> str:
    """The table of the part that a document comes from: ``en_test`` of the id ``en_test-0``."""
    part, _, _ = document["id"].rpartition("-")
    return str(part)


# --- documents of made-up rows ---


@pytest.fixture(scope="module")
def written_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A FIGLANG_DATA_DIR with a table of each kind, written once."""
    part_tables: list[str] = []
    for table in TABLES_OF_EACH_KIND:
        part_tables += counts.BOTH.get(table, (table,))
    return rows_with_images.write_admire(tmp_path_factory.mktemp("tables"), *part_tables)


@pytest.fixture
def documents(table: str, written_tables: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The documents of a table."""
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(written_tables))
    return load_with_captions(table)


def cells_of(document: dict[str, Any]) -> dict[str, Any]:
    """The cells of the row that a document was made of."""
    matching_rows: list[dict[str, Any]] = []
    for row in rows_with_images.admire_rows(part_of(document)):
        if row["compound"] == document["compound"]:
            matching_rows.append(row)
    (cells,) = matching_rows
    return cells


def captions_of_candidates(document: dict[str, Any], cells: dict[str, Any]) -> list[str]:
    """The captions of the candidates in the order shown, in the language of the table."""
    suffix = "_pt" if part_of(document).startswith("pt") else ""
    caption_by_name: dict[str, str] = {}
    for number in range(1, len(document["names"]) + 1):
        caption = cells[f"image{number}_caption{suffix}"]
        caption_by_name[cells[f"image{number}_name"]] = caption.replace("\\n", "\n")
    return [caption_by_name[name] for name in document["names"]]


@pytest.mark.parametrize("table", TABLES_OF_EACH_KIND)
def test_each_row_of_a_table_is_a_document(table: str, documents: Any) -> None:
    assert len(documents) == counts.ROWS[table]
    assert len(set(documents["data"])) == 1


@pytest.mark.parametrize("table", TABLES_OF_EACH_KIND)
def test_a_document_has_the_sense_the_captions_and_the_paths_of_its_row(documents: Any) -> None:
    for document in documents:
        cells = cells_of(document)
        captions = captions_of_candidates(document, cells)
        assert document["captions"][-len(captions) :] == captions
        assert document["sense"] == cells["sentence_type"]
        assert Path(document["paths"][-1]).name == document["names"][-1]


@pytest.mark.parametrize("table", ["en_extended", "pt_test"])
def test_the_target_of_a_ranking_is_read_as_the_expected_order(documents: Any) -> None:
    for document in documents:
        ranking = parse.ranking(tasks.doc_to_target(document), 5).value
        assert ranking is not None
        assert [document["names"][index] for index in ranking] == document["order"]
        assert str(document["order"]) == cells_of(document)["expected_order"]


@pytest.mark.parametrize("table", ["sequence_both"])
def test_the_target_of_a_sequence_is_read_as_its_picture_and_sense(documents: Any) -> None:
    for document in documents:
        cells = cells_of(document)
        picture, sense = parse.sequence(tasks.doc_to_target(document), 4)
        assert picture.value is not None
        assert document["names"][picture.value] == cells["expected_item"]
        assert sense.value == cells["sentence_type"]
        prompt = tasks.doc_to_text(document, {"prompt": "sequence"})
        assert 'A "middle"\nhere.' in prompt


@pytest.mark.parametrize("table", ["sequence_both"])
def test_the_two_senses_of_a_compound_stand_together(documents: Any) -> None:
    assert documents["compound"][::2] == documents["compound"][1::2]
    pairs = zip(documents["sense"][::2], documents["sense"][1::2], strict=True)
    assert all(set(pair) == set(rows.SENSES) for pair in pairs)


def test_the_example_of_the_card_is_the_prompt_and_the_target_of_a_row(data_dir: Path) -> None:
    card = (ROOT / "docs/cards/admire.md").read_text(encoding="utf-8")
    _, _, text_behind_heading = card.partition("## Paper")[0].partition("## Example\n")
    prompt_block, answer_block = blocks(text_behind_heading)

    rows_with_images.write_admire(data_dir)
    document = rows.load("AdMIRe", "en_test", "pictures")[0]
    (turn,) = tasks.doc_to_messages(document, {"prompt": "rank"})
    prompt_lines = [part.get("text", "[image]") for part in turn["content"]]
    assert prompt_block.text == "\n".join(prompt_lines) + "\n"
    assert answer_block.text == tasks.doc_to_target(document) + "\n"


def test_the_order_shown_depends_on_names_alone(data_dir: Path) -> None:
    """Neither the expected order nor the order of the rows may decide it: both tell the answer."""
    rows_with_images.write_admire(data_dir, "en_test")
    names_by_compound = {row["compound"]: row["names"] for row in load_with_captions("en_test")}

    changed_rows: list[dict[str, Any]] = []
    for row in rows_with_images.admire_rows("en_test"):
        names = rows.QUOTED_NAME.findall(row["expected_order"])
        changed_rows.append({**row, "expected_order": str(sorted(names))})
    rows_with_images.write_admire_table(data_dir, "en_test", changed_rows[::-1])
    changed_names = {row["compound"]: row["names"] for row in load_with_captions("en_test")}
    assert changed_names == names_by_compound


# --- files of targets, which the organisers released apart ---


def write_targets(data_dir: Path, table: str, targets: list[dict[str, Any]], prefix: str) -> None:
    """Write ``PREFIX_TABLE_targets.tsv`` into the folder of the dataset."""
    path = rows_with_images.write_admire_table(data_dir / "elsewhere", table, targets)
    path.rename(data_dir / "AdMIRe" / f"{prefix}_{table}_targets.tsv")


@pytest.mark.parametrize(
    ("table", "label_column"),
    [("en_extended", "expected_order"), ("sequence_test", "expected_item")],
)
def test_labels_come_from_the_files_of_the_scorer_where_a_table_has_none(
    table: str, label_column: str, data_dir: Path
) -> None:
    rows_with_images.write_admire(data_dir, table)
    labelled_document = load_with_captions(table)[3]
    labelled_rows = rows_with_images.admire_rows(table)

    rows_without_labels: list[dict[str, Any]] = []
    targets: list[dict[str, Any]] = []
    for row in labelled_rows:
        rows_without_labels.append({**row, "sentence_type": "", label_column: ""})
        target_columns = ("compound", "sentence_type", label_column)
        targets.append({column: row[column] for column in target_columns})
    rows_with_images.write_admire_table(data_dir, table, rows_without_labels)
    missing = rf"line 2: {label_column} is empty, and no file \*targets\*.tsv below .*more fault"
    with pytest.raises(DataError, match=missing):
        load_with_captions(table)

    write_targets(data_dir, table, targets, prefix="a")
    assert load_with_captions(table)[3] == labelled_document, "and the digest is the same"

    first_name_of_second_row = labelled_rows[1]["image1_name"]
    contradiction = {"sentence_type": "literal", label_column: first_name_of_second_row}
    write_targets(data_dir, table, [*targets[:2], {**targets[1], **contradiction}], prefix="b")
    different = r"line 3: .*a_.*targets.tsv, line 3 and .*b_.*, line 4 have different"
    with pytest.raises(DataError, match=different):
        load_with_captions(table)


def test_a_file_that_is_there_twice_is_refused(data_dir: Path) -> None:
    rows_with_images.write_admire(data_dir, "en_test", pictures=False)
    table_folder, file_name = rows_with_images.admire_folder_and_file(data_dir, "en_test")
    second_folder = table_folder / "again"
    second_folder.mkdir()
    (second_folder / file_name).write_bytes((table_folder / file_name).read_bytes())
    with pytest.raises(DataError, match=r"subtask_a_test.tsv is there 2 times"):
        load_with_captions("en_test")


# --- the real annotations ---

RELEASED_FILES = {
    "en_train": "subtask_a_en_train.tsv",
    "en_dev": "subtask_a_en_dev.tsv",
    "en_test": "subtask_a_en_test.tsv",
    "en_extended": "subtask_a_en_xe.tsv",
    "sequence_train": "subtask_b_en_train.tsv",
    "sequence_dev": "subtask_b_en_dev.tsv",
}
"""The names that the released files have in the project's shared folder, by table."""


@pytest.fixture
def released_annotations(shared_file: Path, data_dir: Path) -> None:
    """The released tables and targets, laid out as in the organisers' archives."""
    released_folder = shared_file.parents[1]
    (data_dir / "AdMIRe").mkdir()
    for path in released_folder.glob("targets/*.tsv"):
        (data_dir / "AdMIRe" / path.name).write_bytes(path.read_bytes())
    for table, released_name in RELEASED_FILES.items():
        table_folder, file_name = rows_with_images.admire_folder_and_file(data_dir, table)
        table_folder.mkdir(parents=True)
        (table_folder / file_name).write_bytes((released_folder / released_name).read_bytes())


@pytest.mark.parametrize("shared_file", [REAL], indirect=True)
def test_the_released_tables_have_the_senses_of_the_paper(released_annotations: None) -> None:
    sense_counts: dict[str, tuple[int, int]] = {}
    for table in RELEASED_FILES:
        senses = load_with_captions(table)["sense"]
        sense_counts[table] = (senses.count("idiomatic"), senses.count("literal"))
    assert sense_counts == {  # neighbours.md, section 3.2
        "en_train": (39, 31),
        "en_dev": (7, 8),
        "en_test": (8, 7),
        "en_extended": (46, 54),
        "sequence_train": (13, 7),
        "sequence_dev": (2, 3),
    }


@pytest.mark.parametrize("shared_file", [REAL], indirect=True)
def test_the_released_extended_rows_complete_both_senses(released_annotations: None) -> None:
    documents = load_with_captions("en_both")
    rows_per_compound = Counter(documents["compound"])
    assert Counter(rows_per_compound.values()) == {2: 100}
    assert Counter(documents["sense"]) == dict.fromkeys(rows.SENSES, 100)
    extended_compounds = {row["compound"] for row in documents if "extended" in row["id"]}
    assert extended_compounds == set(documents["compound"])
    for document in documents:
        assert not any("<image>" in caption for caption in document["captions"])


@pytest.mark.parametrize("shared_file", [REAL], indirect=True)
def test_the_expected_picture_stands_anywhere_in_the_order_shown(
    released_annotations: None,
) -> None:
    positions: Counter[int] = Counter()
    for document in load_with_captions("en_both"):
        positions[document["names"].index(document["order"][0])] += 1
    expected = 40  # of 200 rows with 5 candidates
    chi_squared = sum((positions[index] - expected) ** 2 / expected for index in range(5))
    assert chi_squared < 9.49  # 4 degrees of freedom, 5 %
