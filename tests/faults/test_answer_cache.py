"""The functions around the harness's cache of answers, and what of the harness they rely on."""

from __future__ import annotations

import inspect
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import demo_runs
import pytest
from demo_runs import evaluate
from faults.faulty_runs import ROWS, TASK, Runs
from hypothesis import given
from hypothesis import strategies as st
from lmms_eval.caching import response_cache
from lmms_eval.loggers import EvaluationTracker
from lmms_eval.tasks import get_task_dict
from PIL import Image

import figlang_tasks
from figlang_tasks.core import notes, status
from figlang_tasks.harness import answer_cache


def test_hooks_of_the_harness() -> None:
    execute = inspect.unwrap(response_cache.ResponseCache.execute)
    assert list(inspect.signature(execute).parameters) == ["self", "lm", "reqtype", "requests"]
    assert inspect.getsource(execute).count("_extract_content_hash(req)") == 2  # to look up, and to store
    assert list(inspect.signature(inspect.unwrap(response_cache._extract_content_hash)).parameters) == ["instance"]
    create = inspect.getsource(inspect.unwrap(response_cache.ResponseCache.create))
    assert "run_dir, rank_db_name)" in create and 'rank_db_name = f"rank_{global_rank}.db"' in create
    assert "_LAYERED_RUNS_DIRNAME" in create and response_cache._LAYERED_RUNS_DIRNAME == "runs"
    assert response_cache._LAYERED_MERGED_MARKER == ".merged"
    assert "self._is_valid_response(resp, reqtype)" in inspect.getsource(execute)
    logged = list(inspect.signature(response_cache.ResponseCache._log_to_audit).parameters)
    assert logged.index("response") == 1 + 5  # behind self, by place
    columns = response_cache._SCHEMA_SQL.partition("CREATE INDEX")[0]
    assert all(name in columns for name in answer_cache._COLUMNS.split(", "))


def test_hooks_of_the_files() -> None:
    results = inspect.unwrap(EvaluationTracker.save_results_aggregated)
    samples = inspect.unwrap(EvaluationTracker.save_results_samples)
    assert list(inspect.signature(samples).parameters) == ["self", "task_name", "samples"]
    assert 'f"{self.date_id}_results.json"' in inspect.getsource(results)
    assert 'f"{self.date_id}_samples_{task_name}.jsonl"' in inspect.getsource(samples)
    assert "general_config_tracker.model_name_sanitized" in inspect.getsource(samples)


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ({}, 16),
        ({"batch_size": 4}, 64),
        ({"batch_size": "auto"}, 16),
        ({"batch_size": 1, "batch_size_per_gpu": 8}, 128),
        ({"batch_size": 1, "num_concurrent": 32}, 512),
        ({"batch_size": 0}, 16),
    ],
)
def test_a_piece_is_sixteen_batches(attributes: dict[str, Any], size: int) -> None:
    assert answer_cache._piece_size(SimpleNamespace(**attributes)) == size


SHOWN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=3), below, max_size=3),
    max_leaves=8,
)


def digest(value: Any) -> bytes:
    import hashlib

    found = hashlib.sha256()
    answer_cache._update(found, value)
    return found.digest()


@given(SHOWN, SHOWN)
def test_equal_digests_mean_equal_content(first: Any, second: Any) -> None:
    assert (digest(first) == digest(second)) == (repr(sorted_keys(first)) == repr(sorted_keys(second)))


def sorted_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(each) for each in value] if isinstance(value, list) else value


def test_pictures_of_other_sizes_and_modes_differ() -> None:
    shown = [Image.new("L", (2, 3)), Image.new("L", (3, 2)), Image.new("P", (2, 3)), Image.new("RGB", (2, 1))]
    assert len({digest(image) for image in shown}) == len(shown)


