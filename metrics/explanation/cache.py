"""Scores of text pairs on disk: one SQLite table, shared by runs and processes."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

from loguru import logger

CACHE_VARIABLE = "FIGLANG_CACHE"
"""Folder of the cache, or ``off``."""

FILE = "scores.sqlite"

_WAIT = 60  # seconds, for another process that writes


class ScoreCache:
    """Keeps scores by model and texts, in a folder; None: keeps nothing.

    A failure to read or write (a full disk, a network file system without locks, a damaged file) is
    reported once and switches the cache off: it never costs a score.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._database: sqlite3.Connection | None = None

    def scores(
        self,
        model: str,
        pairs: Iterable[tuple[str, str]],
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> dict[tuple[str, str], float]:
        """The stored scores of those `pairs` (reference, candidate) that `model` has scored.

        A file that holds something else than numbers within `bounds` is damaged, and nothing of it
        is used.
        """
        if self._folder is None:
            return {}
        query = "SELECT score FROM scores WHERE key = ?"
        try:
            database = self._open(self._folder)
            found = {
                pair: database.execute(query, (_key(model, *pair),)).fetchone() for pair in pairs
            }
        except (OSError, sqlite3.Error) as error:
            self._give_up(f"{type(error).__name__}: {error}")
            return {}
        scores = {pair: row[0] for pair, row in found.items() if row is not None}
        low, high = bounds
        for score in scores.values():
            if not (isinstance(score, float) and low <= score <= high):
                name = model.partition(",")[0]
                self._give_up(
                    f"{FILE} holds {score!r:.80}, which is no score of {name}: delete this file"
                )
                return {}
        return scores

    def store(self, model: str, scores: Mapping[tuple[str, str], float]) -> None:
        """Store scores, all or none of them: a killed process leaves no part."""
        if self._folder is None:
            return
        rows = [(_key(model, *pair), float(score)) for pair, score in scores.items()]
        try:
            with self._open(self._folder) as database:
                database.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", rows)
        except (OSError, sqlite3.Error) as error:
            self._give_up(f"{type(error).__name__}: {error}")

    def _open(self, folder: Path) -> sqlite3.Connection:
        if self._database is None:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(folder / FILE, timeout=_WAIT)
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS scores (key TEXT PRIMARY KEY, score REAL)"
            )
        return self._database

    def _give_up(self, reason: str) -> None:
        logger.warning(
            f"figlang: the score cache {self._folder} is out of use ({reason}); going on without."
            f" {CACHE_VARIABLE} names another folder, or is off"
        )
        self._folder = None


def open_cache(cache: bool | str | os.PathLike[str]) -> ScoreCache:
    """The cache that an argument names: a folder, True (``$FIGLANG_CACHE`` or the user's), False
    (none).
    """
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
    return Path(
        named or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "figlang_tasks"
    ).expanduser()


def _key(model: str, *texts: str) -> str:
    return hashlib.sha256(json.dumps([model, *texts]).encode("ascii")).hexdigest()
