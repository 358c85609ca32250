"""If these fail, annotators can tell systems apart, judge the wrong rows, or lose what they have
filled in.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from filled_sheets import save_run
from PIL import Image
from report_runs import lines_of, write_run

from figlang_tasks.benchmarks.flute import rows as flute_rows
from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge import key, sheet
from figlang_tasks.judge.export import export

OPTIONS: dict[str, Any] = {"count": 20, "seed": 7, "annotators": 2}
NAMES = ("Shark", "Kettle")


@pytest.fixture
def two_runs(tmp_path: Path) -> list[str]:
    def run(name: str) -> str:
        def said(doc: Mapping[str, Any]) -> str:
            return (
                f"=HYPERLINK({name[0]}) {doc['claim'][:9]}\n\nLABEL: {doc['label']}"
                if len(doc["claim"]) % 9
                else ""
            )

        return f"{name}={save_run(tmp_path / name / 'samples_vflute.jsonl', said, lambda number: number / 100)}"  # noqa: E501

    return [run(name) for name in NAMES]


def records(run: str) -> dict[str, dict[str, Any]]:
    path = Path(run.partition("=")[2])
    return {
        (record := json.loads(line)["sample"])["id"]: record
        for line in path.read_text("utf-8").splitlines()
    }


def test_sheets_key_and_pictures(tmp_path: Path, two_runs: list[str]) -> None:
    told = {"configs": {"vflute": {"metadata": {"explanation_scorer": "embedded|fp32"}}}}
    # Kettle has none, but may have the same scorer
    (tmp_path / "Shark" / "results.json").write_text(json.dumps(told))
    names = export(two_runs, tmp_path / "out", **{**OPTIONS, "count": 76})
    assert names == ["images", "annotator1.csv", "annotator2.csv", "key.json"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    written = [tmp_path / "out" / name for name in names]
    found, first, second = key.read(written[3]), sheet.read(written[1]), sheet.read(written[2])
    assert found["scorer"] == "embedded|fp32"
    assert (first.annotator, second.annotator) == ("annotator 1", "annotator 2")
    assert first.rows.drop(columns="annotator").equals(second.rows.drop(columns="annotator"))
    assert [item["number"] for item in found["items"]] == [*range(1, 77)]
    assert {*first.rows["item"]} == {*map(str, range(1, 77))}
    documents = {doc["id"]: doc for doc in rows.load("figlang_mini", "test")}
    by_run = {name: records(run) for name, run in zip(NAMES, two_runs, strict=True)}
    for item in found["items"]:
        document = documents[item["id"]]
        assert item["gold"] == rows.LABELS[document["label"]]
        assert set(item["systems"].values()) == set(NAMES)
        for _, row in first.rows[first.rows["item"].eq(str(item["number"]))].iterrows():
            record = by_run[item["systems"][row["letter"]]][item["id"]]
            assert row["explanation"] == (record["explanation"] or "(no explanation)")
            assert item["scores"][row["letter"]] == record["explanation_scores"]["mean"]
            assert (row["claim"], row["reference"]) == (document["claim"], document["explanation"])
            assert not any(row[[*sheet.JUDGED_COLUMNS, "comment"]])
            with Image.open(tmp_path / "out" / row["image"]) as shown:
                with Image.open(io.BytesIO(document["image"]["bytes"])) as released:
                    assert shown.convert("RGB").tobytes() == released.convert("RGB").tobytes()
    text = written[1].read_text("utf-8-sig")
    # Nothing tells the system
    assert not any(word in text for word in (*NAMES, "samples_vflute", "0.3", *documents))
    assert '"=' not in text and "\"'=HYPERLINK(K) " in text
    letters = Counter(item["systems"]["A"] for item in found["items"])
    assert letters["Shark"] > 20 and letters["Kettle"] > 20


def test_the_seed_makes_the_draw(tmp_path: Path, two_runs: list[str]) -> None:
    def items(name: str, **options: Any) -> list[dict[str, Any]]:
        export(two_runs, tmp_path / name, **{**OPTIONS, "annotators": 1, **options})
        return key.read(tmp_path / name / "key.json")["items"]

    drawn = items("a")
    assert drawn == items("b") != items("c", seed=8)
    # There are fewer
    assert {item["id"] for item in items("all", count=95)} == {*records(two_runs[0])}


def test_flute_has_premises_in_place_of_pictures(tmp_path: Path) -> None:
    documents = {doc["id"]: doc for doc in flute_rows.load("figlang_mini_flute", "train")}
    path = write_run(tmp_path / "run", {"figlang_mini_flute": lines_of("figlang_mini_flute")})
    folder = tmp_path / "out"
    names = export([str(path)], folder, **{**OPTIONS, "annotators": 1})
    assert names == ["annotator1.csv", "key.json"]
    found, filled = key.read(folder / "key.json"), sheet.read(folder / "annotator1.csv")
    # One system is not compared
    assert "image" not in filled.rows and "preferred" not in filled.rows
    for item, (_, row) in zip(found["items"], filled.rows.iterrows(), strict=True):
        document = documents[item["id"]]
        assert (row["premise"], row["claim"]) == (document["premise"], document["hypothesis"])
        assert item["scores"] == {"A": None}


def test_runs_that_cannot_be_judged_together(tmp_path: Path, two_runs: list[str]) -> None:
    second = Path(two_runs[1].partition("=")[2])
    lines = second.read_text("utf-8").splitlines(keepends=True)

    def refused(says: str, runs: list[str] = two_runs, **options: Any) -> None:
        with pytest.raises(FigLangError, match=says):
            export(runs, tmp_path / "out", **{**OPTIONS, **options})
        assert not (tmp_path / "out").exists()

    second.write_text("".join(lines[2:]), encoding="utf-8")
    refused(r"only in Shark: 2 \(vismet-test-0, vismet-test-1\)\. Evaluate both on the same")
    second.write_text(
        "".join(line.replace("figlang_mini/test:", "figlang_mini/test:0") for line in lines),
        "utf-8",
    )
    refused(
        r"samples are of figlang_mini/test:0\w+, but the data here is figlang_mini/test:\w",
        two_runs[1:],
    )
    second.write_text("".join(lines).replace('"embedded"', '"vflute25"'), "utf-8")
    refused(r"different scorers \(Shark: embedded; Kettle: vflute25\)\. Score all with one")
    second.write_text("".join([*lines[:-1], lines[-1].replace('"explanation":', '"no":')]), "utf-8")
    refused(r"Kettle\S+ has a record that is not as the task vflute writes it .*explanation")
    second.write_text("".join(lines), "utf-8")
    (second.parent / "samples_other.jsonl").write_text("".join(lines), "utf-8")
    refused(
        r"holds 2 tasks with explanations \(other, vflute\): name the samples of one",
        [str(second.parent)],
    )
