"""Commands without their start: one process has imported the harnesses, and forks for each call.

``lmms_eval`` takes some eight seconds of a core to import what it needs. A call is the command's own main function,
with the caller's arguments, folder, environment and files, in a process of its own that can be killed like any other.
All processes of the tests share one server. A test of the start itself (entry points, what is imported) says
`harness=False`: its process has torch and other people's libraries alone, nine tenths of the time, and imports the
harnesses and this package itself. A test of the interpreter's start runs the real program.

    warm.run(["lmms_eval", "--tasks", "figlang_mini"], cwd=folder)     # in a test, as subprocess.run
    python -IS tests/support/warm.py SOCKET NAME ARGUMENT...     # in a shell

The processes of ``pytest -n`` are such forks too (conftest.py).
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import struct
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:  # a call from a shell imports little
    from collections.abc import Mapping, Sequence
    from subprocess import CompletedProcess

HEADER = struct.Struct("!I")
NUMBER = struct.Struct("!i")  # the process, then how it ended: as subprocess gives it
PROGRAMS = {
    "figlang": "figlang_tasks.cli.figlang:main",
    "lm_eval": "lm_eval.__main__:cli_evaluate",
    "lmms-eval": "lmms_eval.cli.dispatch:main",
    "lmms_eval": "figlang_tasks.cli.lmms_eval:main",
}
# What the harnesses import that takes long.
LIBRARIES = (
    "accelerate", "aiohttp", "datasets", "httpx", "jinja2", "nltk", "numpy", "openai", "pandas", "PIL.Image", "pyarrow",
    "requests", "scipy.stats", "sklearn.metrics", "sympy", "torch.distributed", "torchvision", "transformers",
    "transformers.generation", "transformers.modeling_utils",
)  # fmt: skip


# --- the caller ------------------------------------------------------------------------------------------------------


class Process:
    """A command that runs; as ``subprocess.Popen``, whose output is kept in files.

    Args:
        command: one of ``PROGRAMS`` or a Python, and the arguments.
        cwd: folder that it runs in.
        env: all of its environment; folders of ``PYTHONPATH`` are looked into for modules and plugins first.
        stdout, stderr: open files in place of those kept here.
        largest_file: bytes that no file may exceed, as on a full disk.
        harness: False to import the harnesses and this package anew, as at a start.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdout: IO[str] | None = None,
        stderr: IO[str] | None = None,
        largest_file: int | None = None,
        harness: bool = True,
    ) -> None:
        import tempfile

        self.args = command
        name = Path(command[0]).name
        argv = ["python" if name.startswith("python") else name, *map(str, command[1:])]
        self.returncode: int | None = None
        self._out = stdout or tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed with this object)
        self._err = stderr or tempfile.TemporaryFile("w+")  # noqa: SIM115
        wanted: dict[str, Any] = {"argv": argv, "cwd": str(cwd), "env": dict(os.environ if env is None else env)}
        wanted |= {"largest_file": largest_file, "session": True}
        with open(os.devnull) as nothing:
            files = [nothing.fileno(), self._out.fileno(), self._err.fileno()]
            self._connection = _ask(server(harness), wanted, files)
        self.pid: int = NUMBER.unpack(_read(self._connection, NUMBER.size))[0]

    def poll(self) -> int | None:
        """Its status if it has ended."""
        from subprocess import TimeoutExpired

        with suppress(TimeoutExpired):
            self.wait(1e-6)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; return its status, negative for a signal.

        Raises:
            subprocess.TimeoutExpired: it has not, for so many seconds.
        """
        from subprocess import TimeoutExpired

        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = NUMBER.unpack(_read(self._connection, NUMBER.size))[0]
            except TimeoutError as error:
                raise TimeoutExpired(self.args, timeout or 0) from error
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait until it has ended; return what it wrote to stdout and stderr."""
        self.wait(timeout)
        for file in (self._out, self._err):
            file.seek(0)
        return self._out.read(), self._err.read()


def run(command: Sequence[str], *, timeout: float = 300, **how: Any) -> CompletedProcess[str]:
    """Run a command to its end; `how` as for :class:`Process`."""
    from subprocess import CompletedProcess

    process = Process(command, **how)
    try:
        out, err = process.communicate(timeout)
    except BaseException:
        process.kill()
        raise
    return CompletedProcess(list(command), process.wait(), out, err)


