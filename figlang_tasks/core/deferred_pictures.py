"""Pictures that are decoded only when something looks at more than their size.

What needs a prompt, but not the pixels of its pictures, makes the prompt inside of `deferred`. The
keys of ``--use_cache`` do: decoding takes ten times as long as a digest of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

from PIL import Image

_is_deferring: ContextVar[bool] = ContextVar("_is_deferring", default=False)


class DeferredPicture(Image.Image):
    """A picture in RGB that is not decoded yet: it has a mode and a size.

    Whatever asks for more (pixels, `info`, a comparison, a copy) decodes it. From then on its class
    is `Image.Image`, so that nothing can tell it from a picture that was decoded at once.

    Args:
        size: width and height.
        decode: returns the picture.
    """

    def __init__(self, size: tuple[int, int], decode: Callable[[], Image.Image]) -> None:
        # Not Pillow's `__init__`: it would set attributes that `__getattr__` is to decode.
        self._mode = "RGB"
        self._size = size
        self._decode = decode
        self._lock = Lock()  # for threads that use the same picture

    # Any: `PixelAccess` is a type of Pillow's C code.
    def load(self) -> Any:
        """Decode the picture; all methods of Pillow call this before they use pixels.

        The errors are those of its decoder.
        """
        with self._lock:
            if isinstance(self, DeferredPicture):  # else another thread has decoded it
                vars(self).update(vars(self._decode()))
                del self._decode
                self.__class__ = Image.Image  # type: ignore[assignment]
        return self.load()  # Pillow's

    def __getattr__(self, name: str) -> Any:
        """Decode the picture for an attribute that it does not have yet."""
        self.load()
        return getattr(self, name)

    def __eq__(self, other: object) -> bool:
        self.load()
        return self == other  # Pillow compares classes too

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What copies and pickles are made of: that of the decoded picture."""
        self.load()
        return self.__reduce_ex__(protocol)


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
