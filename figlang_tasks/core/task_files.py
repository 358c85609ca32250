"""Finds our task files, and reads them quickly: each once, and nothing that it names is imported.

The harness reads each file, and all that it includes, again for every task and by a loader in
Python.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from figlang_tasks import resource_dir

Harness = Literal["lmms_eval", "lm_eval"]

ALL_TASKS = "`figlang tasks '*'` lists ours, `lmms_eval tasks list` all of them"
"""The remedy of messages about a task that does not exist."""


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads a task file without importing what it names: a function is its name."""


Loader.add_constructor("!function", lambda loader, node: node.value)


def folder(harness: Harness) -> Path:
    """The folder with the task files for a harness."""
    return resource_dir("task_yamls") / harness


def files(harness: Harness) -> dict[str, Path]:
    """The files of our tasks and groups for a harness, by name, in the order of folders.

    A file has the name of its task or group; what others only include has a name that begins with
    ``_``.
    """
    paths = sorted(folder(harness).rglob("[!_]*.yaml"))
    return {path.stem: path for path in paths}


@cache
def read(path: Path) -> dict[str, Any]:
    """A task file with what it includes: its own keys win, then those of the first file that it
    includes.
    """
    own = yaml.load(path.read_bytes(), Loader=Loader)  # noqa: S506  (a SafeLoader, above)
    included = own.pop("include", [])
    names = [included] if isinstance(included, str) else included
    merged: dict[str, Any] = {}
    for name in reversed(names):
        merged |= read((path.parent / name).resolve())
    return merged | own
