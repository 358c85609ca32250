"""If these fail, users meet a file of a benchmark that nothing finds, or that lacks a name."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from documents import ROOT

from figlang_tasks import FigLangError
from figlang_tasks.core import benchmark as benchmark_module
from figlang_tasks.core.benchmark import Benchmark, benchmarks, names, names_with
from figlang_tasks.core.homes import GROUP, home_of
from figlang_tasks.core.optional_modules import OPTIONAL_MODULES

REQUIRED_MODULES = {"__init__", "benchmark", "tasks"}
"""The modules that every benchmark has."""
COMMANDS = {"irfl/generate"}
"""Modules that are run: ``python -m figlang_tasks.benchmarks.irfl.generate``."""


def test_a_benchmark_has_few_fields() -> None:
    assert len(fields(Benchmark)) <= 12


@pytest.mark.parametrize("module", OPTIONAL_MODULES)
def test_an_optional_module_is_found_where_there_is_one_and_defines_its_names(module: str) -> None:
    owners: list[str] = []
    for name, benchmark in benchmarks().items():
        has_module = (benchmark.folder / f"{module}.py").exists()
        if has_module:
            owners.append(name)
        # `module` raises an error for a module that lacks a name.
        assert (benchmark.module(module) is not None) == has_module
    assert owners and tuple(owners) == names_with(module)


def imported_modules(path: Path) -> set[str]:
    """The names that a file imports from its own package."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module == f"{GROUP}.{path.parent.name}":
                imported.update(alias.name for alias in node.names)
            elif node.module.startswith(f"{GROUP}.{path.parent.name}."):
                imported.add(node.module.rpartition(".")[2])
    return imported


@pytest.mark.parametrize("name", names())
def test_every_file_of_a_benchmark_is_found_by_its_name_or_imported(name: str) -> None:
    """A file with a misspelt name, such as ``crad.py``, would be neither."""
    paths = list(benchmarks()[name].folder.glob("*.py"))
    used = {*REQUIRED_MODULES, *OPTIONAL_MODULES}
    for path in paths:
        used |= imported_modules(path)
    unused = {path.stem for path in paths} - used
    assert {f"{name}/{module}" for module in unused} <= COMMANDS


def test_a_module_that_lacks_a_name_is_an_error_for_its_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "its_benchmarks" / "sayings"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / "card.py").write_text(
        "def crad(data, records, document): ...\n\ndef answer(records): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    its_home = replace(home_of("flute"), name="sayings", package="its_benchmarks.sayings")
    monkeypatch.setattr(benchmark_module, "home_of", lambda name: its_home)
    sayings = Benchmark(name="sayings", version="1-0", prompt_hash="", summary="", sources=())
    with pytest.raises(
        FigLangError, match=r"sayings/card.py must define card: figlang report needs it\. Define it"
    ):
        sayings.module("card")
    with pytest.raises(KeyError, match="crad"):
        sayings.module("crad")
    with pytest.raises(
        ValueError, match="crad is no optional module; there are: agreement, card, "
    ):
        names_with("crad")
    for module in list(sys.modules):
        if module.startswith("its_benchmarks"):
            monkeypatch.delitem(sys.modules, module)


def test_contributing_lists_the_optional_modules() -> None:
    document = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)\.py` \| (.+?) \| `(.+?)` \|$", document, re.MULTILINE)
    commands_in_document = {module: used_by for module, _, used_by in rows}
    commands = {module: required.used_by for module, required in OPTIONAL_MODULES.items()}
    assert commands_in_document == commands
    for module, text, _ in rows:
        for name in OPTIONAL_MODULES[module].defines:
            assert re.search(rf"`{name}\b", text), (module, name)
