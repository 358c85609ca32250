"""Commands without their start: a process that has imported the harnesses forks for each call.

``lmms_eval`` takes some twelve seconds to import what it needs, and the documents name it thirty times. A call is the
command's own main function, with the caller's arguments, folder, environment and files, in a process of its own.

    python tests/docs/warm.py SOCKET     # the server; prints a line when it is ready
    python -IS tests/docs/warm.py SOCKET NAME ARGUMENT...     # a call
"""

from __future__ import annotations

import copy
import json
import os
import socket
import struct
import sys
from contextlib import suppress
from typing import Any

HEADER = struct.Struct("!I")


def call(path: str, arguments: list[str]) -> int:
    """Run a command in the server and return its exit status; it reads and writes the caller's own files."""
    content = json.dumps({"argv": arguments, "cwd": os.getcwd(), "env": dict(os.environ)}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [HEADER.pack(len(content))], [0, 1, 2])
        connection.sendall(content)
        answer = connection.recv(1)
    return answer[0] if answer else 1  # nothing: it crashed


def serve(path: str) -> None:
    import signal

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
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while True:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _answer(connection)
            connection.close()


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
    import signal

    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
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
        status = _run(wanted["argv"])
    finally:
        with suppress(OSError):
            connection.sendall(bytes([status]))
        os._exit(status)


def _run(argv: list[str]) -> int:
    import runpy
    import traceback

    name, *arguments = argv
    try:
        if name == "python":
            if arguments[0] == "-m":
                sys.argv = arguments[1:]
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
            {"figlang": figlang.main, "lmms_eval": lmms_eval.main, "lm_eval": cli_evaluate}[name]()
        status: object = 0
    except SystemExit as exit:
        status = exit.code
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    if status is None or isinstance(status, int):
        return int(status or 0)
    print(status, file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    else:
        sys.exit(call(sys.argv[1], sys.argv[2:]))
