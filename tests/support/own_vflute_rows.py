"""Writes rows of the user in the place of V-FLUTE's, and beside them a dataset in V-FLUTE's own layout."""

from __future__ import annotations

import shutil
from pathlib import Path

from figlang_tasks import mini
from figlang_tasks.benchmarks.vflute import template


def valid(folder: Path) -> Path:
    template.template(folder / "V-FLUTE")
    shutil.copytree(mini.DATA_DIR, folder / "figlang_mini")
    return folder / "V-FLUTE"
