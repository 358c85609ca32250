"""Reads our task files quickly: what a ``TaskManager`` needs to know of them at every start.

The harness reads each file, and all that it includes, by a loader in Python; for ours that took a quarter of its start.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import yaml


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads a task file without importing what it names."""


Loader.add_constructor("!function", lambda loader, node: node.value)


_NEEDED = ("task", "group", "tag", "class", "include")
"""Keys that the index asks for; lists of metrics are most of a file."""


@cache
def _own(path: Path) -> dict[str, Any]:
    kept = []
    needed = False
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line[0] not in " \t#-\n":  # a key of the file itself
            needed = line.partition(":")[0] in _NEEDED
        if needed:
            kept.append(line)
    return yaml.load("".join(kept), Loader=Loader) or {}


def _names(path: Path) -> dict[str, Any]:
    """The keys `_NEEDED` of a task file: its own win, then those of the first file that it includes."""
    own = _own(path)
    included = own.get("include", [])
    merged: dict[str, Any] = {}
    for name in reversed([included] if isinstance(included, str) else included):
        merged |= _names((path.parent / name).resolve())
    return {key: value for key, value in (merged | own).items() if key != "include"}


@contextmanager
def read_quickly(folder: Path) -> Iterator[None]:
    """Let a ``TaskManager`` read the files below a folder of ours by this module while it makes its index.

    They must be written in blocks, with the keys of the file at the beginning of a line.
    """
    from lmms_eval import utils

    original = utils.load_yaml_config

    def load(yaml_path: Any = None, *args: Any, mode: str = "full", **kwargs: Any) -> Any:
        # By "simple" the harness asks for names, by "full" for functions too.
        if mode == "simple" and yaml_path is not None and Path(yaml_path).is_relative_to(folder):
            return _names(Path(yaml_path).resolve())
        return original(yaml_path, *args, mode=mode, **kwargs)

    utils.load_yaml_config = load
    try:
        yield
    finally:
        utils.load_yaml_config = original
        _own.cache_clear()
