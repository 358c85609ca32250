"""What ``figlang data prefetch nykms`` downloads: cartoons and descriptions, which the rows
name.
"""

from __future__ import annotations

from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.core.hub import Snapshot


def fetch() -> Snapshot:
    """The cartoons and descriptions of the contest dataset, downloaded."""
    return rows.fetch_contests()
