"""A fault of MetaCLUE's annotations goes unnoticed, or the import writes other rows, if this fails."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from metaclue_rows import picture, row, write
from PIL import Image

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import schema
from figlang_tasks.benchmarks.metaclue.importing import import_files
from figlang_tasks.core import hub
from figlang_tasks.core.hub import DataError


def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Iterable[dict[str, Any]], **how: Any) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(write(tmp_path, found, **how)))
    return tmp_path / "MetaCLUE"


# --- schema ----------------------------------------------------------------------------------------------------------


def test_empty_lines_count_and_further_faults_are_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = local(tmp_path, monkeypatch, [row(0)], pictures=False)
    path = folder / "annotations.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\r\n\n{}\n[]\n")
    with pytest.raises(DataError, match=r"line 4: 'schema' is a required.* 1 more fault.*figlang data check"):
        annotation_file.read("MetaCLUE")
    path.write_bytes(b"\xff\n" + path.read_bytes())
    with pytest.raises(DataError, match="line 1 is not UTF-8"):
        annotation_file.read("MetaCLUE")


# --- pictures --------------------------------------------------------------------------------------------------------


def test_size_is_that_of_the_upright_picture(tmp_path: Path) -> None:
    image = Image.new("RGB", (30, 20))
    exif = image.getexif()
    exif[0x0112] = 6  # turn by 90 degrees to see it upright
    image.save(tmp_path / "turned.jpg", exif=exif)
    image.save(tmp_path / "plain.jpg")
    assert annotation_file.size_of(tmp_path / "turned.jpg", "x") == (20, 30)
    assert annotation_file.size_of(tmp_path / "plain.jpg", "x") == (30, 20)
    (tmp_path / "no.jpg").write_bytes(b"no picture")
    with pytest.raises(DataError, match="here: the picture cannot be read"):
        annotation_file.size_of(tmp_path / "no.jpg", "here")


# --- import ----------------------------------------------------------------------------------------------------------

COLUMNS = ["image", "split", "set", "votes", "primary", "relationship", "secondary"]
TABLE = [
    ["0/10.jpg", "test", "", "5", "this  car", "fast", "a cheetah"],
    ["0/10.jpg", "test", "", "5", "the car", "quick", "a big cat, running"],
    ["1/11.jpg", "train", "", "1", "", "", ""],
    ["10/170003.png", "test", "literal_negative", "", "", "", ""],
]
BOXES = [
    ["image", "role", "type", "left", "top", "right", "bottom"],
    ["0/10.jpg", "primary", "logo", "1", "2", "9", "9.5"],
]


def as_csv(lines: Iterable[Iterable[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue()


@pytest.fixture
def pitt(tmp_path: Path) -> Path:
    folder = tmp_path / "pitt"
    for number, line in enumerate(TABLE):
        path = folder / line[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(number))
    topics = {"0/10.jpg": ["a car", "16", "7", "7"], "1/11.jpg": ["my own words", "other"], "9/9.jpg": []}
    (folder / "Topics.json").write_text(json.dumps(topics))
    return folder


def imported(pitt: Path, tmp_path: Path, table: str, boxes: str | None = None, suffix: str = ".csv") -> Path:
    (tmp_path / f"table{suffix}").write_text(table, encoding="utf-8", newline="")
    if boxes is not None:
        (tmp_path / "boxes.csv").write_text(boxes, encoding="utf-8", newline="")
    output = tmp_path / "data" / "MetaCLUE"
    said = import_files(
        pitt, tmp_path / f"table{suffix}", output, boxes=None if boxes is None else tmp_path / "boxes.csv"
    )
    assert said.startswith(str(output))
    return output


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_import(pitt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    table = as_csv([COLUMNS, *TABLE])
    if suffix == ".jsonl":
        table = "".join(json.dumps(dict(zip(COLUMNS, line, strict=True))) + "\n" for line in TABLE)
    folder = imported(pitt, tmp_path, table, as_csv(BOXES), suffix)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(folder.parent))
    first, second, third = annotation_file.read("MetaCLUE").rows
    assert [metaphor.statement for metaphor in first.metaphors] == [
        "this car is as fast as a cheetah",
        "the car is as quick as a big cat, running",
    ]
    assert (first.best.primary, first.topic, first.set) == ("this car", "7", "metaphor")
    assert first.boxes == (schema.Box("primary", "logo", (1, 2, 9, 9.5)),)
    assert (second.set, second.topic, second.split) == ("symbolic_negative", "my own words", "train")
    assert (third.set, third.image) == ("literal_negative", "10/170003.png")
    assert (folder / "10/170003.png").read_bytes() == (pitt / "10/170003.png").read_bytes()
    # once more over what is there, with another table
    again = [line for line in TABLE if line[0] != "1/11.jpg"]
    (pitt / "0/10.jpg").unlink()
    (pitt / "0/10.jpg").write_bytes(picture(9, side=48))  # another file under its name
    imported(pitt, tmp_path, as_csv([COLUMNS, *again]))
    assert (folder / "0/10.jpg").read_bytes() == picture(9, side=48)
    hub.look_again()
    assert len(annotation_file.read("MetaCLUE").rows) == 2


def test_import_takes_the_first_as_the_best_unless_one_is_marked(pitt: Path, tmp_path: Path) -> None:
    for marks, best in ((["", ""], 0), (["", "true"], 1), (["0", "1"], 1)):
        marked = [[*line, mark] for line, mark in zip(TABLE[:2], marks, strict=True)]
        folder = imported(pitt, tmp_path, as_csv([[*COLUMNS, "best"], *marked]))
        found = schema.check(json.loads((folder / "annotations.jsonl").read_text().splitlines()[0]), "here")
        assert [metaphor.best for metaphor in found.metaphors].index(True) == best


IMPORT_FAULTS: dict[str, tuple[list[list[str]], list[list[str]], str]] = {
    "no column": ([COLUMNS[:-1], TABLE[0][:-1]], BOXES, "table.csv, line 1 has no column secondary: it must have"),
    "unknown column": ([[*COLUMNS, "x"], [*TABLE[0], "1"]], BOXES, "line 2: unknown column x; valid: image, split"),
    "picture": ([COLUMNS, TABLE[0], ["0/11.jpg", *TABLE[0][1:]]], BOXES, "line 3: there is no picture 0/11.jpg in"),
    "contradiction": ([COLUMNS, TABLE[0], ["0/10.jpg", "train", *TABLE[1][2:]]], BOXES, "line 3: split is 'train'"),
    "no set": ([COLUMNS, [*TABLE[0][:3], "", *TABLE[0][4:]]], BOXES, "line 2: set and votes are both missing"),
    "part": ([COLUMNS, [*TABLE[0][:6], ""]], BOXES, r'line 2: metaphors\[0\].secondary is "", must be a text'),
    "box image": ([COLUMNS, TABLE[0]], [BOXES[0], ["1/1.jpg", *BOXES[1][1:]]], "boxes.csv, line 2: the image 1/1.jpg"),
    "box edge": ([COLUMNS, TABLE[0]], [BOXES[0], [*BOXES[1][:3], "a", "0", "1", "1"]], "boxes.csv, line 2: could not"),
    "box beyond": ([COLUMNS, TABLE[0]], [BOXES[0], [*BOXES[1][:3], "0", "0", "33", "9"]], "but the picture is 32 x 32"),
    "no rows": ([COLUMNS], BOXES, "table.csv has no rows"),
}  # fmt: skip


@pytest.mark.parametrize("fault", IMPORT_FAULTS)
def test_import_names_the_fault_and_writes_nothing(pitt: Path, tmp_path: Path, fault: str) -> None:
    table, boxes, message = IMPORT_FAULTS[fault]
    with pytest.raises(DataError, match=message):
        imported(pitt, tmp_path, as_csv(table), as_csv(boxes))
    assert not (tmp_path / "data").exists()


def test_import_names_the_fault_of_a_json_line(pitt: Path, tmp_path: Path) -> None:
    first = json.dumps(dict(zip(COLUMNS, TABLE[2], strict=True)))
    line = '{"image": "0/10.jpg", "split": "test", "votes": 5, "primary": NaN, "relationship": "a", "secondary": "b"}'
    with pytest.raises(DataError, match="line 2: primary is nan, must be a text"):
        imported(pitt, tmp_path, f"{first}\n{line}\n", suffix=".jsonl")
    assert not (tmp_path / "data").exists()


def test_import_tells_what_it_cannot_read_or_write(pitt: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(as_csv([COLUMNS, TABLE[0]]), newline="")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match="file/out cannot be written"):
        import_files(pitt, table, tmp_path / "file" / "out")
    for text in ("[" * 100_000, '{"0/10.jpg": ' + "[" * 100_000):
        (pitt / "Topics.json").write_text(text)
        with pytest.raises(DataError, match="is not Topics.json of the Pitt Ads"):
            import_files(pitt, table, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_import_needs_the_pitt_ads_and_a_place(pitt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_DATA_DIR", raising=False)
    with pytest.raises(DataError, match="the output folder is missing: give one, or set FIGLANG_DATA_DIR"):
        import_files(pitt, tmp_path / "table.csv")
    with pytest.raises(DataError, match="give the folder of the Pitt Ads"):
        import_files(tmp_path / "none", tmp_path / "table.csv", tmp_path / "out")
    with pytest.raises(DataError, match="none.json is not Topics.json"):
        import_files(pitt, tmp_path / "table.csv", tmp_path / "out", topics=tmp_path / "none.json")


def test_the_mini_set_is_in_the_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_DATA_DIR", raising=False)
    table = annotation_file.read("figlang_mini_metaclue")
    assert annotation_file.picture_faults("figlang_mini_metaclue", table, table.rows, whole=True, boxes=True) == []
