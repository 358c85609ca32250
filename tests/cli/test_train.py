"""``figlang train``: a command for each benchmark that declares a trainer, with its help."""

from __future__ import annotations

from commands import done, figlang


def test_the_benchmarks_with_a_trainer_have_a_command() -> None:
    assert "Train IRFL's classifier" in done("train", "irfl", "--help")
    assert [figlang("train", "nykms", "--help").exit_code, figlang("train", "metaclue").exit_code] == [0, 2]
