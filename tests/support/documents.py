"""The documents, and the code blocks in them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
# docs/contributing.md is CONTRIBUTING.md.
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("examples/*/README.md")),
]
DOCUMENTS += sorted(
    path for path in (ROOT / "docs").rglob("*.md") if path.name != "contributing.md"
)
PROGRAMS = ("lmms_eval", "lm_eval", "figlang")
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A code block: its language, its text, and the line of the document that it begins at."""

    language: str
    text: str
    line: int


def blocks(document: str) -> Iterator[Block]:
    for found in _BLOCK.finditer(document):
        yield Block(found[1].strip(), found[2], document.count("\n", 0, found.start()) + 1)


def prose(document: str) -> str:
    """A document without its code blocks."""
    return _BLOCK.sub("", document)


def shell(folder: Path, commands: str, path: Path) -> str:
    """What commands print that run in a folder, with the package of `path`; they must succeed."""
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": str(path),
    }
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", commands],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
