"""Stored answers: their keys, what is kept, and what a damaged or a full folder costs."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import demo_runs
import faulty_model
import lmms_eval.models
import numpy as np
import pytest
from demo_runs import evaluate
from faulty_runs import TASK, Runs
from PIL import Image
from vlm_requests import instance

from figlang_tasks import FigLangError
from figlang_tasks.core import notes, status
from figlang_tasks.core.score_requests import KEY
from figlang_tasks.harness.answer_keys import content_digest, request_digest
from figlang_tasks.harness.answer_store import Store, StoredAnswer
from figlang_tasks.harness.answers import Answers
from figlang_tasks.harness.identity import model_key
from figlang_tasks.models.vlm import FigLangVLM

BARS = re.compile(r"(answers|Model Responding): .*\[00:00<\?")  # as they begin


def test_a_digest_tells_content_apart_by_all_but_the_order_of_keys() -> None:
    contents: list[Any] = [
        None,
        True,
        1,
        1.5,
        "1",
        "",
        "null",
        [],
        {},
        [[]],
        [[], []],
        ["a", "b"],
        ["b", "a"],
        {"a": "b"},
        {"b": "a"},
    ]
    pictures = [
        Image.new("L", (2, 3)),
        Image.new("L", (3, 2)),
        Image.new("P", (2, 3)),
        Image.new("RGB", (2, 1)),
    ]
    digests = {content_digest(content) for content in (*contents, *pictures)}
    assert len(digests) == len(contents) + len(pictures)
    assert content_digest([{"a": 1, "b": [2]}]) == content_digest([{"b": [2], "a": 1}])


@pytest.mark.parametrize("chat", [True, False])
def test_a_digest_tells_apart_what_is_to_be_scored(chat: bool) -> None:
    """No prompt shows candidates of a column, and the data of both documents is the same."""
    scored = {KEY: {"kind": "candidates", "candidates": "captions"}}
    candidates = (["a", "b"], ["b", "a"], ["a", "b"])
    documents = [{"captions": captions, "data": "d"} for captions in candidates]
    lm = SimpleNamespace(task_dict={"task": {"test": documents}})

    def messages(doc: object) -> list[dict[str, str]]:
        return [{"role": "user"}]

    def pictures(doc: object) -> list[object]:
        return []

    def digest_of(number: int, settings: dict[str, Any]) -> str:
        prompt_and_settings = (messages, settings) if chat else (settings, pictures)
        arguments = ("Which?", *prompt_and_settings, number, "task", "test")
        return request_digest(lm, SimpleNamespace(args=arguments, request_type="generate_until"))

    assert digest_of(0, scored) != digest_of(1, scored)
    assert digest_of(0, scored) == digest_of(2, scored)
    assert digest_of(0, {}) == digest_of(1, {}) != digest_of(0, scored)


@pytest.mark.parametrize(
    ("first", "second", "are_same"),
    [
        ({"model": "m", "api_key": "one-key"}, {"api_key": "one-key", "model": "m"}, True),
        ("model=m,dtype=float32", {"dtype": "float32", "model": "m"}, True),
        ("model=m,dtype=float32", "model=m,dtype=bfloat16", False),
        ("", None, True),
    ],
)
def test_arguments_tell_models_apart_and_are_not_kept(
    first: Any, second: Any, are_same: bool, tmp_path: Path
) -> None:
    assert (model_key("m", first) == model_key("m", second)) is are_same
    store = Store(str(tmp_path), model_key("m", first))
    store.keep([StoredAnswer("key", "task", 0, "an answer")])
    store.close()
    assert not any(b"one-key" in path.read_bytes() for path in tmp_path.iterdir())


def test_files_that_arguments_name_tell_models_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    weights = tmp_path / "model" / "part" / "weights"
    keys: list[str] = []
    weights.parent.mkdir(parents=True)
    for time, content in ((1, "old"), (2, "old"), (2, "newer")):
        weights.write_text(content)
        os.utime(weights, ns=(time, time))
        for arguments in (
            "pretrained=model",
            f"peft={weights}",
            {"pretrained": tmp_path / "model"},
        ):
            keys.append(model_key("m", arguments))
            (tmp_path / "model" / "figlang_0.db").write_text(content)  # of --use_cache
            assert model_key("m", arguments) == keys[-1]
    assert len(set(keys)) == 9
    assert model_key("m", f"pretrained=model,system_prompt={'long' * 9999}") not in keys


@pytest.mark.parametrize("size", [10, 300_000, 3_000_000])
def test_weights_of_the_same_size_and_time_tell_models_apart(size: int, tmp_path: Path) -> None:
    """As an archive unpacks two checkpoints. Of a large file only a sample is read."""
    weights = tmp_path / "model.safetensors"
    keys: list[str] = []
    random = np.random.default_rng(0)
    for _ in range(2):
        weights.write_bytes(random.bytes(size))
        os.utime(weights, ns=(1, 1))
        keys += [model_key("m", f"pretrained={tmp_path}"), model_key("m", f"pretrained={tmp_path}")]
    assert keys[0] == keys[1] != keys[2] == keys[3]


def test_every_process_finds_all_answers_but_failed_requests(tmp_path: Path) -> None:
    text_by_key = {
        "a": "Yes.",
        "b": "caf\u00e9",
        "f0": "[LMMS_EVAL_REQUEST_FAILED after 5 retries] no",
        "f1": "[LMMS_EVAL_BUDGET_EXCEEDED]",
        "f2": "",
        "f3": " \n",
    }
    for rank, keys in enumerate((["a"], list(text_by_key))):
        store = Store(str(tmp_path), "m", rank)
        store.keep(StoredAnswer(key, "task", 0, text_by_key[key]) for key in keys)
        store.close()
    for rank in (0, 1, 2):
        answers = Store(str(tmp_path), "m", rank).look_up(list(text_by_key))
        texts = {index: answer.text for index, answer in answers.items()}
        assert texts == {0: "Yes.", 1: "caf\u00e9"}
    assert not Store(str(tmp_path), "another model").look_up(["a"])


def test_what_was_answered_before_an_error_is_kept(tmp_path: Path) -> None:
    """Also where that is less than a batch."""

    class Breaks:
        """A model that answers one request, and then fails."""

        batch_size = 8
        on_answer: Any = None

        def generate_until(self, requests: list[Any]) -> list[str]:
            self.on_answer(0, "Yes.")
            raise RuntimeError("the server is gone")

    store = Store(str(tmp_path), "m")
    requests = [instance([], {}, number) for number in range(2)]
    with pytest.raises(RuntimeError, match="gone"):
        Answers({}, store, None)._ask(Breaks(), "generate_until", requests, ["first", "second"])
    assert [answer.text for answer in store.look_up(["first", "second"]).values()] == ["Yes."]


def test_a_full_disk_costs_no_run_and_answers_are_tried_again(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    notes.take_failures()  # forgets those of other tests
    text_by_key = {f"{number}": f"{number} {'x' * 1000}" for number in range(100)}
    store = Store(str(tmp_path), "m")
    (pages,) = store.database.execute("PRAGMA max_page_count").fetchone()
    store.database.execute("PRAGMA max_page_count = 20")
    for key, text in text_by_key.items():
        store.keep([StoredAnswer(key, "task", 0, text)])
    message = f"--use_cache {tmp_path}: answers could not be stored (database or disk is full)"
    assert notes.take_failures() == [message]
    assert len(warnings_of_loguru) == 1 and message in warnings_of_loguru[0]
    assert 0 < len(store.look_up(list(text_by_key))) < 100
    store.database.execute(f"PRAGMA max_page_count = {pages}")  # there is room again
    store.keep([StoredAnswer("last", "task", 0, "an answer")])
    store.close()
    assert len(Store(str(tmp_path), "m").look_up([*text_by_key, "last"])) == 101


def test_a_damaged_file_is_named_before_a_model_is_loaded(tmp_path: Path) -> None:
    store = Store(str(tmp_path), "m")
    store.keep(StoredAnswer(f"{number}", "task", 0, "x" * 1000) for number in range(100))
    store.close()
    path = tmp_path / "figlang_0.db"
    content = bytearray(path.read_bytes())
    content[8192:16384] = b"\xff" * 8192
    for damaged in (bytes(content), b"not a database at all" * 100, b"a note"):
        path.write_bytes(damaged)
        with pytest.raises(
            FigLangError, match=f"the answers in {path} cannot be used .*: remove it"
        ):
            Store(str(tmp_path), "m", rank=1)
        assert path.read_bytes() == damaged


ANSWERS = "CREATE TABLE answers (key TEXT PRIMARY KEY, task TEXT, doc_id, answer TEXT NOT NULL)"


@pytest.mark.parametrize("rank", [0, 1], ids=["own file", "file of another process"])
@pytest.mark.parametrize(
    ("commands", "cause"),
    [
        (["CREATE TABLE other (a, b)"], "it is a database of something else, with other: a, b"),
        (
            [ANSWERS, "CREATE TABLE other (a, b)"],
            "something else, with answers: key, .*; other: a, b",
        ),
        (
            ["CREATE TABLE answers (question, reply)"],
            "something else, with answers: question, reply",
        ),
        ([ANSWERS.replace("doc_id, ", "")], "something else, with answers: key, task, answer"),
        (
            [ANSWERS.replace("NULL", "NULL, more NOT NULL")],
            "something else, with answers: .*answer, more",
        ),
        (["CREATE VIEW answers AS SELECT 1 AS key"], "something else, with view answers: key"),
        (
            [ANSWERS, "INSERT INTO answers VALUES ('m-a', 'task', 0, x'ff')"],
            "an answer is of type bytes, not a text",
        ),
        (
            [ANSWERS, "INSERT INTO answers VALUES ('m-a', 'task', 0, CAST(x'ff' AS TEXT))"],
            "not decode to UTF-8",
        ),
    ],
)
def test_a_database_of_something_else_is_named_and_left_alone(
    commands: list[str], cause: str, rank: int, tmp_path: Path
) -> None:
    path = tmp_path / "figlang_0.db"
    with sqlite3.connect(path) as database:
        for command in commands:
            database.execute(command)
        database.commit()
        before = database.execute("SELECT sql FROM sqlite_master").fetchall()
        with pytest.raises(
            FigLangError, match=f"^figlang_tasks: the answers in {path} cannot be used .*{cause}"
        ):
            Store(str(tmp_path), "m", rank).look_up(["a"])
        assert database.execute("SELECT sql FROM sqlite_master").fetchall() == before


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_named(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "figlang_3.db")
    with pytest.raises(
        FigLangError,
        match=f"the answers in {tmp_path}/figlang_3.db cannot be used .it is no ordinary",
    ):
        Store(str(tmp_path), "m")


def test_a_model_that_tells_its_answers_loses_one_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It gets several batches in a call; they are those of an undisturbed run, with one bar."""
    options: dict[str, Any] = {
        "use_cache": str(tmp_path / "answers"),
        "limit": 6,
        "gen_kwargs": "max_new_tokens=4",
    }
    asked_rows: list[str] = []
    asked_models: set[FigLangVLM] = set()
    run_batch = FigLangVLM._run_batch

    def dying(self: Any, settings: Any, stops: Any, batch: Any, inputs: Any) -> Any:
        """Run a batch, but fail in the call that brings the fourth row."""
        asked_rows.extend(conversation.row for conversation in batch)
        asked_models.add(self)
        if len(asked_rows) == 4:
            raise RuntimeError("the model is broken")
        return run_batch(self, settings, stops, batch, inputs)

    with monkeypatch.context() as patched:
        patched.setattr(FigLangVLM, "_run_batch", dying)
        with pytest.raises(FigLangError, match="doc 3: RuntimeError: the model is broken"):
            evaluate(TASK, "figlang_vlm", demo_runs.DEMO, **options)
        assert [model.on_answer for model in asked_models] == [None], (
            "what it is asked next by others is not kept"
        )
        completed = evaluate(TASK, "figlang_vlm", demo_runs.DEMO, **options)
    assert asked_rows[4:] == [f"task {TASK}, doc {number}" for number in (3, 4, 5)]
    del options["use_cache"]
    capsys.readouterr()
    undisturbed = evaluate(TASK, "figlang_vlm", demo_runs.DEMO, **options)
    printed = capsys.readouterr().err
    assert " 6/6 [" in printed
    assert BARS.findall(printed) == ["answers"]
    assert demo_runs.answers(completed, TASK) == demo_runs.answers(undisturbed, TASK)


