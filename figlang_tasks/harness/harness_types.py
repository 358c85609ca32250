"""Names for objects of lmms-eval 0.7.3, which declares no types for most of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Model: TypeAlias = Any
"""A model of the harness (``lmms_eval.api.model.lmms``), or one that has its methods."""

HarnessTask: TypeAlias = Any
"""A task that the harness has built from a task file (``lmms_eval.api.task.ConfigurableTask``)."""

Sample: TypeAlias = dict[str, Any]
"""A document with its answer and its metrics, a line in the file of samples."""

Results: TypeAlias = dict[str, Any]
"""What ``evaluate`` returns, of all tasks: values, configurations and samples, among others."""

# --- functions that are replaced ---

Original: TypeAlias = Callable[..., Any]
"""A function of the harness, as it was before we replaced it."""

Arguments: TypeAlias = dict[str, Any]
"""All arguments of a call by name, with the defaults of those that were left out."""

Replacement: TypeAlias = Callable[[Original, Arguments], object]
"""``(original, arguments) -> result``: what stands in for the original."""
