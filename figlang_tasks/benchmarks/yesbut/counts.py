"""How many rows YesBut has as published."""

from __future__ import annotations

from figlang_tasks.core.request import Request

_PICTURES = {"understanding": 1084, "detection": 2547}


def count(request: Request) -> int | None:
    """The number of pictures of a task."""
    return _PICTURES.get(request["task"])
