"""The command line that all builders of mini data have."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path


def run(
    module: str, document: str | None, default: Path, write: Callable[[Path], str], argv: Sequence[str] | None
) -> int:
    """Write a folder of mini data: ``--output FOLDER``, by default the one shipped with the package.

    Args:
        module: name of the builder in ``tools.mini``.
        document: its docstring, for ``--help``.
        default: the folder.
        write: writes a folder and says what it holds.
        argv: default ``sys.argv[1:]``.
    """
    parser = argparse.ArgumentParser(prog=f"python -m tools.mini.{module}", description=document)
    parser.add_argument("--output", type=Path, default=default, help="folder to write (default: %(default)s)")
    output = parser.parse_args(argv).output
    print(f"{output}: {write(output)}")
    return 0


def listed(counts: Iterable[tuple[str, int]]) -> str:
    """How many rows each part holds: ``train 30, test 76``."""
    return ", ".join(f"{name} {n}" for name, n in counts)
