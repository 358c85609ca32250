"""The arguments of model classes, read from their source: none is imported, which takes long."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

_IMAGE_OPTIONS = "image_options"


class Signature(NamedTuple):
    """The arguments of a model class.

    Attributes:
        defaults: the arguments by name, each with its default. None also stands for a default that
            is no constant, and for an argument without one.
        takes_image_options: whether it also takes the options of a checkpoint's image processor,
            of which only the checkpoint knows the names.
    """

    defaults: Mapping[str, object]
    takes_image_options: bool


@cache
def read_signature(class_path: str) -> Signature:
    """The arguments of a class, with those that it hands on to the class that it inherits from.

    Args:
        class_path: ``package.module.Class``.
    """
    module, _, class_name = class_path.rpartition(".")
    tree = ast.parse(_source_file(module).read_bytes())
    class_node = _definition(tree, class_name)
    base_path = _base_path(class_node, tree, module)
    constructor = _constructor(class_node)
    if constructor is None:
        return read_signature(base_path)

    defaults = _defaults(constructor.args)
    rest = constructor.args.kwarg  # **rest
    if rest is None:
        return Signature(defaults, takes_image_options=False)
    if not _hands_on(constructor, rest.arg):
        return Signature(defaults, takes_image_options=rest.arg == _IMAGE_OPTIONS)
    base = read_signature(base_path)
    return Signature({**base.defaults, **defaults}, base.takes_image_options)


def _source_file(module: str) -> Path:
    """The file of a module; only where the package is gets looked up, as nothing is imported."""
    package, *names = module.split(".")
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None, f"{package} is not installed"
    return Path(spec.origin).parent.joinpath(*names).with_suffix(".py")


def _definition(tree: ast.Module, class_name: str) -> ast.ClassDef:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            return node
    raise ValueError(f"no class {class_name}")


def _constructor(class_node: ast.ClassDef) -> ast.FunctionDef | None:
    """The method ``__init__`` of a class; None if it has none of its own."""
    for node in class_node.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return node
    return None


def _base_path(class_node: ast.ClassDef, tree: ast.Module, module: str) -> str:
    """The path of the first class that a class inherits from, in this module or an imported one."""
    base_name = ast.unparse(class_node.bases[0])
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            if (alias.asname or alias.name) == base_name:
                package = _package_of_import(node, module)
                return f"{package}.{alias.name}"
    return f"{module}.{base_name}"


def _package_of_import(node: ast.ImportFrom, module: str) -> str:
    """The module that an import names in full: ``from .base`` stands beside `module`."""
    if node.level == 0:
        return str(node.module)
    package = ".".join(module.split(".")[: -node.level])
    return f"{package}.{node.module}" if node.module else package


def _defaults(arguments: ast.arguments) -> dict[str, object]:
    """The arguments of a method by name, without ``self``, each with its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    # Defaults belong to the last of the positional arguments.
    n_without_default = len(positional) - len(arguments.defaults)
    default_nodes: list[ast.expr | None] = [None] * n_without_default
    default_nodes += [*arguments.defaults, *arguments.kw_defaults]
    defaults: dict[str, object] = {}
    for argument, node in zip([*positional, *arguments.kwonlyargs], default_nodes, strict=True):
        defaults[argument.arg] = node.value if isinstance(node, ast.Constant) else None
    defaults.pop("self", None)
    return defaults


def _hands_on(constructor: ast.FunctionDef, rest: str) -> bool:
    """Whether a constructor hands ``**rest`` to that of the class that it inherits from."""
    for node in ast.walk(constructor):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "super().__init__":
            continue
        for keyword in node.keywords:
            is_rest = keyword.arg is None and ast.unparse(keyword.value) == rest
            if is_rest:
                return True
    return False
