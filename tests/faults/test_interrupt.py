"""SIGINT ends a command within seconds, a second one at once; stored answers are kept."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import warm
from demo_runs import DEMO
from faulty_runs import ROWS, Runs
from openai_server import OpenAIServer

from figlang_tasks.core import interrupts
from figlang_tasks.mini import DEMO_MODEL_DIR

MESSAGE = "lmms_eval: interrupted; the command ends within"
BUSY = 300.0  # seconds that a busy machine may add
SEED = 23


def start(folder: Path, *options: str, scorer: str = "off") -> warm.Process:
    """Start our command; what it prints is written to a file in the folder."""
    command = ["lmms_eval", *options, "--use_cache", str(folder / "answers")]
    command += ["--log_samples", "--output_path", str(folder / "out")]
    environment = os.environ | {
        "FIGLANG_SCORER": scorer,
        "FIGLANG_CACHE": "off",
        "HF_HUB_OFFLINE": "1",
        "PYTHONUNBUFFERED": "1",
    }
    with (folder / "printed").open("w") as file:
        return warm.Process(command, env=environment, cwd=folder, stdout=file, stderr=file)


def printed(folder: Path) -> str:
    return (folder / "printed").read_text(encoding="utf-8", errors="replace")


def interrupted(process: warm.Process) -> float:
    """Send SIGINT to one process; return the seconds until it ended, by that signal."""
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        process.wait(interrupts.GRACE + BUSY)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == -signal.SIGINT  # 130 in a shell
    return time.monotonic() - started


RUN = ("--tasks", "figlang_mini", "--model", "llava_hf", "--model_args", DEMO, "--device", "cpu")


@pytest.mark.long
@pytest.mark.parametrize(
    ("rows", "moments"),
    [("6", 2), ("24", 6)],
)
def test_at_random_moments_of_one_run(rows: str, moments: int, tmp_path: Path) -> None:
    """Each command goes on from what the one before it has stored, until one comes to its end."""

    def start_in(folder: Path) -> warm.Process:
        return start(folder, *RUN, "--limit", rows, scorer="embedded")

    draw = random.Random(SEED)
    warm.run(["figlang", "--version"], cwd=tmp_path)  # the start of the server is no part of a run
    started = time.monotonic()
    undisturbed = start_in(tmp_path)
    assert undisturbed.wait(300) == 0, printed(tmp_path)[-3000:]
    duration = time.monotonic() - started
    (path,) = tmp_path.rglob("*_results.json")
    expected = json.loads(path.read_text(encoding="utf-8"))["results"]

    folder = tmp_path / "interrupted"
    folder.mkdir()
    for _ in range(moments):
        process = start_in(folder)
        time.sleep(draw.uniform(0.5, duration))
        with suppress(ProcessLookupError):
            if draw.random() < 0.5:
                process.send_signal(signal.SIGINT)
            else:  # as a terminal does it
                os.killpg(process.pid, signal.SIGINT)
        status = process.wait(interrupts.GRACE + BUSY)
        text = printed(folder)
        if status == 0:  # the signal came when its work was done
            assert MESSAGE not in text and list(folder.rglob("*_results.json")), text[-3000:]
            continue
        assert status == -signal.SIGINT
        # Before our command begins, the interpreter itself answers.
        has_begun = "figlang_tasks/cli/lmms_eval.py" in text
        assert text.count(MESSAGE) == 1 or not has_begun, text[-3000:]
        # Python prints and drops an exception in a __del__; the command ends all the same.
        has_raised = "Traceback" in text and "Exception ignored in" not in text
        assert MESSAGE not in text or not has_raised, text[-3000:]
    last = start_in(folder)
    assert last.wait(300) == 0, printed(folder)[-3000:]
    results = json.loads(max(folder.rglob("*_results.json")).read_text(encoding="utf-8"))["results"]
    assert results == expected
    # Half a file, of an interrupt while it was written, has another name.
    for path in folder.rglob("*_samples_*.jsonl"):
        samples = [json.loads(line) for line in path.read_bytes().splitlines()]
        assert len(samples) == int(rows), path


@pytest.mark.slow
@pytest.mark.parametrize("second", [False, True])
def test_a_model_that_swallows_the_interrupt_is_ended(second: bool, tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    process = runs.command(fault={"faulty": "swallow", "faulty_at": 40})
    runs.wait_for_the_fault(process)
    if second:
        process.send_signal(signal.SIGINT)
        errors = process.files[1].fileno()
        while MESSAGE.encode() not in os.pread(errors, 1_000_000, 0) and process.poll() is None:
            time.sleep(0.1)
        assert process.poll() is None
        assert interrupted(process) < interrupts.GRACE / 2
    else:
        assert interrupted(process) > interrupts.GRACE - 1
    assert MESSAGE in process.communicate()[1]
    again = runs.by_command()
    assert (again.returncode, len(runs.asked[-1])) == (0, ROWS - 40), again.stderr[-3000:]


@pytest.mark.slow
def test_a_command_that_waits_for_a_server_ends(tmp_path: Path) -> None:
    with OpenAIServer(DEMO_MODEL_DIR, faults=["hang"] * 100) as server:
        options = ["--tasks", "figlang_mini", "--limit", "4", "--model", "figlang_openai"]
        model_args = f"model={server.name},base_url={server.url},api_key=none"
        process = start(tmp_path, *options, "--model_args", model_args)
        for _ in range(3000):
            if server.requests:
                break
            time.sleep(0.1)
        time.sleep(0.5)
        interrupted(process)
    assert printed(tmp_path).count(MESSAGE) == 1
    assert "Traceback" not in printed(tmp_path)


SLOW_SCORING = """
import time
from pathlib import Path
from torch import distributed
from figlang_tasks.metrics.explanation.bertscore import BertScore

