"""Reads our task files quickly: each once, and nothing that it names is imported.

The harness reads each file, and all that it includes, again for every task and by a loader in Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import yaml


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads a task file without importing what it names: a function is its name."""


Loader.add_constructor("!function", lambda loader, node: node.value)


@cache
def read(path: Path) -> dict[str, Any]:
    """Return a task file with what it includes: its own keys win, then those of the first file that it includes."""
    own = yaml.load(path.read_bytes(), Loader=Loader)
    included = own.pop("include", [])
    merged: dict[str, Any] = {}
    for name in reversed([included] if isinstance(included, str) else included):
        merged |= read((path.parent / name).resolve())
    return merged | own


@contextmanager
def read_quickly(folder: Path) -> Iterator[None]:
    """Let a ``TaskManager`` read the files below a folder of ours by this module while it makes its index."""
    from lmms_eval import utils

    original = utils.load_yaml_config

    def load(yaml_path: Any = None, *args: Any, mode: str = "full", **kwargs: Any) -> Any:
        # By "simple" the harness asks for names, by "full" for functions too.
        if mode == "simple" and yaml_path is not None and Path(yaml_path).is_relative_to(folder):
            return dict(read(Path(yaml_path).resolve()))
        return original(yaml_path, *args, mode=mode, **kwargs)

    utils.load_yaml_config = load
    try:
        yield
    finally:
        utils.load_yaml_config = original
        read.cache_clear()
