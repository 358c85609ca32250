"""Pictures that are decoded only when something looks at their pixels.

What needs a prompt, but not the pixels of its pictures, makes the prompt inside of `deferred`. The
keys of ``--use_cache`` do: decoding takes ten times as long as a digest of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from PIL import Image

_is_deferring: ContextVar[bool] = ContextVar("_is_deferring", default=False)


class DeferredPicture(Image.Image):
    """A picture in RGB that is decoded when its pixels are first used, and is then like any other.

    All methods of Pillow call `load` before they use pixels, since Pillow reads files as late.

    Args:
        size: width and height.
        decode: returns the picture.
    """

    # A default of the class, because a copy that was pickled does not call `__init__`.
    _decode: Callable[[], Image.Image] | None = None

    def __init__(self, size: tuple[int, int], decode: Callable[[], Image.Image]) -> None:
        super().__init__()
        self._mode = "RGB"
        self._size = size
        self._decode = decode

    @property
    def is_decoded(self) -> bool:
        """Whether something has looked at the pixels, and may have changed them."""
        return self._decode is None

    # Any: `PixelAccess` is a type of Pillow's C code.
    def load(self) -> Any:
        """Decode the picture if that was not done before; the errors are those of its decoder."""
        decode = self._decode
        if decode is not None:
            picture = decode()
            self.im = picture.im
            self.info = picture.info
            self._decode = None  # the last step, for threads that load the same picture
        return super().load()


@contextmanager
def deferred() -> Iterator[None]:
    """Let `images.decode` return a `DeferredPicture` inside of the block, in this thread."""
    token = _is_deferring.set(True)
    try:
        yield
    finally:
        _is_deferring.reset(token)


def is_deferring() -> bool:
    """Whether pictures are to be decoded later."""
    return _is_deferring.get()
