"""Marks for many cases at once."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def slow_unless(fast: Container[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases of a test, all marked slow but the `fast` ones; a tuple is the values of several arguments."""
    return [
        case if case in fast else pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.slow)
        for case in cases
    ]
