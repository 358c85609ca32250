"""Runs ``pip install`` and says in few lines how far it is: pip's own log has a thousand, its ``--quiet`` none.

    python tools/pip_progress.py --editable '.[dev]'

Exit status and error messages are pip's.
"""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator

EVERY = 10.0  # seconds between two lines
_LARGE = re.compile(r"Downloading (?P<file>\S+?)-\d\S* \((?P<size>[\d.]+ [MG]B)\)")


def lines(log: Iterable[str | None], every: float = EVERY) -> Iterator[str]:
    """Lines to show of pip's log, one in so many seconds, and one for each part of the work.

    Args:
        log: its lines; None where it says nothing for a while.
        every: seconds.
    """
    started = last = time.monotonic()
    found, doing = 0, ""
    for line in log:
        now, before, text = time.monotonic(), doing, (line or "").strip()
        if text.startswith("Collecting "):
            found += 1
            doing = f"looking for packages, {found} so far"
        elif large := _LARGE.match(text):
            doing = f"downloading {large['file']} ({large['size']}), package {found}"
        elif text.startswith("Installing collected packages: "):
            doing = f"installing packages: {text.count(',') + 1}"
        elif text.startswith("Successfully installed "):
            doing = "installed"
        is_part = doing != before and doing.startswith("install")
        if doing and (is_part or now - last >= every):
            last = now
            yield f"{now - started:4.0f} s: {doing}"


def main(arguments: list[str]) -> int:
    """Install; return pip's status."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True) as pip:
        assert pip.stdout is not None
        for line in lines(_with_pauses(pip.stdout)):
            print(f"    {line}", flush=True)
    return pip.returncode


def _with_pauses(log: Iterable[str]) -> Iterator[str | None]:
    """The lines of a log; None where none came for a while."""
    waiting: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in log:
            waiting.put(line)
        waiting.put("")  # a line has its newline

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = waiting.get(timeout=EVERY)
        except queue.Empty:
            yield None
            continue
        if not line:
            return
        yield line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
