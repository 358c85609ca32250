"""Marks for many cases at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_unless(fast: Callable[[Any], bool], cases: Iterable[Any]) -> list[Any]:
    """The cases of a test, all marked slow but those that are `fast`."""
    return [case if fast(case) else pytest.param(*_values(case), marks=pytest.mark.slow) for case in cases]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
