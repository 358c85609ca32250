"""Stored answers: what they are known by, what is kept, and what a damaged or a full folder
costs.
"""

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
from figlang_tasks.harness.answer_store import Store, StoredAnswer
from figlang_tasks.harness.answers import Answers, content_digest, digest
from figlang_tasks.harness.identity import model_key
from figlang_tasks.models.vlm import FigLangVLM

BARS = re.compile(r"(answers|Model Responding): .*\[00:00<\?")  # as they begin


def test_a_digest_tells_content_apart_by_all_but_the_order_of_keys() -> None:
    shown: list[Any] = [
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
    assert len({content_digest(each) for each in (*shown, *pictures)}) == len(shown) + len(pictures)
    assert content_digest([{"a": 1, "b": [2]}]) == content_digest([{"b": [2], "a": 1}])


@pytest.mark.parametrize("chat", [True, False])
def test_a_digest_tells_apart_what_is_to_be_scored(chat: bool) -> None:
    """Candidates that stand in a column of the document are not shown, and the data of both
    documents is the same.
    """
    asked = {KEY: {"kind": "candidates", "candidates": "captions"}}
    documents = [
        {"captions": captions, "data": "d"} for captions in (["a", "b"], ["b", "a"], ["a", "b"])
    ]
    lm = SimpleNamespace(task_dict={"task": {"test": documents}})

    def digest_of(number: int, settings: dict[str, Any]) -> str:
        shown = (lambda doc: [{"role": "user"}], settings) if chat else (settings, lambda doc: [])
        arguments = ("Which?", *shown, number, "task", "test")
        return digest(lm, SimpleNamespace(args=arguments, request_type="generate_until"))

    assert digest_of(0, asked) != digest_of(1, asked) and digest_of(0, asked) == digest_of(2, asked)
    assert digest_of(0, {}) == digest_of(1, {}) != digest_of(0, asked)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"model": "m", "api_key": "one-key"}, {"api_key": "one-key", "model": "m"}, True),
        ("model=m,dtype=float32", {"dtype": "float32", "model": "m"}, True),
        ("model=m,dtype=float32", "model=m,dtype=bfloat16", False),
        ("", None, True),
    ],
)
def test_arguments_tell_models_apart_and_are_not_kept(
    first: Any, second: Any, same: bool, tmp_path: Path
) -> None:
    assert (model_key("m", first) == model_key("m", second)) is same
    store = Store(str(tmp_path), model_key("m", first))
    store.keep([StoredAnswer("key", "task", 0, "an answer")])
    store.close()
    assert not any(b"one-key" in path.read_bytes() for path in tmp_path.iterdir())


def test_files_that_arguments_name_tell_models_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    weights, found = tmp_path / "model" / "part" / "weights", []
    weights.parent.mkdir(parents=True)
    for time, content in ((1, "old"), (2, "old"), (2, "newer")):
        weights.write_text(content)
        os.utime(weights, ns=(time, time))
        for arguments in (
            "pretrained=model",
            f"peft={weights}",
            {"pretrained": tmp_path / "model"},
        ):
            found.append(model_key("m", arguments))
            (tmp_path / "model" / "figlang_0.db").write_text(content)  # of --use_cache
            assert model_key("m", arguments) == found[-1]
    assert len(set(found)) == 9
    assert model_key("m", f"pretrained=model,system_prompt={'long' * 9999}") not in found


@pytest.mark.parametrize("size", [10, 300_000, 3_000_000])
def test_weights_of_the_same_size_and_time_tell_models_apart(size: int, tmp_path: Path) -> None:
    """As an archive unpacks two checkpoints of one architecture. Of a large file only a sample is
    read.
    """
    weights, keys = tmp_path / "model.safetensors", []
    random = np.random.default_rng(0)
    for _ in range(2):
        weights.write_bytes(random.bytes(size))
        os.utime(weights, ns=(1, 1))
        keys += [model_key("m", f"pretrained={tmp_path}"), model_key("m", f"pretrained={tmp_path}")]
    assert keys[0] == keys[1] != keys[2] == keys[3]


def test_what_is_kept_and_found_by_any_process(tmp_path: Path) -> None:
    failed = [
        "[LMMS_EVAL_REQUEST_FAILED after 5 retries] no",
        "[LMMS_EVAL_BUDGET_EXCEEDED]",
        "",
        " \n",
    ]
    given = {
        "a": "Yes.",
        "b": "caf\u00e9",
        **{f"f{number}": text for number, text in enumerate(failed)},
    }
    for rank, names in enumerate((["a"], list(given))):
        store = Store(str(tmp_path), "m", rank)
        store.keep(StoredAnswer(name, "task", 0, given[name]) for name in names)
        store.close()
    for rank in (0, 1, 2):
        found = Store(str(tmp_path), "m", rank).look_up(list(given))
        assert {place: answer.text for place, answer in found.items()} == {
            0: "Yes.",
            1: "caf\u00e9",
        }
    assert not Store(str(tmp_path), "another model").look_up(["a"])


