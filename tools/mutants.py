"""Break the code in small ways, one at a time, and see whether the tests beside it notice.

    python tools/mutants.py --n 200 --seed 1             # a sample over all of MODULES
    python tools/mutants.py metrics/ranking.py --all     # every mutant of a file or a folder

Everything happens in a copy of the checkout in a temporary folder. Each mutant runs in a fork of a process that has
imported the heavy packages already, against its module's own tests, with a time limit (too slow is caught).
Mutants that change nothing that a test could see stand in `mutants.yaml` with the reason, and count in no rate.

mutmut (3.8) takes the name of a module from its path, which for ``metrics/`` is not the name it is imported by, and
leaves constants and decorated functions alone; cosmic-ray (8.7) writes into the working tree, and starts a new process,
imports and all, for each mutant. Neither draws a sample, or keeps a list of mutants that are no faults.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_suffix(".yaml")
LEFT_OUT = (".*", "*.egg-info", "__pycache__")
MADE_HERE = ("build", "dist", "results")  # at the top alone: there is a package figlang_tasks.results
# Imported once, before the forks. Not the harness: it would import figlang_tasks.
WARM = "torch transformers datasets sklearn.metrics scipy.stats hypothesis pytest PIL.Image bert_score sacrebleu "
WARM += "pycocotools.cocoeval matplotlib jsonschema pyarrow.parquet accelerate aiohttp evaluate sympy torchvision"

# What is asked of the tests: that they notice 95 % of the mutants here.
MODULES = [
    "metrics",
    "figlang_tasks/answers",
    "figlang_tasks/scoring/explanations.py",
    *(f"figlang_tasks/benchmarks/{name}/parse.py" for name in ("vflute", "flute", "nykms")),
    *(f"figlang_tasks/benchmarks/{name}/task.py" for name in ("vflute", "irfl", "nykms", "metaclue", "flute")),
    "figlang_tasks/scoring",
    "figlang_tasks/results/comparison.py",
    "figlang_tasks/benchmarks/irfl/measures.py",
    "figlang_tasks/submit",
]
# Of BERTScore with the tiny model almost alone: the other one is slower, and goes the same way.
_QUICK = "not minilm] and not padding and not (batches and minilm)"
# Tests mirror the package; here is where they do not, and what pytest is told besides. A folder: all of its modules.
TESTS = {
    "figlang_tasks/answers": ["tests/answers/test_corpus.py"],
    "metrics/explanation/bertscore.py": ["tests/metrics/explanation/test_bertscore.py", "-k", _QUICK],
    "metrics/explanation/__main__.py": ["tests/metrics/explanation/test_command.py"],
    "metrics/explanation/cache.py": ["tests/metrics/explanation/test_cache.py", "-k", "not several_processes"],
    "metrics/explanation/weights.py": [
        "tests/metrics/explanation/test_weights.py",
        "tests/faults/test_pickle.py",
        "tests/metrics/explanation/test_bertscore.py",
        "-k",
        _QUICK,
    ],
    "metrics/generated_images.py": ["tests/metrics/test_generated_images.py", "tests/faults/test_pickle.py"],
    # megabytes, for the time
    **{
        f"figlang_tasks/benchmarks/{name}/parse.py": [
            "tests/benchmarks/test_outputs.py",
            f"tests/benchmarks/{name}/test_parse.py",
            "-k",
            "not explode",
        ]
        for name in ("vflute", "flute", "nykms")
    },
    "figlang_tasks/benchmarks/metaclue/task.py": [
        *(f"tests/benchmarks/metaclue/test_{name}.py" for name in ("prompts", "scoring", "localize", "generate")),
        "tests/benchmarks/test_refusals.py",
    ],
    "figlang_tasks/scoring/entailment_card.py": ["tests/report/test_gallery.py"],
    "figlang_tasks/results/comparison.py": ["tests/results/test_comparison.py", "tests/cli/test_compare.py"],
    "figlang_tasks/benchmarks/irfl/measures.py": [
        "tests/benchmarks/irfl/test_task.py",
        "-k",
        "not random",
    ],  # chance, for the time
    "figlang_tasks/submit/__init__.py": [
        f"tests/submit/test_{name}.py" for name in ("irfl", "hub_results", "figlang2024")
    ],
    "figlang_tasks/scoring/evaluation.py": ["tests/scoring/test_measure.py", "tests/scoring/test_explained.py"],
    "figlang_tasks/submit/board.py": ["tests/benchmarks/admire/test_runs.py"],
    "figlang_tasks/submit/model_card.py": ["tests/submit/test_hub_results.py"],
}

_SIGNS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
}
_CALLS = {"math.fsum": "sum", "min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}


@dataclass(frozen=True)
class Mutant:
    """One change: bytes `start` to `end` of a file become `new`. `before` and `after` are the line without and with."""

    file: str
    function: str
    line: int
    before: str
    after: str
    start: int
    end: int
    new: bytes

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.file, self.function, self.before, self.after


def _other(value: object) -> str | None:
    """Another number or truth value, as it is written; None for other constants."""
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, int):
        return repr(value + 1)
    return repr(float(f"{value * 1.1 or 0.1:.12g}")) if isinstance(value, float) else None


def mutants(file: str, source: bytes) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    starts = [0, *(m.end() for m in re.finditer(rb"\n", source))]
    found: list[Mutant] = []

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    def sign(kind: ast.AST, left: ast.expr, right: ast.expr) -> Iterator[tuple[int, int, str]]:
        if type(kind) in _SIGNS:
            old, new = _SIGNS[type(kind)]
            begin, stop = span(left)[1], span(right)[0]
            place = re.search(rf"(?<!\w){re.escape(old)}(?!\w)".encode(), source[begin:stop])
            if place:
                yield begin + place.start(), begin + place.end(), new

    def changes(node: ast.AST) -> Iterator[tuple[int, int, str]]:
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for kind, left, right in zip(node.ops, operands, operands[1:], strict=False):
                yield from sign(kind, left, right)
            for operand in operands:
                for text in operand.elts if isinstance(operand, (ast.Tuple, ast.List, ast.Set)) else [operand]:
                    if isinstance(text, ast.Constant) and isinstance(text.value, str):
                        yield *span(text), repr(text.value + "X")
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from sign(node.op, left, right)
        elif isinstance(node, ast.BinOp):
            yield from sign(node.op, node.left, node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield span(node)[0], span(node.operand)[0], ""
        elif isinstance(node, ast.Constant) and (other := _other(node.value)) is not None:
            yield *span(node), other
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _CALLS:
            name = ast.unparse(node.func)
            if name == "sorted" and node.args:
                first = span(node.args[0])
                yield *span(node), f"list({source[slice(*first)].decode()})"
            else:
                yield *span(node.func), _CALLS[name]
        elif isinstance(node, ast.Return) and node.value is not None:
            if ast.unparse(node.value) not in ("None", "True", "False"):
                yield *span(node.value), "None"
        elif isinstance(node, ast.Continue):
            yield at(node.lineno, node.col_offset), at(node.lineno, node.col_offset) + len("continue"), "break"

    def walk(node: ast.AST, function: str) -> None:
        for start, end, new in changes(node):
            line = source.count(b"\n", 0, start) + 1
            mutated = source[:start] + new.encode() + source[end:]
            before, after = (text.splitlines()[line - 1].decode().strip() for text in (source, mutated))
            try:
                compile(mutated, file, "exec")
            except SyntaxError:
                continue
            found.append(Mutant(file, function, line, before, after, start, end, new.encode()))
        # Positions inside of f-strings are right from Python 3.12 on only; zip's strict is a second check of lengths.
        if isinstance(node, ast.JoinedStr) or isinstance(node, ast.keyword) and node.arg == "strict":
            return
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            return
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                    walk(child, f"{function}.{child.name}".lstrip("."))
                elif isinstance(child, ast.AST):
                    walk(child, function)

    walk(ast.parse(source), "")
    return sorted(found, key=lambda m: (m.start, m.end, m.new))


def modules(names: list[str]) -> list[str]:
    """The Python files that files and folders of the checkout name; without packages that do nothing but exist."""
    paths = [
        path for name in names for path in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))
    ]
    files = sorted({path.relative_to(ROOT).as_posix() for path in paths})
    return [file for file in files if file in TESTS or not file.endswith("__init__.py")]


def tests_of(file: str) -> list[str]:
    """The tests beside a module, as arguments of pytest."""
    folder, _, name = file.removeprefix("figlang_tasks/").rpartition("/")
    return TESTS.get(file) or TESTS.get(str(Path(file).parent)) or [f"tests/{folder}/test_{name}".replace("//", "/")]


def run_tests(folder: Path, tests: list[str], limit: float) -> tuple[str, float]:
    """Run tests in a fork: ``passed``, ``failed`` or ``too slow``, and how long it took, in seconds."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        sink = os.open(os.environ.get("MUTANTS_LOG", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        code = 3
        try:
            import hypothesis
            import pytest

            hypothesis.settings.register_profile(
                "mutants", max_examples=30, deadline=None, derandomize=True, database=None,
                phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
            )  # fmt: skip
            hypothesis.settings.load_profile("mutants")
            marks = "not slow and not long and not families"
            code = int(pytest.main([*tests, "-x", "-q", "-m", marks, "-p", "no:cacheprovider"]))
        finally:
            os._exit(code)
    while time.monotonic() < began + limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            _end_group(child)
            return "passed" if os.waitstatus_to_exitcode(status) == 0 else "failed", time.monotonic() - began
        time.sleep(0.02)
    _end_group(child)
    os.waitpid(child, 0)
    return "too slow", time.monotonic() - began


