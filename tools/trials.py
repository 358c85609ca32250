"""Find out whether the quick tests of a module notice a fault in it, for tools/mutants.py."""

from __future__ import annotations

import ast
import importlib
import json
import math
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias

import pytest

Outcome: TypeAlias = Literal["killed", "timed out", "survived"]

# Some tests name what they test in a table, and so do not import its module.
MORE_TESTS = {
    "answers/": "tests/answers/test_corpus.py",
    "/parse.py": "tests/benchmarks/test_outputs.py",
}
MARKS = "not slow and not long and not families"
# Packages that import none of our code; the harness is not one, as it imports our plugin.
PRELOADED = (
    *(
        "accelerate",
        "datasets",
        "evaluate",
        "hypothesis",
        "loguru",
        "openai",
        "pandas",
        "requests",
        "sacrebleu",
    ),
    *("scipy.stats", "sklearn.metrics", "torch", "torchvision", "transformers.modeling_utils"),
)


@dataclass(frozen=True)
class Fault:
    """A file in which one line is changed.

    Attributes:
        file: its path in the checkout.
        line: the line as it is, without the white space around it.
        changed: the line with the change.
        line_number: counted from 1.
        source: the file with the change.
        function: for a mutant, the qualified name of the function around the line.
        note: for a fault, what it does.
    """

    file: str
    line: str
    changed: str
    line_number: int
    source: bytes
    function: str = ""
    note: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.file, self.function, self.line, self.changed

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"{self.file}:{self.line_number}{note}\n  - {self.line}\n  + {self.changed}"


