"""A run that dies loses no stored answer, and the same command then ends with its numbers."""

from __future__ import annotations

import json
import random
import re
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import demo_runs
import pytest
from demo_runs import answers, metrics
from faulty_runs import ROWS, TASK, Runs

pytestmark = pytest.mark.slow  # whole runs

AT = 40


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return Runs(tmp_path_factory.mktemp("undisturbed")).here(cached=False)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def assert_same_file(runs: Runs, undisturbed: dict[str, Any]) -> None:
    """The files of results and samples hold what the undisturbed run gave."""
    assert runs.written() == pytest.approx(metrics(undisturbed, TASK), abs=0, nan_ok=True)
    (path,) = runs.files("*_samples_*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {line["doc_id"]: line["filtered_resps"] for line in lines} == answers(undisturbed, TASK)


def test_a_killed_run_goes_on_where_it_was(runs: Runs, undisturbed: dict[str, Any]) -> None:
    killed = runs.by_command(fault={"faulty": "kill", "faulty_at": AT})
    assert killed.returncode == -signal.SIGKILL
    again = runs.by_command()
    assert again.returncode == 0, again.stderr[-3000:]
    assert [len(rows) for rows in runs.asked] == [AT, ROWS - AT]
    assert_same_file(runs, undisturbed)


@pytest.mark.long
def test_twenty_kills_at_random_moments(runs: Runs, undisturbed: dict[str, Any]) -> None:
    """Each costs the answer that was under way and no more, and the last run ends undisturbed."""

    def asked_so_far() -> int:
        return len(runs.log.read_text().splitlines())

    chance = random.Random(20)
    slow = {"faulty_seconds": 0.1}
    runs.log.touch()
    for _ in range(20):
        asked_at_kill = asked_so_far() + chance.choice([0, 1, 1, 2, 3])
        process = runs.command(fault=slow)
        while asked_so_far() < asked_at_kill and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.2))
        process.kill()
        process.communicate(timeout=600)
        assert process.wait() == -signal.SIGKILL
    asked_by_killed_runs = asked_so_far()
    done = runs.by_command(fault=slow)
    assert done.returncode == 0, done.stderr[-3000:]
    asked_by_last_run = len(runs.asked[-1])
    assert asked_by_killed_runs > 10
    assert asked_by_killed_runs + asked_by_last_run - ROWS <= 20
    assert_same_file(runs, undisturbed)


TORCHRUN = (
    sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2",
    "-m", "figlang_tasks.cli.lmms_eval",
)  # fmt: skip
ACCELERATE = (
    sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2",
    "-m", "figlang_tasks.cli.lmms_eval",
)  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "launch"),
    [
        ("leave", None),
        pytest.param("leave", TORCHRUN, marks=pytest.mark.long),
        pytest.param("raise", TORCHRUN, marks=pytest.mark.long),
    ],
    ids=["leave", "leave, torchrun", "raise, torchrun"],
)
def test_one_of_two_ranks_dies(
    fault: str, launch: tuple[str, ...] | None, runs: Runs, undisturbed: dict[str, Any]
) -> None:
    """Also where the second command has one process only: what either rank has answered is used."""
    options = {"faulty": fault, "faulty_at": 20, "faulty_rank": 1}
    exit_status = runs.in_two_processes(launch, fault=options)
    assert exit_status != 0
    if fault == "leave":
        assert runs.in_two_processes(launch) == 0
    else:
        again = runs.by_command()
        assert again.returncode == 0, again.stderr[-3000:]
    # What the dead rank answered is kept; the other rank was stopped somewhere.
    assert len(set(runs.asked[0])) >= 20 and len(runs.asked[1]) <= ROWS - 20
    assert_same_file(runs, undisturbed)


LAUNCHES = pytest.mark.parametrize(
    "launch",
    [
        None,
        pytest.param(TORCHRUN, marks=pytest.mark.long),
        pytest.param(ACCELERATE, marks=pytest.mark.long),
    ],
    ids=["ranks", "torchrun", "accelerate"],
)


@LAUNCHES
def test_two_ranks_ask_for_missing_answers_alone(
    launch: tuple[str, ...] | None, runs: Runs, undisturbed: dict[str, Any]
) -> None:
    assert runs.in_two_processes(launch) == 0
    with sqlite3.connect(runs.cache / "figlang_1.db") as database:
        database.execute("DELETE FROM answers WHERE doc_id = 1")
    for path in (runs.folder / "out").rglob("*.json*"):
        path.unlink()
    assert runs.in_two_processes(launch) == 0
    assert [len(rows) for rows in runs.asked] == [ROWS, 1]
    assert_same_file(runs, undisturbed)


@LAUNCHES
def test_a_rank_without_rows_goes_on_with_the_other(
    launch: tuple[str, ...] | None, runs: Runs
) -> None:
    """The harness gives it the first row, and drops its answer."""
    limit = ("--limit", "1")
    for _ in range(2):
        assert runs.in_two_processes(launch, *limit) == 0
    for path in runs.cache.iterdir():
        with sqlite3.connect(path) as database:
            database.execute("DELETE FROM answers WHERE doc_id = 0")
    assert runs.in_two_processes(launch, *limit) == 0
    assert [set(rows) for rows in runs.asked] == [{f"{TASK} 0"}, set(), {f"{TASK} 0"}]


@LAUNCHES
def test_two_ranks_find_answers_of_both_rounds(launch: tuple[str, ...] | None, runs: Runs) -> None:
    for limit in ("1", "3", "3"):
        options = ("--tasks", "mini_sg", "--include_path", demo_runs.mini_tasks(), "--limit", limit)
        assert runs.in_two_processes(launch, *options) == 0
    assert [set(rows) for rows in runs.asked] == [
        {"mini_sg 0"},
        {"mini_sg 1", "mini_sg 2"},
        set(),
    ]


def test_a_full_disk(runs: Runs, undisturbed: dict[str, Any]) -> None:
    """No file may grow beyond 70 kB, and the samples would. Answers: test_answers.py."""
    full = runs.by_command(largest_file=70_000)
    assert full.returncode == 1
    last_line = full.stderr.splitlines()[-1]
    message = "lmms_eval: .*_samples_figlang_mini.jsonl could not be written whole"
    assert re.search(f"{message}.*run the same command", last_line)
    assert not runs.files("*_samples_*.jsonl")
    (partial_file,) = runs.files("*_samples_*.jsonl.partial")
    assert 60_000 < partial_file.stat().st_size <= 70_000
    assert_table(full.stdout)  # what there is, is shown all the same
    for path in runs.files("*_results.json"):
        path.unlink()
    again = runs.by_command()
    assert (again.returncode, runs.asked[-1]) == (0, []), again.stderr[-3000:]
    assert_same_file(runs, undisturbed)


def assert_table(output: str) -> None:
    assert re.search(r"^\| all +\| +\d+ \| +[0-9.]+ \[", output, re.MULTILINE), output[-2000:]
