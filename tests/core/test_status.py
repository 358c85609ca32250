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


def test_bars_are_hidden_in_a_block(capsys: pytest.CaptureFixture[str]) -> None:
    from tqdm import tqdm

    with status.without_bars():
        list(tqdm([1], desc="of a round", disable=False))
    list(tqdm([1], desc="afterwards"))
    shown = capsys.readouterr().err
    assert "of a round" not in shown and "afterwards: 100%" in shown