class Checkout:
    """A copy of the checkout, in which faults are tried."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.folder = folder
        self.limit = limit
        self._sound_tests: set[str] = set()

    @cached_property
    def _importers(self) -> dict[str, list[str]]:
        """The test files that import a module, by its file; those that import little stand first,
        as they are quick.
        """
        return _importers(sorted((self.folder / "tests").rglob("test_*.py")), self.folder)

    @cached_property
    def _modules_above(self) -> dict[str, list[str]]:
        """The modules that import a module, by its file."""
        return _importers(sorted((self.folder / "figlang_tasks").rglob("*.py")), self.folder)

    def tests_of(self, file: str) -> list[str]:
        """The tests of a module: those that mirror it, those of MORE_TESTS, and all that import it.

        Where none mirrors or imports it, they are those of the modules that import it, or else all
        of the folder. A module of a benchmark has all tests of the benchmark: many of them run a
        task, and import nothing of it.
        """
        tests = self._mirrors(file) + self._importers.get(file, [])
        if not tests:
            for module in self._modules_above.get(file, []):
                tests += self._mirrors(module) + self._importers.get(module, [])
        if not tests:
            tests = [str(_mirror(file).parent)]
        tests += [more for part, more in MORE_TESTS.items() if part in file]
        if file.startswith("figlang_tasks/benchmarks/"):
            tests.append(_mirror(file).parent.as_posix())
        return list(dict.fromkeys(test for test in tests if (self.folder / test).exists()))

    def _mirrors(self, file: str) -> list[str]:
        """The test files with the name of a module, in the place that mirrors its own."""
        mirror = _mirror(file)
        paths = sorted((self.folder / mirror.parent).glob(f"test_{mirror.stem}*.py"))
        return [path.relative_to(self.folder).as_posix() for path in paths]

    def outcome(self, fault: Fault) -> Outcome:
        """Try a fault.

        Raises:
            RuntimeError: the tests that notice it fail without it too.
        """
        path = self.folder / fault.file
        source = path.read_bytes()
        path.write_bytes(fault.source)
        try:
            outcome = self._run(self.tests_of(fault.file))
            failed = self._failed()
        finally:
            path.write_bytes(source)
        if outcome == "killed" and not failed <= self._sound_tests:
            if self._run(sorted(failed)) != "survived":
                raise RuntimeError(f"tests fail as it is: {' '.join(sorted(failed))}")
            self._sound_tests |= failed
        return outcome

    @property
    def _last_failed(self) -> Path:
        return self.folder / ".pytest_cache" / "v" / "cache" / "lastfailed"

    def _failed(self) -> set[str]:
        """The tests that the last run failed at."""
        return (
            set(json.loads(self._last_failed.read_text())) if self._last_failed.is_file() else set()
        )

    def _run(self, tests: Sequence[str]) -> Outcome:
        """Run tests up to the first that fails, in a process that finds large packages imported."""
        self._last_failed.unlink(missing_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=self.folder.parent))
        process = os.fork()
        if process == 0:
            self._become_pytest(tests, scratch)
        try:
            _, status = os.waitpid(process, 0)
        finally:  # also after Ctrl-C, and for servers that tests left running
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            shutil.rmtree(scratch, ignore_errors=True)

        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
            return "timed out"
        code = os.waitstatus_to_exitcode(status)
        if code == pytest.ExitCode.OK:
            return "survived"
        if code in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
            return "killed"
        raise RuntimeError(f"pytest ends with status {code}: {' '.join(tests)}")

    def _become_pytest(self, tests: Sequence[str], scratch: Path) -> NoReturn:
        """Run tests in this process, and end it; none of what it inherited is tidied up."""
        os.setsid()
        signal.alarm(math.ceil(self.limit))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        os.chdir(self.folder)
        os.environ |= {
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(scratch),
        }
        tempfile.tempdir = None
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(self.folder))
        code: int = pytest.ExitCode.INTERNAL_ERROR
        try:
            code = pytest.main([*tests, "-x", "-q", "-m", MARKS])
        finally:
            os._exit(code)


def preload() -> None:
    """Import what the tests of nearly every module import, so that no trial must."""
    os.environ["OMP_NUM_THREADS"] = "1"  # as tests/conftest.py has it, before torch is imported
    for name in PRELOADED:
        importlib.import_module(name)


def _mirror(file: str) -> Path:
    """Where the tests of a module stand, but for the name of the file."""
    return Path("tests", file.removeprefix("figlang_tasks/"))


def _importers(paths: Sequence[Path], folder: Path) -> dict[str, list[str]]:
    """Which of some files import a module, by its file; those that import little stand first."""
    modules_by_path = {
        path.relative_to(folder).as_posix(): _imported(path, folder) for path in paths
    }
    importers: dict[str, list[str]] = {}
    for path in sorted(modules_by_path, key=lambda path: len(modules_by_path[path])):
        for file in modules_by_path[path]:
            importers.setdefault(file, []).append(path)
    return importers


def _imported(path: Path, folder: Path) -> set[str]:
    """The files of our modules that a file imports itself; of a package also that from which it has
    the name.
    """
    files = set()
    for node in _statements(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            files |= {_file_of(alias.name, folder) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                files.add(
                    _file_of(f"{node.module}.{alias.name}", folder) or _file_of(node.module, folder)
                )
                files.add(_origin(node.module, alias.name, folder))
    return {file for file in files if file is not None}


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside a module or a statement; expressions, which are most nodes, are not
    looked into.
    """
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(node, field, []):
            yield statement
            yield from _statements(statement)


def _file_of(module: str, folder: Path) -> str | None:
    """Return the file of one of our modules."""
    base = (
        module.removeprefix("figlang_tasks.")
        if module.startswith("figlang_tasks.metrics")
        else module
    )
    for file in (f"{base.replace('.', '/')}.py", f"{base.replace('.', '/')}/__init__.py"):
        if base.split(".")[0] in ("figlang_tasks", "metrics") and (folder / file).is_file():
            return file
    return None


def _origin(package: str, name: str, folder: Path) -> str | None:
    """Return the file of the module from which a package imports a name."""
    file = _file_of(package, folder)
    if file is None or not file.endswith("__init__.py"):
        return None
    module = _modules_of_names(folder / file).get(name)
    return _file_of(module, folder) if module else None


@cache
def _modules_of_names(file: Path) -> dict[str, str]:
    """The module from which the ``__init__.py`` of a package imports each of its names."""
    module_by_name: dict[str, str] = {}
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                module_by_name.setdefault(alias.name, node.module)
    return module_by_name
