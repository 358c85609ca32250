"""The parts of IRFL that are shown beside the whole."""

from __future__ import annotations

from figlang_tasks.benchmarks.irfl.rows import CLASSES
from figlang_tasks.core.presentation import Parts

PARTS = Parts(in_short=CLASSES)
