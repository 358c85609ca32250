"""The parts of IRFL that tables show beside all rows: the two types of idioms (Table 3)."""

from __future__ import annotations

from figlang_tasks.benchmarks.irfl.rows import IDIOM_TYPES
from figlang_tasks.core.presentation import Parts

PARTS = Parts(in_short=IDIOM_TYPES)
