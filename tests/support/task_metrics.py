"""The metrics of our tasks, as their files name them."""

from __future__ import annotations

import pkgutil
from functools import cache

from figlang_tasks.core import task_files
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.scoring import OVERALL, full_name


@cache
def reported() -> dict[str, set[str]]:
    """The metrics of every task of lmms-eval, over all rows and for each scope."""
    found: dict[str, set[str]] = {}
    for content in (task_files.read(path.resolve()) for path in tasks_dir().rglob("*.yaml")):
        if "task" in content and "group" not in content:
            entries = pkgutil.resolve_name(content["metric_list"])
            measures = entries[0]["aggregation"].task.measures.all
            scopes = {
                each.name: (OVERALL, *(each.scopes.names if each.scopes else ()))
                for each in measures
            }
            found[content["task"]] = {
                full_name(name, scope) for name, of in scopes.items() for scope in of
            }
    return found
