"""Files of predictions that are damaged, hostile or of another kind give one clear message."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import sys
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import zstandard

from figlang_tasks.core import files
from figlang_tasks.core.errors import RunError
from figlang_tasks.results.predictions import packed_members
from figlang_tasks.results.predictions.forms import read_predictions
from figlang_tasks.results.predictions.prediction import ColumnNames, PredictionFile

FIXTURES = Path(__file__).parent / "fixtures"
STATE = FIXTURES / "helm/flute:model=acme_parrot-1b/scenario_state.json"
LOG = FIXTURES / "inspect_limit.json"
INSTANCES = FIXTURES / "every_eval_ever_samples.jsonl"
ZSTANDARD = 93
MEBIBYTE = 1 << 20

Change = Callable[[Any], object]
"""Changes the content of a JSON file in place."""


class RunsAsCode:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def read(path: Path) -> PredictionFile:
    return read_predictions(path, ColumnNames(), "figlang_mini_flute")


def message_of(path: Path) -> str:
    """The message with which a file is refused, in one line."""
    with pytest.raises(RunError) as refusal:
        read(path)
    message = str(refusal.value)
    assert str(path) in message and "\n" not in message
    return message


def changed(source: Path, path: Path, change: Change) -> Path:
    """Write a copy of a JSON file with a change."""
    content = json.loads(source.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content))
    return path


def changed_lines(path: Path, change: Change) -> Path:
    """Write a copy of the instances of Every Eval Ever, the last of which has a change."""
    instances = [json.loads(line) for line in INSTANCES.read_text(encoding="utf-8").splitlines()]
    change(instances[-1])
    path.write_text("".join(json.dumps(instance) + "\n" for instance in instances))
    return path


def packed_log(path: Path, members: dict[str, bytes]) -> Path:
    """Write a ``.eval`` log with these files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def header() -> bytes:
    log = json.loads(LOG.read_text(encoding="utf-8"))
    del log["samples"]
    return json.dumps(log).encode()