def test_a_class_with_several_requests_on_the_way_loses_those(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path)
    limit = 16
    monkeypatch.setattr(faulty_model.Faulty, "num_concurrent", 4, raising=False)
    with pytest.raises(RuntimeError, match="the model is broken"):
        runs.here(limit=limit, fault={"faulty": "raise", "faulty_at": 10})
    runs.here(limit=limit)
    assert [len(rows) for rows in runs.asked] == [10, limit - 8]


def test_a_class_that_gets_all_requests_at_once_shows_its_own_bar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A class that tells no answers, where none is stored."""
    Runs(tmp_path).here(limit=20, cached=False)
    printed = capsys.readouterr().err
    assert BARS.findall(printed) == ["Model Responding"]
    assert " 20/20 [" in printed


@pytest.mark.parametrize("task", [TASK, "mini_sg"])
def test_only_missing_answers_are_asked_for(
    task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The screen says how many answers are stored, and has one bar for those that are not."""
    runs = Runs(tmp_path)
    rounds = 2 if task == "mini_sg" else 1
    for stored_rows, limit in ((0, 10), (10, 20), (20, 20)):
        with status.printing():
            runs.here(task, limit=limit, include_path=demo_runs.mini_tasks())
        assert len(runs.asked[-1]) == (limit - stored_rows) * rounds
        printed = capsys.readouterr().err
        stored = stored_rows * rounds
        total = limit * rounds
        assert f"{stored} of {total} answers are from the cache" in printed
        has_bar = stored < total
        assert BARS.findall(printed).count("answers") == has_bar
        assert not has_bar or f" {total}/{total} [" in printed
        assert "loading the model (faulty) ..." in printed


