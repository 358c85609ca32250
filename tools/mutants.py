"""Break the code in small ways, one at a time, and see whether the tests beside it notice; `make mutants` runs it.

    python tools/mutants.py --n 200 --seed 1             # a sample over all of MODULES
    python tools/mutants.py metrics/ranking.py --all     # every mutant of a file or a folder

Everything happens in a copy of the checkout in a temporary folder; tests that take too long have noticed. Mutants that
change nothing that a test could see stand in `mutants.yaml` with the reason, and count in no rate.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_suffix(".yaml")
# What is asked of the tests: that they notice 95 % of the mutants here.
MODULES = [
    "metrics",
    "figlang_tasks/answers",
    "figlang_tasks/scoring",
    "figlang_tasks/results/comparison.py",
    "figlang_tasks/submit",
    *(f"figlang_tasks/benchmarks/{name}/parse.py" for name in ("vflute", "flute", "nykms")),
    *(f"figlang_tasks/benchmarks/{name}/task.py" for name in ("vflute", "irfl", "nykms", "metaclue", "flute")),
    "figlang_tasks/benchmarks/irfl/measures.py",
]
# Tests mirror the package, but for the names of three folders; for a module without a file of its own, the tests of its
# folder run. Besides:
MORE_TESTS = {
    "answers/": "tests/readings/test_corpus.py",
    "/parse.py": "tests/tasks/test_outputs.py",
    "irfl/measures.py": "tests/tasks/irfl",
    **{f"{name}/": f"tests/tasks/{name}/test_measures.py" for name in ("irfl", "nykms")},
}
FOLDERS = {"answers": "readings", "benchmarks": "tasks", "metrics": "metric_functions"}
SIGNS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not", "is not": "is"}
SIGNS |= {"in": "not in", "not in": "in", "and": "or", "or": "and", "+": "-", "-": "+", "*": "/", "/": "*"}
SIGN = re.compile(rb"(?<![\w*/])(is not|not in|[<>]=?|[=!]=|is|in|and|or|[-+*/])(?![\w*/])")
CALLS = {"math.fsum": "sum", "min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
Change = tuple[int, int, str]  # the bytes from and to become the text


@dataclass(frozen=True)
class Mutant:
    """A file with one change; its key has the line without and with the change."""

    key: tuple[str, str, str, str]
    line: int
    source: bytes


def changes(node: ast.AST, source: bytes) -> Iterator[Change]:
    """Yield the changes at a node."""
    starts = [0, *(found.end() for found in re.finditer(rb"\n", source))]

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def signs(*operands: ast.expr) -> Iterator[Change]:
        for left, right in zip(operands, operands[1:], strict=False):
            begin, stop = span(left)[1], span(right)[0]
            if place := SIGN.search(source, begin, stop):
                yield *place.span(), SIGNS[place[0].decode()]

    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        yield from signs(*operands)
        for operand in operands:
            for text in operand.elts if isinstance(operand, (ast.Tuple, ast.List, ast.Set)) else [operand]:
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield *span(text), repr(text.value + "X")
    elif isinstance(node, ast.BoolOp):
        yield from signs(*node.values)
    elif isinstance(node, ast.BinOp):
        yield from signs(node.left, node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield span(node)[0], span(node.operand)[0], ""
    elif isinstance(node, ast.Constant) and isinstance(value := node.value, (int, float)):
        other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 1.1 or 0.1
        yield *span(node), repr(other if isinstance(value, int) else float(f"{other:.12g}"))
    elif isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in CALLS:
        if name == "sorted":
            first = source[slice(*span(node.args[0]))].decode()
            yield *span(node), f"list({first})"
        else:
            yield *span(node.func), CALLS[name]
    elif isinstance(node, ast.Return) and node.value is not None:
        if ast.unparse(node.value) not in ("None", "True", "False"):
            yield *span(node.value), "None"
    elif isinstance(node, ast.Continue):
        yield *span(node), "break"


def mutants(file: str, source: bytes) -> list[Mutant]:
    """Return all mutants of a module."""
    found = []

    def walk(node: ast.AST, function: str) -> None:
        for start, end, new in changes(node, source):
            line = source.count(b"\n", 0, start)
            mutated = source[:start] + new.encode() + source[end:]
            before, after = (text.splitlines()[line].decode().strip() for text in (source, mutated))
            with suppress(SyntaxError):
                compile(mutated, file, "exec")
                found.append(Mutant((file, function, before, after), line + 1, mutated))
        # Positions inside of f-strings are right from Python 3.12 on only; zip's strict is a second check of lengths.
        if isinstance(node, ast.JoinedStr) or isinstance(node, ast.keyword) and node.arg == "strict":
            return
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and name not in ("annotation", "returns", "decorator_list"):
                    named = isinstance(child, (ast.FunctionDef, ast.ClassDef))
                    walk(child, f"{function}.{child.name}".lstrip(".") if named else function)  # type: ignore[attr-defined]

    walk(ast.parse(source), "")
    return found


def tests_of(file: str, folder: Path) -> list[str]:
    top, *inside = file.removeprefix("figlang_tasks/").split("/")
    path = Path("tests", FOLDERS.get(top, top), *inside)
    own = [str(path.parent / each.name) for each in sorted((folder / path.parent).glob(f"test_{path.stem}*.py"))]
    more = [tests for part, tests in MORE_TESTS.items() if part in file]
    return [*(own or [str(path.parent)]), *more]


def passes(folder: Path, tests: list[str], limit: float) -> bool:
    """Return whether tests pass, within so many seconds."""
    marks = "not slow and not long and not families"
    command = [sys.executable, "-m", "pytest", *tests, "-x", "-q", "-m", marks, "-p", "no:cacheprovider"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return not subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=limit).returncode
    except subprocess.TimeoutExpired:
        return False


def run(folder: Path, given: argparse.Namespace) -> int:
    """Try mutants in a copy of the checkout; return 1 if the tests miss too many, or the list is out of date."""
    paths = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if path.name != "__init__.py"}
    files = sorted(path for path in paths if path.startswith(tuple(given.modules)))
    listed = [(file, entry) for file, entries in yaml.safe_load(EQUIVALENT.read_text()).items() for entry in entries]
    known = {(file, of["in"], of["line"], after) for file, of in listed if file in files for after in of["mutants"]}
    every = [mutant for file in files for mutant in mutants(file, (folder / file).read_bytes())]
    stale = sorted(known - {mutant.key for mutant in every})
    for key in stale:
        print(f"{EQUIVALENT.name}: there is no such mutant any more: {key}")
    drawn = [mutant for mutant in every if mutant.key not in known]
    if not given.all:
        drawn = random.Random(given.seed).sample(drawn, min(given.n, len(drawn)))
    tried, survivors, failing = 0, 0, 0
    for file in sorted({mutant.key[0] for mutant in drawn}):
        tests, source, began = tests_of(file, folder), (folder / file).read_bytes(), time.monotonic()
        if not passes(folder, tests, 600):
            failing += 1
            print(f"{file} is left out: its tests do not pass as it is ({' '.join(tests)})", flush=True)
            continue
        limit = 10 + 4 * (time.monotonic() - began)
        for mutant in (each for each in drawn if each.key[0] == file):
            (folder / file).write_bytes(mutant.source)
            tried += 1
            if passes(folder, tests, limit):
                survivors += 1
                print(f"{file}:{mutant.line}\n  - {mutant.key[2]}\n  + {mutant.key[3]}", flush=True)
        (folder / file).write_bytes(source)
    print(f"{tried - survivors} of {tried} caught")
    return int(bool(stale or failing or survivors > 0.05 * tried))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", default=MODULES, help="files and folders (default: %(default)s)")
    parser.add_argument("--n", type=int, default=200, help="mutants to draw (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="every mutant instead of a sample")
    with tempfile.TemporaryDirectory(prefix="figlang-mutants-") as temporary:
        folder = Path(temporary) / "checkout"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        return run(folder, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
