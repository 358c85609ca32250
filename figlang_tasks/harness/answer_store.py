"""Answers of a model in files of SQLite, for ``--use_cache``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from loguru import logger

from figlang_tasks.core import notes, redaction
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import is_blank, printable

if TYPE_CHECKING:
    from lmms_eval.api.instance import GenerationResult

_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, task TEXT, doc_id, answer TEXT NOT"
    " NULL)"
)
_TABLES = {"answers": ["key", "task", "doc_id", "answer"]}  # with their columns
_HEADER_BYTES = 100  # with which each file of SQLite begins
_FILES = "figlang_*.db"  # of a process each


class StoredAnswer(NamedTuple):
    """A row of the table."""

    key: str
    task: str
    doc_id: Any
    text: str


class Store:
    """Answers in a folder: each process writes a file of its own, and reads those of all.

    A failed request is never stored, nor is an empty answer: some classes give one after an error.
    What cannot be stored is tried again with later answers, and costs no run. SQLite's log (WAL) is
    quicker than its journal, but not for folders that several machines share.

    Args:
        named: the folder, as ``--use_cache`` names it.
        model: the key of the model, :func:`figlang_tasks.harness.identity.model_key`.
        seed: of what is drawn while a model answers.
    """

    def __init__(self, named: str, model: str, rank: int = 0, seed: Any = None) -> None:
        self.named = named
        self.model = model
        self.seed = seed
        self._unsaved: list[StoredAnswer] = []
        self._logged: set[str] = set()  # messages
        # The harness takes the name of a database for that of its folder.
        folder = Path(named).parent if named.endswith(".db") else Path(named)
        own_path = folder / _FILES.replace("*", str(rank))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.own = _opened(own_path, named)
            self.own.execute("PRAGMA user_version = 1")  # writes
        except (OSError, sqlite3.OperationalError) as error:
            raise _unusable(named, error) from error
        self._databases = {own_path: self.own}
        for path in sorted(folder.glob(_FILES)):
            if path != own_path:
                self._databases[path] = _opened(path, named)

    def look_up(self, keys: Sequence[str]) -> dict[int, GenerationResult]:
        """The answers that are known, by the place of their key."""
        from lmms_eval.api.instance import GenerationResult

        query = "SELECT answer FROM answers WHERE key = ?"
        answers = {}
        for place, key in enumerate(keys):
            for path, database in self._databases.items():
                try:
                    row = database.execute(query, [f"{self.model}-{key}"]).fetchone()
                except sqlite3.Error as error:  # also of bytes that are not UTF-8
                    raise _damaged(path, error) from error
                if row is None:
                    continue
                if not isinstance(row[0], str):
                    raise _damaged(
                        path, f"an answer is of type {type(row[0]).__name__}, not a text"
                    )
                answers[place] = GenerationResult(row[0])
                break
        return answers

    def keep(self, answers: Iterable[StoredAnswer]) -> None:
        """Store answers, and those that could not be stored before."""
        for answer in answers:
            if not is_blank(answer.text) and not notes.is_no_answer(answer.text):
                key = f"{self.model}-{answer.key}"
                self._unsaved.append(
                    answer._replace(key=key, text=redaction.without_secrets(answer.text))
                )
        if not self._unsaved:
            return
        try:
            with self.own:
                self.own.executemany(
                    "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", self._unsaved
                )
            self._unsaved = []
        except sqlite3.Error as error:
            self._log_once(f"--use_cache {self.named}: answers could not be stored ({error})")

    def _log_once(self, message: str) -> None:
        if message in self._logged:
            return
        self._logged.add(message)
        notes.note_failure(message)
        logger.error(
            f"figlang_tasks: {message}. The run goes on. Make room: they are tried again with each"
            " later answer; what cannot be stored by the end is asked again by the next run"
        )

    def close(self) -> None:
        self.keep([])
        for database in self._databases.values():
            database.close()


def _opened(path: Path, named: str) -> sqlite3.Connection:
    """The database in a file, which is made if it is not there; `named`: the folder, as
    ``--use_cache`` names it.
    """
    if path.exists() and not path.is_file():
        raise _damaged(path, "it is no ordinary file")
    if path.exists() and 0 < path.stat().st_size < _HEADER_BYTES:  # SQLite would overwrite it
        raise _damaged(path, "file is not a database")
    try:
        database = sqlite3.connect(path, timeout=60)
        (report,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if report != "ok":
            raise _damaged(path, report.splitlines()[-1])
        tables = _tables(database)
        if tables == {}:
            database.execute(_TABLE)
    except sqlite3.OperationalError as error:
        raise _unusable(named, f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise _damaged(path, error) from error
    if tables not in ({}, _TABLES):
        contents = "; ".join(f"{name}: {', '.join(columns)}" for name, columns in tables.items())
        raise _damaged(path, f"it is a database of something else, with {contents:.300}")
    return database


def _tables(database: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns of each table and view, without those that SQLite keeps for itself."""
    rows = database.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    )
    tables = {}
    for kind, name in rows.fetchall():
        if not name.startswith("sqlite_"):
            columns = database.execute("SELECT name FROM pragma_table_info(?)", [name])
            tables[name if kind == "table" else f"{kind} {name}"] = [
                column for (column,) in columns
            ]
    return tables


def _damaged(path: Path, cause: object) -> FigLangError:
    return FigLangError(
        f"figlang_tasks: the answers in {path} cannot be used ({printable(cause)}): remove it, or"
        " name another folder after --use_cache"
    )


def _unusable(named: str, cause: object) -> FigLangError:
    remedy = "Name a folder that can be written to and has room"
    return FigLangError(f"figlang_tasks: --use_cache {named}: {cause}. {remedy}")
