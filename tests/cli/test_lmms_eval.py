"""The command ``lmms_eval``: what it imports, what it prints, and its exit status."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest
import warm

from figlang_tasks.cli.lmms_eval import ending, no_garbage_collection
from figlang_tasks.scoring import to_json

RANDOM = ["--model", "figlang_random"]

HELP_SCRIPT = """
import sys
from figlang_tasks.cli.lmms_eval import main
try:
    main()
except SystemExit as end:
    print(end.code, {'torch', 'datasets', 'lmms_eval.evaluator'} & set(sys.modules))
"""


def test_help_imports_neither_torch_nor_the_evaluator() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HELP_SCRIPT, "tasks", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.endswith("\n0 set()\n")
    assert "usage" in ended.stdout


def run_on_a_terminal(*arguments: str) -> tuple[int, str]:
    """The status of a run whose output goes to a terminal, and what the terminal shows."""
    terminal, other_end = os.openpty()
    with open(other_end, "w") as file:
        process = warm.Process(["lmms_eval", *arguments], cwd=Path.cwd(), stdout=file, stderr=file)
    output = b""
    try:
        while piece := os.read(terminal, 1 << 16):
            output += piece
    except OSError:  # The process has closed the other end.
        pass
    os.close(terminal)
    return process.wait(), output.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_a_run_of_two_groups_fits_on_a_screen(tmp_path: Path) -> None:
    """It does so on a terminal too, where the command prints most."""
    output = tmp_path / "out folder"
    tasks = ["--tasks", "figlang_mini,figlang_mini_irfl"]
    status, screen = run_on_a_terminal(
        *tasks, *RANDOM, "--log_samples", "--output_path", str(output)
    )
    lines = screen.rstrip().splitlines()
    assert status == 0, screen
    assert len(lines) <= 60, screen
    steps = [line.removeprefix("lmms_eval: ") for line in lines if line.startswith("lmms_eval: ")]
    assert steps == [
        "loading lmms-eval and the tasks ...",
        "checking the tasks and their data ...",
        "loading the model (figlang_random) ...",
        "computing the metrics and their intervals ...",
        "scoring 76 explanations (embedded) ...",
    ]
    titles = [line.split()[1] for line in lines if re.match(r"\|\S* ?figlang_mini", line)]
    assert titles == ["figlang_mini", "figlang_mini_irfl"]
    assert lines[-2:] == [f"saved to {output}", f"next: figlang report '{output}' -o report.html"]
    assert len(list(output.glob("*.jsonl"))) == 5


@pytest.mark.slow
def test_without_a_terminal_only_the_results_are_printed() -> None:
    command = ["lmms_eval", "--tasks", "figlang_mini_irfl_match_idiom", *RANDOM]
    ended = warm.run(command, cwd=Path.cwd())
    assert ended.returncode == 0
    assert ended.stderr == ""
    heading, *_, last = ended.stdout.splitlines()
    assert heading.startswith("figlang_random ()")
    hint = "add --output_path FOLDER --log_samples to keep results and answers"
    assert last == f"nothing was saved: {hint}"
    assert "INFO" not in ended.stdout
    assert "|Metric|" not in re.sub(" +", "", ended.stdout)
    assert ended.stdout.count("| all ") == 1


BARS_SCRIPT = """
from figlang_tasks.cli.lmms_eval import set_up_bars
set_up_bars(is_terminal=False)
import tqdm.std
now = 0.0
tqdm.std.tqdm.monitor_interval = 0
for _ in range(500):
    bar = tqdm.tqdm(total=20, desc='Model Responding', disable=False)
    bar._time = lambda: now
    bar.start_t = bar.last_print_t = now
    for _ in range(20):
        now += {seconds} / 20
        bar.update()
    bar.close()
