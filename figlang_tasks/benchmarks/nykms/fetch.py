"""What ``figlang data prefetch nykms`` downloads: the cartoons and descriptions of the contest."""

from __future__ import annotations

from figlang_tasks.benchmarks.nykms import contests
from figlang_tasks.core.hub import Snapshot


def fetch() -> Snapshot:
    """Download the contest dataset, from which rows take their cartoons and descriptions."""
    return contests.fetch()
