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

_SECONDS_TO_WAIT = 60  # for another process that writes


class ScoreCache:
    """Keeps the scores of text pairs by model, in a folder.

    A failure to read or write (a full disk, a network file system without locks, a damaged file) is
    reported once and switches the cache off: it never costs a score.

    Args:
        folder: where the file of the cache is or will be; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder  # None: the cache is off
        self._database: sqlite3.Connection | None = None

    def scores(
        self,
        model: str,
        pairs: Iterable[tuple[str, str]],
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> dict[tuple[str, str], float]:
        """The stored scores of a model, by pair; pairs without a stored score are left out.

        A file that holds something else than numbers within `bounds` is damaged: nothing of it is
        used.

        Args:
            model: the identity of the model.
            pairs: reference and candidate of each pair.
            bounds: the least and the greatest score that the model can give.
        """
        if self._folder is None:
            return {}
        query = "SELECT score FROM scores WHERE key = ?"
        scores: dict[tuple[str, str], float] = {}
        try:
            database = self._open(self._folder)
            for pair in pairs:
                row = database.execute(query, (_key(model, *pair),)).fetchone()
                if row is not None:
                    scores[pair] = row[0]
        except (OSError, sqlite3.Error) as error:
            self._switch_off(f"{type(error).__name__}: {error}")
            return {}

        low, high = bounds
        for score in scores.values():
            if not (isinstance(score, float) and low <= score <= high):
                name = model.partition(",")[0]  # the identity has options behind the first comma
                self._switch_off(
                    f"{FILE} holds {score!r:.80}, which is no score of {name}: delete this file"
                )
                return {}
        return scores

    def store(self, model: str, scores: Mapping[tuple[str, str], float]) -> None:
        """Store scores of a model, all or none of them: a killed process leaves no part."""
        if self._folder is None:
            return
        rows = [(_key(model, *pair), float(score)) for pair, score in scores.items()]
        try:
            with self._open(self._folder) as database:  # one transaction
                database.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", rows)
        except (OSError, sqlite3.Error) as error:
            self._switch_off(f"{type(error).__name__}: {error}")

    def _open(self, folder: Path) -> sqlite3.Connection:
        """The database in a folder, made and opened at the first call."""
        if self._database is None:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(folder / FILE, timeout=_SECONDS_TO_WAIT)
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS scores (key TEXT PRIMARY KEY, score REAL)"
            )
        return self._database

    def _switch_off(self, reason: str) -> None:
        """Go on without the cache, and say why."""
        logger.warning(
            f"figlang: the score cache {self._folder} is out of use ({reason}); going on without."
            f" {CACHE_VARIABLE} names another folder, or is off"
        )
        self._folder = None


def open_cache(cache: bool | str | os.PathLike[str]) -> ScoreCache:
    """Open the score cache in the default folder, in a given one, or a cache that keeps nothing.

    Args:
        cache: a folder; True for the folder of ``$FIGLANG_CACHE`` or the user's; False for none.
    """
    if cache is False:
        return ScoreCache(None)
    if cache is not True:
        return ScoreCache(Path(cache).expanduser())
    root = cache_root()
    return ScoreCache(None if root is None else root / "explanation")


def cache_root() -> Path | None:
    """The folder that ``$FIGLANG_CACHE`` names, else the user's; None if it says ``off``."""
    setting = os.environ.get(CACHE_VARIABLE)
    if setting and setting.lower() == "off":
        return None
    if setting:
        return Path(setting).expanduser()
    user_caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return (user_caches / "figlang_tasks").expanduser()


def _key(model: str, *texts: str) -> str:
    """The hash under which the score of a pair is stored."""
    return hashlib.sha256(json.dumps([model, *texts]).encode("ascii")).hexdigest()
