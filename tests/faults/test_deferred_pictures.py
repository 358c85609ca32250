"""Pictures that are decoded late, and JPEG files that are checked without their pixels."""

from __future__ import annotations

import copy
import io
import pickle
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

from figlang_tasks.core import images
from figlang_tasks.core.deferred_pictures import DeferredPicture, deferred
from figlang_tasks.core.errors import DataError
from figlang_tasks.harness.answer_keys import request_digest

NOISE = np.random.default_rng(0).integers(0, 256, (40, 70, 3), dtype=np.uint8)
TURNED = 6  # EXIF: turn by a quarter
FORMATS = [
    ("JPEG", "RGB"),
    ("JPEG", "CMYK"),
    ("PNG", "RGBA"),
    ("PNG", "P"),
    ("WEBP", "RGBA"),
    ("TIFF", "RGB"),
]


def content_of(kind: str = "JPEG", mode: str = "RGB", **options: Any) -> bytes:
    """The file of a picture of noise."""
    stream = io.BytesIO()
    Image.fromarray(NOISE).convert(mode).save(stream, kind, **options)
    return stream.getvalue()


def picture_of(content: bytes) -> Image.Image:
    return images.decode({"bytes": content}, "a row")


def deferred_picture_of(content: bytes) -> DeferredPicture:
    with deferred():
        picture = picture_of(content)
    assert isinstance(picture, DeferredPicture)
    return picture


def is_decoded(picture: Image.Image) -> bool:
    return not isinstance(picture, DeferredPicture)


USES: list[Callable[[Image.Image], Image.Image]] = [
    copy.deepcopy,
    lambda picture: pickle.loads(pickle.dumps(picture)),
    lambda picture: picture.convert("L"),
    lambda picture: picture.crop((5, 5, 30, 30)),
    lambda picture: picture.resize((20, 20)),
    lambda picture: Image.fromarray(np.asarray(picture)),
    lambda picture: Image.merge("RGB", picture.split()),
    lambda picture: Image.blend(picture, Image.new("RGB", picture.size), 0.5),
    ImageOps.exif_transpose,
]


