"""Commands that start at once: they are forked from a server that has imported the harnesses.

The server is the "forkserver" of multiprocessing, one for each process of the tests. It is itself
forked from that process, when all test files are imported and before the first test, since a new
interpreter would take 7 seconds to import the harnesses again. A command runs
with its own arguments, folder, environment and files, and can be killed like any other. What is
tested at the start itself (entry points, what is imported, an installation of its own) takes
`run_from_the_start`.
"""

from __future__ import annotations

import faulthandler
import importlib
import multiprocessing
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

PROGRAMS = {
    "figlang": "figlang_tasks.cli.figlang:main",
    "lm_eval": "lm_eval.__main__:cli_evaluate",
    "lmms_eval": "figlang_tasks.cli.lmms_eval:main",
    "lmms-eval": "lmms_eval.cli.dispatch:main",  # the harness's own
    "transformers": "transformers.cli.transformers:main",
}
FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(["preloaded"])
STREAMS_AT_IMPORT = (sys.stdout, sys.stderr)
"""Those into which pytest captures, or the real ones: what is imported with the test files may have
kept them."""


def start_server() -> None:
    """Fork the server of commands from this process, as it is now.

    Call it before the first test, since commands would else find what tests have changed.
    """
    resource_tracker.ensure_running()  # a new interpreter, unlike the server
    with patch.object(util, "spawnv_passfds", _fork_server):
        forkserver.ensure_running()


def _fork_server(path: bytes, arguments: Sequence[Any], kept_files: Sequence[int]) -> int:
    """Fork a process that does what a new interpreter would do; the process's id.

    Args:
        path: that of the interpreter.
        arguments: of the interpreter; the last one is the code of the server.
        kept_files: the descriptors that the code uses.
    """
    sys.stdout.flush()  # else the fork would print it again
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        faulthandler.disable()  # which writes to a descriptor of pytest's
        _close_all_but({*kept_files, *map(_number_of, STREAMS_AT_IMPORT)})
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
        # Most test runs need commands late or never, and what they need takes a second.
        select.select(kept_files, [], [])
        exec(arguments[-1])
        status = 0
    except SystemExit:  # the process of the tests has ended
        status = 0
    finally:
        os._exit(status)


def _number_of(stream: Any) -> int:
    return int(stream.fileno())


def _close_all_but(kept: set[int]) -> None:
    """Close inherited files: a pipe to a process that waits for its end stays open otherwise."""
    for name in os.listdir("/dev/fd"):
        number = int(name)
        if number > 2 and number not in kept:
            with suppress(OSError):  # that of the list itself
                os.close(number)


class Process:
    """A command that runs, one of ``PROGRAMS`` or a Python with ``-c`` or ``-m``: as
    ``subprocess.Popen``, whose output is kept in files. Folders of ``PYTHONPATH`` are looked into
    for modules and plugins first."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdout: IO[str] | None = None,
        stderr: IO[str] | None = None,
    ) -> None:
        self.args = [str(word) for word in command]
        self.files = [  # open as long as the process
            stdout or tempfile.TemporaryFile("w+"),  # noqa: SIM115
            stderr or tempfile.TemporaryFile("w+"),  # noqa: SIM115
        ]
        copies = [Connection(os.dup(file.fileno())) for file in self.files]
        given = (self.args, str(cwd), dict(os.environ if env is None else env), copies)
        self._process = FORKSERVER.Process(target=_run, args=given)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; return its status, negative for a signal."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal; the process may have ended meanwhile, and the server has reaped it."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait until it has ended; return what it wrote to stdout and stderr."""
        self.wait(timeout)
        for file in self.files:
            file.seek(0)
        out, err = (file.read() for file in self.files)
        return out, err


def run(
    command: Sequence[str], *, timeout: float = 300, **how: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; `how` as for :class:`Process`."""
    process = Process(command, **how)
    try:
        out, err = process.communicate(timeout)
    except BaseException:
        process.kill()
        raise
    return subprocess.CompletedProcess(process.args, process.wait(), out, err)


def run_from_the_start(
    command: Sequence[str], *, timeout: float = 600, **how: Any
) -> subprocess.CompletedProcess[str]:
    """Run the real program beside this Python to its end; `how` as for ``subprocess.run``."""
    program = Path(sys.executable).with_name(command[0])
    return subprocess.run(
        [str(program), *command[1:]], capture_output=True, text=True, timeout=timeout, **how
    )


def start_ranks(
    count: int, command: Sequence[str], *, env: Mapping[str, str], **how: Any
) -> list[Process]:
    """Start a command in several processes that know of each other, as ``torchrun`` does."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    group = {
        "WORLD_SIZE": count,
        "LOCAL_WORLD_SIZE": count,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
    }
    ranks = []
    for rank in range(count):
        variables = dict(env)
        for name, value in {**group, "RANK": rank, "LOCAL_RANK": rank}.items():
            variables[name] = str(value)
        ranks.append(Process(command, env=variables, **how))
    return ranks


def run_ranks(
    count: int, command: Sequence[str], *, timeout: float = 300, **how: Any
) -> list[Process]:
    """As :func:`start_ranks`; return them when they ended. If one of them fails, the others are
    ended.
    """
    ranks = start_ranks(count, command, **how)
    deadline = time.monotonic() + timeout
    while None in (ended := [process.poll() for process in ranks]):
        if any(ended) or time.monotonic() > deadline:
            for process, status in zip(ranks, ended, strict=True):
                if status is None:
                    process.send_signal(signal.SIGTERM)
                    process.wait()
        time.sleep(0.05)
    return ranks


# --- in the fork ---


def _run(
    command: list[str], folder: str, environment: dict[str, str], files: list[Connection]
) -> None:
    """Become the process that is asked for."""
    os.setsid()
    for number, file in enumerate(files, 1):
        os.dup2(file.fileno(), number)
        os.dup2(file.fileno(), STREAMS_AT_IMPORT[number - 1].fileno())
        file.close()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    folders = list(filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)))
    if not set(folders) <= set(sys.path):
        sys.path[1:1] = folders
        sys.modules["lmms_eval.models"].MODEL_REGISTRY_V2.load_entrypoint_manifests(overwrite=True)
        _forget_what_is_installed()
    _read_environment_again()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _call(*command)
    except KeyboardInterrupt:  # as the interpreter ends then
        traceback.print_exc()
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def _forget_what_is_installed() -> None:
    """Clear all caches of this package: any of them may hold what the tests have looked up."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("figlang_tasks."):
            continue
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def _read_environment_again() -> None:
    """For the modules that read it when they are imported, or once."""
    import datasets.config
    from huggingface_hub import constants, hf_api

    tempfile.tempdir = None
    for read in (constants, datasets.config):
        before = dict(vars(read))
        importlib.reload(read)
        changed = {
            name
            for name, value in vars(read).items()
            if name.isupper() and before.get(name) != value
        }
        for module in list(sys.modules.values()) if changed else []:
            for name in changed & vars(module).keys():
                if vars(module)[name] == before.get(name):
                    setattr(module, name, vars(read)[name])
    hf_api.api.endpoint = constants.ENDPOINT


def _call(program: str, *arguments: str) -> None:
    name = Path(program).name
    if not name.startswith("python"):
        sys.argv = [name, *arguments]
        pkgutil.resolve_name(PROGRAMS[name])()
    elif arguments[0] == "-m":
        sys.argv = list(arguments[1:])
        sys.modules.pop(arguments[1], None)
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        assert arguments[0] == "-c"
        sys.argv = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
