"""The house as docs/architecture.md draws it: who may import whom, and nothing heavy at import time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = "figlang_tasks"
HEAVY = {"torch", "transformers", "datasets", "lmms_eval", "lm_eval", "matplotlib", "sklearn", "pandas", "accelerate"}
# They are neural networks, and what imports them for it; a model class is imported when it is asked for.
MAY_BE_HEAVY = re.compile(rf"{PACKAGE}\.(models\..+|metrics\.explanation\b.*)")


@cache
def floors() -> dict[str, int]:
    """The floor of each module right below the package, 0 the lowest, by the table of the document."""
    table = DOCUMENT[DOCUMENT.index("| floor | modules |") :].partition("\n\n")[0].splitlines()[2:]
    return {name: floor for floor, line in enumerate(reversed(table)) for name in re.findall(r"`(\w+)`", line)}


def benchmarks() -> set[str]:
    (line,) = [line for line in DOCUMENT.splitlines() if line.startswith("| benchmarks |")]
    return set(re.findall(r"`(\w+)`", line))


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package, by name."""
    found = {}
    for folder, prefix in ((PACKAGE, ""), ("metrics", f"{PACKAGE}.")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = prefix + ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = ast.parse(path.read_bytes())
    return found


@cache
def is_package(name: str) -> bool:
    return any(other.startswith(f"{name}.") for other in modules())


@cache
def imported(name: str, at_import_time: bool) -> tuple[str, ...]:
    """What a module imports, by full name; without what is for the type checker alone."""
    return tuple(_imported(name, at_import_time))


def _imported(name: str, at_import_time: bool) -> Iterator[str]:
    pending: list[ast.AST] = [modules()[name]]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            pending += node.orelse
            continue
        if at_import_time and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                parents = name.split(".")[: len(name.split(".")) - node.level + is_package(name)]
                origin = ".".join([*parents, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)
        pending += ast.iter_child_nodes(node)


def below_package(name: str) -> str | None:
    """The module right below the package that a name belongs to; None for one of another package, or the package."""
    parts = name.split(".")
    return parts[1] if parts[0] == PACKAGE and len(parts) > 1 and parts[1] in floors() else None


def test_every_module_has_a_floor_and_every_name_in_the_table_a_module() -> None:
    assert floors().keys() == {name.split(".")[1] for name in modules() if name != PACKAGE}


@pytest.mark.parametrize("name", sorted(modules()))
def test_imports_go_down_or_stay(name: str) -> None:
    own = below_package(name)
    for other in imported(name, at_import_time=False):
        target = below_package(other)
        if own is None or target is None or target == own:
            continue
        assert floors()[target] <= floors()[own], f"{name} imports {other}, which is above it"
        assert not {own, target} <= benchmarks(), f"{name} imports {other}, another benchmark"


def test_metrics_import_nothing_of_the_rest_but_the_version() -> None:
    for name in modules():
        if name.startswith(f"{PACKAGE}.metrics"):
            ours = [each for each in imported(name, at_import_time=False) if each.split(".")[0] == PACKAGE]
            assert {each for each in ours if not each.startswith(f"{PACKAGE}.metrics")} <= {f"{PACKAGE}.__version__"}


def reached(name: str) -> dict[str, str]:
    """Top-level names of other packages that importing a module imports, each with the module that does."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    pending = [name]
    while pending:
        module = pending.pop()
        if module in seen:
            continue
        seen.add(module)
        for other in imported(module, at_import_time=True):
            if other.split(".")[0] != PACKAGE:
                found.setdefault(other.split(".")[0], module)
            parts = other.split(".")
            pending += [each for n in range(1, len(parts) + 1) if (each := ".".join(parts[:n])) in modules()]
    return found


@pytest.mark.parametrize("name", sorted(modules()))
def test_nothing_heavy_is_imported_at_import_time(name: str) -> None:
    if MAY_BE_HEAVY.fullmatch(name) or name.endswith("__main__"):
        return
    heavy = {package: by for package, by in reached(name).items() if package in HEAVY}
    assert not heavy, f"importing {name} imports {heavy}"


def test_the_hooks_are_those_that_the_plugin_puts_in_place() -> None:
    source = (ROOT / PACKAGE / "plugin.py").read_text(encoding="utf-8")
    in_place = set(re.findall(r'_wrap\([\w.]+, "(\w+)"', source)) - {"positional_deprecated"}
    table = DOCUMENT[DOCUMENT.index("| of the harness | why |") :].partition("\n\n")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert in_place == {name.rpartition(".")[2] for cell in first_cells for name in re.findall(r"`([\w.]+)`", cell)}
