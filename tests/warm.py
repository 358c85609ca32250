"""Commands without their start: a process that has imported the harnesses forks for each call.

``lmms_eval`` takes some eight seconds of the processor to import what it needs. A call is the command's own main
function, with the caller's arguments, folder, environment and files, in a process of its own. A test of the start
itself (entry points, the order of imports) starts the real program.

    warm.run([sys.executable, "-c", program], cwd=folder, env=environment)     # in a test, as subprocess.run
    python tests/warm.py SOCKET     # a server; prints a line when it is ready
    python -IS tests/warm.py SOCKET NAME ARGUMENT...     # a call
"""

from __future__ import annotations

import copy
import importlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

HEADER = struct.Struct("!I")


def run(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run python, lmms_eval, lmms-eval, lm_eval or figlang as :func:`subprocess.run` does, with what it prints.

    The server is started by the first call of any process of the tests, and ends with the tests (conftest.py).
    """
    name = Path(command[0]).name
    argv = ["python" if name.startswith("python") else name, *map(str, command[1:])]
    with open(os.devnull) as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        files = [nothing.fileno(), out.fileno(), err.fileno()]
        status = _ask(_server(), argv, str(cwd), dict(os.environ if env is None else env), files, timeout)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(list(command), status, *texts)


def call(path: str, arguments: list[str]) -> int:
    """Run a command in the server and return its exit status; it reads and writes the caller's own files."""
    return _ask(path, arguments, os.getcwd(), dict(os.environ), [0, 1, 2], None)


def _ask(path: str, argv: list[str], cwd: str, env: dict[str, str], files: list[int], timeout: float | None) -> int:
    content = json.dumps({"argv": argv, "cwd": cwd, "env": env}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [HEADER.pack(len(content))], files)
        connection.sendall(content)
        connection.settimeout(timeout)
        process = HEADER.unpack(connection.recv(HEADER.size, socket.MSG_WAITALL))[0]
        try:
            answer = connection.recv(1)
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired(argv, timeout or 0) from None
    return answer[0] if answer else -1  # nothing: it crashed


def _server() -> str:
    """The socket of the server that all processes of the tests share."""
    from filelock import FileLock

    path = os.path.join(os.environ["FIGLANG_TEST_RUNS"], "warm")
    with FileLock(f"{path}.lock"):
        if not os.path.exists(path):
            command = [sys.executable, __file__, path, os.environ["FIGLANG_TEST_PROCESS"]]
            server = subprocess.Popen(command, cwd="/", stdout=subprocess.PIPE, text=True)
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n", "tests/warm.py does not start"
    return path


def serve(path: str, owner: int | None = None) -> None:
    """Answer calls until the socket is removed, or the process `owner` has ended."""
    import gc

    from figlang_tasks.harness import plugin

    plugin.register()
    import lm_eval.__main__
    import lm_eval.evaluator
    import lm_eval.models.huggingface  # noqa: F401
    import lmms_eval.__main__
    import lmms_eval.cli.dispatch
    import lmms_eval.evaluator  # noqa: F401

    import figlang_tasks.models.llava_hf
    import figlang_tasks.models.vlm  # noqa: F401

    _read_task_files_once()
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        listening.settimeout(1)
        print("ready", flush=True)
        while os.path.exists(path) and _runs(owner):
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            with suppress(TimeoutError):
                connection, _ = listening.accept()
                if os.fork() == 0:
                    listening.close()
                    _answer(connection)
                connection.close()


def _runs(process: int | None) -> bool:
    try:
        os.kill(process or os.getpid(), 0)
    except ProcessLookupError:
        return False
    return True


def _read_task_files_once() -> None:
    """Let all calls share the harness's index of task files, of which it reads two thousand each time."""
    from lmms_eval.tasks import TaskManager

    read = TaskManager._get_task_and_group
    kept: dict[str, Any] = {}

    def read_once(manager: Any, folder: str) -> Any:
        where = os.path.abspath(folder)
        if where not in kept:
            kept[where] = read(manager, folder)
        return copy.deepcopy(kept[where])

    TaskManager._get_task_and_group = read_once
    TaskManager()


def _answer(connection: socket.socket) -> None:
    status = 1
    try:
        header, files, _, _ = socket.recv_fds(connection, HEADER.size, 3)
        content = b""
        while len(content) < HEADER.unpack(header)[0]:
            content += connection.recv(1 << 16)
        wanted = json.loads(content)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(wanted["cwd"])
        os.environ.clear()
        os.environ.update(wanted["env"])
        connection.sendall(HEADER.pack(os.getpid()))
        status = _run(wanted["argv"])
    finally:
        with suppress(OSError):
            connection.sendall(bytes([status]))
        os._exit(status)


def _read_environment_again() -> None:
    """For the modules that read it when they are imported."""
    import datasets.config
    from huggingface_hub import constants, hf_api

    for read in (constants, datasets.config):
        before = dict(vars(read))
        importlib.reload(read)
        changed = {name for name, value in vars(read).items() if name.isupper() and before.get(name) != value}
        for module in list(sys.modules.values()) if changed else []:
            for name in changed & vars(module).keys():
                if vars(module)[name] == before.get(name):
                    setattr(module, name, vars(read)[name])
    hf_api.api.endpoint = constants.ENDPOINT


def _run(argv: list[str]) -> int:
    import runpy
    import traceback

    name, *arguments = argv
    sys.path[1:1] = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each not in sys.path]
    try:
        _read_environment_again()
        if name == "python":
            if arguments[0] == "-m":
                sys.argv = arguments[1:]
                sys.modules.pop(arguments[1], None)
                runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
            elif arguments[0] == "-c":
                sys.argv = ["-c", *arguments[2:]]
                exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
            else:
                sys.argv = arguments
                runpy.run_path(arguments[0], run_name="__main__")
        else:
            from lm_eval.__main__ import cli_evaluate

            from figlang_tasks.cli import figlang, lmms_eval

            sys.argv = argv
            from lmms_eval.cli import dispatch

            programs = {"lmms_eval": lmms_eval.main, "lmms-eval": dispatch.main, "lm_eval": cli_evaluate}
            (programs | {"figlang": figlang.main})[name]()
        status: object = 0
    except SystemExit as exit:
        status = exit.code
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    if status is None or isinstance(status, int):
        return int(status or 0) & 255
    print(status, file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.path[0] = ""  # as of python -c
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    elif sys.argv[2].isdigit():
        serve(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(call(sys.argv[1], sys.argv[2:]))
