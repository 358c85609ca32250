"""Progress bars that a run hides are shown, or others stay hidden, if this fails."""

from __future__ import annotations

import pytest

from figlang_tasks.core import status


def test_bars_are_hidden_in_a_block(capsys: pytest.CaptureFixture[str]) -> None:
    from tqdm import tqdm

    with status.without_bars():
        list(tqdm([1], desc="of a round", disable=False))
    list(tqdm([1], desc="afterwards"))
    shown = capsys.readouterr().err
    assert "of a round" not in shown and "afterwards: 100%" in shown
