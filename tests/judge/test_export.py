"""Annotators can tell systems apart, or judge the wrong rows, if these tests fail."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from filled_sheets import save_run
from PIL import Image
from saved_runs import sample_lines, write_run

from figlang_tasks.benchmarks.flute import rows as flute_rows
from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge import key, sheet
from figlang_tasks.judge.export import export

OPTIONS: dict[str, Any] = {"count": 20, "seed": 7, "annotators": 2}
NAMES = ("Shark", "Kettle")


def answer(doc: Mapping[str, Any], system: str) -> str:
    """What a system says of a document: nothing if its claim is a multiple of 9 characters long."""
    if len(doc["claim"]) % 9 == 0:
        return ""
    return f"=HYPERLINK({system[0]}) {doc['claim'][:9]}\n\nLABEL: {doc['label']}"


def hundredth(number: int) -> float:
    """The explanation score of a document by its number."""
    return number / 100


@pytest.fixture
def two_runs(tmp_path: Path) -> list[str]:
    """Runs of two systems over figlang_mini, as arguments of the command."""
    arguments: list[str] = []
    for name in NAMES:
        path = tmp_path / name / "samples_vflute.jsonl"
        save_run(path, partial(answer, system=name), hundredth)
        arguments.append(f"{name}={path}")
    return arguments


def path_of(argument: str) -> Path:
    """The samples file behind an argument ``NAME=FILE``."""
    _, _, path = argument.partition("=")
    return Path(path)


def records_by_id(argument: str) -> dict[str, dict[str, Any]]:
    """The records of a run."""
    records: dict[str, dict[str, Any]] = {}
    for line in path_of(argument).read_text("utf-8").splitlines():
        record = json.loads(line)["sample"]
        records[record["id"]] = record
    return records


def test_sheets_key_and_pictures(tmp_path: Path, two_runs: list[str]) -> None:
    # Kettle names no scorer, but may have the same one.
    results = {"configs": {"vflute": {"metadata": {"explanation_scorer": "embedded|fp32"}}}}
    (tmp_path / "Shark" / "results.json").write_text(json.dumps(results))
    folder = tmp_path / "out"
    names = export(two_runs, folder, **{**OPTIONS, "count": 76})
    assert names == ["images", "annotator1.csv", "annotator2.csv", "key.json"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)

    first = sheet.read(folder / "annotator1.csv")
    second = sheet.read(folder / "annotator2.csv")
    assert first.annotator == "annotator 1"
    assert second.annotator == "annotator 2"
    assert first.rows.drop(columns="annotator").equals(second.rows.drop(columns="annotator"))
    content = key.read(folder / "key.json")
    assert content["scorer"] == "embedded|fp32"
    assert [item["number"] for item in content["items"]] == [*range(1, 77)]
    assert {*first.rows["item"]} == {*map(str, range(1, 77))}

    documents = {doc["id"]: doc for doc in rows.load("figlang_mini", "test")}
    records = {name: records_by_id(run) for name, run in zip(NAMES, two_runs, strict=True)}
    for item in content["items"]:
        document = documents[item["id"]]
        assert item["gold"] == rows.LABELS[document["label"]]
        assert set(item["systems"].values()) == set(NAMES)
        for _, row in first.rows[first.rows["item"].eq(str(item["number"]))].iterrows():
            record = records[item["systems"][row["letter"]]][item["id"]]
            assert row["explanation"] == (record["explanation"] or "(no explanation)")
            assert item["scores"][row["letter"]] == record["explanation_scores"]["mean"]
            assert row["claim"] == document["claim"]
            assert row["reference"] == document["explanation"]
            assert not any(row[[*sheet.JUDGED_COLUMNS, "comment"]])
            exported = Image.open(folder / row["image"]).convert("RGB")
            released = Image.open(io.BytesIO(document["image"]["bytes"])).convert("RGB")
            assert exported.tobytes() == released.tobytes()

    text = (folder / "annotator1.csv").read_text("utf-8-sig")
    words_that_tell_the_system = (*NAMES, "samples_vflute", "0.3", *documents)
    for word in words_that_tell_the_system:
        assert word not in text
    assert '"=' not in text
    assert "\"'=HYPERLINK(K) " in text
    systems_behind_a = Counter(item["systems"]["A"] for item in content["items"])
    assert systems_behind_a["Shark"] > 20
    assert systems_behind_a["Kettle"] > 20


def test_the_seed_decides_the_draw(tmp_path: Path, two_runs: list[str]) -> None:
    def items(name: str, **options: Any) -> Any:
        """The items of an export into a folder of this name."""
        export(two_runs, tmp_path / name, **{**OPTIONS, "annotators": 1, **options})
        return key.read(tmp_path / name / "key.json")["items"]

    drawn = items("a")
    assert items("b") == drawn
    assert items("c", seed=8) != drawn
    more_than_there_are = items("all", count=95)
    assert {item["id"] for item in more_than_there_are} == {*records_by_id(two_runs[0])}


def test_flute_has_premises_in_place_of_pictures(tmp_path: Path) -> None:
    documents = {doc["id"]: doc for doc in flute_rows.load("figlang_mini_flute", "train")}
    path = write_run(tmp_path / "run", {"figlang_mini_flute": sample_lines("figlang_mini_flute")})
    folder = tmp_path / "out"
    names = export([str(path)], folder, **{**OPTIONS, "annotators": 1})
    assert names == ["annotator1.csv", "key.json"]
    filled = sheet.read(folder / "annotator1.csv")
    assert "image" not in filled.rows
    assert "preferred" not in filled.rows, "one system is not compared"
    items = key.read(folder / "key.json")["items"]
    for item, (_, row) in zip(items, filled.rows.iterrows(), strict=True):
        document = documents[item["id"]]
        assert row["premise"] == document["premise"]
        assert row["claim"] == document["hypothesis"]
        assert item["scores"] == {"A": None}


def test_runs_that_cannot_be_judged_together(tmp_path: Path, two_runs: list[str]) -> None:
    path = path_of(two_runs[1])
    lines = path.read_text("utf-8").splitlines(keepends=True)
    samples = "".join(lines)

    def check_refusal(message: str, arguments: list[str] = two_runs) -> None:
        """Check that runs are refused with this message, and nothing is written."""
        with pytest.raises(FigLangError, match=message):
            export(arguments, tmp_path / "out", **OPTIONS)
        assert not (tmp_path / "out").exists()

    path.write_text("".join(lines[2:]), encoding="utf-8")
    other_rows = r"only in Shark: 2 \(vismet-test-0, vismet-test-1\)\. Evaluate both on the same"
    check_refusal(other_rows)
    path.write_text(samples.replace("figlang_mini/test:", "figlang_mini/test:0"), "utf-8")
    other_data = r"samples are of figlang_mini/test:0\w+, but the data here is figlang_mini/test:\w"
    check_refusal(other_data, two_runs[1:])
    path.write_text(samples.replace('"embedded"', '"vflute25"'), "utf-8")
    other_scorer = r"different scorers \(Shark: embedded; Kettle: vflute25\)\. Score all with one"
    check_refusal(other_scorer)
    damaged_line = lines[-1].replace('"explanation":', '"no":')
    path.write_text("".join([*lines[:-1], damaged_line]), "utf-8")
    damage = r"Kettle\S+ has a record that is not as the task vflute writes it .*explanation"
    check_refusal(damage)
    path.write_text(samples, "utf-8")
    (path.parent / "samples_other.jsonl").write_text(samples, "utf-8")
    two_tasks = r"holds 2 tasks with explanations \(other, vflute\): name the samples of one"
    check_refusal(two_tasks, [str(path.parent)])
