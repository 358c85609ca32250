"""Copy examples/emblems into this checkout as a new benchmark.

    python tools/new_benchmark.py proverbs Proverbs

The first argument names the package, the folders and the task; the second names the dataset.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "emblems"


def main(name: str, dataset: str) -> None:
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or not re.fullmatch(r"[\w.-]+", dataset):
        sys.exit(
            f"{name} {dataset}: write the name of the package in lower case, and the name of the"
            " dataset without spaces: proverbs Proverbs"
        )
    contents: dict[Path, bytes] = {}
    for source in sorted(EXAMPLE.rglob("*")):
        if source.is_file() and source.suffix != ".pyc":
            place = str(source.relative_to(EXAMPLE))
            place = place.replace("emblems", name).replace("Emblems", dataset)
            content = source.read_bytes().replace(b"emblems", name.encode())
            contents[ROOT / place] = content.replace(b"Emblems", dataset.encode())
    for path in contents:
        if path.exists():
            sys.exit(f"{path} exists: choose another name, or remove it. Nothing was written")
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
