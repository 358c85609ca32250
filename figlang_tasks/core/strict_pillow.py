"""Makes Pillow refuse truncated files while a picture is read, in all threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import ImageFile

_LOCK = threading.Lock()
# What Pillow was set to when each thread began that is reading a picture now. Its length counts
# these threads.
_settings_before: list[bool] = []


@contextmanager
def strict_pillow() -> Iterator[None]:
    """Let Pillow reject truncated files inside the block, in all threads.

    lmms-eval makes Pillow fill them with grey, without a warning.
    """
    with _LOCK:
        _settings_before.append(ImageFile.LOAD_TRUNCATED_IMAGES)
        ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        yield
    finally:
        with _LOCK:
            # Threads may end in any order. Each takes the last entry off, so that the first entry,
            # the setting before all of them, is left to the last thread to end.
            setting_before = _settings_before.pop()
            if not _settings_before:
                ImageFile.LOAD_TRUNCATED_IMAGES = setting_before