@pytest.mark.parametrize("task", [TASK, "mini_sg"])
def test_stored_answers_give_the_same_results(task: str, tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    options: dict[str, Any] = {"limit": 20, "include_path": demo_runs.mini_tasks()}
    first_run = runs.here(task, **options)
    second_run = runs.here(task, **options)
    assert runs.asked[1] == []
    for name in ("results", "configs", "samples", "config"):
        assert without_functions(second_run[name]) == without_functions(first_run[name])


def without_functions(content: Any) -> Any:
    """A copy in which every function is a word, and without token counts."""
    if isinstance(content, dict):
        copy: dict[Any, Any] = {}
        for key, entry in content.items():
            if key != "token_counts":
                copy[key] = without_functions(entry)
        return copy
    if isinstance(content, list | tuple):
        return [without_functions(entry) for entry in content]
    return "function" if callable(content) else content


def test_tasks_of_others_use_the_cache_of_the_harness(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"text": "a"}\n{"text": "b"}\n')
    (tmp_path / "theirs.yaml").write_text(
        "task: theirs\ndataset_path: json\ndataset_kwargs: {data_files: {test:"
        " rows.jsonl}}\ntest_split: test\noutput_type: generate_until\ndoc_to_text:"
        " text\ndoc_to_target: text\ndoc_to_visual: !function own.visual\nprocess_results:"
        " !function own.judge\nmetric_list:\n  - {metric: acc, aggregation: mean, higher_is_better:"
        " true}\ngeneration_kwargs: {max_new_tokens: 4, temperature: 0, do_sample: false, top_p:"
        " null, num_beams: 1}\n"
    )
    (tmp_path / "own.py").write_text(
        "def visual(doc): return []\ndef judge(doc, results): return {'acc': 1.0}\n"
    )
    runs = Runs(tmp_path)
    options: dict[str, Any] = {"include_path": str(tmp_path), "force_simple": True}
    for _ in range(2):
        results = runs.here([TASK, "theirs"], limit=2, **options)  # type: ignore[arg-type]
        assert results["results"]["theirs"]["acc,none"] == 1
    assert [len(rows) for rows in runs.asked] == [4, 0]
    assert (runs.cache / "cache.db").exists()
    lmms_eval.models.MODEL_REGISTRY_V2.resolve("faulty")
    notes.take_failures()


def test_padded_pictures_of_one_call_stay_where_the_next_has_others() -> None:
    """Ordinary tasks tell those of all processes, tasks in rounds those of this one alone."""

    def no_answers(requests: list[Any]) -> list[str]:
        return []

    answers = Answers({}, None, None)
    for padded in ({"ordinary": {1, 2}}, {"in_rounds": {3}}, {"ordinary": {4}}):
        lm = SimpleNamespace(padded_pictures=padded, generate_until=no_answers)
        answers.execute(lm, "generate_until", [])
    assert answers.padded_pictures == {"ordinary": {1, 2, 4}, "in_rounds": {3}}
