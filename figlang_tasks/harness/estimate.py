"""What a run is going to ask, before it asks: a line for each task or group."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from figlang_tasks.core import score_requests
from figlang_tasks.harness.answer_cache import tasks_of

_LINES = 8


class _Work(NamedTuple):
    requests: int
    tokens: int  # of an answer at most; 0 where scores are asked for, or nothing is said
    rounds: int


def lines(task_dict: Mapping[Any, Any], limit: float | None = None, offset: int = 0) -> list[str]:
    """Return ``vflute: 723 requests of up to 256 tokens`` for each task and group; of many the first ones and a sum.

    Args:
        task_dict: as ``evaluate`` takes it: tasks by name, and of groups such mappings.
        limit, offset: likewise.
    """
    found: list[tuple[str, list[_Work]]] = []
    for name, task in task_dict.items():
        members = list(tasks_of({name: task}))
        works = []
        for _, member in members:
            if limit is not None and 0 < limit < 1:  # the harness makes a number of it with the first task
                limit = math.ceil(len(member.eval_docs_no_media) * limit)
            works.append(_work(member, limit, offset))
        found.append((str(getattr(name, "group_name", name)), works))
    said = [f"{name}: {_said(works)}" for name, works in found]
    if len(said) > _LINES:
        said[_LINES - 1 :] = [
            f"and {len(said) - _LINES + 1} more; all: {_said([each for _, of in found for each in of])}"
        ]
    return said


def _work(task: Any, limit: float | None, offset: int) -> _Work:
    rows = max(0, len(task.eval_docs_no_media) - offset)
    if limit is not None and limit != -1:
        rows = min(rows, int(limit))
    settings = task.config.generation_kwargs or {}
    tokens = 0 if score_requests.KEY in settings else int(settings.get("max_new_tokens") or 0)
    return _Work(rows * (task.config.repeats or 1), tokens, int(settings.get("max_agentic_steps") or 1))


def _said(works: list[_Work]) -> str:
    requests = sum(work.requests for work in works)
    tasks = f"{len(works)} tasks, " if len(works) > 1 else ""
    tokens, rounds = max((work.tokens for work in works), default=0), max((work.rounds for work in works), default=1)
    of = f" of up to {tokens:,} tokens" if tokens else ""
    return f"{tasks}{requests:,} request{'s' * (requests != 1)}{of}" + (
        f" in up to {rounds} rounds" if rounds > 1 else ""
    )
