"""Rows of the user in place of V-FLUTE's: the example runs; a fault is named by file, line, column
and remedy.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from demo_runs import evaluate
from run_and_check import accepted

from figlang_tasks.benchmarks.vflute import rows, template
from figlang_tasks.benchmarks.vflute.benchmark import BENCHMARK
from figlang_tasks.cli.cite import signature
from figlang_tasks.cli.summary import summary_table
from figlang_tasks.core import hub
from figlang_tasks.results import runs
from figlang_tasks.submit import check_whole, hub_source

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
    hub.clear_caches()


def test_the_example_has_documents_like_the_release(folder: Path) -> None:
    documents = accepted(BENCHMARK, **TEST)
    assert documents["id"] == [f"example-{number}" for number in range(1, 12)]
    assert set(documents["label"]) == set(rows.LABELS)
    assert set(documents["report_group"]) == {
        f"mini_{each}" for each in ("simile", "metaphor", "idiom", "sarcasm", "humor")
    }
    # The first places of the released test split (test_rows.py has the first twelve from the
    # released prompts).
    assert documents["instruction"] == [9, 10, 19, 12, 13, 5, 4, 8, 15, 6, 4]
    assert documents.unique("revision") == ["own"]


def test_csv_json_lines_and_other_line_ends_are_the_same_data(folder: Path) -> None:
    before, items = rows.load("V-FLUTE", "test"), read(folder)
    write(folder, items, "utf-8-sig")  # as Excel saves it
    assert rows.load("V-FLUTE", "test").to_list() == before.to_list()
    (folder / "test.csv").unlink()
    write(folder, items, name="test.jsonl")
    assert rows.load("V-FLUTE", "test").to_list() == before.to_list()
    items[0]["explanation"] += " Or not."
    write(folder, items, name="test.jsonl")
    assert rows.load("V-FLUTE", "test")[0]["data"] != before[0]["data"]


def test_rows_without_a_source_count_in_the_whole_and_exemplars_are_of_the_users_train(
    folder: Path,
) -> None:
    write(
        folder,
        [{column: row[column] for column in [*row][:5]} for row in read(folder)],
        name="train.csv",
    )
    assert rows.load("V-FLUTE", "train").unique("report_group") == ["other"]
    (shot,) = rows.exemplars("V-FLUTE", 1, 42)
    assert shot["image"].size == (224, 224) and shot["id"].startswith("example-")


def test_a_run_says_whose_rows_it_has_and_no_published_figure_is_with_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As many rows as the paper's: their number alone does not tell them apart.
    items = read(folder)
    write(folder, [row | {"id": f"{number}"} for number, row in enumerate((items * 66)[:723])])
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    results = evaluate("vflute", "figlang_random", saved=tmp_path / "out")
    metadata = results["configs"]["vflute"]["metadata"]
    assert metadata["data_revision"] == "own" and re.fullmatch(
        r"V-FLUTE/test:[0-9a-f]{12}", metadata["data"]
    )
    shown = summary_table(results)
    assert "| mini_humor " in shown and "Random Baseline" not in shown
    assert "published figures are left out: they are of 723 released rows" in shown

    run = runs.read(str(tmp_path / "out"))
    task = run.tasks["vflute"]
    assert task.has_user_rows and task.rows == 723
    check_whole(run)
    assert hub_source(run.tasks["vflute"]) == (None, None)
    assert "|rows:own|" in signature(run, task)
