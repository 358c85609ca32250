"""Check that the product stays easy to read: dense lines, vague names, long functions and files.

    python tools/legibility.py             # the product, by package; fails where a limit is passed
    python tools/legibility.py PATH ...    # only these files or folders

Limits are counts per 1,000 lines of a package. The last three are the longest line of functions
with 8 lines and more (columns, their median), the longest function and the longest file (lines).
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

LIMITS = {
    "comprehensions": 35,
    "nested": 1,
    "conditionals": 12,
    "lambdas": 3,
    "a, b = x, y": 2,
    "Any": 12,
    "vague": 2,
    "columns": 90,
    "function": 60,
    "file": 400,
}
VAGUE = frozenset(
    "asked chosen counted each found given got held here kept known made meant more named others"
    " ours own said same seen shown taken theirs told wanted what whole".split()
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def what_counts(node: ast.AST) -> str:
    """Return the name of the limit that a node counts towards, or ""."""
    if isinstance(node, COMPREHENSIONS):
        return "comprehensions"
    if isinstance(node, ast.IfExp):
        return "conditionals"
    if isinstance(node, ast.Lambda):
        return "lambdas"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
        return "a, b = x, y" if isinstance(node.targets[0], ast.Tuple) else ""
    if isinstance(node, ast.arg):
        return "vague" if node.arg in VAGUE else ""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return "vague" if node.id in VAGUE else ""
    return "Any" if isinstance(node, ast.Name) and node.id == "Any" else ""


def is_nested(node: ast.AST) -> bool:
    """Return whether a comprehension has several `for`, its inner comprehensions included."""
    loops = [inner for inner in ast.walk(node) if isinstance(inner, ast.comprehension)]
    return isinstance(node, COMPREHENSIONS) and len(loops) > 1


def figures_of(files: Iterable[Path]) -> dict[str, float]:
    """Return the figures of some files taken together, by the names of `LIMITS`."""
    counts: Counter[str] = Counter()
    file_lengths, function_lengths, longest_lines = [0], [0], [0]
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        file_lengths.append(len(lines))
        for node in ast.walk(ast.parse("\n".join(lines))):
            counts[what_counts(node)] += 1
            counts["nested"] += is_nested(node)
            if isinstance(node, FUNCTIONS) and node.end_lineno:
                function_lengths.append(node.end_lineno - node.lineno + 1)
                if function_lengths[-1] >= 8:
                    has_docstring = ast.get_docstring(node) is not None and len(node.body) > 1
                    first_line = node.body[int(has_docstring)].lineno
                    longest_lines.append(max(map(len, lines[first_line - 1 : node.end_lineno])))
    figures = {name: 1000 * counts[name] / max(1, sum(file_lengths)) for name in LIMITS}
    figures["columns"] = statistics.median(longest_lines)
    return figures | {"function": max(function_lengths), "file": max(file_lengths)}


def main() -> None:
    """Print the figures of each package; exit with 1 if one of them is above its limit."""
    packages = sorted(path.parent for path in Path("figlang_tasks").glob("*/__init__.py"))
    paths = [Path(argument) for argument in sys.argv[1:]] or [*packages, Path("metrics")]
    print(f"{'per 1,000 lines':26}" + "".join(f"{name:>15}" for name in LIMITS))
    status = 0
    for path in paths:
        figures = figures_of(sorted(path.rglob("*.py")) if path.is_dir() else [path])
        above = [name for name, figure in figures.items() if round(figure) > LIMITS[name]]
        cells = [f"{figures[name]:.0f}{'!' if name in above else ' '}" for name in LIMITS]
        print(f"{path!s:26}" + "".join(f"{cell:>15}" for cell in cells))
        status = max(status, int(bool(above)))
    sys.exit(status)


if __name__ == "__main__":
    main()
