"""Names in archives, tables and answers lead to no file outside of their folder, and nothing unpacks without end."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path

import pytest
from irfl_hub import drawn, uuid
from PIL import Image

from figlang_tasks.hub import MINI_NYKMS_DIR, DataError
from figlang_tasks.irfl import pictures
from figlang_tasks.irfl.pictures import Pictures
from figlang_tasks.metaclue import generate, schema
from figlang_tasks.metaclue.annotations import import_files
from figlang_tasks.nykms import rows as nykms

OUTSIDE = [
    "../secret.png",
    "images/../../secret.png",
    "..",
    "/etc/secret.png",
    "//host/share/secret.png",
    "..\\secret.png",
    "images\\..\\..\\secret.png",
    "\\\\host\\share\\secret.png",
    "C:\\secret.png",
]


def everything_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


# --- IRFL's zip ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["../../", "/tmp/", "..\\..\\", "C:\\", "images/../../../", "\\\\host\\share\\"])
def test_members_with_names_outside_are_read_and_never_written(tmp_path: Path, prefix: str) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "IRFL_images.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(f"{prefix}{uuid(0)}.jpeg"), drawn()[0])
    before = everything_below(tmp_path)
    store = Pictures(folder)
    try:
        assert store.read(uuid(0), "row 1").size == (48, 48)
    except DataError as error:  # where the prefix is part of the name
        assert "there is no picture" in str(error)
    assert everything_below(tmp_path) == before


@pytest.mark.parametrize("name", ["../secret", "/etc/secret", "..\\secret", "..", "", "images/x"])
def test_a_uuid_that_is_a_path_names_nothing(tmp_path: Path, name: str) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "secret.jpeg")
    folder = tmp_path / "unpacked"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / f"{uuid(0)}.jpeg").write_bytes(drawn()[0])
    with pytest.raises(DataError, match="there is no picture"):
        Pictures(folder).read(name, "row 1")


def test_a_link_in_the_archive_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.jpeg").write_bytes(drawn()[0])
    member = zipfile.ZipInfo(f"images/{uuid(0)}.jpeg")
    member.create_system = 3
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "IRFL_images.zip", "w") as archive:
        archive.writestr(member, str(tmp_path / "secret.jpeg"))
    with pytest.raises(DataError, match="cannot be decoded"):
        Pictures(tmp_path).read(uuid(0), "row 1")


@pytest.mark.parametrize("unpacked", [False, True])
def test_a_member_that_unpacks_to_gigabytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unpacked: bool
) -> None:
    monkeypatch.setattr(pictures, "LARGEST", 100_000)
    with zipfile.ZipFile(tmp_path / "IRFL_images.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"images/{uuid(0)}.jpeg", bytes(100_001))
        archive.writestr(f"images/{uuid(1)}.jpeg", drawn()[1])
        if unpacked:
            archive.extractall(tmp_path)
    store = Pictures(tmp_path)
    with pytest.raises(DataError, match=f"row 3: the picture {uuid(0)} .* has 100001 bytes unpacked, more than the"):
        store.read(uuid(0), "row 3")
    assert store.read(uuid(1), "row 4").size == (48, 48)


def test_a_member_that_is_larger_than_it_says_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "IRFL_images.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"images/{uuid(0)}.jpeg", bytes(50_000_000))
    data = path.read_bytes()
    size = (50_000_000).to_bytes(4, "little")
    assert data.count(size) == 2  # in the member's own header, and in the directory of the archive
    path.write_bytes(data.replace(size, (1_000).to_bytes(4, "little")))
    with pytest.raises(DataError, match="is damaged"):  # unpacked are the 1,000 bytes that it said, and they are others
        Pictures(tmp_path).read(uuid(0), "row 1")


# --- NYK-MS ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("image", OUTSIDE)
def test_cartoons_lie_below_their_file(tmp_path: Path, image: str) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "secret.png")
    folder = tmp_path / "NYK-MS"
    (folder / "images").mkdir(parents=True)
    row = {"id": "NYK_1_1", "caption": "c", "MC": 0, "image": image, "description": "d"}
    (folder / "nyk_m.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(
        DataError, match=r"nyk_m.jsonl, line 1 \(NYK_1_1\): image .* leads out of .*: write a path below"
    ):
        nykms.read(folder / "nyk_m.jsonl")


def test_our_own_cartoons_are_read() -> None:
    assert all(row.image and row.image.is_file() for row in nykms.read(MINI_NYKMS_DIR / "nyk_m.jsonl"))


# --- MetaCLUE --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "image", [*OUTSIDE, "0/../../secret.png", "0/..", "0/a/b.png", "11/a.png", "0/a\0.png", "0\\a.png"]
)
def test_pitt_pictures_lie_in_their_folders(image: str) -> None:
    row = {"schema": schema.VERSION, "image": image, "split": "test", "set": "symbolic_negative"}
    with pytest.raises(schema.SchemaError, match="image is"):
        schema.parse(json.dumps(row), 1)


@pytest.mark.parametrize("image", [*OUTSIDE, "0/../../secret.png"])
def test_an_import_takes_and_writes_nothing_outside(tmp_path: Path, image: str) -> None:
    pitt = tmp_path / "pitt"
    (pitt / "0").mkdir(parents=True)
    Image.new("RGB", (4, 4)).save(tmp_path / "secret.png")
    table = tmp_path / "table.jsonl"
    row = {"image": image, "split": "test", "set": "metaphor", "primary": "a", "relationship": "b", "secondary": "c"}
    table.write_text(json.dumps(row) + "\n")
    before = everything_below(tmp_path)
    with pytest.raises(DataError, match="row 1"):
        import_files(pitt, table, tmp_path / "made" / "MetaCLUE")
    assert everything_below(tmp_path) == before


# --- pictures that a generating model names --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        "/etc/passwd",  # no picture by its name
        "a\0b.png",
        "\ud800.png",
        "x" * 5_000 + ".png",
        "x" * 300 + ".png",
        '{"images": ["\\u0000.png"]}',
        '{"images": ["\\ud800.png"]}',
        '{"images": [["a.png"]]}',
        '{"images": {"a": 1}}',
        "[" * 100_000,
        "1" * 5_000,
        "\n",
    ],
)
def test_words_are_no_picture(answer: str) -> None:
    assert generate._generated(answer, 0) is None


def test_only_pictures_are_opened(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_text("a key")
    doc = {"id": "0/a.png", "data": "d", "dataset": "MetaCLUE", "number": 0}
    doc |= {"primary": "a", "relationship": "b", "secondary": "c"}
    judged = generate.process_results(doc, [str(tmp_path / "secret.png")])
    assert judged["image_rate"] == 0.0 and judged["sample"]["file"] is None