def test_answers_of_a_run_that_cannot_be_read_are_told_and_asked_again(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    runs = Runs(tmp_path)
    with pytest.raises(RuntimeError):
        runs.here(fault={"faulty": "raise", "faulty_at": 40})
    (left,) = runs.cache.glob("runs/*/rank_0.db")
    left.write_bytes(b"not a database at all" * 100)
    runs.here()
    assert len(runs.asked[1]) == ROWS
    assert any(f"{left} cannot be read" in message for message in warnings_of_loguru)


def test_a_cache_that_is_damaged_costs_no_run(tmp_path: Path, warnings_of_loguru: list[str]) -> None:
    """The harness merges into it when everything is computed."""
    notes.noted()
    runs = Runs(tmp_path)
    runs.cache.mkdir()
    (runs.cache / "cache.db").write_bytes(b"not a database at all" * 100)
    results = runs.here(limit=4)
    assert set(demo_runs.answers(results, TASK)) == set(range(4))
    (told,) = notes.noted()
    assert told == f"--use_cache {runs.cache}: answers could not be stored (file is not a database)"
    assert any(told in message for message in warnings_of_loguru)
    runs.here(limit=4)
    assert runs.asked[1] == []
    notes.noted()


def test_the_screen_has_one_bar_and_says_how_many_answers_are_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(status, "_shown", True)
    runs = Runs(tmp_path)
    for from_cache, limit in ((0, 30), (30, 40), (40, 40)):
        runs.here(limit=limit)
        shown = capsys.readouterr().err
        assert f"{from_cache} of {limit} answers are from the cache" in shown
        assert shown.count("Model Responding:   0%") == 1


def test_a_failed_request_that_an_earlier_version_took_for_an_answer_is_asked_again(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    runs.here(limit=2)
    with closing(sqlite3.connect(runs.cache / "cache.db")) as cache, cache:
        stored = json.dumps('Error: can only concatenate str (not "NoneType") to str')
        cache.execute("UPDATE responses SET response = ?", [stored])
    runs.here(limit=2)
    assert [len(asked) for asked in runs.asked] == [2, 2]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("model=m,api_key=one-key", "model=m,api_key=one-key", True),
        ("model=m,api_key=one-key", "model=m,api_key=another", False),
        ({"model": "m", "api_key": "one-key"}, {"model": "m", "api_key": "another"}, False),
        ({"model": "m", "api_key": "one-key"}, {"api_key": "one-key", "model": "m"}, True),
        ("model=m,dtype=float32", "model=m,dtype=bfloat16", False),
        ("", "", True),
    ],
)
def test_keys_among_the_arguments_tell_models_apart_and_are_not_kept(
    tmp_path: Path, first: Any, second: Any, same: bool
) -> None:
    prints = []
    tasks = get_task_dict([TASK], figlang_tasks.task_manager(include_defaults=False), "simple")
    for number, model_args in enumerate((first, second)):
        folder = tmp_path / str(number)
        made = response_cache.ResponseCache.create(str(folder), model="m", model_args=model_args, task_dict=tasks)
        with closing(made) as cache:
            prints.append(cache.model_fingerprint)
        assert not any(b"one-key" in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert (prints[0] == prints[1]) == same
    assert ("sha256" in prints[0]) == ("key" in str(first))
    assert "dtype" not in str(first) or "float32" in prints[0]


def test_a_finished_run_is_not_read_twice(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    runs.here(limit=3)
    (finished,) = runs.cache.glob("runs/*/rank_0.db")
    with sqlite3.connect(finished) as database:
        assert database.execute("SELECT COUNT(*) FROM responses").fetchone() == (3,)
        database.execute("UPDATE responses SET response = '\"changed\"'")
    results = runs.here(limit=3)
    assert runs.asked[1] == []
    assert "changed" not in demo_runs.answers(results, TASK).values()


def test_a_replay_reads_its_file_each_time(tmp_path: Path) -> None:
    """The name of its file is all that a cache could know it by."""
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
