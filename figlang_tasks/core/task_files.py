"""Reads task files quickly: each once, and nothing that it names is imported.

The harness reads each file, and all that it includes, again for every task and by a loader in Python.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

ALL_TASKS = "`figlang tasks '*'` lists ours, `lmms_eval tasks list` all of them"
"""The remedy of messages about a task that does not exist."""


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads a task file without importing what it names: a function is its name."""


Loader.add_constructor("!function", lambda loader, node: node.value)


@cache
def read(path: Path) -> dict[str, Any]:
    """A task file with what it includes: its own keys win, then those of the first file that it includes."""
    own = yaml.load(path.read_bytes(), Loader=Loader)  # noqa: S506  (a SafeLoader, above)
    included = own.pop("include", [])
    names = [included] if isinstance(included, str) else included
    merged: dict[str, Any] = {}
    for name in reversed(names):
        merged |= read((path.parent / name).resolve())
    return merged | own
