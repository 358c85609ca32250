"""``--limit`` and ``--offset``: values that leave no rows are an error before a model is loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from figlang_tasks.core.errors import FigLangError


def check_values(limit: float | None, offset: float | None) -> None:
    """Check the two values by themselves."""
    if limit is not None and limit != -1 and not 0 < limit < math.inf:
        raise FigLangError(
            f"figlang_tasks: --limit {limit:g}: must be a number of rows, a share below 1, or -1 for all rows"
        )
    if offset is not None and not 0 <= offset < math.inf:
        raise FigLangError(
            f"figlang_tasks: --offset {offset:g}: must be the number of rows to skip at the start, 0 or more"
        )


def chosen(count: int, config: Mapping[str, Any]) -> range:
    """The places, of `count`, that a run asks; `config` is the YAML of a task with ``limit`` and ``offset``.

    Raises:
        ValueError: none is left.
    """
    limit, offset = config.get("limit"), config.get("offset") or 0
    if offset >= count:
        raise ValueError(f"--offset {offset} skips all {count} rows of this task")
    if limit is None or limit == -1:
        return range(offset, count)
    return range(offset, min(count, offset + (math.ceil(count * limit) if limit < 1 else int(limit))))