@pytest.mark.parametrize(("kind", "mode"), FORMATS)
def test_a_deferred_picture_is_used_like_any_other(kind: str, mode: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = TURNED
    content = content_of(kind, mode, exif=exif)
    picture = picture_of(content)
    assert type(picture) is Image.Image
    for use in USES:
        late = deferred_picture_of(content)
        assert (late.size, late.mode, is_decoded(late)) == (picture.size, "RGB", False)
        assert use(late).tobytes() == use(picture).tobytes()
        assert is_decoded(late)
        assert late == picture
    pasted = Image.new("RGB", (100, 100))
    pasted.paste(deferred_picture_of(content))
    assert pasted.crop((0, 0, *picture.size)).tobytes() == picture.tobytes()


def test_what_is_no_pixel_decodes_a_picture_too() -> None:
    content = content_of(dpi=(300, 300))
    picture = picture_of(content)
    late = deferred_picture_of(content)
    assert late.info["dpi"] == (300, 300)
    assert deferred_picture_of(content) == picture
    assert picture == deferred_picture_of(content)
    assert deferred_picture_of(content) == deferred_picture_of(content)
    assert type(pickle.loads(pickle.dumps(deferred_picture_of(content)))) is Image.Image
    assert deferred_picture_of(content).im.size == picture.size
    assert not hasattr(deferred_picture_of(content), "no_such_attribute")


def test_threads_decode_a_deferred_picture_once() -> None:
    decoded_pictures: list[Image.Image] = []
    all_threads_began = threading.Barrier(4)

    def decode() -> Image.Image:
        time.sleep(0.05)  # in which the other threads arrive
        decoded_pictures.append(Image.fromarray(NOISE))
        return decoded_pictures[-1]

    late = DeferredPicture((70, 40), decode)

    def pixels(_: int) -> bytes:
        all_threads_began.wait(timeout=60)
        return late.tobytes()

    with ThreadPoolExecutor(4) as pool:
        contents = list(pool.map(pixels, range(4)))
    assert contents == [NOISE.tobytes()] * 4
    assert len(decoded_pictures) == 1


def test_a_picture_that_was_turned_is_not_turned_again() -> None:
    exif = Image.Exif()
    exif[0x0112] = TURNED
    for kind in ("JPEG", "PNG", "WEBP"):
        picture = picture_of(content_of(kind, exif=exif))
        assert picture.size == (40, 70)
        assert ImageOps.exif_transpose(picture).size == picture.size


def test_a_deferred_picture_is_decoded_when_it_is_used() -> None:
    content = content_of()
    late = deferred_picture_of(content[: len(content) // 2])
    with pytest.raises(DataError, match="a row: the image cannot be decoded"):
        late.load()
    with deferred(), pytest.raises(DataError, match="a row: the image cannot be decoded"):
        picture_of(b"no picture")
    assert not isinstance(picture_of(content), DeferredPicture), "outside of the block"


def test_keys_tell_apart_files_and_what_a_task_draws() -> None:
    documents: list[dict[str, Any]] = []
    for quality in (90, 91):
        documents.append({"file": content_of(quality=quality, dpi=(300, 300)), "data": "d"})
    lm = SimpleNamespace(task_dict={"task": {"test": documents}})

    def shown(document: Any) -> list[Image.Image]:
        return [picture_of(document["file"])]

    def with_box(left: int) -> Callable[[Any], list[Image.Image]]:
        """A task that draws a box into the picture of a row."""

        def draw(document: Any) -> list[Image.Image]:
            picture = picture_of(document["file"])
            ImageDraw.Draw(picture).rectangle((left, 5, left + 9, 9), fill="black")
            return [picture]

        return draw

    def key(number: int, pictures: Callable[[Any], list[Image.Image]]) -> str:
        arguments: tuple[Any, ...] = ("What?", {}, pictures, number, "task", "test")
        return request_digest(lm, SimpleNamespace(args=arguments, request_type="generate_until"))

    def smaller_if_dense(document: Any) -> list[Image.Image]:
        """A task that looks at the metadata of a picture."""
        picture = picture_of(document["file"])
        return [picture.resize((20, 20)) if "dpi" in picture.info else picture]

    def without_copies(document: Any) -> list[Image.Image]:
        """A task that compares pictures."""
        pictures = shown(document) + shown(document)
        return pictures[:1] if pictures[0] == pictures[1] else pictures

    def all_keys() -> list[str]:
        shown_pictures = (
            *(shown, with_box(0), with_box(40), smaller_if_dense),
            lambda document: shown(document) * 2,
        )
        keys = [key(0, pictures) for pictures in shown_pictures]
        return [*keys, key(1, shown), key(0, without_copies)]

    keys = all_keys()
    assert len(set(keys)) == len(keys)
    assert keys == all_keys()


def damaged(content: bytes, generator: random.Random) -> bytes:
    """A JPEG file with some damage: bytes that are wrong, missing, or there twice, or markers."""
    damaged_content = bytearray(content)
    for _ in range(generator.choice((1, 1, 2, 4))):
        # Half of the damage is in the segments before the pixels.
        length = len(damaged_content)
        start = generator.randrange(length if generator.random() < 0.5 else min(length, 650))
        end = start + generator.randrange(1, 30)
        kind = generator.choice(("byte", "marker", "end", "gap", "twice"))
        if kind == "byte":
            damaged_content[start] = generator.randrange(256)
        elif kind == "marker":
            marker = generator.choice((0x01, 0xC0, 0xC2, 0xC4, 0xD0, 0xD9, 0xDA, 0xDB, 0xDD, 0xFE))
            damaged_content[start:start] = bytes([0xFF, marker])
        elif kind == "end":
            del damaged_content[start + 1 :]
        elif kind == "gap":
            del damaged_content[start + 1 : end]
        else:
            damaged_content[start:start] = damaged_content[start:end]
    return bytes(damaged_content)


def fault_of(read: Callable[[], object]) -> str:
    """The message of the error that reading raises; "" without one."""
    try:
        read()
    except DataError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "options",
    [{}, {"progressive": True}, {"restart_marker_blocks": 3}],
    ids=["baseline", "progressive", "restart markers"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_check_finds_the_damage_that_decode_finds(options: dict[str, Any]) -> None:
    generator = random.Random(7)
    content = content_of(**options)
    faults: set[str] = set()
    for _ in range(400):
        cell = {"bytes": damaged(content, generator)}
        fault = fault_of(lambda cell=cell: images.decode(cell, "a row"))  # type: ignore[misc]
        assert fault_of(lambda cell=cell: images.check(cell, "a row")) == fault  # type: ignore[misc]
        faults.add(fault)
    assert len(faults) > 3, "damage of several kinds, and some that no reader notices"
