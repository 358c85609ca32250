"""The command ``lmms_eval``: what it imports, what it says, and what it ends with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
import warm

from figlang_tasks.cli.lmms_eval import ending
from figlang_tasks.scoring import to_json

RANDOM = ["--model", "figlang_random"]


def test_help_imports_neither_torch_nor_the_evaluator() -> None:
    script = (
        "import sys; from figlang_tasks.cli.lmms_eval import main\ntry: main()\nexcept SystemExit"
        " as end: print(end.code, {'torch', 'datasets', 'lmms_eval.evaluator'} &"
        " set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "tasks", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("\n0 set()\n") and "usage" in done.stdout


def on_a_terminal(*arguments: str) -> tuple[int, str]:
    """Status of a run whose output goes to a terminal, and what it shows there."""
    terminal, other_end = os.openpty()
    with open(other_end, "w") as file:
        process = warm.Process(["lmms_eval", *arguments], cwd=Path.cwd(), stdout=file, stderr=file)
    shown = b""
    try:
        while piece := os.read(terminal, 1 << 16):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return process.wait(), shown.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_a_run_of_two_groups_fits_on_a_screen(tmp_path: Path) -> None:
    """On a terminal, where it says most."""
    output = tmp_path / "out folder"
    tasks = ["--tasks", "figlang_mini,figlang_mini_irfl"]
    status, shown = on_a_terminal(*tasks, *RANDOM, "--log_samples", "--output_path", str(output))
    lines = shown.rstrip().splitlines()
    assert status == 0 and len(lines) <= 60, shown
    doing = [line.removeprefix("lmms_eval: ") for line in lines if line.startswith("lmms_eval: ")]
    assert doing == [
        "loading lmms-eval and the tasks ...",
        "checking the tasks and their data ...",
        "loading the model (figlang_random) ...",
        "computing the metrics and their intervals ...",
        "scoring 76 explanations (embedded) ...",
    ]
    assert [line.split()[1] for line in lines if re.match(r"\|\S* ?figlang_mini", line)] == [
        "figlang_mini",
        "figlang_mini_irfl",
    ]
    assert lines[-2:] == [f"saved to {output}", f"next: figlang report '{output}' -o report.html"]
    assert len(list(output.glob("*.jsonl"))) == 5


@pytest.mark.slow
def test_without_a_terminal_there_is_the_result_alone() -> None:
    done = warm.run(
        ["lmms_eval", "--tasks", "figlang_mini_irfl_match_idiom", *RANDOM], cwd=Path.cwd()
    )
    assert done.returncode == 0 and done.stderr == ""
    head, *_, last = done.stdout.splitlines()
    assert head.startswith("figlang_random ()")
    assert last == "nothing was saved: --output_path FOLDER --log_samples keeps results and answers"
    assert "INFO" not in done.stdout and "|Metric|" not in re.sub(" +", "", done.stdout)
    assert done.stdout.count("| all ") == 1


@pytest.mark.parametrize("seconds", [0, 60])
def test_many_bars_make_no_long_log(seconds: int) -> None:
    """Of 500 calls of a model, each with a bar: nothing of short ones, of others a line for each 10
    seconds.

    A call takes `seconds` by the clock of tqdm, and answers 20 requests.
    """
    program = (
        "import sys; from figlang_tasks.cli.lmms_eval import set_up_bars;"
        " set_up_bars(is_terminal=False)\nimport tqdm.std\nnow ="
        " 0.0\ntqdm.std.tqdm.monitor_interval = 0\nfor _ in range(500):\n    bar ="
        " tqdm.tqdm(total=20, desc='Model Responding', disable=False)\n    bar._time = lambda:"
        " now\n    bar.start_t = bar.last_print_t = now\n    for _ in range(20):\n        now +="
        f" {seconds} / 20\n        bar.update()\n    bar.close()\n"
    )
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("TQDM_")
    }
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    drawn = done.stderr.count("Model Responding")
    assert drawn <= 500 * seconds / 10


def closed_pipe() -> IO[str]:
    """The end of a pipe to which one writes, and from which nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "w")


def full_disk() -> IO[str]:
    return open("/dev/full", "w")


FULL = "lmms_eval: the output could not be written: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize(("output", "told"), [(full_disk, FULL), (closed_pipe, "")])
@pytest.mark.parametrize(
    "arguments", [["--tasks", "figlang_mini", *RANDOM], ["tasks", "list"], ["--tasks", "list"]]
)
def test_what_cannot_be_printed_costs_no_results(
    output: Callable[[], IO[str]], told: str, arguments: list[str], tmp_path: Path
) -> None:
    """As of figlang: status 1, a message where the disk is full, and none where a reader (head) had
    enough.
    """
    if "--model" in arguments:
        arguments = [*arguments, "--limit", "2", "--log_samples", "--output_path", "out"]
    with output() as stdout:
        process = warm.Process(["lmms_eval", *arguments], cwd=tmp_path, stdout=stdout)
        status = process.wait(300)
    process.files[1].seek(0)
    assert (status, process.files[1].read()) == (1, told)
    if "--model" in arguments:
        assert (
            len(list(tmp_path.rglob("*_results.json")))
            == len(list(tmp_path.rglob("*_samples_*.jsonl")))
            == 1
        )


@pytest.mark.parametrize(("output", "told"), [(full_disk, FULL), (closed_pipe, "")])
def test_a_stream_that_fails_is_given_up(
    output: Callable[[], IO[str]], told: str, tmp_path: Path
) -> None:
    """What is printed later, or still held back, is dropped; status 1, but that of a failure
    stays.
    """
    script = (
        "import sys\nfrom figlang_tasks.cli.output import guarded_output\nwith"
        " guarded_output('lmms_eval'):\n    "
    )
    for work, status in (
        ("print('a')", 1),
        ("print('a' * 99999); print('b', flush=True)", 1),
        ("sys.exit(3)", 3),
    ):
        with output() as stdout:
            done = subprocess.run(
                [sys.executable, "-c", script + work],
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert (done.returncode, done.stderr) == (status, told if status == 1 else "")
    with output() as stderr:
        command = [
            sys.executable,
            "-c",
            f"{script}print('lost', file=sys.stderr, flush=True); print('a')",
        ]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False
        )
    assert (done.returncode, done.stdout) == (0, "a\n")


def test_the_end_says_where_the_files_are_and_what_to_type_next() -> None:
    """As far as the runs above do not: without --log_samples, and of tasks of others."""
    results, answers = Path("out/r.json"), Path("out/a.jsonl")
    ours = {
        "results": {"vflute": {}},
        "configs": {"vflute": {"metadata": {"measures": to_json({})}}},
    }
    told = (
        "saved to out\nwith --log_samples the answers are saved too, for figlang report and figlang"
        " compare"
    )
    assert ending(ours, [results]).strip() == told
    assert (
        ending({"results": {"mme": {}}, "configs": {}}, [results, answers]).strip()
        == "saved to out"
    )
