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


def test_one_bar_stands_for_all_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    from tqdm import tqdm

    asked = []
    with status.one_bar(["a", "b", "c"]) as requests:
        for request in requests:
            for _ in tqdm([1], desc="of a round"):
                asked.append(request)
    assert asked == ["a", "b", "c"]
    for _ in tqdm([1], desc="afterwards"):
        pass
    shown = capsys.readouterr().err
    assert "Model Responding: 100%" in shown and "3/3" in shown
    assert "of a round" not in shown and "afterwards: 100%" in shown


def test_the_bars_of_a_model_may_move_the_one(capsys: pytest.CaptureFixture[str]) -> None:
    from tqdm import tqdm

    with status.one_bar(["a", "b", "c"], moved_by_models=True) as bar:
        for _ in range(2):
            tqdm(total=1, desc="Checking prompts").update()
            tqdm(total=1, desc="Model Responding").update()
        assert bar.n == 2
    assert capsys.readouterr().err.count("\n") == 1