def start_ranks(count: int, command: Sequence[str], *, env: Mapping[str, str], **how: Any) -> list[Process]:
    """Start a command in several processes that know of each other, as ``torchrun`` does."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    group = {"WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    ranks = []
    for rank in range(count):
        told = {name: str(value) for name, value in (group | {"RANK": rank, "LOCAL_RANK": rank}).items()}
        ranks.append(Process(command, env={**env, **told}, **how))
    return ranks


def run_ranks(
    count: int, command: Sequence[str], *, env: Mapping[str, str], timeout: float = 300, **how: Any
) -> list[Process]:
    """As :func:`start_ranks`; return them when they ended. If one of them fails, the others are ended."""
    ranks = start_ranks(count, command, env=env, **how)
    deadline = time.monotonic() + timeout
    while None in (ended := [process.poll() for process in ranks]):
        if any(ended) or time.monotonic() > deadline:
            for process, status in zip(ranks, ended, strict=True):
                if status is None:
                    process.terminate()
                    process.wait()
        time.sleep(0.05)
    return ranks


def server(harness: bool = True) -> str:
    """The socket of the server, `harness` as of :class:`Process`; the first process that asks starts both."""
    import subprocess

    from filelock import FileLock

    path = Path(os.environ["FIGLANG_TEST_RUNS"]) / "warm"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            command = [sys.executable, __file__, str(path), os.environ["FIGLANG_TEST_PROCESS"]]
            environment = os.environ | {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
            with open(f"{path}.log", "w") as log:
                started = subprocess.Popen(
                    command, env=environment, cwd="/", stdout=subprocess.PIPE, stderr=log, text=True,
                    start_new_session=True,
                )  # fmt: skip
            assert started.stdout is not None
            assert started.stdout.readline() == "ready\n", Path(f"{path}.log").read_text()
    return str(path) if harness else _of_libraries(path)


def python() -> str:
    """A command line that stands for ``python`` with the harnesses imported."""
    return shlex.join([sys.executable, "-IS", __file__, server(), "python"])


def _of_libraries(path: str | Path) -> str:
    return f"{path}.libraries"


def write_programs(folder: Path, *names: str, harness: bool = True) -> None:
    """Write programs that call the server, for a shell; `harness` as of :class:`Process`."""
    folder.mkdir()
    for name in names:
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {__file__} {server(harness)} {name} "$@"\n')
        program.chmod(0o755)


def call(path: str, arguments: list[str]) -> int:
    """Run a command in the server and return its exit status; it reads and writes the caller's own files."""
    wanted = {"argv": arguments, "cwd": os.getcwd(), "env": dict(os.environ), "session": False}
    with _ask(path, wanted, [0, 1, 2]) as connection:
        _, status = (NUMBER.unpack(_read(connection, NUMBER.size))[0] for _ in range(2))
    return status if status >= 0 else 128 - status


def _ask(path: str, wanted: Mapping[str, Any], files: list[int]) -> socket.socket:
    content = json.dumps(wanted).encode()
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    socket.send_fds(connection, [HEADER.pack(len(content))], files)
    connection.sendall(content)
    return connection


