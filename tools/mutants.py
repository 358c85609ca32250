"""Break the code in small ways, one at a time, and see whether the quick tests notice; `make
mutants` runs it.

    python tools/mutants.py --n 200 --seed 1          # a sample over MODULES, and faults.yaml
    python tools/mutants.py metrics/ranking.py --all  # all mutants of a file or folder, its faults
    python tools/mutants.py --n 0                     # faults.yaml alone

Mutants are made by rules: another sign, another number, no return value. Faults are mistakes that a
person might make; `faults.yaml` has a list of them: the file, the line as it is, the line with the
fault, and perhaps a note.

Everything happens in a copy of the checkout in a temporary folder. The tests of a module are those
that mirror it, and all that import it. A mutant whose tests take too long counts as noticed.
Mutants whose change no test could see are listed in `mutants.yaml` with the reason, and are not
counted.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import yaml
from trials import Checkout, Fault, preload

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("mutants.yaml")
FAULTS = Path(__file__).with_name("faults.yaml")
# The tests must notice 95 % of the mutants tried, and of the faults.
MODULES = [
    "metrics",
    "figlang_tasks/answers",
    "figlang_tasks/scoring",
    "figlang_tasks/results/comparison.py",
    "figlang_tasks/submit",
    *(f"figlang_tasks/benchmarks/{name}/parse.py" for name in ("vflute", "flute", "nykms")),
    *(
        f"figlang_tasks/benchmarks/{name}/tasks.py"
        for name in ("vflute", "irfl", "nykms", "metaclue", "flute")
    ),
    "figlang_tasks/benchmarks/irfl/measures.py",
    "figlang_tasks/benchmarks/irfl/complete_rows.py",
    "figlang_tasks/benchmarks/vflute/scene_graph.py",
]
MOST_MISSED = 0.05

SIGNS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "is": "is not",
    "is not": "is",
}
SIGNS |= {
    "in": "not in",
    "not in": "in",
    "and": "or",
    "or": "and",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
}
SIGN = re.compile(rb"(?<![\w*/])(is not|not in|[<>]=?|[=!]=|is|in|and|or|[-+*/])(?![\w*/])")
CALLS = {
    "math.fsum": "sum",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sorted": "list",
}

Span: TypeAlias = tuple[int, int]


# --- mutants, by rules ---


class Module:
    """The source of a module, of which mutants are made."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file = file
        self.source = source
        self._line_starts = [0, *(line_end.end() for line_end in re.finditer(rb"\n", source))]

    def mutants(self) -> list[Fault]:
        """Return all mutants of the module."""
        mutants = []
        for node, function in _nodes(ast.parse(self.source), ""):
            for (start, end), text in self._changes(node):
                mutant = self._mutant(function, start, end, text)
                with suppress(SyntaxError):
                    compile(mutant.source, self.file, "exec")
                    mutants.append(mutant)
        return mutants

    def _mutant(self, function: str, start: int, end: int, text: str) -> Fault:
        line = self.source.count(b"\n", 0, start)
        source = self.source[:start] + text.encode() + self.source[end:]
        before = self.source.splitlines()[line].decode().strip()
        after = source.splitlines()[line].decode().strip()
        return Fault(self.file, before, after, line + 1, source, function)

    def _span(self, node: ast.expr | ast.stmt) -> Span:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self._line_starts[node.lineno - 1] + node.col_offset
        return start, self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def _changes(self, node: ast.AST) -> Iterator[tuple[Span, str]]:
        """Yield the changes at a node: which bytes become which text."""
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            yield from self._other_signs(operands)
            yield from self._other_texts(operands)
        elif isinstance(node, ast.BoolOp):
            yield from self._other_signs(node.values)
        elif isinstance(node, ast.BinOp):
            yield from self._other_signs([node.left, node.right])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield (self._span(node)[0], self._span(node.operand)[0]), ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            yield self._span(node), _other_number(node.value)
        elif isinstance(node, ast.Call):
            yield from self._other_calls(node)
        elif isinstance(node, ast.Return) and node.value is not None:
            if ast.unparse(node.value) not in ("None", "True", "False"):
                yield self._span(node.value), "None"
        elif isinstance(node, ast.Continue):
            yield self._span(node), "break"

    def _other_signs(self, operands: Sequence[ast.expr]) -> Iterator[tuple[Span, str]]:
        for left, right in itertools.pairwise(operands):
            sign = SIGN.search(self.source, self._span(left)[1], self._span(right)[0])
            if sign is not None:
                yield sign.span(), SIGNS[sign[0].decode()]

    def _other_texts(self, operands: Sequence[ast.expr]) -> Iterator[tuple[Span, str]]:
        for operand in operands:
            is_display = isinstance(operand, (ast.Tuple, ast.List, ast.Set))
            for text in operand.elts if is_display else [operand]:  # type: ignore[attr-defined]
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield self._span(text), repr(text.value + "X")

    def _other_calls(self, call: ast.Call) -> Iterator[tuple[Span, str]]:
        name = ast.unparse(call.func)
        if name == "sorted":
            start, end = self._span(call.args[0])
            yield self._span(call), f"list({self.source[start:end].decode()})"
        elif name in CALLS:
            yield self._span(call.func), CALLS[name]