def _end_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)  # with the processes that tests have started
    except ProcessLookupError:
        pass


def equivalents() -> dict[tuple[str, str, str, str], str]:
    """The mutants that are no faults, by their keys, with the reasons."""
    entries = yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) or {}
    return {
        (file, entry["in"], entry["line"], mutant): entry["reason"]
        for file, found in entries.items()
        for entry in found
        for mutant in entry["mutants"]
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", default=MODULES, help="files and folders (default: %(default)s)")
    parser.add_argument("--n", type=int, default=200, help="mutants to draw (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="every mutant instead of a sample")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="figlang-mutants-") as temporary:
        folder = Path(temporary) / "checkout"
        tempfile.tempdir = temporary  # a fork removes nothing at its end
        copy(ROOT, folder)
        return _run(folder, args)


def copy(source: Path, folder: Path) -> None:
    """Copy a checkout without what was built, written or installed in it."""
    left_out = shutil.ignore_patterns(*LEFT_OUT)
    top = str(source)
    shutil.copytree(
        source,
        folder,
        ignore=lambda at, names: left_out(at, names) | (set(MADE_HERE) & set(names) if at == top else set()),
    )


def _run(folder: Path, args: argparse.Namespace) -> int:
    files = modules(args.modules)
    known = equivalents()
    every = [m for file in files for m in mutants(file, (folder / file).read_bytes())]
    stale = sorted({key for key in known if key[0] in files} - {m.key for m in every})
    for key in stale:
        print(f"{EQUIVALENT.name}: there is no such mutant any more: {key}")
    drawn = [m for m in every if m.key not in known]
    print(f"{len(every)} mutants, {len(every) - len(drawn)} of them known as equivalent")
    if not args.all:
        drawn = random.Random(args.seed).sample(drawn, min(args.n, len(drawn)))
        drawn.sort(key=lambda m: (m.file, m.start))

    os.environ |= {"OMP_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(folder)}
    for name in WARM.split():
        importlib.import_module(name)
    gc.freeze()
    tried, survivors, failing = 0, 0, 0
    for file in dict.fromkeys(m.file for m in drawn):
        tests = tests_of(file)
        found, seconds = run_tests(folder, tests, 600)
        if found != "passed":
            failing += 1
            print(f"{file} is left out: its tests do not pass as it is ({' '.join(tests)})", flush=True)
            continue
        chosen = [m for m in drawn if m.file == file]
        print(f"{file}: {len(chosen)} mutants, {seconds:.0f} s without one", flush=True)
        source = (folder / file).read_bytes()
        for number, mutant in enumerate(chosen, 1):
            (folder / file).write_bytes(source[: mutant.start] + mutant.new + source[mutant.end :])
            os.utime(folder / file, (number, number))  # so that no byte code of another mutant is taken for its
            if run_tests(folder, tests, 10 + 4 * seconds)[0] == "passed":
                survivors += 1
                print(f"  {file}:{mutant.line} ({mutant.function}) survives")
                print(f"    - {mutant.before}\n    + {mutant.after}", flush=True)
        (folder / file).write_bytes(source)
        tried += len(chosen)
    print(f"{tried - survivors} of {tried} caught" + (f" ({1 - survivors / tried:.1%})" if tried else ""))
    return 1 if stale or failing or survivors > 0.05 * tried else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # without the farewells of all that was imported
