"""A release of COLUMBUS of invented rows, in the layout of the hub or of the authors' archive."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from PIL import Image

from figlang_tasks.benchmarks.columbus import rows


def invented(count: int) -> list[dict[str, Any]]:
    """Rows of benchmark.json: each phrase in both kinds, the right answers A to D in turn."""
    found = []
    for number in range(count):
        kind, letter = ("icon", "non-icon")[number % 2], "ABCD"[number % 4]
        options = {
            each: f"phrase {number // 2}{'' if each == letter else ' of ' + each}"
            for each in "ABCD"
        }
        row = {
            "image": f"phrase_{number // 2}_1_{kind}.png",
            "options": options,
            "correct": {letter: options[letter]},
        }
        found.append(row | {"is_icon": kind == "icon", "is_overlap": True})
    return found


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(file, "PNG")
    return file.getvalue()


def write(
    folder: Path, table: list[dict[str, Any]], archive: bool = False, runs: bool = False
) -> Path:
    """Write a release; with `runs` the published runs have the options backwards."""
    pictures = folder / ("results/benchmark/images" if archive else "images")
    pictures.mkdir(parents=True)
    for name in {row["image"] for row in table}:
        (pictures / name).write_bytes(picture())
    if archive:
        (folder / "benchmark.json").write_text(json.dumps(table))
    else:
        lines = [
            json.dumps(row | {"image": None, "file_name": f"images/{row['image']}"})
            for row in table
        ]
        (folder / "metadata.jsonl").write_text("\n".join(lines))
    if runs:
        told = {"metadata": {"nodes": "Node 1\n", "nodes_and_edges": "Node 1\nEdge 1\n"}}
        results = [
            told
            | row
            | {"options": dict(zip("ABCD", reversed(row["options"].values()), strict=True))}
            for row in table
        ]
        (folder / rows.PUBLISHED_OUTPUTS).parent.mkdir(parents=True)
        (folder / rows.PUBLISHED_OUTPUTS).write_text(json.dumps({"results": results}))
    return folder


def valid(folder: Path, archive: bool = True) -> Path:
    return write(folder / "COLUMBUS", invented(1005), archive=archive, runs=archive)
