"""A sheet runs a formula, or what people filled in is misread, if these tests fail."""

from __future__ import annotations

import codecs
import csv
import io
import re
from itertools import cycle
from pathlib import Path

import pandas as pd
import pytest
from filled_sheets import Item, key_of, right_label, save_sheet, sheet_of
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import printable_lines
from figlang_tasks.judge import sheet

KEY = key_of(["one", "two"], [1, 0, 1])


def unsound(item: Item, system: str) -> tuple[str, str]:
    """The cells of an explanation that is unsound."""
    return "no", "unsound"


def system_two(item: Item) -> str:
    """The best system of every item."""
    return "two"


ROWS = sheet_of(KEY, "annotator 1", right_label, unsound, system_two)
COLUMNS = sheet.spellings_by_column("AB")
HEAD = ",".join(sheet.COLUMNS)
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="".join(map(chr, range(32)))),
    max_size=20,
)
nasty = st.builds(
    str.__add__,
    st.sampled_from(["", "=", "+", "-", "@", "'", "''=", " =", "\n=", "\t", "\r", "＝"]),
    texts,
)


@settings(max_examples=40)
@given(st.lists(nasty, min_size=1, max_size=3))
def test_no_cell_is_a_formula_and_texts_come_back(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    rows: list[dict[str, object]] = []
    for number, text in enumerate(texts, start=1):
        rows.append({**ROWS[0], "item": number, "claim": text})
    content = sheet.csv_bytes(sheet.COLUMNS, rows)
    assert content.startswith(codecs.BOM_UTF8)
    assert content.endswith(b'"\r\n')
    for row in csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")):
        cell = row["claim"]
        assert cell.lstrip()[:1] not in tuple("=+-@\t\r＝＋－＠")
        assert cell[:1] not in ("\t", "\r")
    path = tmp_path_factory.mktemp("sheet") / "s.csv"
    path.write_bytes(content)
    assert [*sheet.read(path).rows["claim"]] == [printable_lines(text) for text in texts]


@pytest.mark.parametrize(
    ("separator", "encoding"), [(",", "utf-8"), ("\t", "utf-8-sig"), (";", "cp1252")]
)
def test_a_sheet_saved_again_reads_the_same(tmp_path: Path, separator: str, encoding: str) -> None:
    rows = [{**row, "comment": "naïve; \n“so”, so"} for row in ROWS]
    path = save_sheet(tmp_path / "sheet.csv", rows)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    spellings = {
        "label": ("E", "0", "1 "),
        "adequate": (" NO ", "FALSE"),
        "error": ("U", " UNSOUND  "),
    }
    for column, spellings_of_column in spellings.items():
        next_spelling = cycle(spellings_of_column)
        frame[column] = [next(next_spelling) if cell else "" for cell in frame[column]]
    frame["preferred"] = frame["preferred"].str.lower()
    frame.loc[frame.index[::2], ["letter", "annotator"]] += " "
    frame = frame.sample(frac=1, random_state=1)  # sorted by another column
    frame["my notes"] = "?"
    frame = frame[frame.columns[::-1]].rename(columns={"adequate": " Adequate "})
    saved = frame.to_csv(index=False, sep=separator) + separator * 14 + "\n"
    (tmp_path / "again.csv").write_bytes(saved.encode(encoding))
    saved_again = sheet.read(tmp_path / "again.csv")
    judgements = judgements_of(sheet.read(path))
    assert judgements.count().sum() == 3 + 6 + 6 + 3
    assert judgements_of(saved_again).equals(judgements)
    assert saved_again.annotator == "annotator 1"
    assert saved_again.code == KEY["sheet"]
    assert {*saved_again.rows["explanation"]} == {"= one?", "= two?"}


def judgements_of(filled: sheet.Sheet) -> pd.DataFrame:
    """The judgements in a sheet, in the order of items and letters."""
    return sheet.read_judgements(filled, COLUMNS).drop(columns="row").sort_index()


def edited(changes: dict[int, dict[str, str]], drop: str = "") -> bytes:
    """The sheet of `ROWS` with other cells in some rows, by their number, and without a column."""
    rows = [{**row, **changes.get(number, {})} for number, row in enumerate(ROWS, start=2)]
    columns = [column for column in sheet.COLUMNS if column != drop]
    return sheet.csv_bytes(columns, rows)


def with_blank_lines(content: bytes) -> bytes:
    """A sheet without line ends in cells, with blank lines behind its head and its first row."""
    head, first, *others = content.splitlines(keepends=True)
    return b"".join([head, b"\r\n", first, b"\r\n", *others])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no CSV file with a head"),
        (edited({}, drop="adequate"), "its first row has 0 columns adequate, must have one"),
        (f"{HEAD},Adequate\n".encode(), "its first row has 2 columns adequate, must have one"),
        (HEAD.encode(), "has rows of 0 annotators"),
        (
            f"{HEAD}\n1,A,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s\n".encode(),
            "Expected 18 fields in line 2, saw 21",
        ),
        (edited({3: {"letter": "A"}}), "row 3: an earlier row has the same item and letter"),
        (
            edited({4: {"annotator": "Bob"}}),
            "has rows of 2 annotators or exports (first in the rows 2, 4)",
        ),
        (edited({4: {"sheet": ""}}), "has rows of 2 annotators or exports"),
        (edited({key: {"annotator": ""} for key in range(2, 99)}), "must be of one with a name"),
        (
            edited({5: {"error": "h, u"}}),
            "row 5, column error: 'h, u' is none of: hallucination, h; unsound, u; ",
        ),
        (
            with_blank_lines(edited({5: {"error": "h, u"}})),
            "row 7, column error: 'h, u' is none of",
        ),
        (
            with_blank_lines(edited({3: {"letter": "A"}})),
            "row 5: an earlier row has the same item and letter",
        ),
        (edited({4: {"preferred": "C"}}), "row 4, column preferred: 'C' is none of: none, -; a; b"),
        (edited({4: {"adequate": "yes"}}), "row 4: an adequate explanation has an error"),
        (
            edited({3: {"label": "contradiction"}}),
            "column label: item 1 has entailment and contradiction: keep one",
        ),
    ],
)
def test_a_sheet_that_cannot_be_used(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(content)
    with pytest.raises(FigLangError, match=f"{re.escape(str(path))}.*{re.escape(message)}"):
        sheet.read_judgements(sheet.read(path, COLUMNS), COLUMNS)
