"""IRFL's pictures: if this fails, the zip is not read in every thread, damage is not reported with
the picture's uuid, or a grid shows pictures in other places.
"""

from __future__ import annotations

import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from irfl_release import jpeg_files, uuid, write_pictures, write_valid_irfl
from PIL import Image
from tasks_without_harness import check_data

from figlang_tasks.benchmarks.irfl.archive import Pictures, grid
from figlang_tasks.benchmarks.irfl.benchmark import BENCHMARK
from figlang_tasks.core.errors import DataError

UUIDS = [uuid(number) for number in range(60)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an archive of pictures."""
    write_pictures(tmp_path, UUIDS)
    return tmp_path


def test_threads_read_at_the_same_time(folder: Path) -> None:
    archive = Pictures(folder)

    def pixels(picture_uuid: str) -> bytes:
        return archive.read(picture_uuid, "row").tobytes()

    one_by_one = [pixels(picture_uuid) for picture_uuid in UUIDS]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(pixels, UUIDS * 20))
    assert together == one_by_one * 20


@pytest.mark.parametrize("number", [0, 1], ids=["stored", "deflated"])
def test_a_damaged_picture_is_reported_with_row_and_uuid(folder: Path, number: int) -> None:
    path = folder / "IRFL_images.zip"
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo(f"images/{uuid(number)}.jpeg")
    header_size = 30 + len(member.filename)
    middle = member.header_offset + header_size + member.compress_size // 2
    content = bytearray(path.read_bytes())
    content[middle : middle + 8] = b"\0\xff" * 4
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"row 2: the picture {uuid(number)} .*is damaged"):
        Pictures(folder).read(uuid(number), "row 2")


def test_data_check_reads_every_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_valid_irfl(tmp_path)
    files = {f"images/{uuid(number)}.jpeg": jpeg_files()[number] for number in range(8)}
    files[f"images/{uuid(3)}.jpeg"] = b"GIF"
    with zipfile.ZipFile(folder / "IRFL_images.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    _, (fault,) = check_data(BENCHMARK)
    assert f"IRFL, picture {uuid(3)}: the image cannot be decoded" in fault


COLOURS = [(200, 0, 0), (0, 200, 0), (0, 0, 200), (200, 200, 0)]


def grid_of_colours() -> Image.Image:
    """A grid of cells of 100 pixels, 8 pixels apart."""
    return grid([Image.new("RGB", (60, 40), colour) for colour in COLOURS], "ABCD", cell=100)


def test_a_grid_shows_each_picture_in_its_place() -> None:
    canvas = grid_of_colours()
    assert canvas.size == (208, 208)
    centres = [(50, 50), (158, 50), (50, 158), (158, 158)]
    assert [canvas.getpixel(centre) for centre in centres] == COLOURS


def test_a_grid_has_another_letter_in_each_corner() -> None:
    canvas = grid_of_colours()
    badges = []
    for left, top in [(0, 0), (108, 0), (0, 108), (108, 108)]:
        badges.append(canvas.crop((left, top, left + 15, top + 15)))
    assert len({badge.tobytes() for badge in badges}) == 4
    for badge in badges:
        colours = {colour for _, colour in badge.getcolors() or []}
        assert (0, 0, 0) in colours
