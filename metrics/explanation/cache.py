"""Scores and reference embeddings on disk, shared by runs and processes.

diskcache (SQLite with size limit, eviction and locks) rather than a format of our own. It can unpickle what it finds;
nothing is pickled here, and pickled entries are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import diskcache
import numpy as np
import numpy.typing as npt
from diskcache.core import MODE_PICKLE
from loguru import logger

CACHE_VARIABLE = "FIGLANG_CACHE"
"""Folder of the cache, or ``off``."""

EMBEDDINGS_LIMIT = 4 << 30
SCORES_LIMIT = 1 << 28

_Floats = npt.NDArray[np.float32]


class _PlainDisk(diskcache.Disk):
    """Stores numbers, texts and bytes only, so that a foreign file in the folder cannot run code."""

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode == MODE_PICKLE:
            raise ValueError(f"{self._directory} holds an entry of another program; delete the folder")
        return super().fetch(mode, filename, value, read)

    def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> Any:
        assert isinstance(value, (float, bytes)), type(value)
        return super().store(value, read, key=key)


class ScoreCache:
    """Keeps scores of text pairs and embeddings of single texts; least recently stored goes first.

    Any failure to read or write (disk full, no locks on a network file system) is reported once and switches the cache
    off: it never costs a score.

    Args:
        folder: where; created at the first use. None: keep nothing.
        embeddings_limit: bytes for embeddings (a text of 90 tokens of DeBERTa-xlarge takes 370 KB).
        scores_limit: bytes for scores (about a million pairs in the default).
    """

    def __init__(
        self, folder: Path | None, embeddings_limit: int = EMBEDDINGS_LIMIT, scores_limit: int = SCORES_LIMIT
    ) -> None:
        self._folder = folder
        self._limits = {"scores": scores_limit, "embeddings": embeddings_limit}
        self._parts: dict[str, diskcache.Cache] = {}

    @property
    def enabled(self) -> bool:
        return self._folder is not None

    def scores(self, model: str, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
        """The stored scores of those `pairs` (reference, candidate) that `model` has scored."""
        return self._read("scores", {pair: _key(model, *pair) for pair in pairs})

    def embeddings(self, model: str, texts: Iterable[str]) -> dict[str, _Floats]:
        """The stored embeddings, each float32 of shape [tokens, width], of those `texts` that have one."""
        stored = self._read("embeddings", {text: _key(model, text) for text in texts})
        unpacked = {text: _unpack(value) for text, value in stored.items()}
        return {text: vectors for text, vectors in unpacked.items() if vectors is not None}

    def store(
        self,
        model: str,
        scores: Mapping[tuple[str, str], float] | None = None,
        embeddings: Mapping[str, _Floats] | None = None,
    ) -> None:
        """Store scores and embeddings, each kind all or none (a killed process leaves no half of them).

        Scores first: embeddings without their scores would make the next run fill its batches differently.
        """
        if scores:
            self._write("scores", {_key(model, *pair): float(score) for pair, score in scores.items()})
        if embeddings:
            self._write("embeddings", {_key(model, text): _pack(value) for text, value in embeddings.items()})

    def close(self) -> None:
        for part in self._parts.values():
            part.close()
        self._parts.clear()

    def _read(self, part: str, keys: Mapping[Any, str]) -> dict[Any, Any]:
        if self._folder is None:
            return {}
        try:
            cache = self._open(part)
            found = {item: cache.get(key) for item, key in keys.items()}
        except (OSError, ValueError, sqlite3.Error, diskcache.Timeout) as error:
            self._give_up(error)
            return {}
        return {item: value for item, value in found.items() if value is not None}

    def _write(self, part: str, values: Mapping[str, Any]) -> None:
        if self._folder is None:
            return
        try:
            cache = self._open(part)
            with cache.transact():  # waits a minute for other writers; diskcache's retry would wait for ever
                for key, value in values.items():
                    cache.set(key, value)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            self._give_up(error)

    def _open(self, part: str) -> diskcache.Cache:
        assert self._folder is not None
        if part not in self._parts:
            self._parts[part] = diskcache.Cache(
                str(self._folder / part), disk=_PlainDisk, size_limit=self._limits[part], statistics=False
            )
        return self._parts[part]

    def _give_up(self, error: Exception) -> None:
        logger.warning(
            f"figlang: the score cache {self._folder} is out of use ({type(error).__name__}: {error}); going on "
            f"without. {CACHE_VARIABLE} names another folder, or is off"
        )
        self._folder = None


def open_cache(cache: bool | str | os.PathLike[str] | ScoreCache) -> ScoreCache:
    """The cache that an argument names: a folder, a cache, True (``$FIGLANG_CACHE`` or the user's), False (none)."""
    if isinstance(cache, ScoreCache):
        return cache
    if cache is False:
        return ScoreCache(None)
    if cache is not True:
        return ScoreCache(Path(cache).expanduser())
    root = cache_root()
    return ScoreCache(root and root / "explanation")


def cache_root() -> Path | None:
    """The folder that ``$FIGLANG_CACHE`` names, else the user's; None if it is off."""
    named = os.environ.get(CACHE_VARIABLE)
    if named and named.lower() == "off":
        return None
    return Path(named or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "figlang_tasks").expanduser()


def _key(model: str, *texts: str) -> str:
    return hashlib.sha256(json.dumps([model, *texts]).encode("ascii")).hexdigest()


def _pack(values: Sequence[Sequence[float]] | _Floats) -> bytes:
    array = np.ascontiguousarray(values, dtype="<f4")
    return np.array(array.shape[-1], dtype="<i4").tobytes() + array.tobytes()


def _unpack(data: bytes) -> _Floats | None:
    """What `_pack` packed; None for a damaged file."""
    try:
        width = int(np.frombuffer(data, dtype="<i4", count=1)[0])
        return np.frombuffer(data, dtype="<f4", offset=4).reshape(-1, width)
    except ValueError:
        return None
