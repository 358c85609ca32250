"""Rows of the user in place of V-FLUTE's: if this fails, the example of ``figlang data template``
does not run, or a run does not say whose rows it has. Faults of such rows: ``faults.yaml``.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from demo_runs import evaluate
from tasks_without_harness import accepted_data

from figlang_tasks.benchmarks.vflute import row_tables, rows, template
from figlang_tasks.benchmarks.vflute.benchmark import BENCHMARK
from figlang_tasks.cli.cite import signature
from figlang_tasks.cli.summary import summary_table
from figlang_tasks.core import hub
from figlang_tasks.results import runs
from figlang_tasks.results.task_run import Run
from figlang_tasks.submit import check_whole, hub_source

Rows = list[dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example of ``figlang data template vflute``."""
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    template.template(tmp_path / "V-FLUTE")
    return tmp_path / "V-FLUTE"


def read_example(folder: Path) -> Rows:
    with (folder / "test.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path: Path, table_rows: Rows, encoding: str = "utf-8") -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(table_rows[0]))
        writer.writeheader()
        writer.writerows(table_rows)
    hub.clear_caches()


def write_json_lines(path: Path, table_rows: Rows) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in table_rows]
    path.write_text("".join(lines), encoding="utf-8")
    hub.clear_caches()


def test_the_example_has_documents_like_the_release(folder: Path) -> None:
    documents = accepted_data(BENCHMARK, dataset="V-FLUTE", split="test")
    assert documents["id"] == [f"example-{number}" for number in range(1, 12)]
    assert set(documents["label"]) == set(rows.LABELS)
    phenomena = ("simile", "metaphor", "idiom", "sarcasm", "humor")
    assert set(documents["report_group"]) == {f"mini_{phenomenon}" for phenomenon in phenomena}
    # Those of the first rows of the released test split, whose prompts test_rows.py compares.
    assert documents["instruction"] == [9, 10, 19, 12, 13, 5, 4, 8, 15, 6, 4]
    assert documents.unique("revision") == ["own"]


def test_csv_json_lines_and_other_line_ends_are_the_same_data(folder: Path) -> None:
    documents = rows.load("V-FLUTE", "test").to_list()
    table_rows = read_example(folder)
    write_csv(folder / "test.csv", table_rows, encoding="utf-8-sig")  # as Excel saves it
    assert rows.load("V-FLUTE", "test").to_list() == documents
    (folder / "test.csv").unlink()
    write_json_lines(folder / "test.jsonl", table_rows)
    assert rows.load("V-FLUTE", "test").to_list() == documents


def test_another_text_is_other_data(folder: Path) -> None:
    data = rows.load("V-FLUTE", "test")[0]["data"]
    table_rows = read_example(folder)
    table_rows[0]["explanation"] += " Or not."
    write_csv(folder / "test.csv", table_rows)
    assert rows.load("V-FLUTE", "test")[0]["data"] != data


def test_rows_without_a_source_count_in_the_whole_and_exemplars_are_of_the_users_train(
    folder: Path,
) -> None:
    train_rows: Rows = []
    for row in read_example(folder):
        train_rows.append({column: row[column] for column in row_tables.USER_COLUMNS})
    write_csv(folder / "train.csv", train_rows)
    assert rows.load("V-FLUTE", "train").unique("report_group") == ["other"]
    (exemplar,) = rows.exemplars("V-FLUTE", 1, 42)
    assert exemplar["image"].size == (224, 224)
    assert exemplar["id"].startswith("example-")


def test_a_run_says_whose_rows_it_has_and_no_published_figure_is_with_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As many rows as the paper's: their number alone does not tell them apart.
    table_rows = (read_example(folder) * 66)[:723]
    for number, row in enumerate(table_rows):
        table_rows[number] = {**row, "id": str(number)}
    write_csv(folder / "test.csv", table_rows)
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    results = evaluate("vflute", "figlang_random", saved=tmp_path / "out")

    metadata = results["configs"]["vflute"]["metadata"]
    assert metadata["data_revision"] == "own"
    assert re.fullmatch(r"V-FLUTE/test:[0-9a-f]{12}", metadata["data"])
    summary = summary_table(results)
    assert "| mini_humor " in summary
    assert "Random Baseline" not in summary
    assert "published figures are left out: they are for 723 released rows" in summary
    check_run_of_user_rows(runs.read(str(tmp_path / "out")))


def check_run_of_user_rows(run: Run) -> None:
    """Assert that a saved run of 723 rows is whole, and names no dataset of the hub."""
    task = run.tasks["vflute"]
    assert task.has_user_rows
    assert task.rows == 723
    check_whole(run)
    assert hub_source(task) == (None, None)
    assert "|rows:own|" in signature(run, task)
