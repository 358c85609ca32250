"""AdMIRe's files as documents: the layout of the release, what is refused, and the real annotations
where they are.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import rows_with_images
from documents import ROOT, blocks

from figlang_tasks import DataError
from figlang_tasks.benchmarks.admire import counts, parse, rows, tasks
from figlang_tasks.core import hub

REAL = "data/admire/targets/a_en_test_targets.tsv"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path


def test_the_example_of_the_card(here: Path) -> None:
    text = (ROOT / "docs/cards/admire.md").read_text(encoding="utf-8").partition("## Paper")[0]
    prompt, answer = (block.text for block in blocks(text.partition("## Example\n")[2]))
    rows_with_images.write_admire(here)
    document = rows.load("AdMIRe", "en_test", "pictures")[0]
    (turn,) = tasks.doc_to_messages(document, {"prompt": "rank"})
    assert prompt == "\n".join(part.get("text", "[image]") for part in turn["content"]) + "\n"
    assert answer == tasks.doc_to_target(document) + "\n"


@pytest.mark.parametrize("table", ["en_extended", "pt_test", "sequence_both"])
def test_documents(table: str, here: Path) -> None:
    for each in counts.BOTH.get(table, (table,)):
        rows_with_images.write_admire(here, each)
    found = rows.load("AdMIRe", table, "captions")
    assert len(found) == counts.ROWS[table] and len(set(found["data"])) == 1
    for document in found:
        part = document["id"].rpartition("-")[0]
        (row,) = [
            each
            for each in rows_with_images.admire_rows(part)
            if each["compound"] == document["compound"]
        ]
        cells = {row[f"image{n}_name"]: n for n in range(1, len(document["names"]) + 1)}
        captions = [
            row[f"image{cells[name]}_caption{'_pt' * part.startswith('pt')}"]
            for name in document["names"]
        ]
        assert document["captions"][-len(captions) :] == [
            caption.replace("\\n", "\n") for caption in captions
        ]
        assert (
            document["sense"] == row["sentence_type"]
            and Path(document["paths"][-1]).name == document["names"][-1]
        )
        target = tasks.doc_to_target(document)
        if part.startswith("sequence"):
            item, sense = parse.sequence(target, 4)
            assert item.value is not None
            assert (
                document["names"][item.value] == row["expected_item"]
                and sense.value == row["sentence_type"]
            )
            assert 'A "middle"\nhere.' in tasks.doc_to_text(document, {"prompt": "sequence"})
        else:
            ranked = parse.ranking(target, 5).value
            assert ranked is not None
            assert [document["names"][place] for place in ranked] == document["order"]
            assert str(document["order"]) == row["expected_order"]
    if table in counts.BOTH:
        assert found["compound"][::2] == found["compound"][1::2]
        assert all(
            set(pair) == set(rows.SENSES)
            for pair in zip(found["sense"][::2], found["sense"][1::2], strict=True)
        )


def test_the_order_shown_depends_on_names_alone(here: Path) -> None:
    rows_with_images.write_admire(here, "en_test")
    found = {each["compound"]: each["names"] for each in rows.load("AdMIRe", "en_test", "captions")}
    other = [
        row | {"expected_order": str(sorted(rows.QUOTED_NAME.findall(row["expected_order"])))}
        for row in rows_with_images.admire_rows("en_test")
    ]
    rows_with_images.write_admire_table(here, "en_test", other[::-1])
    hub.clear_caches()
    assert {
        each["compound"]: each["names"] for each in rows.load("AdMIRe", "en_test", "captions")
    } == found


def test_labels_from_the_files_of_the_scorer(here: Path) -> None:
    for table, label in (("en_extended", "expected_order"), ("sequence_test", "expected_item")):
        rows_with_images.write_admire(here, table)
        found = rows_with_images.admire_rows(table)
        document = rows.load("AdMIRe", table, "captions")[3]
        rows_with_images.write_admire_table(
            here, table, [row | {"sentence_type": "", label: ""} for row in found]
        )
        hub.clear_caches()
        with pytest.raises(
            DataError,
            match=rf"line 2: {label} is empty, and no file \*targets\*.tsv below .*more fault",
        ):
            rows.load("AdMIRe", table, "captions")
        _place, _name = rows_with_images.admire_folder_and_file(here, table)
        kept = [{key: row[key] for key in ("compound", "sentence_type", label)} for row in found]
        path = rows_with_images.write_admire_table(here / "elsewhere", table, kept)
        path.rename(here / "AdMIRe" / f"a_{table}_targets.tsv")
        hub.clear_caches()
        assert rows.load("AdMIRe", table, "captions")[3] == document, "and the digest is the same"
        names = [row["image1_name"] for row in found[:2]]
        twice = [*kept[:2], {**kept[1], "sentence_type": "literal", label: names[1]}]
        rows_with_images.write_admire_table(here / "elsewhere", table, twice).rename(
            here / "AdMIRe" / f"b_{table}_targets.tsv"
        )
        hub.clear_caches()
        with pytest.raises(
            DataError, match=r"line 3: .*a_.*targets.tsv, line 3 and .*b_.*, line 4 have different"
        ):
            rows.load("AdMIRe", table, "captions")


def test_a_file_that_is_there_twice_is_refused(here: Path) -> None:
    rows_with_images.write_admire(here, "en_test", pictures=False)
    place, name = rows_with_images.admire_folder_and_file(here, "en_test")
    (place / "again").mkdir()
    (place / "again" / name).write_bytes((place / name).read_bytes())
    with pytest.raises(DataError, match=r"subtask_a_test.tsv is there 2 times"):
        rows.load("AdMIRe", "en_test", "captions")


@pytest.mark.parametrize("shared_file", [REAL], indirect=True)
def test_the_released_annotations(shared_file: Path, here: Path) -> None:
    source = shared_file.parents[1]
    (here / "AdMIRe").mkdir()
    for path in source.glob("targets/*.tsv"):
        (here / "AdMIRe" / path.name).write_bytes(path.read_bytes())
    labels = {}
    tables = {f"en_{part}": f"subtask_a_en_{name}.tsv" for part, name in counts.PARTS.items()}
    tables |= {f"sequence_{part}": f"subtask_b_en_{part}.tsv" for part in ("train", "dev")}
    for table, name in tables.items():
        place, file = rows_with_images.admire_folder_and_file(here, table)
        place.mkdir(parents=True)
        (place / file).write_bytes((source / name).read_bytes())
        found = rows.load("AdMIRe", table, "captions")
        labels[table] = (found["sense"].count("idiomatic"), found["sense"].count("literal"))
    assert labels == {  # neighbours.md, section 3.2
        "en_train": (39, 31),
        "en_dev": (7, 8),
        "en_test": (8, 7),
        "en_extended": (46, 54),
        "sequence_train": (13, 7),
        "sequence_dev": (2, 3),
    }
    both = rows.load("AdMIRe", "en_both", "captions")
    assert Counter(Counter(both["compound"]).values()) == {2: 100} and Counter(
        both["sense"]
    ) == dict.fromkeys(rows.SENSES, 100)
    assert {each["compound"] for each in both if "extended" in each["id"]} == set(both["compound"])
    assert not any(re.search("<image>", caption) for each in both for caption in each["captions"])
    places = Counter(each["names"].index(each["order"][0]) for each in both)
    # Chi squared, 4 degrees, 5 %
    assert sum((places[place] - 40) ** 2 / 40 for place in range(5)) < 9.49
