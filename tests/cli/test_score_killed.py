"""``figlang score`` begins anew after a kill, or leaves a run that looks whole, if this fails."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import warm
from commands import done
from saved_samples import evaluated

from figlang_tasks.metrics.explanation import compute

ROWS = 240
CPU_TOKENS = 96  # of a batch
IN_SMALL_BATCHES = f"""
from figlang_tasks.cli.figlang import main
from figlang_tasks.metrics.explanation import compute
compute.CPU_TOKENS = {CPU_TOKENS}
main()
"""


def stored_scores(cache: Path) -> dict[str, int]:
    """Each score in a cache folder, by key, with a number that is another one where it was stored
    again.
    """
    try:
        database = f"file:{cache}/explanation/scores.sqlite?mode=ro"
        with closing(sqlite3.connect(database, uri=True, timeout=600)) as connection:
            return dict(connection.execute("SELECT key, rowid FROM scores"))
    except sqlite3.OperationalError:  # not made yet
        return {}


@pytest.mark.slow
def test_a_killed_run_is_taken_up_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = json.loads(evaluated()[0].split(b"\n")[0])
    del pattern["input_media"]
    many_rows = ""
    for number in range(ROWS):
        texts = {
            "reference": f"{number} slow lawyers",
            "explanation": f"{number} bright sharks never cross a bridge",
        }
        changes = texts | {"id": f"muse-test-{number}"}
        many_rows += json.dumps(pattern | {"sample": pattern["sample"] | changes}) + "\n"
    whole, killed, cache = tmp_path / "whole", tmp_path / "killed", tmp_path / "killed cache"
    for folder in (whole, killed):
        folder.mkdir()
        (folder / "many.jsonl").write_text(many_rows)
    monkeypatch.setattr(compute, "CPU_TOKENS", CPU_TOKENS)
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "whole cache"))
    done("score", whole / "many.jsonl", "--scorer", "embedded")

    # Kernels are chosen by timing, and differ in the last digits: on a busy machine a second choice
    # may be another one.
    for kernels in (tmp_path / "whole cache").rglob("kernels.json"):
        kept_kernels = cache / kernels.relative_to(tmp_path / "whole cache")
        kept_kernels.parent.mkdir(parents=True)
        shutil.copyfile(kernels, kept_kernels)
    monkeypatch.setenv("FIGLANG_CACHE", str(cache))
    command = [
        sys.executable,
        "-c",
        IN_SMALL_BATCHES,
        "score",
        "killed/many.jsonl",
        "--scorer",
        "embedded",
    ]
    process = warm.Process(command, cwd=tmp_path)
    deadline = time.monotonic() + 120
    while len(stored_scores(cache)) < 60 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL
    at_the_kill = stored_scores(cache)
    assert 60 <= len(at_the_kill) < ROWS
    assert {path.name for path in killed.iterdir()} == {"many.jsonl", ".many_embedded.partial"}
    (killed / ".many_embedded.partial" / "results.json").write_text(
        "what a kill while writing leaves"
    )

    done("score", killed / "many.jsonl", "--scorer", "embedded")
    in_the_end = stored_scores(cache)
    assert len(in_the_end) == ROWS
    assert at_the_kill.items() <= in_the_end.items(), (
        "nothing was computed and stored a second time"
    )
    assert {path.name for path in killed.iterdir()} == {"many.jsonl", "many_embedded"}
    written, expected = (
        {path.name: path.read_bytes() for path in (folder / "many_embedded").iterdir()}
        for folder in (killed, whole)
    )
    assert written == expected
    assert expected.keys() == {"samples_many.jsonl", "results.json"}