def packed_with_zstandard(content: bytes, name: str) -> bytes:
    """A zip with one file that is packed with Zstandard, whose header says that it is small."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, zstandard.compress(content))
    packed = bytearray(buffer.getvalue())
    struct.pack_into("<H", packed, 8, ZSTANDARD)  # of the header before the file
    struct.pack_into("<H", packed, packed.rindex(b"PK\x01\x02") + 10, ZSTANDARD)
    return bytes(packed)


# --- logs of inspect_ai ---


def test_a_packed_log_does_not_fill_the_memory(tmp_path: Path) -> None:
    members = {"header.json": header(), "samples/a_epoch_1.json": b" " * (65 * MEBIBYTE)}
    log = packed_log(tmp_path / "bomb.eval", members)
    assert log.stat().st_size < MEBIBYTE
    assert "samples/a_epoch_1.json has" in message_of(log)


def test_a_log_that_unpacks_with_zstandard_does_not_fill_the_memory(tmp_path: Path) -> None:
    log = tmp_path / "bomb.eval"
    for size in (65 * MEBIBYTE, 5 * MEBIBYTE):  # a member may have 64
        log.write_bytes(packed_with_zstandard(b" " * size, "header.json"))
        assert log.stat().st_size < MEBIBYTE
        message = message_of(log)
        assert "header.json unpacks to more than the " in message
        assert "bytes that its header tells" in message


def test_what_all_files_of_a_log_unpack_to_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "read_member", lambda archive, name: b" " * 1000)
    monkeypatch.setattr(packed_members, "_MOST_BYTES_OF_ALL", 2500)
    with zipfile.ZipFile(packed_log(tmp_path / "a.eval", {"a": b"", "b": b""})) as archive:
        reader = packed_members.MemberReader(archive)
        reader.read("a")
        reader.read("b")
        with pytest.raises(zipfile.BadZipFile, match="it unpacks to more, at most 2,500"):
            reader.read("a")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_log_with_a_sample_twice_is_refused(tmp_path: Path) -> None:
    log = packed_log(tmp_path / "a.eval", {"header.json": header()})
    with zipfile.ZipFile(log, "a") as archive:
        archive.writestr("samples/a_epoch_1.json", "{}")
        archive.writestr("samples/a_epoch_1.json", "{}")
    assert "it has samples/a_epoch_1.json twice" in message_of(log)


def test_a_log_of_many_large_files_is_refused_before_it_is_read(tmp_path: Path) -> None:
    members = {"header.json": header(), "samples/a_epoch_1.json": b"{}"}
    content = bytearray(packed_log(tmp_path / "bomb.eval", members).read_bytes())
    position = 0
    for _ in members:  # in the list of files at the end of the zip
        position = content.index(b"PK\x01\x02", position) + 1
        struct.pack_into("<I", content, position + 23, 0xFFFF_FFF0)
    (tmp_path / "bomb.eval").write_bytes(content)
    assert "it unpacks to 8,589,934,560 bytes" in message_of(tmp_path / "bomb.eval")


def test_damaged_logs_are_refused(tmp_path: Path) -> None:
    content = (FIXTURES / "inspect.eval").read_bytes()
    (tmp_path / "cut.eval").write_bytes(content[:-100])
    assert "is no log of inspect_ai that can be read" in message_of(tmp_path / "cut.eval")

    position = content.index(b"samples/") + 150  # in the packed text of the first sample
    flipped = content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]
    (tmp_path / "flipped.eval").write_bytes(flipped)
    assert "_epoch_1.json is damaged" in message_of(tmp_path / "flipped.eval")

    interrupted = packed_log(tmp_path / "interrupted.eval", {"_journal/start.json": b"{}"})
    assert "the evaluation was interrupted" in message_of(interrupted)
    other_zip = packed_log(tmp_path / "other.eval", {"data.json": b"{}"})
    assert "is no log of inspect_ai: it has no header.json" in message_of(other_zip)
    no_json = packed_log(tmp_path / "no_json.eval", {"header.json": b"\xff\xfe"})
    assert "header.json is not JSON in UTF-8" in message_of(no_json)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    message = message_of(FIXTURES / "inspect.eval")
    assert "pip install 'figlang-tasks[inspect]'" in message and "--to json" in message
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "figlang-tasks[excel]" in message_of(FIXTURES / "vlmevalkit_FLUTE.xlsx")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda log: log.pop("samples"), "has no samples"),
        (lambda log: log.update(samples={"a": 1}), "samples is {'a': 1}, must be a list"),
        (lambda log: log["samples"].append(7), r"samples[8]: id is None"),
        (lambda log: log["samples"][2].pop("id"), "samples[2]: id is None"),
        (lambda log: log["samples"][2].update(epoch="1"), "samples[2]: epoch is '1'"),
        (
            lambda log: log["samples"][2]["output"].update(completion=[1]),
            "samples[2]: output.completion is [1], must be a text",
        ),
    ],
)
def test_logs_that_lack_something_are_refused(
    change: Change, expected: str, tmp_path: Path
) -> None:
    assert expected in message_of(changed(LOG, tmp_path / "log.json", change))


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="inspect_ai reads such logs")
def test_logs_of_another_version_name_the_package_that_reads_them(tmp_path: Path) -> None:
    log = changed(LOG, tmp_path / "log.json", lambda log: log.update(version=1))
    assert "has version 1 of the form of logs" in message_of(log)
    header_of_version_3 = header().replace(b'"version": 2', b'"version": 3')
    log = packed_log(tmp_path / "log.eval", {"header.json": header_of_version_3})
    assert "pip install inspect_ai" in message_of(log)


def test_a_sample_that_ended_with_an_error_has_no_answer(tmp_path: Path) -> None:
    def fail(log: Any) -> None:
        log["samples"][2]["error"] = {"message": "timeout"}
        log["samples"][2]["output"] = {"model": "parrot", "choices": [], "completion": ""}

    predictions = read(changed(LOG, tmp_path / "log.json", fail)).predictions
    assert [prediction.output is None for prediction in predictions] == [
        number == 2 for number in range(8)
    ]


def test_long_texts_are_found_where_the_log_keeps_them(tmp_path: Path) -> None:
    def attach(log: Any) -> None:
        sample = log["samples"][0]
        sample["attachments"]["0a1b"] = "Contradicts. " * 20
        sample["output"]["completion"] = "attachment://0a1b"

    predictions = read(changed(LOG, tmp_path / "log.json", attach)).predictions
    assert predictions[0].output == "Contradicts. " * 20


# --- HELM ---


def test_states_of_helm_that_lack_something_are_refused(tmp_path: Path) -> None:
    def message(change: Change) -> str:
        return message_of(changed(STATE, tmp_path / "scenario_state.json", change))

    assert "request_states is []" in message(lambda state: state.update(request_states=[]))
    assert "request_states is 'x'" in message(lambda state: state.update(request_states="x"))
    assert "request_states[3] has no instance.id" in message(
        lambda state: state["request_states"][3]["instance"].pop("id")
    )
    assert "request_states[3]: result.completions is 5" in message(
        lambda state: state["request_states"][3]["result"].update(completions=5)
    )
    assert "compares likelihoods" in message(
        lambda state: state["request_states"][3].update(reference_index=0)
    )


def test_helm_counts_originals_and_options_as_helm_does(tmp_path: Path) -> None:
    """Perturbed instances have the id of the original, and options are offered under letters."""

    def change(state: Any) -> None:
        first, second, third = state["request_states"][:3]
        first["output_mapping"] = {"A": "Entails", "B": "Contradicts"}
        first["result"]["completions"][0]["text"] = " B\n"
        second["instance"]["perturbation"] = {"name": "typos"}
        third["result"] = {"success": False, "error": "timeout", "completions": []}

    predictions = read(changed(STATE, tmp_path / "state.json", change)).predictions
    assert len(predictions) == 31
    assert (predictions[0].output, predictions[1].output) == ("Contradicts", None)


# --- Every Eval Ever ---


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda row: row.update(schema_version="9.0"), "line 32: schema_version is '9.0'"),
        (lambda row: row.update(model_id="b/other"), "answers of several models"),
        (lambda row: row.update(model_id={}), "line 32: model_id is {}, must be a text"),
        (lambda row: row.update(output=None), "line 32: messages is None"),
        (lambda row: row.update(output={"raw": [1]}), "line 32: output.raw has 1"),
        (lambda row: row.update(sample_id=5), "line 32: sample_id is 5, must be a text"),
        (
            lambda row: row.update(evaluation_result_id="f1", output={"raw": ["Entails"]}),
            "line 32 has the output 'Entails', and a line of another metric",
        ),
    ],
)
def test_instances_that_lack_something_are_refused(
    change: Change, expected: str, tmp_path: Path
) -> None:
    assert expected in message_of(changed_lines(tmp_path / "a.jsonl", change))


def test_an_answer_that_stands_in_a_line_for_each_metric_counts_once(tmp_path: Path) -> None:
    lines = INSTANCES.read_text(encoding="utf-8")
    path = tmp_path / "a.jsonl"
    path.write_text(lines + lines.replace("has_target:accuracy", "has_target:f1"))
    assert read(path).predictions[0].output == read(INSTANCES).predictions[0].output
    assert len(read(path).predictions) == len(read(INSTANCES).predictions) == 32


def test_of_several_evaluations_that_of_the_task_is_read(tmp_path: Path) -> None:
    lines = INSTANCES.read_text(encoding="utf-8")
    path = tmp_path / "a.jsonl"
    path.write_text(lines + lines.replace("figlang_mini_flute", "other"))
    assert len(read(path).predictions) == 32
    path.write_text(path.read_text().replace("figlang_mini_flute", "third"))
    assert "answers of several evaluations, third, other" in message_of(path)


# --- files of another kind ---


def test_files_with_values_alone_say_which_file_has_the_answers(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"results": {}, "configs": {}, "versions": {}}')
    assert "give the file of its samples" in message_of(path)
    path.write_text('{"schema_version": "0.3.0", "evaluation_results": []}')
    assert "..._samples.jsonl" in message_of(path)


def test_samples_of_likelihoods_are_no_outputs(tmp_path: Path) -> None:
    path = tmp_path / "samples_nli.jsonl"
    path.write_text('{"doc_id": 0, "arguments": {}, "resps": [[[-1.5, false]], [[-2.5, true]]]}')
    assert "does its task compare likelihoods?" in message_of(path)


@pytest.mark.parametrize("answers", ["[]", "[[]]"])
def test_an_empty_list_of_answers_is_a_row_without_one(answers: str, tmp_path: Path) -> None:
    path = tmp_path / "samples_nli.jsonl"
    empty = f'{{"doc_id": 0, "arguments": {{}}, "resps": {answers}}}\n'
    path.write_text(empty)
    assert [prediction.output for prediction in read(path).predictions] == [None]
    path.write_text(f'{{"doc_id": 1, "arguments": {{}}, "resps": [["yes"]]}}\n{empty}')
    assert [prediction.output for prediction in read(path).predictions] == ["yes", None]


@pytest.mark.parametrize("suffix", ["pkl", "pt", "json", "jsonl", "eval", "csv", "xlsx", "parquet"])
def test_pickled_content_is_never_run(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"answers.{suffix}"
    path.write_bytes(pickle.dumps(RunsAsCode(tmp_path / "has_run")))
    message_of(path)
    assert not (tmp_path / "has_run").exists()


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    for name in ("answers.csv", "answers.json", "answers.eval"):
        os.mkfifo(tmp_path / name)
        assert "this is a named pipe" in message_of(tmp_path / name)


def test_a_folder_needs_one_file_of_predictions(tmp_path: Path) -> None:
    assert "no scenario_state.json of HELM" in message_of(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scenario_state.json").write_bytes(STATE.read_bytes())
    assert "has several files of predictions" in message_of(tmp_path)


@pytest.mark.parametrize("name", ["vlmevalkit_FLUTE.xlsx", "inspect.eval"])
def test_a_file_with_wrong_bytes_is_read_or_refused(name: str, tmp_path: Path) -> None:
    """Whatever is damaged in a zip, no error of a library reaches the user."""
    content = (FIXTURES / name).read_bytes()
    path = tmp_path / name
    refused = 0
    for position in range(30, len(content), len(content) // 60):
        path.write_bytes(content[:position] + b"\xa5\x5a\x3c" + content[position + 3 :])
        try:
            read(path)
        except RunError:
            refused += 1
    assert refused > 20
