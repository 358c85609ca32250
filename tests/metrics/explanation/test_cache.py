"""A stored score is another's, is lost, or costs a run if this fails."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.metrics.explanation.cache import ScoreCache, open_cache

PAIR = ("a reference", "a candidate")


@settings(max_examples=50)
@given(
    pairs=st.lists(st.tuples(st.text(), st.text()), unique=True, max_size=5), score=st.floats(-2, 2)
)
def test_no_two_pairs_or_models_share_an_entry(
    pairs: list[tuple[str, str]], score: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    scores = {pair: score + index for index, pair in enumerate(pairs)}
    ScoreCache(folder).store("model", scores)
    cache = ScoreCache(folder)
    assert cache.scores("model", pairs) == scores
    assert cache.scores("model 2", pairs) == {}
    exchanged = {(candidate, reference) for reference, candidate in pairs}
    assert cache.scores("model", exchanged - set(pairs)) == {}


def test_the_environment_names_the_folder_or_switches_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "mine"))
    open_cache(True).store("model", {PAIR: 1.0})
    assert (tmp_path / "mine" / "explanation" / "scores.sqlite").is_file()
    monkeypatch.setenv("FIGLANG_CACHE", "OFF")
    open_cache(True).store("model", {PAIR: 1.0})
    assert open_cache(True).scores("model", [PAIR]) == {}
    assert open_cache(False).scores("model", [PAIR]) == {}
    monkeypatch.delenv("FIGLANG_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    open_cache(True).store("model", {PAIR: 1.0})
    assert (tmp_path / "xdg" / "figlang_tasks" / "explanation" / "scores.sqlite").is_file()


def test_a_folder_that_cannot_be_used_is_reported_once_and_costs_nothing(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    (tmp_path / "scores.sqlite").write_bytes(b"no database " * 1000)
    reader = ScoreCache(tmp_path)
    writer = ScoreCache(tmp_path)
    for _ in range(3):
        assert reader.scores("model", [PAIR]) == {}
        writer.store("model", {PAIR: 1.0})
    assert len(warnings_of_loguru) == 2
    for message in warnings_of_loguru:
        assert "FIGLANG_CACHE" in message


@pytest.mark.parametrize("stored", [85.0, -1.5, 1e300, float("inf"), "0.5 or so", b"\x00", None])
def test_what_is_no_score_of_the_model_is_not_used(
    stored: object, tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    """The file is named, and nothing of it is trusted."""
    other = ("Another lawyer has fins.", PAIR[1])
    ScoreCache(tmp_path).store("bertscore:minilm,layer:6", {PAIR: 0.5, other: 0.75})
    with closing(sqlite3.connect(tmp_path / "scores.sqlite")) as database:
        database.execute("UPDATE scores SET score = ? WHERE score = 0.5", (stored,))
        database.commit()
    cache = ScoreCache(tmp_path)
    for _ in range(2):
        assert cache.scores("bertscore:minilm,layer:6", [other, PAIR], bounds=(-1, 1)) == {}
    (warning,) = warnings_of_loguru
    assert f"the score cache {tmp_path} is out of use (scores.sqlite holds " in warning
    assert "which is no score of bertscore:minilm: delete this file" in warning


@pytest.mark.parametrize("stored", [1.0, -1.0, 0.0, 1])
def test_the_least_and_the_greatest_score_are_scores(stored: float, tmp_path: Path) -> None:
    ScoreCache(tmp_path).store("model", {PAIR: stored})
    assert ScoreCache(tmp_path).scores("model", [PAIR], bounds=(-1, 1)) == {PAIR: stored}
