"""Writes rows of YesBut as the hub has them, and as its authors' archive has them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def _pictures() -> list[tuple[str, bytes]]:
    """The path and the content of each picture of the release: 283 comics in nine styles.

    Comic 0 has one picture of stage 2, and so on; no two pictures have the same bytes.
    """
    halves = ("ORIG", "STICK", "3D")
    pairs = [(left, right) for left in halves for right in halves]
    satirical_left = {"3": 302, "4": 499}  # the satirical pictures of a stage that are to come
    contents = {size: _white_jpeg(*size) for size in ((380, 546), (24, 16))}
    pictures: list[tuple[str, bytes]] = []
    for number in range(283):
        for left, right in pairs:
            if (left, right) == ("ORIG", "ORIG"):
                path, size = f"images/stage_2/comic_{number}.jpg", (380, 546)
            else:
                stage = "4" if "3D" in (left, right) else "3"
                label = "satirical" if satirical_left[stage] > 0 else "non_satirical"
                satirical_left[stage] -= 1
                folder = f"images/stage_3_and_4/yesbut_stage_{stage}_{label}"
                path, size = f"{folder}/comic_{number}_{left}_YES_{right}_BUT.jpg", (24, 16)
            # What stands behind the end of a JPEG changes its file, not its picture.
            pictures.append((path, contents[size] + path.encode()))
    return pictures


def _white_jpeg(width: int, height: int) -> bytes:
    """A white JPEG."""
    stream = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(stream, "JPEG")
    return stream.getvalue()


def write_valid(folder: Path, archive: bool = False) -> Path:
    """Write ``folder/YesBut``: the hub's table, or the archive of the authors.

    Comic 0 is hard and has text; the others are easy. As on the hub, one row lacks its difficulty,
    and the stage is the same everywhere.
    """
    release = folder / "YesBut"
    if archive:
        for path, content in _pictures():
            (release / path).parent.mkdir(parents=True, exist_ok=True)
            (release / path).write_bytes(content)
        columns = "filename,overall_description,difficulty_in_understanding"
        lines = [f"{columns},is_text_in_left_image,is_text_in_right_image"]
        for number in range(283):
            flags = "HARD,,TRUE" if number == 0 else "EASY,,"
            lines.append(f"comic_{number}.jpg,Joke {number} is ironic.,{flags}")
        (release / "YesBut_Stage2_Annotation.csv").write_text("\n".join(lines) + "\n")
        return release

    rows: list[dict[str, Any]] = []
    for path, content in _pictures():
        if "non_satirical" not in path:
            comic = Path(path).stem.split("_")[1]
            rows.append(
                {
                    "image": {"bytes": content, "path": None},
                    "difficulty_in_understanding": "HARD" if comic == "0" else "EASY",
                    "overall_description": f"Joke {comic} is ironic.",
                    "stage": "stage2",
                }
            )
    rows[1]["difficulty_in_understanding"] = ""
    (release / "data").mkdir(parents=True)
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, release / "data" / "train-00000-of-00001.parquet")
    return release
