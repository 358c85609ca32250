"""Writes a leaderboard as a folder that any web host can serve, in place of a former one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.files import read_file
from figlang_tasks.core.text import listing
from figlang_tasks.core.whole_paths import new_folder
from figlang_tasks.leaderboard.board import GENERATOR, Leaderboard
from figlang_tasks.leaderboard.page import render

DATA_FILE = "data.json"
REPORTS = "reports"
_NAMES = frozenset({"index.html", DATA_FILE, REPORTS})
_REPORT_NAME = re.compile(r"\d+\.html")


def check_output(folder: Path) -> None:
    """Raise a `FigLangError` unless a folder is missing, empty, or a former leaderboard.

    A leaderboard with files of the user's beside ours is refused too, since it is replaced whole.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FigLangError(f"{folder} is a file: choose another -o")
    if not any(folder.iterdir()):
        return
    if not _is_leaderboard(folder):
        raise FigLangError(
            f"{folder} is not empty and holds no leaderboard, so it is not replaced: choose another"
            " -o"
        )
    foreign_names = _foreign_names(folder)
    if foreign_names:
        raise FigLangError(
            f"{folder} holds {listing(foreign_names)} beside a leaderboard. The folder is replaced"
            " as a whole: move them away, or choose another -o"
        )


def write(folder: Path, leaderboard: Leaderboard, reports: Iterable[tuple[str, bytes]]) -> None:
    """Write the site; a former leaderboard in the folder is replaced when all files are written.

    Args:
        reports: path in the site and content of each report.

    Raises:
        FigLangError: the folder holds something else.
    """
    # Resolved, since a link would be replaced in place of the folder that it leads to.
    with new_folder(folder.resolve(), check_output) as partial_folder:
        (partial_folder / "index.html").write_bytes(render(leaderboard))
        content = json.dumps(asdict(leaderboard), indent=1, allow_nan=False)
        (partial_folder / DATA_FILE).write_text(content + "\n", encoding="utf-8")
        for path, report in reports:
            file = partial_folder / path
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(report)


def report_path(number: int) -> str:
    """The path of a report in the site."""
    return f"{REPORTS}/{number}.html"


def _foreign_names(folder: Path) -> list[str]:
    """The names of files and folders in a leaderboard that this package has not written."""
    names = []
    for path in sorted(folder.iterdir()):
        if path.name not in _NAMES:
            names.append(path.name)
    for path in sorted(folder.glob(f"{REPORTS}/*")):
        if not _REPORT_NAME.fullmatch(path.name):
            names.append(f"{REPORTS}/{path.name}")
    return names


def _is_leaderboard(folder: Path) -> bool:
    """Whether the data file in a folder is that of a leaderboard of this package."""
    try:
        content = json.loads(read_file(folder / DATA_FILE))
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(content, dict):
        return False
    return str(content.get("generator")).startswith(f"{GENERATOR} ")
