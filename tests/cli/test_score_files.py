"""``figlang score FILE --task``: what users see, and what bad files end with."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from commands import done, figlang, refused

from figlang_tasks.results import runs

TASK = "figlang_mini_irfl_detect_idiom"
IDS = [f"idiom-detection-task-{row}" for row in range(12)]
GOOD = "id,output\n" + "".join(f"{row_id},A\n" for row_id in IDS)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused_file(name: str, content: bytes | str, *options: str) -> str:
    """The message for a file that cannot be scored; nothing is written beside it."""
    content = content if isinstance(content, bytes) else content.encode()
    Path(name).write_bytes(content)
    message = refused("score", name, "--task", TASK, *options)
    assert [path.name for path in Path().iterdir()] == [name]
    return message


def test_a_file_becomes_a_run_with_its_name() -> None:
    Path("answers.csv").write_text(GOOD)
    output = done("score", "answers.csv", "--task", TASK)
    assert "answers.csv: 12 predictions (CSV): id from id, output from output" in output
    assert "rows were found by id" in output
    assert "written: results/answers" in output
    assert runs.read("results/answers").name == "answers"


def test_an_existing_run_is_not_overwritten() -> None:
    Path("answers.csv").write_text(GOOD)
    done("score", "answers.csv", "--task", TASK)
    before = sorted(path.name for path in Path("results/answers").iterdir())
    assert "results/answers exists already" in refused("score", "answers.csv", "--task", TASK)
    assert sorted(path.name for path in Path("results/answers").iterdir()) == before


def test_a_run_or_a_file_in_it_is_no_place_for_its_own_scores() -> None:
    Path("answers.csv").write_text(GOOD)
    done("score", "answers.csv", "--task", TASK, "-o", "results/qwen-2.5")
    output = done("score", "results/qwen-2.5", "--task", TASK)
    assert "written: results/qwen-2.5_scored" in output
    Path("results/answers").mkdir()
    Path("results/answers/answers.csv").write_text(GOOD)
    output = done("score", "results/answers/answers.csv", "--task", TASK)
    assert "written: results/answers_scored" in output
    assert "exists already" in refused("score", "results/qwen-2.5", "--task", TASK)


def test_outputs_that_say_nothing_are_told() -> None:
    outputs = ["", "", "[LMMS_EVAL_REQUEST_FAILED] timeout", "hm"] + ["A"] * 8
    lines = [f"{row_id},{output}\n" for row_id, output in zip(IDS, outputs, strict=True)]
    Path("answers.csv").write_text("id,output\n" + "".join(lines))
    output = done("score", "answers.csv", "--task", TASK)
    assert f"{TASK}: 1 of 12 rows have no answer and count as wrong\n" in output
    assert f"{TASK}: 3 of 12 answers are empty (rows {', '.join(IDS[:3])})\n" in output
    assert output.count("could not be read") == 1


def test_unread_outputs_are_told_once() -> None:
    Path("answers.csv").write_text(GOOD.replace(",A", ",hm"))
    output = done("score", "answers.csv", "--task", TASK)
    assert output.count("No answer could be read in 12 of 12 outputs") == 1


def test_columns_prints_the_form_of_ids_and_what_a_table_needs() -> None:
    output = done("score", "--task", TASK, "--columns")
    assert "\n".join(f"  {row_id}" for row_id in IDS[:3]) in output
    for text in ("12 rows", "index, idx, row", "output, prediction, response", "score_1"):
        assert text in output
    assert "label (" not in output
    assert "label (label, predicted)" in done("score", "--task", "figlang_mini", "--columns")


def test_a_partial_run_is_marked_and_not_compared_with_a_whole_one() -> None:
    Path("whole.csv").write_text(GOOD)
    Path("half.csv").write_text("".join(GOOD.splitlines(keepends=True)[:7]))
    done("score", "whole.csv", "--task", TASK)
    output = done("score", "half.csv", "--task", TASK, "--partial")
    assert "6 of 12 rows have no prediction, and are left out" in output
    assert runs.read("results/half").partial
    assert "half" in refused("compare", "results/whole", "results/half")


@pytest.mark.parametrize(
    "options",
    [
        ("answers.csv", "--task", TASK, "--partial", "--missing", "wrong"),
        ("answers.csv", "--task", TASK, "--missing", "right"),
        ("--columns",),
        (),
        ("answers.csv", "--label", "label"),
        ("answers.csv", "--in-order"),
    ],
)
def test_wrong_usage_ends_with_status_2(options: tuple[str, ...]) -> None:
    Path("answers.csv").write_text(GOOD)
    assert figlang("score", *options).exit_code == 2
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", GOOD.encode("utf-16"), "a.csv, line 1 is not UTF-8"),
        ("a.csv", GOOD.encode() + b"x,\xe9\n", "a.csv, line 14 is not UTF-8"),
        ("a.json", b'{"a": "\xe9"}', "a.json is not JSON in UTF-8"),
        ("a.csv", "", "a.csv has no predictions: is it the right file, and whole?"),
        ("a.csv", "id,output\n", "a.csv has no predictions"),
        ("a.json", "[]", "a.json has no predictions"),
        ("a.json", "3", "a.json holds 3: it must be a list of objects"),
        ("a.json", '["A"]', "a.json, entry 1 is 'A', must be an object with columns"),
        ("a.json", "[" * 100_000, "a.json is not JSON in UTF-8"),
        ("a.json", '{"a": "A", "a": "B"}', "a.json has 'a' twice"),
        ("a.jsonl", "", "a.jsonl has no predictions"),
        ("a.jsonl", '{"id": 1', "a.jsonl, line 1 is not valid JSON"),
        ("a.jsonl", "[" * 100_000, "a.jsonl, line 1 is not valid JSON"),
        ("a.parquet", "", "a.parquet is no Parquet file that can be read"),
        ("a.xlsx", "", "a.xlsx is no Excel file that can be read"),
        ("a.csv", 'id,output\na,"A\nb,B\n', "a.csv, line 2 is not CSV"),
        ("a.csv", "id,output\na,A,B\n", "a.csv, line 2 does not have the 2 cells of the header"),
        ("a.csv", "id,output,output\na,A,B\n", "a.csv, line 1 has a column twice: rename one"),
        ("a.csv", GOOD.replace(",", ";"), "separated by semicolons"),
        ("a.csv", GOOD + "x,A\n", "1 of 13 predictions are of no row"),
    ],
)
def test_a_bad_file_ends_with_a_message_that_names_it(
    name: str, content: bytes | str, message: str
) -> None:
    assert message in refused_file(name, content)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx"])
def test_devices_and_pipes_are_not_read(suffix: str) -> None:
    Path(f"device{suffix}").symlink_to("/dev/zero")
    os.mkfifo(f"pipe{suffix}")
    for name, kind in ((f"device{suffix}", "a device"), (f"pipe{suffix}", "a named pipe")):
        message = refused("score", name, "--task", TASK)
        assert f"{name} cannot be read: this is {kind}, where a file is needed" in message


def test_a_folder_without_samples_is_refused() -> None:
    Path("empty").mkdir()
    assert f"empty has no samples file of {TASK}" in refused("score", "empty", "--task", TASK)


def test_the_task_that_is_meant_is_found_within_ten_seconds() -> None:
    answers = {f"figlang-{row}": "A" for row in range(12)}
    start = time.process_time()
    refused_file("a.json", json.dumps(answers))
    assert time.process_time() - start < 10


def test_a_group_of_tasks_names_its_members() -> None:
    Path("a.csv").write_text(GOOD)
    assert TASK in refused("score", "a.csv", "--task", "figlang_mini_irfl")


def test_a_run_of_repeats_that_is_scored_again_has_new_values_of_repeats() -> None:
    lines = GOOD.splitlines(keepends=True)
    others = [line.replace(",A", ",B") for line in lines[1:]]
    Path("answers.csv").write_text("".join([*lines, *others]))
    done("score", "answers.csv", "--task", TASK)
    (results_path,) = Path("results/answers").glob("*_results.json")
    (samples_path,) = Path("results/answers").glob("*_samples_*.jsonl")
    results = json.loads(results_path.read_text())
    metadata = results["configs"][TASK]["metadata"]
    expected = (metadata["repeats"], metadata["version"])
    del metadata["readings"]  # which the change of a record below would contradict
    metadata.update(repeats={"answers": 2, "metric": "acc", "mean": 0.99}, version="0")
    results["versions"][TASK] = "0"
    results_path.write_text(json.dumps(results))
    samples = [json.loads(line) for line in samples_path.read_text().splitlines()]
    samples[0]["sample"]["rule"] = "another"  # as an older reader saved it
    samples_path.write_text("".join(json.dumps(sample) + "\n" for sample in samples))

    done("score", "results/answers")
    written = json.loads(Path("results/answers_scored", results_path.name).read_text())
    metadata = written["configs"][TASK]["metadata"]
    assert (metadata["repeats"], metadata["version"]) == expected
    assert written["versions"][TASK] == metadata["version"]
