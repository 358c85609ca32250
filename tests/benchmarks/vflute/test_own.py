"""Rows of the user in place of V-FLUTE's: the example runs; a fault is named by file, line, column and remedy."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from demo_runs import evaluate
from run_and_check import accepted, faults, refused

from figlang_tasks.benchmarks.vflute import rows, template
from figlang_tasks.benchmarks.vflute.benchmark import BENCHMARK
from figlang_tasks.cli.cite import signature
from figlang_tasks.cli.summary import summary_table
from figlang_tasks.core import hub
from figlang_tasks.results import provenance, runs
from figlang_tasks.submit import all_rows

Rows = list[dict[str, Any]]
TEST = {"dataset": "V-FLUTE", "split": "test"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example of ``figlang data template vflute``."""
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    template.template(tmp_path / "V-FLUTE")
    return tmp_path / "V-FLUTE"


def read(folder: Path) -> Rows:
    with (folder / "test.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path, items: Rows, encoding: str = "utf-8", name: str = "test.csv") -> None:
    with (folder / name).open("w", encoding=encoding, newline="") as file:
        if name.endswith(".csv"):
            writer = csv.DictWriter(file, [*items[0]])
            writer.writeheader()
            writer.writerows(items)
        else:
            file.writelines(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


def test_the_example_has_documents_like_the_release(folder: Path) -> None:
    documents = accepted(BENCHMARK, **TEST)
    assert documents["id"] == [f"example-{number}" for number in range(1, 12)]
    assert set(documents["label"]) == set(rows.LABELS)
    assert set(documents["report_group"]) == {
        f"mini_{each}" for each in ("simile", "metaphor", "idiom", "sarcasm", "humor")
    }
    # The first places of the released test split (test_rows.py has the first twelve from the released prompts).
    assert documents["instruction"] == [9, 10, 19, 12, 13, 5, 4, 8, 15, 6, 4]
    assert documents.unique("revision") == ["own"]


def test_csv_json_lines_and_other_line_ends_are_the_same_data(folder: Path) -> None:
    before, items = rows.load("V-FLUTE", "test"), read(folder)
    write(folder, items, "utf-8-sig")  # as Excel saves it
    hub.look_again()
    assert rows.load("V-FLUTE", "test").to_list() == before.to_list()
    (folder / "test.csv").unlink()
    write(folder, items, name="test.jsonl")
    hub.look_again()
    assert rows.load("V-FLUTE", "test").to_list() == before.to_list()
    items[0]["explanation"] += " Or not."
    write(folder, items, name="test.jsonl")
    hub.look_again()
    assert rows.load("V-FLUTE", "test")[0]["data"] != before[0]["data"]


def test_rows_without_a_source_count_in_the_whole_and_exemplars_are_of_the_users_train(folder: Path) -> None:
    write(folder, [{column: row[column] for column in [*row][:5]} for row in read(folder)], name="train.csv")
    assert rows.load("V-FLUTE", "train").unique("report_group") == ["other"]
    (shot,) = rows.exemplars("V-FLUTE", 1, 42)
    assert shot["image"].size == (224, 224) and shot["id"].startswith("example-")


def cell(column: str, value: str) -> Callable[[Path, Rows], None]:
    """A damage: another cell in the third row, which is line 4."""

    def change(folder: Path, items: Rows) -> None:
        items[2][column] = value
        write(folder, items)

    return change


def without(column: str) -> Callable[[Path, Rows], None]:
    return lambda folder, items: write(
        folder, [{name: text for name, text in row.items() if name != column} for row in items]
    )


def picture(content: bytes) -> Callable[[Path, Rows], object]:
    return lambda folder, items: (folder / "images" / "3.png").write_bytes(content)


def appended(text: bytes) -> Callable[[Path, Rows], object]:
    return lambda folder, items: (folder / "test.csv").open("ab").write(text)


def in_json(line: str) -> Callable[[Path, Rows], None]:
    def change(folder: Path, items: Rows) -> None:
        (folder / "test.csv").unlink()
        write(folder, items[:2], name="test.jsonl")
        with (folder / "test.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    return change


def parquet(folder: Path, items: Rows) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "test-00000-of-00001.parquet").write_bytes(b"")


THIRD = r"V-FLUTE/test.csv, line 4 \(example-3\): "


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (without("label"), r"test.csv, line 1 has no column label: it must have id, .*\(found: 'id, image, claim, exp"),
        (without("id"), "test.csv, line 1 has no column id"),
        (cell("label", "neutral"), THIRD + "unknown label 'neutral'; .* entailment, contradiction. Correct the row"),
        (cell("label", "1"), THIRD + "unknown label '1'; it must be one of entailment, contradiction"),
        (cell("claim", " "), THIRD + "claim is empty; it must be a text"),
        (cell("explanation", ""), THIRD + "explanation is empty"),
        (cell("id", "example-1"), r"line 4 \(example-1\): the id is also that of line 2: ids must be unique"),
        (cell("id", ""), "line 4: id is empty; it must be a text"),
        (cell("image", ""), THIRD + "image is empty"),
        (cell("image", "images/none.png"), THIRD + "image file .*images/none.png does not exist. Put the file there"),
        (cell("image", "../x.png"), THIRD + r"image '../x.png' points outside of .*V-FLUTE: write a path"),
        (cell("image", "/etc/passwd"), THIRD + "image '/etc/passwd' points outside of"),
        (cell("source_dataset", "New Yorker"), THIRD + "source_dataset is 'New Yorker'; .* write letters, digits"),
        (cell("source_dataset", "all"), THIRD + "source_dataset is 'all'; .* not `all`"),
        (picture(b"no picture"), THIRD + r"the image cannot be decoded \(no picture\). Replace .*/images/3.png"),
        (picture(b""), THIRD + "the image file .*/images/3.png has zero bytes. Replace it"),
        (lambda folder, items: write(folder, items, "utf-16"), "line 1 is not UTF-8 .*: save the file as UTF-8"),
        (appended(b"x,images/1.png,caf\xe9,entailment,y,,\n"), "test.csv, line 13 is not UTF-8 .*: save the file"),
        (appended(b"x,images/1.png,one, two,entailment,y,,\n"), "line 13 has 8 cells, the header has 7: put a text"),
        (appended(b'x,images/1.png,"one\n'), "test.csv, line 13 is not CSV .*: correct it"),
        (lambda folder, items: (folder / "test.csv").write_bytes(b""), "test.csv has no rows: .*data template vflute"),
        (parquet, "test.csv and data/test-00000-of-00001.parquet both hold the split 'test': keep the one"),
        (lambda folder, items: write(folder, items, name="test.jsonl"), "test.csv and test.jsonl both hold the split"),
        (lambda folder, items: (folder / "test.csv").unlink(), "no file test-.*of your own see figlang data template"),
        (in_json('{"id": "x"}'), "test.jsonl, line 3 has no column image, claim, label, explanation: it must"),
        (in_json('{"id": 7, "image": "", "claim": "", "label": "", "explanation": ""}'), "id is 7, must be a text"),
        (in_json("{"), "test.jsonl, line 3 is not valid JSON .*: write one object a line"),
        (
            in_json('{"id": "x", "image": "images/1.png", "claim": "\\ud800", "label": "", "explanation": ""}'),
            r"line 3 \(x\): claim contains half a surrogate pair",
        ),
    ],
)  # fmt: skip
def test_what_a_run_refuses_the_check_finds(folder: Path, damage: Callable[[Path, Rows], object], message: str) -> None:
    damage(folder, read(folder))
    assert re.search(message, refused(BENCHMARK, **TEST))