barrier = distributed.barrier

def counted_barrier(*arguments, **options):
    with open(f"barriers_{distributed.get_rank()}", "a") as file:
        file.write(".")
    barrier(*arguments, **options)

def score(self, pairs, advance):
    Path("scoring").touch()
    time.sleep(600)

distributed.barrier = counted_barrier
BertScore.score = score

def manifests():
    return []
"""


@pytest.mark.slow
def test_while_the_first_of_two_processes_scores(tmp_path: Path) -> None:
    """The other one waits until the results without scores are there."""
    (tmp_path / "slow_scoring.py").write_text(SLOW_SCORING)
    info = tmp_path / "slow_scoring-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow_scoring\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lmms_eval.models]\nslow = slow_scoring:manifests\n")
    environment = os.environ | {
        "FIGLANG_SCORER": "embedded",
        "FIGLANG_CACHE": "off",
        "HF_HUB_OFFLINE": "1",
        "ACCELERATE_USE_CPU": "true",
        "PYTHONPATH": str(tmp_path),
    }
    command = ["lmms_eval", "--tasks", "figlang_mini", "--model", "figlang_random", "--limit", "4"]
    command += ["--log_samples", "--output_path", "out"]
    ranks = warm.start_ranks(2, command, env=environment, cwd=tmp_path)
    barriers = [tmp_path / f"barriers_{rank}" for rank in range(2)]

    def second_waits_for_the_scores() -> bool:
        """Whether the first process scores, and the second has come to more barriers than it."""
        if not (tmp_path / "scoring").exists():
            return False
        first_rank, second_rank = (file.stat().st_size for file in barriers)
        return second_rank > first_rank

    for _ in range(3000):
        if second_waits_for_the_scores() or any(rank.poll() is not None for rank in ranks):
            break
        time.sleep(0.1)
    time.sleep(0.5)  # from the count to the wait itself
    for rank in ranks:
        rank.send_signal(signal.SIGINT)
    statuses = [rank.wait(interrupts.GRACE + BUSY) for rank in ranks]
    assert statuses == [-signal.SIGINT] * 2, ranks[0].communicate()[1]
    (results,) = tmp_path.rglob("*_results.json")
    assert "f1@0,none" in json.loads(results.read_text(encoding="utf-8"))["results"]["figlang_mini"]


def test_a_shell_sees_130_and_its_loop_ends(tmp_path: Path) -> None:
    def run(script: str, to: str) -> subprocess.CompletedProcess[str]:
        """Run a script of bash with a program that interrupts `to`: its process or its group."""
        return subprocess.run(
            ["bash", "-c", script, sys.executable, ENDS.replace("TO", to)],
            cwd=tmp_path, capture_output=True, text=True, timeout=600, start_new_session=True,
            # A test that runs in the background of a shell ignores the signal, as do its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    assert run('"$0" -c "$1"; echo "status $?"', to="os.getpid(), os.kill").stdout == "status 130\n"
    # As a terminal does it
    done = run('for i in 1 2; do "$0" -c "$1"; echo "status $?"; done', to="0, os.killpg")
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "")
    assert done.stderr.count("test: interrupted") == 1


ENDS = """
import os, signal
from figlang_tasks.core import interrupts
with interrupts.ending_within_seconds('test', ''):
    to, send = TO
    send(to, signal.SIGINT)
"""
