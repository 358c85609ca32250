"""SIGINT at any moment: the first ends a command within seconds, a second one at once; what is stored is kept."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from demo_runs import DEMO
from faults.faulty_runs import PIECE, ROWS, Runs
from openai_server import OpenAIServer

from figlang_tasks.core import interrupts
from figlang_tasks.mini import DEMO_MODEL_DIR

pytestmark = pytest.mark.slow  # whole runs, each in a process of its own

TOLD = "lmms_eval: interrupted; the command ends within seconds"
BUSY = 10.0  # seconds that a busy machine may add
MOMENTS = 6
SEED = 23


def start(folder: Path, *options: str, scorer: str = "off") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "figlang_tasks.cli.lmms_eval", *options, "--use_cache", str(folder / "answers")]
    own = {"FIGLANG_SCORER": scorer, "FIGLANG_CACHE": "off", "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [*command, "--log_samples", "--output_path", str(folder / "out")],
        env=os.environ | own,
        cwd=folder,
        stdout=(folder / "printed").open("w"),
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell ignores it for what runs behind it
    )


def printed(folder: Path) -> str:
    return (folder / "printed").read_text(encoding="utf-8", errors="replace")


def interrupted(process: subprocess.Popen[str], grace: float = interrupts.GRACE) -> float:
    """Send SIGINT to one process; return the seconds until it ended, by that signal."""
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        process.wait(grace + BUSY)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == -signal.SIGINT  # 130 in a shell
    return time.monotonic() - started


RUN = ("--tasks", "figlang_mini", "--model", "llava_hf", "--model_args", DEMO, "--device", "cpu", "--limit", "24")


def test_at_random_moments_of_one_run(tmp_path: Path) -> None:
    """Each command goes on from what the one before it has stored, until one comes to its end."""
    draw = random.Random(SEED)
    started = time.monotonic()
    whole = start(tmp_path, *RUN, scorer="embedded")
    assert whole.wait(300) == 0, printed(tmp_path)[-3000:]
    takes = time.monotonic() - started
    (path,) = tmp_path.rglob("*_results.json")
    expected = json.loads(path.read_text(encoding="utf-8"))["results"]

    folder = tmp_path / "interrupted"
    folder.mkdir()
    for _ in range(MOMENTS):
        process = start(folder, *RUN, scorer="embedded")
        time.sleep(draw.uniform(0.5, takes))
        if process.poll() is not None:
            assert process.returncode == 0
            continue
        if draw.random() < 0.5:
            interrupted(process)
        else:  # as a terminal does it
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(interrupts.GRACE + BUSY) == -signal.SIGINT
        found = printed(folder)
        # Before our command begins, the interpreter itself answers.
        assert found.count(TOLD) == 1 or "figlang_tasks/cli/lmms_eval.py" not in found, found[-3000:]
        assert TOLD not in found or "Traceback" not in found, found[-3000:]
    last = start(folder, *RUN, scorer="embedded")
    assert last.wait(300) == 0, printed(folder)[-3000:]
    results = json.loads(max(folder.rglob("*_results.json")).read_text(encoding="utf-8"))["results"]
    assert results == expected
    assert not list(folder.rglob("*.partial"))


@pytest.mark.parametrize("second", [False, True])
def test_a_model_that_swallows_it(second: bool, tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    process = runs.command(fault={"faulty": "swallow", "faulty_at": 40})
    runs.wait_for_the_fault(process)
    if second:
        process.send_signal(signal.SIGINT)
        time.sleep(1)
        assert process.poll() is None
        assert interrupted(process, grace=0) < interrupts.GRACE
    else:
        assert interrupted(process) > interrupts.GRACE - 1
    assert TOLD in process.communicate()[1]
    again = runs.by_command()
    assert (again.returncode, len(runs.asked[-1])) == (0, ROWS - 40 // PIECE * PIECE), again.stderr[-3000:]


@pytest.mark.parametrize("model", ["figlang_openai", "openai", "async_openai"])
def test_while_a_server_lets_it_wait(model: str, tmp_path: Path) -> None:
    with OpenAIServer(DEMO_MODEL_DIR, faults=["hang"] * 100) as server:
        where = f"model={server.name},base_url={server.url},api_key=none"
        process = start(tmp_path, "--tasks", "figlang_mini", "--limit", "4", "--model", model, "--model_args", where)
        for _ in range(1000):
            if server.requests:
                break
            time.sleep(0.1)
        time.sleep(0.5)
        interrupted(process)
    assert printed(tmp_path).count(TOLD) == 1
    assert "Traceback" not in printed(tmp_path)


def test_a_shell_sees_130_and_its_loop_ends(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    process = runs.command(
        fault={"faulty": "wait", "faulty_at": 1},
        launch=("bash", "-c", 'for i in 1 2; do "$0" "$@"; echo "status $?" >> statuses; done',
                sys.executable, "-m", "figlang_tasks.cli.lmms_eval"),
    )  # fmt: skip
    runs.wait_for_the_fault(process)
    runs.log.with_suffix(".waiting").unlink()
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(interrupts.GRACE + BUSY) == -signal.SIGINT
    assert not (tmp_path / "statuses").exists()
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "{ENDS}"; echo "status $?"'],
        capture_output=True, text=True, timeout=60, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert done.stdout.strip() == "status 130"


ENDS = """
import os, signal
from figlang_tasks.core import interrupts
with interrupts.ending_within_seconds('test', ''):
    os.kill(os.getpid(), signal.SIGINT)
"""
