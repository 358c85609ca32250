"""Tables of predictions: every form gives the texts that were written; small bombs do no harm."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.worksheet._read_only import ReadOnlyWorksheet
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula

from figlang_tasks.core.errors import FigLangError, RunError
from figlang_tasks.results.predictions import tables
from figlang_tasks.results.predictions.forms import read_predictions
from figlang_tasks.results.predictions.prediction import ColumnNames, PredictionFile

FORMS = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx")
SHEET = "xl/worksheets/sheet1.xml"
USUAL = ColumnNames()

# What an Excel file may hold: no control characters, and no half of a surrogate pair. A "_x0041_"
# is an escape there. Excel keeps at most 32,767 characters.
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(
    lambda text: "_x" not in text and "\ufffe" not in text and "\uffff" not in text
)


def read(path: Path) -> PredictionFile:
    return read_predictions(path, USUAL, "a_task")


def write_frame(frame: pd.DataFrame, path: Path) -> Path:
    """Write a table as users of pandas do."""
    writers = {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        ".json": lambda: frame.to_json(path, orient="records"),
        ".jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        ".parquet": lambda: frame.to_parquet(path),
        ".xlsx": lambda: frame.to_excel(path, index=False),
    }
    writers[path.suffix]()
    return path


def write_excel(path: Path, *rows: tuple[object, ...]) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def with_member(path: Path, name: str, change: tuple[bytes, bytes]) -> Path:
    """Write an Excel file again with other bytes in one of its members."""
    with zipfile.ZipFile(path) as archive:
        contents = {member: archive.read(member) for member in archive.namelist()}
    old, new = change
    assert old in contents[name]
    contents[name] = contents[name].replace(old, new, 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in contents.items():
            archive.writestr(member, content)
    return path


@pytest.mark.parametrize("form", FORMS)
@given(outputs=st.lists(texts, min_size=1, max_size=5))
def test_texts_that_pandas_writes_are_read_as_they_are(
    form: str, outputs: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    ids = [f"row {number}" for number in range(len(outputs))]
    frame = pd.DataFrame({"id": ids, "output": outputs})
    file = read(write_frame(frame, tmp_path_factory.mktemp("table") / f"answers{form}"))
    assert [prediction.output for prediction in file.predictions] == outputs
    assert [prediction.id for prediction in file.predictions] == ids


@pytest.mark.parametrize("form", FORMS)
def test_a_formula_is_the_text_that_it_is(form: str, tmp_path: Path) -> None:
    outputs = ["=1+1", '=HYPERLINK("http://a.example","A")', "+A", "@SUM(1)", "-B"]
    frame = pd.DataFrame({"id": list("abcde"), "output": outputs})
    file = read(write_frame(frame, tmp_path / f"answers{form}"))
    assert [prediction.output for prediction in file.predictions] == outputs


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfid,output\r\na,A\r\nb,B\r\n",
        b"id,output\na,A\nb,B",
        b"id,output\ra,A\rb,B\r",
        b'\xef\xbb\xbf"id","output"\n"a","A"\n"b","B"\n',
    ],
)
def test_line_ends_and_byte_order_marks_change_nothing(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(content)
    predictions = read(path).predictions
    assert [(prediction.id, prediction.output) for prediction in predictions] == [
        ("a", "A"),
        ("b", "B"),
    ]


def test_whole_numbers_of_spreadsheets_have_no_decimals(tmp_path: Path) -> None:
    path = write_excel(tmp_path / "a.xlsx", ("id", None, "output"), (12.0, "x", 3.0), (13, "y", 4))
    predictions = read(path).predictions
    assert [prediction.id for prediction in predictions] == ["12", "13"]
    assert [prediction.output for prediction in predictions] == ["3", "4"]


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_cell_is_no_answer(form: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "output": ["A", None]})
    file = read(write_frame(frame, tmp_path / f"answers{form}"))
    assert not file.predictions[1].output


def test_ten_megabytes_in_a_cell_are_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["a"], "output": ["A " * 5_000_000]})
    file = read(write_frame(frame, tmp_path / "answers.csv"))
    assert file.predictions[0].output == "A " * 5_000_000


def test_columns_of_pictures_are_not_read(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": ["a"],
            "image": [{"bytes": b"\x00", "path": "a.png"}],
            "raw": [b"\xff"],
            "pictures": [[{"bytes": b"\x00"}]],
            "output": ["A"],
        }
    )
    pq.write_table(table, tmp_path / "answers.parquet")
    assert dict(read(tmp_path / "answers.parquet").predictions[0].texts) == {}


# --- what is refused ---


def refused_table(path: Path) -> str:
    with pytest.raises(FigLangError) as error:
        read(path)
    return str(error.value)


@pytest.mark.parametrize("output", [{"text": "A"}, b"A", ["A", "B"]])
def test_an_output_in_parquet_that_is_no_text_is_named(output: object, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"], "output": [output]}), tmp_path / "answers.parquet")
    message = refused_table(tmp_path / "answers.parquet")
    assert f"answers.parquet, row 0: output is {output!r}, must be a text" in message


def test_a_small_parquet_file_of_large_texts_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    text = pa.array(["A" * 2_000_000])  # is stored once
    outputs = pa.DictionaryArray.from_arrays(pa.array([0] * 900, pa.int32()), text)
    table = pa.table({"id": [str(row) for row in range(900)], "output": outputs})
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=10_000_000)
    assert path.stat().st_size < 100_000
    assert "unpacks to more than 1,073,741,824 bytes" in refused_table(path)


@pytest.mark.parametrize("kind", ["list", "binary", "object"])
def test_a_small_parquet_file_of_nested_texts_is_counted_before_it_is_unpacked(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "A" * 20_000
    cells: dict[str, object] = {"list": [text] * 2, "binary": text.encode(), "object": {"a": text}}
    output = pa.array([cells[kind]] * 900)
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"output": output}), path, compression="zstd")
    sizes: list[int] = []
    count = tables._unpacked_bytes

    def counted(column: pa.Array) -> int:
        sizes.append(column.nbytes)
        return count(column)

    monkeypatch.setattr(tables, "_unpacked_bytes", counted)
    monkeypatch.setattr(tables, "MOST_BYTES_OF_A_TABLE", 10_000_000)
    assert "unpacks to more than 10,000,000 bytes" in refused_table(path)
    assert max(sizes) < 200_000


def test_a_sheet_that_says_it_has_all_columns_has_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_excel(tmp_path / "wide.xlsx", ("id", "output"), ("a", "A"), ("b",))
    with_member(path, SHEET, (b'<dimension ref="A1:B3"', b'<dimension ref="A1:XFD1048576"'))
    widths: list[int] = []
    row = ReadOnlyWorksheet._get_row

    def measured_row(sheet: ReadOnlyWorksheet, *args: Any, **options: Any) -> tuple[object, ...]:
        cells: tuple[object, ...] = row(sheet, *args, **options)
        widths.append(len(cells))
        return cells

    monkeypatch.setattr(ReadOnlyWorksheet, "_get_row", measured_row)
    assert [prediction.output for prediction in read(path).predictions] == ["A", None]
    assert max(widths) == 2


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (ArrayFormula("B2", "=SUM(A1:A2)"), "=SUM(A1:A2)"),
        (DataTableFormula("B2", r1="A1", r2="A2"), "=TABLE(A1,A2)"),
    ],
)
def test_a_formula_of_several_cells_is_a_text(formula: object, text: str, tmp_path: Path) -> None:
    path = write_excel(tmp_path / "formula.xlsx", ("id", "output"), ("a", formula))
    assert read(path).predictions[0].output == text


def test_an_array_in_a_cell_of_a_frame_is_a_list() -> None:
    frame = pd.DataFrame({"id": ["a"], "scores": [np.array([0.5, 1.0])]})
    assert tables.predictions_of_frame(frame, USUAL).predictions[0].scores == [0.5, 1.0]


def test_an_excel_file_that_unpacks_to_gigabytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tables._MOST_UNPACKED_BYTES == 268_435_456
    monkeypatch.setattr(tables, "_MOST_UNPACKED_BYTES", 3_000_000)
    path = write_excel(tmp_path / "bomb.xlsx", ("id", "output"), ("a", "A"))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.png", b"\0" * 3_500_000)
    assert path.stat().st_size < 10_000
    assert "unpacks to more than 3,000,000 bytes" in refused_table(path)


def test_an_excel_file_whose_header_lies_about_a_size_is_refused(tmp_path: Path) -> None:
    path = write_excel(tmp_path / "lie.xlsx", ("id", "output"), ("a", "A"))
    with_member(path, SHEET, (b"<t>A</t>", b"<t>" + b"A" * 50_000_000 + b"</t>"))
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo(SHEET).file_size
    true_size, wrong_size = struct.pack("<I", size), struct.pack("<I", 1000)
    path.write_bytes(path.read_bytes().replace(true_size, wrong_size))
    assert "lie.xlsx is no Excel file that can be read" in refused_table(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "entity", ['<!ENTITY e "lol">', '<!ENTITY e SYSTEM "file:///etc/hostname">']
)
def test_entities_in_an_excel_file_are_refused(entity: str, encoding: str, tmp_path: Path) -> None:
    path = write_excel(tmp_path / "entities.xlsx", ("id", "output"), ("a", "A"))
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read(SHEET)
    start = sheet.index(b"<worksheet")
    declaration = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [{entity}]>'
    changed = declaration + sheet[start:].decode().replace(">A<", ">&e;<")
    with_member(path, SHEET, (sheet, changed.encode(encoding)))
    assert "has a document type, which Excel does not write" in refused_table(path)


@pytest.mark.parametrize(
    ("member", "change"),
    [
        (SHEET, (b"<worksheet", b"<")),
        ("xl/workbook.xml", (b"<sheets>", b"<sheets><sheet/>")),
        ("xl/_rels/workbook.xml.rels", (b"worksheets/sheet1.xml", b"worksheets/sheet9.xml")),
        ("[Content_Types].xml", (b"<Types", b"<Typ")),
    ],
)
def test_a_damaged_excel_file_is_named(
    member: str, change: tuple[bytes, bytes], tmp_path: Path
) -> None:
    path = write_excel(tmp_path / "damaged.xlsx", ("id", "output"), ("a", "A"))
    message = refused_table(with_member(path, member, change))
    assert "damaged.xlsx is no Excel file that can be read" in message
    assert message.endswith("save the sheet as CSV")


class _Touches:
    """Makes a file when it is read by pickle."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (self.path,)  # type: ignore[return-value]


