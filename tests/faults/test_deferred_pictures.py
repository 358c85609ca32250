"""Pictures that are decoded late, and JPEG files that are checked without their pixels."""

from __future__ import annotations

import copy
import io
import pickle
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

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


USES: list[Callable[[Image.Image], Image.Image]] = [
    copy.deepcopy,
    lambda picture: pickle.loads(pickle.dumps(picture)),
    lambda picture: picture.convert("L"),
    lambda picture: picture.crop((5, 5, 30, 30)),
    lambda picture: picture.resize((20, 20)),
    lambda picture: Image.fromarray(np.asarray(picture)),
    lambda picture: Image.merge("RGB", picture.split()),
    lambda picture: Image.blend(picture, Image.new("RGB", picture.size), 0.5),
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
        assert (late.size, late.mode, late.is_decoded) == (picture.size, "RGB", False)
        assert use(late).tobytes() == use(picture).tobytes()
        assert late.is_decoded
        assert late.info == picture.info
    pasted = Image.new("RGB", (100, 100))
    pasted.paste(deferred_picture_of(content))
    assert pasted.crop((0, 0, *picture.size)).tobytes() == picture.tobytes()


def test_a_deferred_picture_is_decoded_when_it_is_used() -> None:
    content = content_of()
    late = deferred_picture_of(content[: len(content) // 2])
    with pytest.raises(DataError, match="a row: the image cannot be decoded"):
        late.load()
    with deferred(), pytest.raises(DataError, match="a row: the image cannot be decoded"):
        picture_of(b"no picture")
    assert not isinstance(picture_of(content), DeferredPicture), "outside of the block"


def test_keys_tell_apart_files_and_what_a_task_draws() -> None:
    documents = [{"file": content_of(quality=quality), "data": "d"} for quality in (90, 91)]
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

    keys = [key(0, shown), key(1, shown), key(0, with_box(0)), key(0, with_box(40))]
    assert len(set(keys)) == len(keys)
    assert keys == [key(0, shown), key(1, shown), key(0, with_box(0)), key(0, with_box(40))]


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