def test_the_check_finds_all_faults(folder: Path) -> None:
    items = read(folder)
    for row in items[1:5]:
        row["label"] = "?"
    items[6]["id"] = ""
    write(folder, items)
    assert len(faults(BENCHMARK)) == 5


def test_columns_that_are_not_used_are_named(folder: Path, warnings_of_loguru: list[str]) -> None:
    write(folder, [row | {"prompt": "?", "phenomenom": "idiom"} for row in read(folder)])
    accepted(BENCHMARK, **TEST)
    assert any("has unused columns: 'prompt', 'phenomenom'" in each for each in warnings_of_loguru)


def test_a_run_says_whose_rows_it_has_and_no_published_figure_is_with_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As many rows as the paper's: their number alone does not tell them apart.
    items = read(folder)
    write(folder, [row | {"id": f"{number}"} for number, row in enumerate((items * 66)[:723])])
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    results = evaluate("vflute", "figlang_random", saved=tmp_path / "out")
    metadata = results["configs"]["vflute"]["metadata"]
    assert metadata["data_revision"] == "own" and re.fullmatch(r"V-FLUTE/test:[0-9a-f]{12}", metadata["data"])
    shown = summary_table(results)
    assert "| mini_humor " in shown and "Random Baseline" not in shown
    assert "published figures are left out: they are of the released rows" in shown

    run = runs.read(str(tmp_path / "out"))
    task = run.tasks["vflute"]
    assert runs.measured(task).own and task.rows == 723
    data = provenance.data(all_rows(run).tasks["vflute"])
    assert (data.repository, data.revision) == (None, None)
    assert "|rows:own|" in signature(run, task)
