"""``figlang score`` goes on after a kill, and leaves no run that only looks whole."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import warm
from commands import done
from demo_runs import run_figlang_mini

from figlang_tasks.metrics.explanation import compute

ROWS = 240
TOKENS_OF_A_BATCH = 96
IN_SMALL_BATCHES = f"""
from figlang_tasks.cli.figlang import main
from figlang_tasks.metrics.explanation import compute
compute.CPU_TOKENS = {TOKENS_OF_A_BATCH}
main()
"""
EMBEDDED = ("--scorer", "embedded")


def stored_scores(cache: Path) -> dict[str, int]:
    """The number of each score in a cache folder, by key; a score stored again has a new number."""
    try:
        database = f"file:{cache}/explanation/scores.sqlite?mode=ro"
        with closing(sqlite3.connect(database, uri=True, timeout=600)) as connection:
            return dict(connection.execute("SELECT key, rowid FROM scores"))
    except sqlite3.OperationalError:  # The file does not exist yet.
        return {}


def many_samples() -> str:
    """The lines of a samples file of many rows, each with an explanation of its own."""
    first_line = run_figlang_mini()[0].split(b"\n")[0]
    pattern = json.loads(first_line)
    del pattern["input_media"]
    lines = []
    for number in range(ROWS):
        record = {
            **pattern["sample"],
            "id": f"muse-test-{number}",
            "reference": f"{number} slow lawyers",
            "explanation": f"{number} bright sharks never cross a bridge",
        }
        lines.append(json.dumps({**pattern, "sample": record}) + "\n")
    return "".join(lines)


def copy_kernels(cache: Path, other_cache: Path) -> None:
    """Let a cache have the kernels that another one chose.

    They are chosen by timing, and differ in the last digits. On a busy machine a second choice may
    be another one.
    """
    for file in cache.rglob("kernels.json"):
        copy = other_cache / file.relative_to(cache)
        copy.parent.mkdir(parents=True)
        shutil.copyfile(file, copy)


def score_and_kill(folder: Path, cache: Path) -> None:
    """Score a run in another process, and kill it when 60 scores are stored."""
    command = [sys.executable, "-c", IN_SMALL_BATCHES, "score", "many.jsonl", *EMBEDDED]
    process = warm.Process(command, cwd=folder)
    deadline = time.monotonic() + 120
    while len(stored_scores(cache)) < 60 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def content_by_name(folder: Path) -> dict[str, Any]:
    """The JSON values in each file of a folder, by the name of the file."""
    contents = {}
    for path in folder.iterdir():
        lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
        contents[path.name] = [json.loads(line) for line in lines]
    return contents


def with_approximate_numbers(value: Any) -> Any:
    """The same JSON value, with numbers that equal those that differ in the last digits.

    After a kill the rows that are left form other batches, and the last digits of a score depend
    on its batch.
    """
    if isinstance(value, dict):
        return {key: with_approximate_numbers(member) for key, member in value.items()}
    if isinstance(value, list):
        return [with_approximate_numbers(member) for member in value]
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-4, abs=1e-5, nan_ok=True)
    return value


@pytest.mark.slow
def test_a_killed_command_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_run = tmp_path / "whole"
    killed_run = tmp_path / "killed"
    samples = many_samples()
    for folder in (whole_run, killed_run):
        folder.mkdir()
        (folder / "many.jsonl").write_text(samples)
    monkeypatch.setattr(compute, "CPU_TOKENS", TOKENS_OF_A_BATCH)
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "whole cache"))
    done("score", whole_run / "many.jsonl", *EMBEDDED)

    cache = tmp_path / "killed cache"
    copy_kernels(tmp_path / "whole cache", cache)
    monkeypatch.setenv("FIGLANG_CACHE", str(cache))
    score_and_kill(killed_run, cache)
    scores_at_the_kill = stored_scores(cache)
    assert 60 <= len(scores_at_the_kill) < ROWS
    assert names(killed_run) == {"many.jsonl", ".many_scored.partial"}
    leftover = killed_run / ".many_scored.partial" / "results.json"
    leftover.write_text("what a kill while writing leaves")

    done("score", killed_run / "many.jsonl", *EMBEDDED)
    scores_at_the_end = stored_scores(cache)
    assert len(scores_at_the_end) == ROWS
    assert scores_at_the_kill.items() <= scores_at_the_end.items(), "nothing was stored again"
    assert names(killed_run) == {"many.jsonl", "many_scored"}
    assert names(killed_run / "many_scored") == {"samples_many.jsonl", "results.json"}
    written = content_by_name(killed_run / "many_scored")
    expected = content_by_name(whole_run / "many_scored")
    assert written == with_approximate_numbers(expected)