def test_what_was_answered_before_an_error_is_kept(tmp_path: Path) -> None:
    """Also where that is less than a batch."""

    class Breaks:
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
    notes.take_failures()
    given = {f"{number}": f"{number} {'x' * 1000}" for number in range(100)}
    store = Store(str(tmp_path), "m")
    (pages,) = store.own.execute("PRAGMA max_page_count").fetchone()
    store.own.execute("PRAGMA max_page_count = 20")
    for name, answer in given.items():
        store.keep([StoredAnswer(name, "task", 0, answer)])
    told = f"--use_cache {tmp_path}: answers could not be stored (database or disk is full)"
    assert (
        notes.take_failures() == [told]
        and len(warnings_of_loguru) == 1
        and told in warnings_of_loguru[0]
    )
    assert 0 < len(store.look_up(list(given))) < 100
    store.own.execute(f"PRAGMA max_page_count = {pages}")  # there is room again
    store.keep([StoredAnswer("last", "task", 0, "an answer")])
    store.close()
    assert len(Store(str(tmp_path), "m").look_up([*given, "last"])) == 101


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
    """Asked for several batches at once; batches are those of an undisturbed run, which has one
    bar.
    """
    options: dict[str, Any] = {
        "use_cache": str(tmp_path / "answers"),
        "limit": 6,
        "gen_kwargs": "max_new_tokens=4",
    }
    told: list[str] = []
    asked: set[FigLangVLM] = set()
    generate = FigLangVLM.generate

    def dying(self: Any, batch: Any, *rest: Any) -> Any:
        told.extend(prompt.where for prompt in batch)
        asked.add(self)
        if len(told) == 4:
            raise RuntimeError("the model is broken")
        return generate(self, batch, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(FigLangVLM, "generate", dying)
        with pytest.raises(FigLangError, match="doc 3: RuntimeError: the model is broken"):
            evaluate(TASK, "figlang_vlm", demo_runs.DEMO, **options)
        assert [model.on_answer for model in asked] == [None], (
            "what it is asked next by others is not kept"
        )
        again = evaluate(TASK, "figlang_vlm", demo_runs.DEMO, **options)
    assert told[4:] == [f"task {TASK}, doc {number}" for number in (3, 4, 5)]
    del options["use_cache"]
    capsys.readouterr()
    first = evaluate(TASK, "figlang_vlm", demo_runs.DEMO, **options)
    printed = capsys.readouterr().err
    assert " 6/6 [" in printed and BARS.findall(printed) == ["answers"]
    assert demo_runs.answers(again, TASK) == demo_runs.answers(first, TASK)


def test_a_class_with_several_requests_on_the_way_loses_those(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, limit = Runs(tmp_path), 16
    monkeypatch.setattr(faulty_model.Faulty, "num_concurrent", 4, raising=False)
    with pytest.raises(RuntimeError, match="the model is broken"):
        runs.here(limit=limit, fault={"faulty": "raise", "faulty_at": 10})
    runs.here(limit=limit)
    assert [len(asked) for asked in runs.asked] == [10, limit - 8]


def test_a_class_that_gets_all_requests_at_once_shows_its_own_bar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A class that tells no answers, where none is stored."""
    Runs(tmp_path).here(limit=20, cached=False)
    printed = capsys.readouterr().err
    assert BARS.findall(printed) == ["Model Responding"] and " 20/20 [" in printed


@pytest.mark.parametrize("task", [TASK, "mini_sg"])
def test_only_missing_answers_are_asked_for(
    task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The results are the same; the screen says how many are known, and has one bar for what is
    asked.
    """
    runs, rounds = Runs(tmp_path), 2 if task == "mini_sg" else 1
    found = []
    for from_cache, limit in ((0, 10), (10, 20), (20, 20)):
        with status.printing():
            found.append(runs.here(task, limit=limit, include_path=demo_runs.mini_tasks()))
        assert len(runs.asked[-1]) == (limit - from_cache) * rounds
        shown, is_asked = capsys.readouterr().err, from_cache < limit
        assert f"{from_cache * rounds} of {limit * rounds} answers are from the cache" in shown
        assert BARS.findall(shown).count("answers") == is_asked
        assert not is_asked or f" {limit * rounds}/{limit * rounds} [" in shown
        assert "loading the model (faulty) ..." in shown
    for name in ("results", "configs", "samples", "config"):
        assert without_functions(found[2][name]) == without_functions(found[1][name])


def without_functions(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: without_functions(each) for key, each in value.items() if key != "token_counts"
        }
    if isinstance(value, list | tuple):
        return [without_functions(each) for each in value]
    return "function" if callable(value) else value


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
    assert [len(asked) for asked in runs.asked] == [4, 0]
    assert (runs.cache / "cache.db").exists()
    lmms_eval.models.MODEL_REGISTRY_V2.resolve("faulty")
    notes.take_failures()


def test_a_replay_reads_its_file_each_time(tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    evaluate(TASK, "figlang_random", saved=saved, limit=2)
    options: dict[str, Any] = {"use_cache": str(tmp_path / "answers"), "limit": 2}
    first = evaluate(TASK, "figlang_replay", f"samples={saved}", **options)
    (path,) = saved.rglob("*_samples_*.jsonl")
    assert set(demo_runs.answers(first, TASK)) == {0, 1}
    text = path.read_text(encoding="utf-8").replace("LABEL: entailment", "LABEL: contradiction")
    path.write_text(text.replace("The picture and", "PICTURE and"), encoding="utf-8")
    second = evaluate(TASK, "figlang_replay", f"samples={saved}", **options)
    assert all(answer.startswith("PICTURE") for answer in demo_runs.answers(second, TASK).values())


def test_padded_pictures_of_one_call_stay_where_the_next_has_others() -> None:
    """After ordinary tasks those of all processes are known, after tasks in rounds those of this
    process alone.
    """
    answers = Answers({}, None, None)
    for padded in ({"ordinary": {1, 2}}, {"in_rounds": {3}}, {"ordinary": {4}}):
        lm = SimpleNamespace(padded_pictures=padded, generate_until=lambda requests: [])
        answers.execute(lm, "generate_until", [])
    assert answers.padded_pictures == {"ordinary": {1, 2, 4}, "in_rounds": {3}}
