"""Reading the harness's samples files: a real one, and everything that can be wrong with one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from saved_samples import NAME, evaluated

from figlang_tasks.core.benchmark import names
from figlang_tasks.core.errors import RunError
from figlang_tasks.results import samples
from figlang_tasks.scoring.explained import EntailmentRecord


@pytest.fixture
def lines() -> list[dict[str, Any]]:
    """The lines of a real file."""
    return [json.loads(line) for line in evaluated()[0].split(b"\n")[:-1]]


def written(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def records(path: Path) -> list[EntailmentRecord]:
    return samples.explained(path, samples.read(path).lines)


def test_a_real_file(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(evaluated()[0])
    found = samples.read(path)
    assert found.path == path
    assert found.sha256 == hashlib.sha256(evaluated()[0]).hexdigest()
    assert re.fullmatch(r"figlang_mini/test:[0-9a-f]{12}", str(found.data))
    assert len(found.lines) == 76
    first = records(path)[0]
    assert (first.gold, first.report_group) == (1, "vismet")
    assert found.lines[0]["sample"] == first.as_dict()
    assert {"doc_id", "target", "filtered_resps", "input", "f1@0", "acc"} <= found.lines[0].keys()


def test_fields_that_are_not_known_are_kept_and_no_newline_at_the_end_is_no_fault(
    tmp_path: Path, lines: list[dict]
) -> None:
    lines[3]["sample"]["mood"] = {"of": "the annotator"}
    path = written(tmp_path / NAME, lines)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert list(samples.read(path).lines) == lines


def change_record(**changes: Any) -> Callable[[list[dict]], None]:
    return lambda lines: lines[4]["sample"].update(changes)


def without(name: str) -> Callable[[list[dict]], None]:
    return lambda lines: lines[4]["sample"].pop(name)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (without("reference"), "line 5: `sample` lacks 'reference'.* another version .* --use_cache"),
        (without("predicted"), "line 5: `sample` lacks 'predicted'"),
        (change_record(gold=2), "line 5: `sample` has gold=2, must be 0 or 1: restore the file"),
        (change_record(gold="1"), "gold='1', must be 0 or 1"),
        (change_record(gold=None), "gold=None, must be 0 or 1"),
        (change_record(predicted=True), "predicted=True, must be 0, 1 or null"),
        (change_record(predicted=0.0), r"predicted=0\.0, must be 0, 1 or null"),
        (change_record(explanation=["a"]), r"explanation=\['a'\], must be a text or null"),
        (change_record(reference=None), "reference=None, must be a text"),
        (
            change_record(data="V-FLUTE/test:0123"),
            r"mixes .* of 2 datasets.* figlang_mini/test:\w+ \(75 rows\), V-FLUTE",
        ),
        (lambda lines: lines.append(lines[6]), "lines 7 and 77 both hold the row .*Split the file"),
        (lambda lines: lines[4].pop("sample"), "line 5 has no `sample` record .*other lines have one: restore"),
        (lambda lines: lines[4].update(sample="a haiku"), "line 5 has no `sample` record"),
        (lambda lines: lines.insert(4, [1, 2]), r"line 5 has no `sample` record .*\(\[1, 2\]\)"),
        (lambda lines: lines.clear(), "is empty: .*--log_samples"),
    ],
)
def test_what_is_wrong_with_the_rows(
    damage: Callable[[list[dict]], Any], message: str, tmp_path: Path, lines: list[dict]
) -> None:
    damage(lines)
    path = written(tmp_path / NAME, lines)
    with pytest.raises(RunError, match=message) as told:
        records(path)
    assert str(told.value).startswith(str(path))
    assert "\n" not in str(told.value)


def test_another_task_of_the_harness(tmp_path: Path) -> None:
    path = written(tmp_path / "2026_samples_mmmu_val.jsonl", [{"doc_id": 0, "target": "A", "mmmu_acc": {"id": 3}}])
    with pytest.raises(samples.OfAnotherTask, match=r"line 1 has no .*'doc_id', 'mmmu_acc', 'target'") as caught:
        samples.read(path)
    told = str(caught.value)
    assert "a file of the task mmmu_val?" in told and "every task of figlang_tasks" in told
    assert all(name in told for name in names())
    told = str(pytest.raises(samples.OfAnotherTask, samples.explained, path, [{"sample": {"id": "x"}}]).value)
    assert "explainable entailment: flute, " in told and "irfl" not in told


def test_data_that_no_task_writes(tmp_path: Path, lines: list[dict]) -> None:
    for text in ("figlang_mini", "figlang_mini/test", "figlang_mini/test:ff\x1b[2J", "x: /test:ff"):
        change_record(data=text)(lines)
        path = written(tmp_path / NAME, lines)
        told = str(pytest.raises(RunError, samples.read, path).value)
        assert told == f"{path}, line 5: `sample` has data={text!r}, which no task of figlang_tasks writes"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-2000], "line 76 is not JSON .*cut off"),
        (lambda content: content.replace(b"\n", b"\n\n", 1), "line 2 is not JSON .*that the harness wrote"),
        (lambda content: b"[" * 200_000, "line 1 is not JSON"),
        (lambda content: content.replace("“".encode(), b"\xff", 1), "line 2 is not JSON .*utf-8"),
        (lambda content: b"\x1f\x8b" + content, "line 1 is not JSON"),
    ],
    ids=["truncated", "blank line", "deep", "no UTF-8", "compressed"],
)
def test_what_is_no_json(damage: Callable[[bytes], bytes], message: str, tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(damage(evaluated()[0]))
    with pytest.raises(RunError, match=message):
        samples.read(path)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="missing.jsonl cannot be read: No such file"):
        samples.read(tmp_path / "missing.jsonl")
    with pytest.raises(RunError, match="cannot be read: Is a directory"):
        samples.read(tmp_path)
