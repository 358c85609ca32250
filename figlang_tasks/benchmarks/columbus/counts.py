"""The rows of COLUMBUS."""

from __future__ import annotations

from figlang_tasks.core.request import Request


def count(request: Request) -> int:
    """The number of rows of the release on the hub, which all tasks ask."""
    return 1005