def _read(connection: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size:
        if not (piece := connection.recv(size - len(content))):
            raise EOFError("the server of warm.py is gone")
        content += piece
    return content


# --- the server ------------------------------------------------------------------------------------------------------


def ask_the_hub_at_once() -> None:
    """Let the hub's client ask in vain as often as it does, for 23 seconds a time, without its pauses."""
    from huggingface_hub.utils import _http

    pause = time.sleep
    _http.time = SimpleNamespace(**vars(time) | {"sleep": lambda seconds: pause(min(seconds, 0.05))})  # type: ignore[assignment]


def serve(path: str, owner: str) -> None:
    """Answer calls until the socket is removed, or the process `owner` has ended: in two processes of two sockets."""
    from importlib import import_module

    for name in LIBRARIES:
        with suppress(ImportError):  # one that this version of the harnesses does not need
            import_module(name)
    ask_the_hub_at_once()
    with socket.socket(socket.AF_UNIX) as of_libraries, socket.socket(socket.AF_UNIX) as listening:
        of_libraries.bind(_of_libraries(path))
        of_libraries.listen()
        if os.fork() == 0:
            listening.close()
            os.dup2(2, 1)  # the end of the pipe is for the other
            _serve(of_libraries, owner)
            os._exit(0)
        of_libraries.close()
        _import_harnesses()
        keep_task_index_of_lm_eval(Path(path).with_name("lm_eval_index"))
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        _serve(listening, owner)


def _import_harnesses() -> None:
    from figlang_tasks.harness import plugin

    plugin.register()
    import lm_eval.__main__
    import lm_eval.evaluator
    import lm_eval.models.huggingface  # noqa: F401
    import lmms_eval.__main__
    import lmms_eval.cli.dispatch
    import lmms_eval.evaluator  # noqa: F401
    import torch

    import figlang_tasks.models.vlm  # noqa: F401
    from figlang_tasks.core import benchmark
    from figlang_tasks.metrics.explanation import kernels

    benchmark.benchmarks()  # imports them
    kernels.timing(torch.float32)
    keep_task_index()
    lmms_eval.tasks.TaskManager()


def keep_task_index() -> None:
    """Let lmms-eval read the two thousand task files of its own, and ours, once a process: two seconds each time."""
    import copy
    import functools

    import lmms_eval.tasks

    from figlang_tasks.harness.task_index import tasks_dir

    manager = lmms_eval.tasks.TaskManager
    find = manager._get_task_and_group
    if hasattr(find, "__wrapped__"):  # by the process that this one is a fork of
        return
    folders = (f"{Path(lmms_eval.tasks.__file__).absolute().parent}/", str(tasks_dir()))
    found: dict[str, Any] = {}

    @functools.wraps(find)
    def find_once(self: Any, task_dir: str) -> Any:
        if task_dir not in folders:
            return find(self, task_dir)
        if task_dir not in found:
            found[task_dir] = find(self, task_dir)
        return copy.deepcopy(found[task_dir])

    manager._get_task_and_group = find_once


def keep_task_index_of_lm_eval(file: Path) -> None:
    """Keep in a file, which the first process writes, what lm-eval finds in its own task files: ten seconds."""
    import functools
    import pickle

    import lm_eval.tasks._index
    from filelock import FileLock

    own = Path(lm_eval.tasks.__file__).parent
    index = lm_eval.tasks._index.TaskIndex
    build = index.build

    @functools.wraps(build)
    def build_once(paths: Sequence[Path], **options: Any) -> Any:
        if paths[:1] != [own] or options:
            return build(paths, **options)
        with FileLock(f"{file}.lock"):
            if not file.exists():
                file.write_bytes(pickle.dumps(build([own])))
        return {**pickle.loads(file.read_bytes()), **build(paths[1:])}

    index.build = staticmethod(build_once)


def _serve(listening: socket.socket, owner: str) -> None:
    import gc
    import select

    gc.collect()
    gc.freeze()  # a child that collects would copy all of it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    while Path(listening.getsockname()).exists() and _runs(int(owner)):
        if select.select([listening], [], [], 1)[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _answer(connection)
            connection.close()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _answer(connection: socket.socket) -> None:
    """Begin what is asked for in a child, tell the caller who it is and how it ended."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        header, files, _, _ = socket.recv_fds(connection, HEADER.size, 3)
        wanted = json.loads(_read(connection, HEADER.unpack(header)[0]))
        child = os.fork()
        if child == 0:
            connection.close()
            _begin(wanted, files)
            os._exit(_run(wanted["argv"]))
        connection.sendall(NUMBER.pack(child))
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(NUMBER.pack(ended))
    except BaseException:
        traceback.print_exc()  # into the server's log, or what the caller sees of a child
        os._exit(1)
    os._exit(0)


def _begin(wanted: dict[str, Any], files: list[int]) -> None:
    """Become the process that is asked for."""
    if wanted["session"]:
        os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    if size := wanted.get("largest_file"):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    if new := [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path not in sys.path]:
        sys.path[1:1] = new
        if harness := sys.modules.get("lmms_eval.models"):
            harness.MODEL_REGISTRY_V2.load_entrypoint_manifests(overwrite=True)
    _read_environment_again()
    if torch := sys.modules.get("torch"):
        # Its pool of threads is made anew in a fork. Of threads that find that at once, some would get none:
        # "Invalid thread pool!", in 6 of 600 forks of a busy machine.
        torch.set_num_threads(torch.get_num_threads())
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _read_environment_again() -> None:
    """For the modules that read it when they are imported, or once."""
    import importlib
    import tempfile

    tempfile.tempdir = None
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

    name, *arguments = argv
    try:
        if name == "python":
            if arguments[0] == "-u":  # of execnet, which opens its files itself
                del arguments[0]
            if arguments[0] == "-m":
                sys.argv = arguments[1:]
                sys.modules.pop(arguments[1], None)
                runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
            elif arguments[0] == "-c":
                sys.argv = ["-c", *arguments[2:]]
                exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
            else:
                sys.argv = arguments
                sys.path[0] = str(Path(arguments[0]).resolve().parent)
                runpy.run_path(arguments[0], run_name="__main__")
        else:
            import pkgutil

            sys.argv = argv
            pkgutil.resolve_name(PROGRAMS[name])()
        status: object = 0
    except SystemExit as exit:
        status = exit.code
    except BaseException as error:
        traceback.print_exc()
        if isinstance(error, KeyboardInterrupt):  # as the interpreter ends then
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    if status is None or isinstance(status, int):
        return int(status or 0)
    print(status, file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.path[0] = ""  # as of python -c
    if sys.argv[2].isdigit():
        serve(*sys.argv[1:])
    else:
        if sys.argv[2:4] == ["python", "-u"]:  # of pytest -n, which ends its processes itself
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.exit(call(sys.argv[1], sys.argv[2:]))
