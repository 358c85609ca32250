"""What the installed lmms-eval knows, read from its files without importing it.

Importing lmms-eval 0.7.3 takes some ten seconds, and a misspelt option should not wait for that.
The contract test is ``tests/harness/test_harness_contract.py``.
"""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path


def evaluation_options() -> set[str]:
    """The long options of the harness's command line, such as ``--tasks``."""
    options = {"--help"}
    for call in _method_calls(_harness_file("__main__.py"), "add_argument"):
        for argument in call.args:
            if not isinstance(argument, ast.Constant):
                continue
            name = argument.value
            if isinstance(name, str) and name.startswith("--"):
                options.add(name)
    return options


def _harness_file(name: str) -> Path:
    spec = find_spec("lmms_eval")
    assert spec is not None and spec.origin is not None, "lmms-eval is not installed"
    return Path(spec.origin).with_name(name)


def _method_calls(file: Path, method: str) -> list[ast.Call]:
    """All calls of a method in a Python file, whatever the object."""
    calls: list[ast.Call] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if not isinstance(node, ast.Call):
            continue
        is_method_call = isinstance(node.func, ast.Attribute) and node.func.attr == method
        if is_method_call:
            calls.append(node)
    return calls
