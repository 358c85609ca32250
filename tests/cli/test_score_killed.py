"""``figlang score`` begins anew after a kill, or leaves a run that looks whole, if this fails."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import warm
from saved_samples import evaluated

ROWS = 240
IN_SMALL_BATCHES = """
from figlang_tasks.cli.figlang import main
from figlang_tasks.metrics.explanation import compute
compute.CPU_TOKENS = 96
main()
"""


def stored_scores(cache: Path) -> dict[str, int]:
    """Each score in a cache folder, by key, with a number that is another one where it was stored again."""
    database = cache / "explanation" / "scores.sqlite"
    if not database.is_file():
        return {}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=600)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'scores'").fetchone():
            return {}
        return dict(connection.execute("SELECT key, rowid FROM scores"))


@pytest.mark.slow
def test_a_killed_run_is_taken_up_where_it_was(tmp_path: Path) -> None:
    pattern = json.loads(evaluated()[0].split(b"\n")[0])
    del pattern["input_media"]
    many_rows = ""
    for number in range(ROWS):
        texts = {"reference": f"{number} slow lawyers", "explanation": f"{number} bright sharks never cross a bridge"}
        changes = texts | {"id": f"muse-test-{number}"}
        many_rows += json.dumps(pattern | {"sample": pattern["sample"] | changes}) + "\n"

    def start(name: str) -> warm.Process:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "many.jsonl").write_text(many_rows)
        command = [sys.executable, "-c", IN_SMALL_BATCHES, "score", f"{name}/many.jsonl", "--scorer", "embedded"]
        return warm.Process(command, cwd=tmp_path, env=os.environ | {"FIGLANG_CACHE": str(tmp_path / f"{name} cache")})

    def finish(process: warm.Process) -> None:
        errors = process.communicate(timeout=600)[1]
        assert process.returncode == 0, errors

    finish(start("whole"))
    process = start("killed")
    deadline = time.monotonic() + 120
    while len(stored_scores(tmp_path / "killed cache")) < 60 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL
    at_the_kill = stored_scores(tmp_path / "killed cache")
    assert 60 <= len(at_the_kill) < ROWS
    assert {path.name for path in (tmp_path / "killed").iterdir()} == {"many.jsonl", ".many_embedded.partial"}
    (tmp_path / "killed" / ".many_embedded.partial" / "results.json").write_text("what a kill while writing leaves")

    finish(start("killed"))
    in_the_end = stored_scores(tmp_path / "killed cache")
    assert len(in_the_end) == ROWS
    assert at_the_kill.items() <= in_the_end.items(), "nothing was computed and stored a second time"
    assert {path.name for path in (tmp_path / "killed").iterdir()} == {"many.jsonl", "many_embedded"}
    killed, whole = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "many_embedded").iterdir()}
        for name in ("killed", "whole")
    )
    assert killed == whole
    assert whole.keys() == {"samples_many.jsonl", "results.json"}
