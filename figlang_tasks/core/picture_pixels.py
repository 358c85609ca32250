"""What decides how the pixels of an opened picture are shown: orientation, transparency, depth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PIL import ExifTags, Image

_TURNS: Mapping[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""How a picture of each EXIF orientation is turned upright (EXIF 2.3, tag 0x0112)."""

_ORIENTATION_METADATA = ("exif", "Raw profile type exif", "xmp", "XML:com.adobe.xmp")
"""Where Pillow looks for the orientation in `Image.info`."""

QUARTER_TURNS = [_TURNS[orientation] for orientation in (5, 6, 7, 8)]


def turn_of(image: Image.Image) -> Image.Transpose | None:
    """How to turn a picture upright, by its EXIF or XMP; None if it is upright already.

    Damaged metadata count as none: the pixels are whole.
    """
    try:
        return _TURNS.get(image.getexif().get(ExifTags.Base.Orientation, 1))  # 1 is upright
    except Exception:  # Pillow raises many kinds on damaged EXIF
        return None


def turned(image: Image.Image, turn: Image.Transpose) -> Image.Image:
    """The picture turned upright, without the metadata that would have it turned once more.

    Idefics2's processor (transformers 5.24) turns what it gets by its EXIF.
    """
    upright = image.transpose(turn)
    for name in _ORIENTATION_METADATA:
        upright.info.pop(name, None)
    return upright


def on_white(image: Image.Image) -> Image.Image:
    """The picture as RGB, on white where it is transparent."""
    if image.mode.startswith("I"):
        return _eight_bits(image).convert("RGB")
    if image.has_transparency_data:
        # Pillow converts La, in which the colours are multiplied by alpha, only to LA.
        if image.mode == "La":
            image = image.convert("LA")
        if image.mode != "RGBA":  # else a copy, of 4 bytes a pixel
            image = image.convert("RGBA")
        opaque_pixels = image.getchannel("A").histogram()[255]
        if opaque_pixels < image.width * image.height:
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    if image.mode == "RGB":
        # As `convert` does, but without a copy of the pixels, of 4 bytes each. Pillow has no public
        # way to leave the file behind. Nobody has `image` afterwards, who might change its pixels.
        return image._new(image.im)
    return image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Scale grey values of 16 bits to 8, with white for the one that is transparent.

    Pillow's own conversion would make all values above 255 white.
    """
    grey_16_bits = image.convert("I")
    # 65535 / 257 is 255. In this mode, `point` takes only functions that multiply or add.
    grey = grey_16_bits.point(lambda value: value * (1 / 257)).convert("L")
    transparent = image.info.get("transparency")
    if transparent is not None:
        grey.paste(255, mask=Image.fromarray(np.asarray(grey_16_bits) == transparent))
    return grey