@pytest.mark.parametrize("form", FORMS)
def test_nothing_in_a_file_is_executed(form: str, tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    path = tmp_path / f"answers{form}"
    path.write_bytes(pickle.dumps(_Touches(marker)))
    refused_table(path)
    path.write_text(json.dumps({"__reduce__": ["os.system", f"touch {marker}"]}))
    refused_table(path)
    assert not marker.exists()


@pytest.mark.parametrize("form", FORMS)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(
    form: str, content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("bytes") / f"answers{form}"
    path.write_bytes(content)
    try:
        read(path)
    except FigLangError as error:
        assert path.name in str(error)


@pytest.mark.parametrize("form", [".parquet", ".xlsx"])
@given(position=st.floats(0, 1, exclude_max=True), byte=st.integers(1, 255))
def test_a_changed_byte_is_read_or_refused(
    form: str, position: float, byte: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("bytes") / f"answers{form}"
    buffer = io.BytesIO()
    frame = pd.DataFrame({"id": ["a", "b"], "output": ["A", "B"]})
    if form == ".parquet":
        frame.to_parquet(buffer)
    else:
        frame.to_excel(buffer, index=False)
    content = bytearray(buffer.getvalue())
    content[int(position * len(content))] ^= byte
    path.write_bytes(content)
    try:
        read(path)
    except RunError as error:
        assert path.name in str(error)