"""


@pytest.mark.parametrize("seconds", [0, 60])
def test_many_bars_make_no_long_log(seconds: int) -> None:
    """A short call of a model draws no bar, a long one a line every 10 seconds.

    The model is called 500 times. By the clock of tqdm a call takes `seconds`, and answers 20
    requests.
    """
    environment = {}
    for name, setting in os.environ.items():
        if not name.startswith("TQDM_"):
            environment[name] = setting
    command = [sys.executable, "-c", BARS_SCRIPT.format(seconds=seconds)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert ended.stderr.count("Model Responding") <= 500 * seconds / 10


def closed_pipe() -> IO[str]:
    """The writing end of a pipe from which nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "w")


def full_disk() -> IO[str]:
    return open("/dev/full", "w")


FULL = "lmms_eval: the output could not be written: No space left on device\n"
OUTPUTS = pytest.mark.parametrize(
    ("open_output", "message"), [(full_disk, FULL), (closed_pipe, "")]
)


@pytest.mark.slow
@OUTPUTS
@pytest.mark.parametrize(
    "arguments", [["--tasks", "figlang_mini", *RANDOM], ["tasks", "list"], ["--tasks", "list"]]
)
def test_output_that_cannot_be_printed_costs_no_results(
    open_output: Callable[[], IO[str]], message: str, arguments: list[str], tmp_path: Path
) -> None:
    """The status is 1; a full disk has a message, and a reader that had enough (head) has none."""
    is_evaluation = "--model" in arguments
    if is_evaluation:
        arguments = [*arguments, "--limit", "2", "--log_samples", "--output_path", "out"]
    with open_output() as stdout:
        process = warm.Process(["lmms_eval", *arguments], cwd=tmp_path, stdout=stdout)
        status = process.wait(300)
    process.files[1].seek(0)
    assert status == 1
    assert process.files[1].read() == message
    if is_evaluation:
        assert len(list(tmp_path.rglob("*_results.json"))) == 1
        assert len(list(tmp_path.rglob("*_samples_*.jsonl"))) == 1


GUARDED = """
import sys
from figlang_tasks.cli.output import guarded_output
with guarded_output('lmms_eval'):
    {work}
"""


@OUTPUTS
def test_output_after_a_failed_write_is_dropped(
    open_output: Callable[[], IO[str]], message: str, tmp_path: Path
) -> None:
    """The status is 1, unless the command failed with a status of its own."""
    for work, status in (
        ("print('a')", 1),
        ("print('a' * 99999); print('b', flush=True)", 1),
        ("sys.exit(3)", 3),
    ):
        with open_output() as stdout:
            ended = subprocess.run(
                [sys.executable, "-c", GUARDED.format(work=work)],
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert ended.returncode == status
        assert ended.stderr == (message if status == 1 else "")

    work = "print('lost', file=sys.stderr, flush=True); print('a')"
    with open_output() as stderr:
        ended = subprocess.run(
            [sys.executable, "-c", GUARDED.format(work=work)],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            check=False,
        )
    assert ended.returncode == 0
    assert ended.stdout == "a\n"


def test_the_end_says_where_the_files_are_and_what_to_type_next() -> None:
    """This covers runs without --log_samples, and tasks that are not ours."""
    results_file = Path("out/r.json")
    samples_file = Path("out/a.jsonl")
    metadata = {"measures": to_json({})}
    our_results: dict[str, Any] = {
        "results": {"vflute": {}},
        "configs": {"vflute": {"metadata": metadata}},
    }
    hint = "add --log_samples to keep the answers too, for figlang report and figlang compare"
    assert ending(our_results, [results_file]).strip() == f"saved to out\n{hint}"
    other_results: dict[str, Any] = {"results": {"mme": {}}, "configs": {}}
    assert ending(other_results, [results_file, samples_file]).strip() == "saved to out"


def test_garbage_is_collected_again_after_an_import_that_failed() -> None:
    with pytest.raises(ImportError), no_garbage_collection():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()


def test_what_was_imported_is_freed_at_the_end() -> None:
    """Else Triton writes a list of leaks below the last line of each run."""
    code = """
from figlang_tasks.cli.lmms_eval import no_garbage_collection
class Cycle:
    def __del__(self): print("freed")
with no_garbage_collection():
    cycle = Cycle()
    cycle.itself = cycle
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "freed\n"
