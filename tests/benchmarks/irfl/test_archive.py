"""Pictures come one by one out of the zip, in any thread, and damage is told with the uuid."""

from __future__ import annotations

import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from irfl_hub import drawn, uuid, valid, write_pictures
from PIL import Image
from run_and_check import report

from figlang_tasks.benchmarks.irfl.archive import Pictures, grid
from figlang_tasks.benchmarks.irfl.benchmark import BENCHMARK
from figlang_tasks.core.errors import DataError

UUIDS = [uuid(number) for number in range(60)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pictures(tmp_path, UUIDS)
    return tmp_path


def digest(picture: Image.Image) -> int:
    return hash(picture.tobytes())


def test_threads_read_at_the_same_time(folder: Path) -> None:
    store = Pictures(folder)
    alone = [digest(store.read(each, "x")) for each in UUIDS]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda each: digest(store.read(each, "x")), UUIDS * 20))
    assert together == alone * 20


@pytest.mark.parametrize("number", [0, 1], ids=["stored", "deflated"])
def test_a_damaged_member(folder: Path, number: int) -> None:
    path = folder / "IRFL_images.zip"
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(f"images/{uuid(number)}.jpeg")
    data = bytearray(path.read_bytes())
    place = info.header_offset + 30 + len(info.filename) + info.compress_size // 2
    data[place : place + 8] = b"\0\xff" * 4
    path.write_bytes(data)
    with pytest.raises(DataError, match=f"row 2: the picture {uuid(number)} .*is damaged"):
        Pictures(folder).read(uuid(number), "row 2")


def test_the_check_looks_at_each_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = valid(tmp_path)
    files = {f"images/{uuid(number)}.jpeg": drawn()[number] for number in range(8)}
    files[f"images/{uuid(3)}.jpeg"] = b"GIF"
    with zipfile.ZipFile(folder / "IRFL_images.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    _, (fault,) = report(BENCHMARK)
    assert f"IRFL, picture {uuid(3)}: the image cannot be decoded" in fault


def test_grid_shows_each_picture_in_its_place() -> None:
    colours = [(200, 0, 0), (0, 200, 0), (0, 0, 200), (200, 200, 0)]
    whole = grid([Image.new("RGB", (60, 40), colour) for colour in colours], "ABCD", cell=100)
    assert whole.size == (208, 208)
    centres = [(50, 50), (158, 50), (50, 158), (158, 158)]
    assert [whole.getpixel(place) for place in centres] == colours
    corners = [(0, 0), (108, 0), (0, 108), (108, 108)]
    badges = [whole.crop((x, y, x + 15, y + 15)) for x, y in corners]
    assert len({badge.tobytes() for badge in badges}) == 4  # four letters
    assert all(
        (0, 0, 0) in {badge.getpixel((x, y)) for x in range(15) for y in range(15)}
        for badge in badges
    )
