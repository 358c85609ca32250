"""What the installed lmms-eval knows, read from its files without importing it.

Importing lmms-eval 0.7.3 takes some ten seconds, and a mistake on the command line should not wait
for that. The contract tests are in ``tests/harness/test_harness_contract.py``.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

_TYPES = {"int": int, "float": float, "str": str}
_OUR_PLUGIN = "figlang_tasks."
# The dictionaries in which lmms-eval 0.7.3 has its model classes by name, and their other names.
_CLASSES = {"AVAILABLE_SIMPLE_MODELS", "AVAILABLE_CHAT_TEMPLATE_MODELS"}
_ALIASES = "MODEL_ALIASES"


def folder() -> Path:
    """The folder of the harness's package."""
    spec = find_spec("lmms_eval")
    assert spec is not None and spec.origin is not None, "lmms-eval is not installed"
    return Path(spec.origin).parent


def task_names() -> set[str]:
    """The names of the harness's own task files in the folders of its benchmarks.

    Nearly all have the name of their task. Files further below are left out, for speed.
    """
    return {file.stem for file in (folder() / "tasks").glob("*/*.yaml")}


# --- options ---


class _Parser(argparse.ArgumentParser):
    """A parser that ends with one line; the harness's has its 60 options above that line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"figlang_tasks: {message}; `lmms_eval --help` lists the options\n")


def evaluation_parser() -> argparse.ArgumentParser:
    """A parser of the harness's command line for evaluations, with its options and defaults.

    It has no default for ``--model``. Values of a type that is a function of the harness are left
    as they are: the harness checks these.
    """
    parser = _Parser(prog="lmms_eval", add_help=False)
    for call in _method_calls(folder() / "__main__.py", "add_argument"):
        parser.add_argument(*map(ast.literal_eval, call.args), **_settings(call))
    parser.set_defaults(model=None)
    return parser


def option_names(parser: argparse.ArgumentParser) -> set[str]:
    """The long options of the command line, such as ``--tasks``."""
    options = {"--help"}
    for action in parser._actions:
        options.update(option for option in action.option_strings if option.startswith("--"))
    return options


def _settings(call: ast.Call) -> dict[str, Any]:
    """The keyword arguments of a call of ``add_argument``, but for its help."""
    settings: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in ("help", "metavar"):
            continue
        if keyword.arg == "type":
            value_type = _TYPES.get(ast.unparse(keyword.value))
            if value_type is not None:
                settings["type"] = value_type
            continue
        with suppress(ValueError):  # The value is computed.
            settings[keyword.arg] = ast.literal_eval(keyword.value)
    return settings


def _method_calls(file: Path, method: str) -> Iterator[ast.Call]:
    """All calls of a method in a Python file, whatever the object."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == method:
            yield node


# --- model classes ---


def model_names() -> set[str]:
    """The names of the harness's own model classes, with their other names."""
    names: set[str] = set()
    tree = ast.parse((folder() / "models" / "__init__.py").read_bytes())
    for node in tree.body:
        if isinstance(node, ast.Assign):
            target = ast.unparse(node.targets[0])
        elif isinstance(node, ast.AnnAssign):
            target = ast.unparse(node.target)
        else:
            continue
        if node.value is not None and target in _CLASSES:
            names.update(ast.literal_eval(node.value))
        if node.value is not None and target == _ALIASES:
            for aliases in ast.literal_eval(node.value).values():
                names.update(aliases)
    return names


def has_other_plugins() -> bool:
    """Whether another package adds model classes, whose names only its code knows."""
    plugins = entry_points(group="lmms_eval.models")
    return any(not plugin.value.startswith(_OUR_PLUGIN) for plugin in plugins)
