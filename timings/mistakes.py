"""Measure how long a mistake on the command line of ``lmms_eval`` takes to be told.

    python timings/mistakes.py [--rounds 3] [--command "python -m figlang_tasks.cli.lmms_eval"]

Each mistake is a process of its own, in turns with ``python -c "import lmms_eval.__main__"``, which
is what the harness's own command pays before it looks at its options. Seconds are processor time of
the process and its children, so that other load on the machine matters little; the least of all
rounds counts. With ``PYTHONPATH`` set to another checkout, that one is measured.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from figlang_tasks.core.text import markdown_table, printable

IMPORT = [sys.executable, "-c", "import lmms_eval.__main__"]
COMMAND = f"{shlex.quote(sys.executable)} -m figlang_tasks.cli.lmms_eval"
MINI = "--tasks figlang_mini --limit 1"
RANDOM = f"{MINI} --model figlang_random"
WIDTH = 70  # columns of a message in the table

MISTAKES = {
    "a misspelt option": f"{RANDOM} --ouput_path out",
    "a misspelt task": "--tasks vflut --model figlang_random",
    "no --model": MINI,
    "a misspelt model class": f"{MINI} --model figlang_vml",
    "a class of lm-eval": f"{MINI} --model hf --model_args pretrained=gpt2",
    "a misspelt argument": f"{MINI} --model figlang_vlm --model_args pretraned=gpt2",
    "a malformed argument": f"{MINI} --model figlang_vlm --model_args gpt2",
    "no such pretrained folder": f"{MINI} --model figlang_vlm --model_args pretrained=./nosuch",
    "--log_samples without folder": f"{RANDOM} --log_samples",
    "an unwritable --output_path": f"{RANDOM} --output_path file/out",
    "no --tasks": "--model figlang_random",
    "a wrong --limit": "--tasks figlang_mini --model figlang_random --limit -3",
    "--limit is no number": "--tasks figlang_mini --model figlang_random --limit abc",
    "a wrong --offset": f"{RANDOM} --offset -1",
    "--num_fewshot": f"{RANDOM} --num_fewshot 2",
    "no such --config": "--config nosuch.yaml",
    "a broken --config": "--config broken.yaml",
    "a misspelt key in --config": "--config misspelt.yaml",
    "a wrong include in a task file": "--tasks mine/own.yaml --model figlang_random",
    "a wrong include in a folder": f"{RANDOM} --include_path mine",
    "data that is not here": "--tasks vflute --model figlang_random",
    "a wrong FIGLANG_DATA_DIR": "--tasks irfl_match --model figlang_random",
    "figlang_openai without a key": f"{MINI} --model figlang_openai --model_args model_version=m",
}
"""Options of a command, by the mistake in them."""

FILES = {
    "file": "",
    "broken.yaml": "model: [figlang_random\n",
    "misspelt.yaml": "modle: figlang_random\ntasks: figlang_mini\n",
    "mine/own.yaml": "task: own\ninclude: _nosuch.yaml\n",
}
"""Files that the mistakes need, by their path in the folder of the commands."""

ENVIRONMENT_OF_MISTAKE = {"a wrong FIGLANG_DATA_DIR": {"FIGLANG_DATA_DIR": "nosuch"}}


class Outcome(NamedTuple):
    """What a process took and said.

    Attributes:
        seconds: of processor time.
        status: its exit status.
        message: the last line that it wrote to standard error.
    """

    seconds: float
    status: int
    message: str


def run(command: Sequence[str], folder: Path, mistake: str = "") -> Outcome:
    """Run a command in a folder, without settings, keys and caches of whoever measures."""
    environment = {"HF_HOME": f"{folder}/hf", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    for name, setting in os.environ.items():
        if not name.startswith(("HF_", "FIGLANG_", "OPENAI_")):
            environment.setdefault(name, setting)
    environment |= ENVIRONMENT_OF_MISTAKE.get(mistake, {})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    error_lines = done.stderr.strip().splitlines() or [""]
    return Outcome(seconds, done.returncode, error_lines[-1])


def table_of_mistakes(command: Sequence[str], rounds: int) -> str:
    """A table with the least seconds of each mistake, beside those of the harness's import."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in ["(import)", *MISTAKES]}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, content in FILES.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        for _ in range(rounds):
            outcomes["(import)"].append(run(IMPORT, folder))
            for mistake, options in MISTAKES.items():
                outcome = run([*command, *shlex.split(options)], folder, mistake)
                outcomes[mistake].append(outcome)

    rows: list[list[str]] = []
    for name, outcomes_of_rounds in outcomes.items():
        least = min(outcomes_of_rounds)
        message = printable(least.message, limit=WIDTH).replace("|", "/")
        rows.append([name, f"{least.seconds:.2f}", str(least.status), message])
    return markdown_table([["mistake", "CPU s", "status", "last line"], *rows])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--command", default=COMMAND, help="the command to measure")
    options = parser.parse_args()
    print(table_of_mistakes(shlex.split(options.command), options.rounds))


if __name__ == "__main__":
    main()
