"""A fault of MetaCLUE's annotations goes unnoticed if this fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from metaclue_rows import row, write
from PIL import Image

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.core.errors import DataError


def test_empty_lines_count_and_further_faults_are_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(write(tmp_path, [row(0)], pictures=False)))
    path = tmp_path / "MetaCLUE" / "annotations.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\r\n\n{}\n[]\n")
    with pytest.raises(DataError, match=r"line 4: schema: Field required. 1 more fault.*figlang data check"):
        annotation_file.read("MetaCLUE")


def test_size_is_that_of_the_upright_picture(tmp_path: Path) -> None:
    image = Image.new("RGB", (30, 20))
    exif = image.getexif()
    exif[0x0112] = 6  # turn by 90 degrees to see it upright
    image.save(tmp_path / "turned.jpg", exif=exif)
    image.save(tmp_path / "plain.jpg")
    assert annotation_file.size_of(tmp_path / "turned.jpg", "x") == (20, 30)
    assert annotation_file.size_of(tmp_path / "plain.jpg", "x") == (30, 20)
    (tmp_path / "no.jpg").write_bytes(b"no picture")
    with pytest.raises(DataError, match="here: the picture cannot be read"):
        annotation_file.size_of(tmp_path / "no.jpg", "here")