def _nodes(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """Yield a node and all nodes in it, with their functions; leave out types and decorators."""
    yield node, function
    # Positions inside of f-strings are right from Python 3.12 on only; zip's strict is a second
    # check of lengths.
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg == "strict"):
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                yield from _nodes(child, f"{function}.{child.name}".lstrip("."))
            elif isinstance(child, ast.AST):
                yield from _nodes(child, function)


def _other_number(value: float) -> str:
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, int):
        return repr(value + 1)
    return repr(float(f"{value * 1.1 or 0.1:.12g}"))


# --- faults, by hand ---


def read_faults(folder: Path, modules: Sequence[str]) -> tuple[list[Fault], list[str]]:
    """Return the listed faults of some files and folders, and a message for each entry that does
    not fit its file.
    """
    faults, stale = [], []
    for entry in yaml.safe_load(FAULTS.read_text(encoding="utf-8")):
        if not entry["file"].startswith(tuple(modules)):
            continue
        try:
            faults.append(_fault(folder, **entry))
        except ValueError as error:
            stale.append(f"{FAULTS.name}: {entry['file']}: {error}: {entry['line']}")
    return faults, stale


def _fault(folder: Path, file: str, line: str, fault: str, note: str = "") -> Fault:
    """Return the fault that replaces a line, which must occur exactly once in its file."""
    if not (folder / file).is_file():
        raise ValueError("there is no such file any more")
    lines = (folder / file).read_text(encoding="utf-8").splitlines(keepends=True)
    numbers = [number for number, text in enumerate(lines) if text.strip() == line]
    if len(numbers) != 1:
        raise ValueError(f"this line stands there {len(numbers)} times, must stand there once")
    number = numbers[0]
    lines[number] = lines[number].replace(line, fault)
    source = "".join(lines)
    try:
        compile(source, file, "exec")
    except SyntaxError as error:
        raise ValueError(f"with its fault the file is no Python ({error})") from error
    return Fault(file, line, fault, number + 1, source.encode(), note=note)


def equivalent(files: Sequence[str]) -> set[tuple[str, str, str, str]]:
    """Return the keys of the mutants of some files that no test can notice."""
    keys = set()
    for file, entries in yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")).items():
        for entry in entries:
            if file in files:
                keys |= {
                    (file, entry["in"], entry["line"], changed) for changed in entry["mutants"]
                }
    return keys


def draw_mutants(
    folder: Path, files: Sequence[str], options: argparse.Namespace
) -> tuple[list[Fault], list[str]]:
    """Draw the mutants of some files to try; also return a message for each entry of the list that
    fits no mutant.
    """
    mutants = []
    for file in files:
        mutants += Module(file, (folder / file).read_bytes()).mutants()
    known = equivalent(files)
    unknown = sorted(known - {mutant.key for mutant in mutants})
    stale = [f"{EQUIVALENT.name}: there is no such mutant any more: {key}" for key in unknown]
    mutants = [mutant for mutant in mutants if mutant.key not in known]
    if not options.all:
        mutants = random.Random(options.seed).sample(mutants, min(options.n, len(mutants)))
    return sorted(mutants, key=lambda mutant: (mutant.file, mutant.line_number)), stale


def try_all(checkout: Checkout, name: str, faults: Sequence[Fault]) -> bool:
    """Try mutants or faults, and print what is not killed; return whether the tests miss few
    enough.
    """
    counts: Counter[str] = Counter()
    for fault in faults:
        try:
            outcome = checkout.outcome(fault)
        except RuntimeError as error:
            counts["left out"] += 1
            print(f"left out: {fault}\n  {error}", flush=True)
            continue
        counts[outcome] += 1
        if outcome != "killed":
            print(f"{outcome}: {fault}", flush=True)
    print(
        f"{len(faults)} {name}: "
        + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()),
        flush=True,
    )
    return not counts["left out"] and counts["survived"] <= MOST_MISSED * len(faults)


def run(folder: Path, options: argparse.Namespace) -> int:
    """Try mutants and faults in a copy of the checkout; return 1 if the tests miss too many, or a
    list is stale.
    """
    modules = [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if path.name != "__init__.py"
    ]
    with_mutants = sorted(
        file for file in modules if file.startswith(tuple(options.modules or MODULES))
    )

    faults, stale = read_faults(folder, options.modules or [""])
    mutants: list[Fault] = []
    if options.n or options.all:
        mutants, unknown = draw_mutants(folder, with_mutants, options)
        stale += unknown
    for message in stale:
        print(message)

    preload()
    checkout = Checkout(folder, options.limit)
    are_noticed = try_all(checkout, "mutants", mutants) if mutants else True
    are_noticed &= try_all(checkout, "faults", faults) if faults else True
    return int(bool(stale) or not are_noticed)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "modules", nargs="*", help="files and folders (default: MODULES, and all of faults.yaml)"
    )
    parser.add_argument("--n", type=int, default=200, help="mutants to draw (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="every mutant instead of a sample")
    parser.add_argument(
        "--limit",
        type=float,
        default=600,
        help="seconds that the tests of a module get (%(default)s)",
    )
    with tempfile.TemporaryDirectory(prefix="figlang-mutants-") as temporary:
        folder = Path(temporary) / "checkout"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        return run(folder, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
