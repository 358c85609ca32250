"""Lines that say what a run is doing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from figlang_tasks.core import status


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(status, "_shown", False)
    monkeypatch.setattr(status, "_last", "")
    yield


@pytest.mark.parametrize(
    ("rank", "shown", "expected"),
    [
        (None, False, ""),
        (None, True, "lmms_eval: loading\nlmms_eval: asking\nlmms_eval: loading\n"),
        ("0", True, "lmms_eval: loading\nlmms_eval: asking\nlmms_eval: loading\n"),
        ("1", True, ""),
    ],
)
def test_lines_are_printed_where_they_are_asked_for_by_the_first_process_and_each_once(
    rank: str | None, shown: bool, expected: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RANK", raising=False)
    if rank is not None:
        monkeypatch.setenv("RANK", rank)
    if shown:
        status.show()
    for line in ("loading", "loading", "asking", "loading"):
        status.tell(line)
    assert capsys.readouterr() == ("", expected)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (89.4, "89 s"), (90, "2 min"), (5399, "90 min"), (5400, "1.5 h"), (1e5, "27.8 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert status.duration(seconds) == text


def test_the_time_left_comes_after_some_seconds_and_then_ever_less_often(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(status, "_shown", True)
    now = 0.0
    monkeypatch.setattr(status.time, "monotonic", lambda: now)
    left = status.TimeLeft(1000)
    for done in range(10, 1001, 10):  # a request a second
        now = float(done)
        left.after(done, done)
    said = [line.partition("lmms_eval: ")[2] for line in capsys.readouterr().err.splitlines()]
    assert said == [
        "10 of 1,000 requests answered, about 16 min left",
        "20 of 1,000 requests answered, about 16 min left",
        "40 of 1,000 requests answered, about 16 min left",
        "80 of 1,000 requests answered, about 15 min left",
        "160 of 1,000 requests answered, about 14 min left",
        "320 of 1,000 requests answered, about 11 min left",
        "640 of 1,000 requests answered, about 6 min left",
    ]


def test_answers_of_a_cache_take_no_time(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(status, "_shown", True)
    now = 0.0
    monkeypatch.setattr(status.time, "monotonic", lambda: now)
    left = status.TimeLeft(100)
    left.after(80, 0)
    now = 20.0
    left.after(90, 10)
    assert capsys.readouterr().err == "lmms_eval: 90 of 100 requests answered, about 20 s left\n"
